/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reading position in one event line, and the values that can be read there: numbers, times,
 * names, strings. The counterpart of event/text.h; only event/line_read.c calls it.
 *
 * Each function moves the cursor on. What cannot be read sets `why`, and the value means nothing;
 * callers look at `why` before they go on.
 */
#ifndef PFS_EVENT_CURSOR_H
#define PFS_EVENT_CURSOR_H

#include "event/event.h"

struct pfs_cursor {
	const char *at, *end;
	char *string;	     /* where the next unescaped string goes; has a line's room */
	uint64_t nr_unknown; /* enumerated values that this version does not know */
	const char *token;   /* start of what `why` is about */
	const char *why;     /* NULL: all is well */
};

static inline bool pfs_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether name (len bytes, letters and such) is `known`. Names are short: no call is quicker. */
static inline bool pfs_same_name(const char *known, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len && known[i] == name[i]; i++)
		;
	return i == len && !known[i];
}

void pfs_cursor_fail(struct pfs_cursor *c, const char *token, const char *why);
void pfs_cursor_spaces(struct pfs_cursor *c);

/* A lower-case letter, then letters, digits and _. Its length; if there is none, 0 and `why`. */
size_t pfs_cursor_name(struct pfs_cursor *c, const char *why);

uint64_t pfs_cursor_dec(struct pfs_cursor *c, uint64_t max);

/* Seconds with up to nine places: 123.456789012; in nanoseconds. */
uint64_t pfs_cursor_time(struct pfs_cursor *c);

/* Stores the value of a field in the event. False: this value is unknown, and so is the field. */
bool pfs_cursor_value(struct pfs_cursor *c, struct pfs_event *ev, const struct pfs_field_info *f);

/* Passes over the value of an unknown field: a string, or what comes before a space. */
void pfs_cursor_skip(struct pfs_cursor *c);

#endif
