/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for pages: a hash table from (object, page) to 0, 1, 2, ... in the order in which they are first asked
 * for. 48 bytes a block of 8 neighbouring pages, three times as much at most while it grows.
 */
#ifndef PFS_PAGE_INDEX_H
#define PFS_PAGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_page_index {
	struct pfs_page_slot *slots;
	struct pfs_page_slot *hot; /* the one used last; NULL: none */
	size_t nr_slots;	   /* a power of two, or 0 */
	size_t nr_blocks;
	uint32_t nr; /* pages in it */
};

/* An index of zeroes is an empty one. */
void pfs_page_index_fini(struct pfs_page_index *index);

/* The page's number; a new one if it has none. 0, -ENOMEM, or -EOVERFLOW when numbers run out. */
int pfs_page_index_get(struct pfs_page_index *index, uint32_t object, int64_t page, uint32_t *nr, bool *is_new);

/* Whether the page has a number, and which. */
bool pfs_page_index_find(const struct pfs_page_index *index, uint32_t object, int64_t page, uint32_t *nr);

#endif
