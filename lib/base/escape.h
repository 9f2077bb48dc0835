/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from elsewhere (paths, thread names, notes) made safe to print, and fitted into columns.
 *
 * Nothing here depends on the locale: text is UTF-8, and a byte that is not is treated as such.
 */
#ifndef PFS_ESCAPE_H
#define PFS_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PFS_ESCAPE_BACKSLASH = 1, /* double each backslash: the result can be read back */
};

/*
 * Escapes what a terminal or a table would act on: control characters (C0, DEL, C1), bytes that are
 * not UTF-8, and the invisible marks that turn the direction of text around or end a line. They
 * become \n \t \r \e, or \xNN byte by byte.
 *
 * Writes at most size bytes, always with a closing NUL (if size > 0) and never half an escape or
 * half a character. Returns the length that the whole result has; size or more: it was cut.
 */
size_t pfs_escape(char *buf, size_t size, const char *s, unsigned int flags);

/* Whether a character shows nothing and changes how others are shown: those that get escaped. */
bool pfs_escape_needed(uint32_t code);

/* Columns that s takes on a terminal. s has no control characters: escape it first. */
unsigned int pfs_columns(const char *s);

/*
 * Copies s into buf; if it takes more than `columns`, then only its head (or its tail: for paths),
 * with `ellipsis` ("…", or "..." for plain terminals) where the rest was. Never more than
 * columns, never half a character, always a closing NUL (if size > 0). Returns the bytes written.
 */
size_t pfs_fit_head(char *buf, size_t size, const char *s, unsigned int columns, const char *ellipsis);
size_t pfs_fit_tail(char *buf, size_t size, const char *s, unsigned int columns, const char *ellipsis);

/* Length (1 to 4) of the UTF-8 character at s, which has len bytes; its code. 0: it is none. */
size_t pfs_utf8_decode(const char *s, size_t len, uint32_t *code);

#endif
