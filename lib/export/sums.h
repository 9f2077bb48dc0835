/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults added up: by a call path and other things, numbers or strings. */
#ifndef PFS_EXPORT_SUMS_H
#define PFS_EXPORT_SUMS_H

#include "base/hash.h"
#include "export/calls.h"

struct viewer_sum {
	struct viewer_sum_key {
		uint64_t call, what, more, comm;
	} key;
	uint64_t faults;
	int64_t pages;
};

/* In the order of first use; begins zeroed. */
struct viewer_sums {
	struct viewer_sum *sums;
	uint32_t nr, max;
	struct pfs_index index;
};

/* Valid until the next one. NULL: no memory. */
struct viewer_sum *viewer_sum_at(struct viewer_sums *sums, struct viewer_sum_key key);
void viewer_sums_fini(struct viewer_sums *sums);

/*
 * For each path the first one of the same names: those that differ in lines only are one to viewers that know no lines. The
 * caller frees it. NULL: no memory.
 */
uint32_t *viewer_same_names(const struct viewer_calls *calls);

#endif
