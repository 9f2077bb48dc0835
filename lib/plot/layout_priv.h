/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a plot's layout (layout.c), which are made one after the other: blocks of images (blocks.c), strips of
 * touched pages (strips.c), bands of strips (bands.c).
 */
#ifndef PFS_LAYOUT_PRIV_H
#define PFS_LAYOUT_PRIV_H

#include "plot/plot.h"

enum { MAX_BLOCKS = 8 }; /* the least busy of more images share one more block */

/* A page (or several) with all that happened to it. */
struct leaf {
	uint64_t page, faults, sampled;
	uint32_t group;
};

struct strip {
	uint32_t group, block, side;
	uint32_t ruler;	     /* its group, or the counterpart's */
	uint32_t first, end; /* leaves */
	uint64_t start;	     /* address */
	uint64_t place;	     /* of two recordings: of the whole region */
	uint64_t count;
	bool own;  /* band */
	bool pair; /* it and the next one are counterparts: both have a band of their own, or none */
};

struct layout {
	struct pfs_plot *plot;
	struct leaf *leaves;
	struct strip *strips;
	uint32_t nr_leaves, nr_strips;
	uint32_t *block_of; /* by image */
	uint32_t max_blocks;
};

static inline const struct pfs_plot_group *group_of(const struct layout *l, uint32_t group)
{
	return &l->plot->data->groups[group];
}

/* The group whose ranges decide where strips end: of two counterparts that of the first recording. */
static inline uint32_t ruler_of(const struct layout *l, uint32_t group)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint32_t pair = data->groups[group].pair;

	return pair != PFS_PLOT_NO_PAIR && data->images[data->groups[group].image].side ? pair : group;
}

/* Fills l->plot->blocks and l->block_of. 0 or -ENOMEM. */
int layout_blocks(struct layout *l);

/* Fills l->leaves and l->strips, sorted by block and address. 0 or -ENOMEM. */
int layout_strips(struct layout *l);

/* Bands of their own for as many of the busiest strips as possible: each adds at most two bands, and never removes any. */
int layout_choose(struct layout *l, uint32_t max_bands);

/* Fills l->plot->bands and segments, in the order of strips. 0 or -ENOMEM. */
int layout_bands(struct layout *l);

#endif
