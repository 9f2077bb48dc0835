/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings by number, 1 and up in the order of first use, which is also that of the table. A table begins as NULL; it does not
 * copy: its strings live as long as the viewer, and are compared by their addresses.
 */
#ifndef PFS_EXPORT_STRINGS_H
#define PFS_EXPORT_STRINGS_H

#include "base/hash.h"

#include <stdbool.h>

struct viewer_string {
	const char *key;
	uint32_t nr;
	UT_hash_handle hh;
};

/* *added: it is new. 0: no memory. */
static inline uint32_t viewer_string_number(struct viewer_string **strings, const char *s, bool *added)
{
	struct viewer_string *slot = PFS_HASH_GET(*strings, key, s);

	*added = slot && !slot->nr;
	if (*added)
		slot->nr = HASH_COUNT(*strings);
	return slot ? slot->nr : 0;
}

#endif
