/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the layout share: plot/layout.c calls plot/blocks.c, then plot/strips.c, then makes the bands.
 */
#ifndef PFS_PLOT_LAYOUT_PRIV_H
#define PFS_PLOT_LAYOUT_PRIV_H

#include "plot/plot.h"

enum { PLOT_MAX_BLOCKS = 8 }; /* the least busy of more images share one more block */

/* A page (or several) with all that happened to it. */
struct plot_leaf {
	uint64_t page, faults, sampled;
	uint32_t group;
};

struct plot_strip {
	uint32_t group, block;
	uint32_t first, end; /* leaves */
	uint64_t start;	     /* address */
	uint64_t count;
	bool own; /* band */
};

struct plot_layout {
	struct pfs_plot *plot;
	struct plot_leaf *leaves;
	struct plot_strip *strips;
	uint32_t nr_leaves, nr_strips;
	uint32_t *block_of; /* by image */
	uint32_t max_blocks;
};

static inline const struct pfs_plot_group *plot_group_of(const struct plot_layout *l, uint32_t group)
{
	return &l->plot->data->groups[group];
}

/* Fills l->plot->blocks and l->block_of. 0 or -ENOMEM. */
int plot_blocks_make(struct plot_layout *l);

/* Fills l->leaves and l->strips, sorted by block and address. 0 or -ENOMEM. */
int plot_strips_make(struct plot_layout *l);

/* Decides which strips get bands of their own so that there are at most max_bands bands. 0 or -ENOMEM. */
int plot_strips_choose(struct plot_layout *l, uint32_t max_bands);

#endif
