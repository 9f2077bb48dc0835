/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The spelling of event values in every text form, for event/line.c and event/export.c. All put_* functions write without
 * a closing NUL and return the end of what they wrote.
 */
#ifndef PFS_EVENT_TEXT_H
#define PFS_EVENT_TEXT_H

#include "base/put.h"
#include "event/event.h"

/* Longer strings are cut here: no path and no thread name is, a command line in a note may be. */
#define PFS_EVENT_STR_MAX    16384u
#define PFS_EVENT_STRINGS    7	  /* fields that are strings */
#define PFS_EVENT_SCALAR_MAX 160u /* bytes that a value which is no string takes at most */

/* Seconds with nine places: 123.456789012 */
static inline char *put_time(char *p, uint64_t ts_ns)
{
	p = put_dec(p, ts_ns / 1000000000);
	*p++ = '.';
	return put_digits(p, ts_ns % 1000000000, 9);
}

/* The value of a field, whose member of struct pfs_event has that type. */
#define field_as(type, ev, f) (*(type const *)((const char *)(ev) + (f)->offset))

/*
 * PFS_HAS() of the fields that a text form writes: those that are known and that have a spelling.
 * An enumerated value without a name, or whose name is "unknown", is not written: it is absent.
 */
uint64_t pfs_event_fields(const struct pfs_event *ev);

/* The text of a value that is no string, as event lines have it. */
char *pfs_event_put_scalar(char *p, const struct pfs_event *ev, const struct pfs_field_info *f);

#endif
