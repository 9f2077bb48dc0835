/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the values of an event line, for event/line_read.c; the counterpart of event/text.h. Each function advances the
 * cursor. On an error it sets `why`, and its value is undefined.
 */
#ifndef PFS_EVENT_CURSOR_H
#define PFS_EVENT_CURSOR_H

#include "event/event.h"

struct pfs_cursor {
	const char *at, *end;
	char *string;	     /* room for the next unescaped string, as long as the line */
	uint64_t nr_unknown; /* names of values that this version does not know */
	const char *token;   /* start of what `why` is about */
	const char *why;     /* NULL: all is well */
};

static inline bool pfs_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether name (len bytes) is `known`. Names are short: a loop is faster than a call. */
static inline bool pfs_same_name(const char *known, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len && known[i] == name[i]; i++)
		;
	return i == len && !known[i];
}

void pfs_cursor_fail(struct pfs_cursor *c, const char *token, const char *why);

static inline void pfs_cursor_spaces(struct pfs_cursor *c)
{
	const char *end = c->end, *at = c->at;

	while (at < end && pfs_is_space(*at))
		at++;
	c->at = at;
}

/* A lower-case letter, then letters, digits and _. Returns its length, or 0 with `why` set. */
size_t pfs_cursor_name(struct pfs_cursor *c, const char *why);

uint64_t pfs_cursor_dec(struct pfs_cursor *c, uint64_t max);

/* Seconds with up to nine places: 123.456789012; in nanoseconds. */
uint64_t pfs_cursor_time(struct pfs_cursor *c);

/* Stores the value of a field in the event. False: the value is unknown, so the field is absent. */
bool pfs_cursor_value(struct pfs_cursor *c, struct pfs_event *ev, const struct pfs_field_info *f);

/* Skips the value of an unknown field: a string, or everything before a space. */
void pfs_cursor_skip(struct pfs_cursor *c);

#endif
