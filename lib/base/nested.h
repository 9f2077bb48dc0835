/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions by address, where one may lie in another: elements of an array with `start` and `end` (addresses), and `reach`, the
 * furthest end of all up to that element.
 */
#ifndef PFS_NESTED_H
#define PFS_NESTED_H

#include "base/array.h"

enum { PFS_MAX_NESTED = 1000 }; /* that begin in another one, before its address */

/* Sorts them: `compare` orders by start first. Sets their reach. */
#define pfs_nested_sort(array, nr, compare)                          \
	({                                                           \
		uint64_t reach_ = 0;                                 \
		if (nr)                                              \
			qsort(array, nr, sizeof(*(array)), compare); \
		for (size_t k_ = 0; k_ < (nr); k_++) {               \
			if ((array)[k_].end > reach_)                \
				reach_ = (array)[k_].end;            \
			(array)[k_].reach = reach_;                  \
		}                                                    \
	})

/* The last one that has the address, which is the innermost; NULL: none. */
#define pfs_nested_find(array, nr, addr)                                                                   \
	({                                                                                                 \
		typeof(*(array)) *found_ = NULL;                                                           \
		size_t at_ = pfs_lower_bound(nr, k_, (array)[k_].start <= (addr));                         \
		for (unsigned int tried_ = 0;                                                              \
		     !found_ && at_-- && (array)[at_].reach > (addr) && tried_ < PFS_MAX_NESTED; tried_++) \
			if ((array)[at_].end > (addr))                                                     \
				found_ = &(array)[at_];                                                    \
		found_;                                                                                    \
	})

#endif
