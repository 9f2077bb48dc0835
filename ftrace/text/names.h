/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events whose text holds a task's name or a path in the middle, for text/args.c only.
 */
#ifndef PFS_TEXT_NAMES_H
#define PFS_TEXT_NAMES_H

#include "record/raw.h"

/*
 * Reads [s, end), the text after the event's name, into the arguments and str of an event of the
 * kinds EXEC, FORK, NEWTASK, EXIT, RENAME and SIGNAL. `str` has room for it all and a NUL.
 */
void text_names(const struct raw_desc *desc, const char *s, const char *end, char *str, struct raw_event *ev);

/* Copies [s, end) and a NUL to str, which it returns. */
char *text_take(char *str, const char *s, const char *end);

#endif
