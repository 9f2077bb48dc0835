/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was mapped in one go: ranges of an address space that do not overlap, each with what places.c knows of it.
 * Regions are what the kernel makes of these: it merges neighbours and splits them.
 */
#ifndef PFS_MAPPINGS_H
#define PFS_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_mapping {
	uint64_t start, end;
	uint64_t base;	       /* where its page 0 is, or was */
	struct object *object; /* NULL: none yet, or private copies of pages of a file */
	uint32_t key;	       /* 0: nothing was referenced in it */
	bool anon;	       /* known to be anonymous when it was made */
};

/* Of zeroes it is an empty one. */
struct pfs_mappings {
	struct pfs_mapping **at;	/* sorted */
	unsigned int nr, before, after; /* room for more, on either side of them */
};

void pfs_mappings_fini(struct pfs_mappings *mappings);

/* Index of the first one that ends after addr; nr if there is none. */
unsigned int pfs_mappings_lower(const struct pfs_mappings *mappings, uint64_t addr);

/* The one that holds addr, or NULL. It is valid until something is cut. */
struct pfs_mapping *pfs_mappings_find(const struct pfs_mappings *mappings, uint64_t addr);

/* The first free range in [*start, *end), which it narrows to that; false: there is none. */
bool pfs_mappings_gap(const struct pfs_mappings *mappings, uint64_t *start, uint64_t *end);

/* Adds one where nothing is; returns the copy of it that is kept. NULL: no memory. */
struct pfs_mapping *pfs_mappings_add(struct pfs_mappings *mappings, const struct pfs_mapping *mapping);

/*
 * Nothing is mapped in [start, end) any more. What is left above of one that was not referenced is another one.
 * 0 or -ENOMEM.
 */
int pfs_mappings_cut(struct pfs_mappings *mappings, uint64_t start, uint64_t end);

/* Takes what is in [start, start + len) to another place, where nothing is. 0 or -ENOMEM. */
int pfs_mappings_move(struct pfs_mappings *mappings, uint64_t start, uint64_t len, uint64_t to);

#endif
