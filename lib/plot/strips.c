/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Touched pages of a region, or of several adjacent ones of one name, as strips: see layout_priv.h. */
#include "plot/layout_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	return pfs_order(x->group, y->group) ?: pfs_order(x->page, y->page);
}

/* Its first page stands for a region without touches, which may have been used unobserved: its band is hatched. */
static int collect_unobserved(struct layout *l, uint32_t image)
{
	const struct pfs_plot_data *data = l->plot->data;
	const struct pfs_space *space = pfs_plot_unobserved_space(data, image);
	uint32_t nr = l->nr_leaves;

	for (unsigned int i = 0; space && i < space->nr_live + space->nr_retired; i++) {
		const struct pfs_region *region =
			i < space->nr_live ? space->live[i] : space->retired[i - space->nr_live];
		uint32_t group = pfs_plot_group_of(data, image, space, region);
		uint64_t shift = group < data->nr_groups ? pfs_plot_shift_of(&data->groups[group], region->start) : 0;
		uint64_t first = (region->start + shift) >> l->plot->unit_shift;
		uint64_t last = (region->end - 1 + shift) >> l->plot->unit_shift;
		struct leaf *larger, leaf = { .page = first, .group = group };
		unsigned int at = 0;
		struct pfs_stay stay;

		if (leaf.group == data->nr_groups || !pfs_stay_next(space, region, data->model->page_shift, &at, &stay))
			continue;
		at = pfs_lower_bound(nr, k, compare_leaves(&l->leaves[k], &leaf) < 0);
		if (at < nr && l->leaves[at].group == leaf.group && l->leaves[at].page <= last)
			continue;
		larger = realloc(l->leaves, (l->nr_leaves + 2) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		l->leaves = larger;
		l->leaves[l->nr_leaves++] = leaf;
	}
	if (l->nr_leaves > nr)
		qsort(l->leaves, l->nr_leaves, sizeof(*l->leaves), compare_leaves);
	return 0;
}

static bool is_in_range(const struct layout *l, uint32_t group, uint64_t page)
{
	uint32_t nr = pfs_plot_find_range(l->plot, group, page);

	return nr < group_of(l, group)->nr_ranges &&
	       group_of(l, group)->ranges[nr].start >> l->plot->unit_shift <= page;
}

/* Counterparts have the same leaves, so they look alike and are side by side. */
static int complete_pairs(struct layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint32_t nr = l->nr_leaves;
	struct leaf *larger;

	if (data->nr_sides == 1 || !nr)
		return 0;
	larger = realloc(l->leaves, 2 * (size_t)nr * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	l->leaves = larger;
	for (uint32_t i = 0; i < nr; i++) {
		struct leaf leaf = { .page = larger[i].page, .group = data->groups[larger[i].group].pair };
		uint32_t at;

		if (leaf.group == PFS_PLOT_NO_PAIR || !is_in_range(l, leaf.group, leaf.page))
			continue;
		at = pfs_lower_bound(nr, k, compare_leaves(&larger[k], &leaf) < 0);
		if (at == nr || compare_leaves(&larger[at], &leaf))
			larger[l->nr_leaves++] = leaf;
	}
	qsort(larger, l->nr_leaves, sizeof(*larger), compare_leaves);
	return 0;
}

static int collect_leaves(struct layout *l)
{
	const struct pfs_plot_cells *cells = &l->plot->data->cells;
	struct leaf *leaf = NULL;

	l->leaves = malloc((cells->nr + 1) * sizeof(*l->leaves));
	if (!l->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < cells->nr; i++) {
		const struct pfs_plot_cell *cell = &cells->cells[i];

		if (!leaf || leaf->group != cell->group || leaf->page != cell->page) {
			leaf = &l->leaves[l->nr_leaves++];
			*leaf = (struct leaf){ .group = cell->group, .page = cell->page };
		}
		*(cell->kind.sampled ? &leaf->sampled : &leaf->faults) += cell->count;
	}
	for (uint32_t i = 0; i < l->plot->data->nr_images; i++)
		if (l->block_of[i] < l->plot->nr_blocks && collect_unobserved(l, i))
			return -ENOMEM;
	return complete_pairs(l);
}

uint32_t pfs_plot_find_range(const struct pfs_plot *plot, uint32_t nr, uint64_t page)
{
	const struct pfs_plot_group *group = &plot->data->groups[nr];
	uint64_t addr = page << plot->unit_shift;

	return pfs_lower_bound(group->nr_ranges, i, group->ranges[i].end - 1 < addr);
}

static int compare_strips(const void *a, const void *b)
{
	const struct strip *x = a, *y = b;

	return pfs_order(x->block, y->block) ?: pfs_order(x->place, y->place) ?: pfs_order(x->ruler, y->ruler)
		?: pfs_order(y->side, x->side) ?: pfs_order(x->start, y->start);
}

/* Its first address, as exactly as known, so that regions in one unit are in order, too. */
static uint64_t start_of(const struct layout *l, const struct leaf *leaf, unsigned int range)
{
	const struct pfs_plot_group *group = group_of(l, ruler_of(l, leaf->group));
	uint64_t addr = leaf->page << l->plot->unit_shift;

	return range < group->nr_ranges && group->ranges[range].start > addr ? group->ranges[range].start : addr;
}

static uint64_t place_of(const struct layout *l, const struct strip *strip, uint32_t range)
{
	const struct pfs_plot_group *group = group_of(l, ruler_of(l, strip->group));

	return l->plot->data->nr_sides > 1 && range < group->nr_ranges ? group->ranges[range].start : strip->start;
}

/* Marks counterparts, which are neighbours; their touches count together. */
static void find_pairs(struct layout *l)
{
	for (uint32_t i = 1; i < l->nr_strips; i++) {
		struct strip *a = &l->strips[i - 1], *b = &l->strips[i];

		if (a->place != b->place || group_of(l, a->group)->pair != b->group)
			continue;
		a->pair = true;
		a->count = b->count += a->count;
	}
}

int layout_strips(struct layout *l)
{
	uint32_t range = 0;
	int ret = collect_leaves(l);

	if (ret)
		return ret;
	l->strips = malloc((l->nr_leaves + 1) * sizeof(*l->strips));
	if (!l->strips)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_leaves; i++) {
		const struct leaf *leaf = &l->leaves[i];
		struct strip *strip = &l->strips[l->nr_strips];
		uint32_t at = pfs_plot_find_range(l->plot, ruler_of(l, leaf->group), leaf->page);

		if (i && leaf->group == leaf[-1].group && at == range) {
			strip--;
		} else {
			*strip = (struct strip){ .group = leaf->group,
						 .first = i,
						 .start = start_of(l, leaf, at),
						 .block = l->block_of[group_of(l, leaf->group)->image],
						 .side = l->plot->data->images[group_of(l, leaf->group)->image].side };
			strip->ruler = ruler_of(l, leaf->group);
			strip->place = place_of(l, strip, at);
			l->nr_strips++;
		}
		strip->end = i + 1;
		strip->count += leaf->faults + leaf->sampled;
		range = at;
	}
	if (l->nr_strips)
		qsort(l->strips, l->nr_strips, sizeof(*l->strips), compare_strips);
	find_pairs(l);
	return 0;
}

static int compare_busy(const void *a, const void *b)
{
	const struct strip *x = *(const struct strip *const *)a, *y = *(const struct strip *const *)b;

	return pfs_order(y->count, x->count) ?: pfs_order(x, y);
}

/* Gives the first nr strips, and if `unknown` those in no region, bands of their own. Returns the number of bands. */
static uint32_t choose_first(struct layout *l, struct strip **order, uint32_t nr, bool unknown)
{
	uint32_t bands = 0;

	for (uint32_t i = 0; i < l->nr_strips; i++)
		order[i]->own = i < nr || (unknown && group_of(l, order[i]->group)->unknown);
	for (uint32_t i = 0; i + 1 < l->nr_strips; i++)
		if (l->strips[i].pair)
			l->strips[i].own = l->strips[i + 1].own = l->strips[i].own || l->strips[i + 1].own;
	for (uint32_t i = 0; i < l->nr_strips; i++) {
		const struct strip *strip = &l->strips[i];

		if (strip->own || !i || strip[-1].own || strip[-1].block != strip->block)
			bands += strip->own ? 1 : l->plot->data->nr_sides;
	}
	return bands;
}

int layout_choose(struct layout *l, uint32_t max_bands)
{
	struct strip **order = malloc((l->nr_strips + 1) * sizeof(*order));
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
