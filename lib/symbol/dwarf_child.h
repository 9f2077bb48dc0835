/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf.h in a child (guard.h). Each question to a child is a round trip, so a question has many addresses.
 */
#ifndef PFS_DWARF_CHILD_H
#define PFS_DWARF_CHILD_H

#include "symbol/dwarf.h"
#include "symbol/guard.h"

/* Places of the i-th address, as pfs_dwarf_find() gives them. Their strings live during the call. 0, or an error. */
typedef int pfs_dwarf_child_fn(void *ctx, unsigned int i, const struct pfs_dwarf_place *places, unsigned int nr);

/*
 * Starts the child if it was not, which reads the borrowed descriptor, and calls fn for each of the addresses that has places.
 * `room` is PFS_GUARD_MAX + 1 bytes. 0, or the error of fn, which is not called again then.
 */
int pfs_dwarf_child_find(struct pfs_guard *child, int fd, const uint64_t *addrs, unsigned int nr, bool inlines,
			 char *room, pfs_dwarf_child_fn *fn, void *ctx);

#endif
