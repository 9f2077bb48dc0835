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
#define PFS_EVENT_SCALAR_MAX 160u /* bytes that a value which is no string takes at most */

/* Seconds with nine places: 123.456789012 */
static inline char *put_time(char *p, uint64_t ts_ns)
{
	p = put_dec(p, ts_ns / 1000000000);
	*p++ = '.';
	return put_digits(p, ts_ns % 1000000000, 9);
}

static inline const void *field_value(const struct pfs_event *ev, const struct pfs_field_info *f)
{
	return (const char *)ev + f->offset;
}

static inline uint64_t field_u64(const struct pfs_event *ev, const struct pfs_field_info *f)
{
	return *(const uint64_t *)field_value(ev, f);
}

static inline uint8_t field_u8(const struct pfs_event *ev, const struct pfs_field_info *f)
{
	return *(const uint8_t *)field_value(ev, f);
}

static inline uint16_t field_set(const struct pfs_event *ev, const struct pfs_field_info *f)
{
	return *(const uint16_t *)field_value(ev, f);
}

static inline const char *field_str(const struct pfs_event *ev, const struct pfs_field_info *f)
{
	return *(const char *const *)field_value(ev, f);
}

/*
 * PFS_HAS() of the fields that a text form writes: those that are known and that have a spelling.
 * An enumerated value without a name, or whose name is "unknown", is not written: it is absent.
 */
uint64_t pfs_event_fields(const struct pfs_event *ev);

/* The text of a value that is no string, as event lines have it. */
char *pfs_event_put_scalar(char *p, const struct pfs_event *ev, const struct pfs_field_info *f);

#endif
