/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The strips of a plot: the touched pages of a region, or of several adjacent regions of one name; and the choice of
 * the strips that get a band of their own.
 */
#include "plot/layout_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* ---- leaves ---- */

static int collect_leaves(struct plot_layout *l)
{
	const struct pfs_plot_cells *cells = &l->plot->data->cells;
	struct plot_leaf *leaf = NULL;

	l->leaves = malloc((cells->nr + 1) * sizeof(*l->leaves));
	if (!l->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < cells->nr; i++) {
		const struct pfs_plot_cell *cell = &cells->cells[i];

		if (!leaf || leaf->group != cell->group || leaf->page != cell->page) {
			leaf = &l->leaves[l->nr_leaves++];
			*leaf = (struct plot_leaf){ .group = cell->group, .page = cell->page };
		}
		*(cell->kind.sampled ? &leaf->sampled : &leaf->faults) += cell->count;
	}
	return 0;
}

/* ---- strips ---- */

uint32_t pfs_plot_find_range(const struct pfs_plot *plot, uint32_t nr, uint64_t page)
{
	const struct pfs_plot_group *group = &plot->data->groups[nr];
	uint64_t addr = page << plot->unit_shift;

	return pfs_lower_bound(group->nr_ranges, i, group->ranges[i].end - 1 < addr);
}

static int compare_strips(const void *a, const void *b)
{
	const struct plot_strip *x = a, *y = b;

	return pfs_order(x->block, y->block) ?: pfs_order(x->start, y->start) ?: pfs_order(x->group, y->group);
}

/* Its first address, as exactly as known, so that regions in one unit are in order, too. */
static uint64_t start_of(const struct plot_layout *l, const struct plot_leaf *leaf, unsigned int range)
{
	const struct pfs_plot_group *group = plot_group_of(l, leaf->group);
	uint64_t addr = leaf->page << l->plot->unit_shift;

	return range < group->nr_ranges && group->ranges[range].start > addr ? group->ranges[range].start : addr;
}

int plot_strips_make(struct plot_layout *l)
{
	uint32_t range = 0;
	int ret = collect_leaves(l);

	if (ret)
		return ret;
	l->strips = malloc((l->nr_leaves + 1) * sizeof(*l->strips));
	if (!l->strips)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_leaves; i++) {
		const struct plot_leaf *leaf = &l->leaves[i];
		struct plot_strip *strip = &l->strips[l->nr_strips];
		uint32_t at = pfs_plot_find_range(l->plot, leaf->group, leaf->page);

		if (i && leaf->group == leaf[-1].group && at == range) {
			strip--;
		} else {
			*strip = (struct plot_strip){ .group = leaf->group,
						      .first = i,
						      .start = start_of(l, leaf, at),
						      .block = l->block_of[plot_group_of(l, leaf->group)->image] };
			l->nr_strips++;
		}
		strip->end = i + 1;
		strip->count += leaf->faults + leaf->sampled;
		range = at;
	}
	qsort(l->strips, l->nr_strips, sizeof(*l->strips), compare_strips);
	return 0;
}

static int compare_busy(const void *a, const void *b)
{
	const struct plot_strip *x = *(const struct plot_strip *const *)a, *y = *(const struct plot_strip *const *)b;

	return pfs_order(y->count, x->count) ?: pfs_order(x, y);
}

/* Gives the first nr strips, and if `unknown` those in no region, bands of their own. Returns the number of bands. */
static uint32_t choose_first(struct plot_layout *l, struct plot_strip **order, uint32_t nr, bool unknown)
{
	uint32_t bands = 0;

	for (uint32_t i = 0; i < l->nr_strips; i++)
		order[i]->own = i < nr || (unknown && plot_group_of(l, order[i]->group)->unknown);
	for (uint32_t i = 0; i < l->nr_strips; i++) {
		const struct plot_strip *strip = &l->strips[i];

		bands += strip->own || !i || strip[-1].own || strip[-1].block != strip->block;
	}
	return bands;
}

/* As many of the busiest as possible: each further one adds at most two bands, and never removes any. */
int plot_strips_choose(struct plot_layout *l, uint32_t max_bands)
{
	struct plot_strip **order = malloc((l->nr_strips + 1) * sizeof(*order));
	uint32_t low = 0, high = l->nr_strips;
	bool unknown;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_strips; i++)
		order[i] = &l->strips[i];
	qsort(order, l->nr_strips, sizeof(*order), compare_busy);
	unknown = choose_first(l, order, 0, true) <= max_bands;
	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;

		if (choose_first(l, order, mid, unknown) <= max_bands)
			low = mid;
		else
			high = mid - 1;
	}
	choose_first(l, order, low, unknown);
	free(order);
	return 0;
}
