/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses the text after an event's name, in each form that the kernel and libtraceevent print, into the arguments of
 * the row in raw_desc.c.
 *
 * text/line.c has found the columns, text.c the row. Nothing here allocates or searches by row.
 */
#ifndef PFS_TEXT_ARGS_H
#define PFS_TEXT_ARGS_H

#include "record/raw.h"

#include <stddef.h>

/* A name of a field and its alternative ("a|b" in raw_desc.c). len 0: none. */
struct text_key {
	const char *name[2];
	unsigned char len[2];
};

/* One name that a line may give an event: a row, made ready for reading. */
struct text_event {
	const char *name;
	size_t name_len;
	enum raw_kind call; /* RAW_OTHER: it is the event's own name */
	const struct raw_desc *desc;
	struct text_key arg[RAW_MAX_ARGS];
	unsigned int nr_args;
};

/* Fills in desc and the names of its fields. */
void text_event_init(struct text_event *te, const struct raw_desc *desc);

/*
 * Reads [s, end), the rest of the line after the name, into ev's arg and str; what is not there stays RAW_ABSENT and
 * NULL, as the caller has set it. *end is as in text/text.h. `str` has room for the rest of the line and a NUL.
 */
void text_args(const struct text_event *te, const char *s, const char *end, unsigned int page_shift, char *str,
	       struct raw_event *ev);

/*
 * The same for kinds whose text holds a task's name or a path in the middle: EXEC, FORK, NEWTASK, EXIT, RENAME and SIGNAL
 * (text/names.c).
 */
void text_names(const struct raw_desc *desc, const char *s, const char *end, char *str, struct raw_event *ev);

/* Copies [s, end) and a NUL to str, which it returns. */
char *text_take(char *str, const char *s, const char *end);

#endif
