/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects added up by the stack that allocated them, as folded stacks: lines "outermost;...;innermost NUMBER", which
 * flamegraph.pl and speedscope read.
 */
#ifndef PFS_FLAME_H
#define PFS_FLAME_H

#include "objects/objects.h"

#include <stdio.h>

enum pfs_flame_by {
	PFS_FLAME_LIVE,	  /* bytes alive at the end */
	PFS_FLAME_BYTES,  /* of all allocations */
	PFS_FLAME_ALLOCS, /* their number */
};

/* objects is set by the caller before the first object comes; else of zeroes at first. */
struct pfs_flame {
	enum pfs_flame_by by;
	struct pfs_objects *objects;
	struct pfs_flame_sum *sums; /* by stack, or by call site where that is not known */
	size_t nr_without;	    /* objects whose stack is not known */
};

/* Takes objects as they end. */
struct pfs_object_sink pfs_flame_sink(struct pfs_flame *flame);

/* After the last object: writes the lines in order of the stacks, none with 0. 0 or -ENOMEM. */
int pfs_flame_print(const struct pfs_flame *flame, FILE *out);

void pfs_flame_fini(struct pfs_flame *flame);

#endif
