/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What space.c, space_map.c and space_move.c share. */
#ifndef PFS_SPACE_PRIV_H
#define PFS_SPACE_PRIV_H

#include "model/space.h"

#define ATTRIBUTES                                                                                                   \
	(PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_NAME) | \
	 PFS_HAS(PFS_F_TRAITS))
#define KNOWS(region, field) ((region)->have & PFS_HAS(field))

/* Inserts into and removes from the live regions, at that index. 0 or -ENOMEM. */
int space_insert(struct pfs_space *space, unsigned int at, struct pfs_region *region);
void space_remove(struct pfs_space *space, unsigned int at);

/*
 * A new region, in no array yet, with the attributes of `like` (NULL: none known), as if `like` reached to
 * start. NULL: no memory.
 */
struct pfs_region *space_region_new(struct pfs_space *space, const struct pfs_region *like, uint64_t start,
				    uint64_t end, uint64_t now_ns);

/* Splits the live regions that span start and end. 0 or -ENOMEM. */
int space_cut(struct pfs_space *space, uint64_t start, uint64_t end);

/* Moves live region `at` to the retired ones, with the pages that were touched in it. 0 or -ENOMEM. */
int space_retire(struct pfs_space *space, unsigned int at, uint64_t now_ns);

/* Offsets in a file move along with the start of a region; anonymous memory has none. */
bool space_is_file(const struct pfs_region *region);

/* The live region that the event is about, by its identity; NULL: none. */
struct pfs_region *space_identify(struct pfs_space *space, const struct pfs_event *ev);

#endif
