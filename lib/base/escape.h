/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes foreign text (paths, thread names, notes) safe to print, and fits it into columns. Text is UTF-8 in every locale;
 * bytes that are not UTF-8 are escaped.
 */
#ifndef PFS_ESCAPE_H
#define PFS_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PFS_ESCAPE_AGAIN = 1, /* keep backslashes: parts of the text, such as a message, may be escaped already */
};

/*
 * Escapes control characters (C0, DEL, C1), bytes that are not UTF-8, and invisible marks that change the direction of
 * text or end a line, as \n \t \r \e, or \xNN byte by byte; and backslashes as \\, so that the result can be read back.
 *
 * Writes at most size bytes, with a closing NUL (if size > 0), and never a part of an escape or a character. Returns the
 * length of the whole result; size or more: it was cut.
 */
size_t pfs_escape(char *buf, size_t size, const char *s, unsigned int flags);

/*
 * Whether a spreadsheet would execute a word of CSV, quoted or not, or takes its ' away. CSV then has a ' before it, which
 * readers remove: a word that begins with ' is always such a one. Permissions (---p) are shown as they are.
 */
bool pfs_is_formula(const char *word);

/* Whether the character is one of those. */
bool pfs_escape_needed(uint32_t code);

/* The columns of s on a terminal. Escape control characters first. */
unsigned int pfs_columns(const char *s);

/*
 * Copies s into buf. If it takes more than `columns`, only its head (or its tail: for paths) and `ellipsis` ("…", or "..."
 * for plain terminals), within `columns`. Closing NUL if size > 0. Returns the number of bytes written.
 */
size_t pfs_fit_head(char *buf, size_t size, const char *s, unsigned int columns, const char *ellipsis);
size_t pfs_fit_tail(char *buf, size_t size, const char *s, unsigned int columns, const char *ellipsis);

/* Decodes the UTF-8 character at s, which has len bytes. Its length (1 to 4), or 0: it is invalid. */
size_t pfs_utf8_decode(const char *s, size_t len, uint32_t *code);

/*
 * The words, each ended by a NUL (the last one may lack it), quoted where a shell needs it: as they would be typed. The
 * caller frees it. NULL: no memory.
 *
 *     "sh\0-c\0echo 'a b'\0"  ->  sh -c 'echo '\''a b'\'''
 */
char *pfs_quote_words(const char *words, size_t len);

#endif
