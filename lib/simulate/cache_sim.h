/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates policies that need one pass for each size: how many references of a string miss in a memory of that size.
 * Memory is empty at first; pages are fetched when they are referenced, never before.
 */
#ifndef PFS_CACHE_SIM_H
#define PFS_CACHE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages in the order of the references to them, numbered from 0 without large holes. One of zeroes is empty. */
struct pfs_string {
	uint32_t *pages;
	size_t nr, max;
	uint32_t nr_pages; /* the largest number and 1 */
};

/* 0 or -ENOMEM. */
int pfs_string_add(struct pfs_string *string, uint32_t page);
void pfs_string_fini(struct pfs_string *string);

/*
 * CLOCK (Corbató, 1968): frames in a circle, one reference bit each, and a hand. A hit sets the bit. For a miss
 * in a full memory the hand goes round, clears bits that are set, and stops at the first one that was clear:
 * that page goes, the new one takes its frame, and the hand goes one on. comes_in_set: of a new page the bit is
 * set, for the access that fetched it (textbooks, hardware); else it is clear until the next one (FIFO with
 * reinsertion). 0 or -ENOMEM.
 */
int pfs_clock_misses(const struct pfs_string *string, uint64_t size, bool comes_in_set, uint64_t *misses);

/*
 * When each reference's page is referenced next; `string->nr`: never. The caller frees it.
 * 0, -ENOMEM, -EOVERFLOW.
 */
int pfs_next_uses(const struct pfs_string *string, uint32_t **next);

/*
 * OPT (Belady's MIN, 1966): evicts the page whose next reference is farthest away. No policy that fetches on
 * demand misses less. `next` is the string's. 0 or -ENOMEM.
 */
int pfs_opt_misses(const struct pfs_string *string, const uint32_t *next, uint64_t size, uint64_t *misses);

#endif
