/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults added up: by a call path and other things, numbers or strings. A table begins as NULL, and keeps the order of first use.
 */
#ifndef PFS_EXPORT_SUMS_H
#define PFS_EXPORT_SUMS_H

#include "base/hash.h"
#include "export/calls.h"

struct viewer_sum {
	struct viewer_sum_key {
		uint64_t call, what, more, comm;
	} key;
	UT_hash_handle hh;
	uint64_t faults;
	int64_t pages;
};

/* NULL: no memory. */
static inline struct viewer_sum *viewer_sum_at(struct viewer_sum **sums, struct viewer_sum_key key)
{
	return PFS_HASH_GET(*sums, key, key);
}

/*
 * For each path the first one of the same names: those that differ in lines only are one to viewers that know no lines. The
 * caller frees it. NULL: no memory.
 */
uint32_t *viewer_same_names(const struct viewer_calls *calls);

#endif
