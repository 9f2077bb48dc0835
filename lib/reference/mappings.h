/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings: ranges that one call mapped, not overlapping. The kernel merges and splits them into regions; places.c
 * numbers pages by mapping, because that is the same in every run.
 */
#ifndef PFS_MAPPINGS_H
#define PFS_MAPPINGS_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>

struct pfs_mapping {
	uint64_t start, end;
	uint64_t base;	       /* address of its page 0, which may be unmapped */
	struct object *object; /* NULL: none yet, or private copies of pages of a file */
	uint32_t key;	       /* 0: nothing was referenced in it */
	bool anon;	       /* known to be anonymous when it was made */
};

/* Begins as zeroes. */
struct pfs_mappings {
	struct pfs_mapping **at; /* sorted */
	unsigned int nr;
	struct pfs_sides sides; /* of the array */
};

void pfs_mappings_fini(struct pfs_mappings *mappings);

/* Index of the first one that ends after addr; nr if there is none. */
unsigned int pfs_mappings_lower(const struct pfs_mappings *mappings, uint64_t addr);

/* The one that holds addr, or NULL. It is valid until something is cut. */
struct pfs_mapping *pfs_mappings_find(const struct pfs_mappings *mappings, uint64_t addr);

/* Narrows [*start, *end) to the first free range in it; false: there is none. */
bool pfs_mappings_gap(const struct pfs_mappings *mappings, uint64_t *start, uint64_t *end);

/* Adds a mapping where there is none. Returns the copy that is kept, or NULL: no memory. */
struct pfs_mapping *pfs_mappings_add(struct pfs_mappings *mappings, const struct pfs_mapping *mapping);

/*
 * Unmaps [start, end). The parts of a mapping that is cut in two stay one mapping if it was referenced, else they become
 * two. 0 or -ENOMEM.
 */
int pfs_mappings_cut(struct pfs_mappings *mappings, uint64_t start, uint64_t end);

/* Moves the mappings of [start, start + len) to `to`, where there are none. 0 or -ENOMEM. */
int pfs_mappings_move(struct pfs_mappings *mappings, uint64_t start, uint64_t len, uint64_t to);

#endif
