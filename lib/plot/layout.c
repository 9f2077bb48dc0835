/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a plot: see plot/plot.h. Each of the busiest process images becomes a block. The touched pages of a
 * region, or of several adjacent regions of one name, become a strip; strips become bands in order of address. Where
 * there are too many, adjacent small strips share a band.
 */
#include "plot/layout_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_segments(const void *a, const void *b)
{
	const struct pfs_plot_segment *x = a, *y = b;

	return pfs_order(x->group, y->group) ?: pfs_order(x->first, y->first);
}

/* ---- the order of rows ---- */

const char *const pfs_plot_sort_names[PFS_PLOT_SORTS] = { "address", "faults" };

struct order {
	uint64_t count;
	uint32_t nr;
};

static int compare_orders(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return pfs_order(x->count, y->count) ?: pfs_order(x->nr, y->nr);
}

/* order[i].nr becomes the present place of what is to be the i-th, place[k] the new one of the k-th. */
static void find_places(struct order *order, uint32_t *place, uint32_t nr)
{
	qsort(order, nr, sizeof(*order), compare_orders);
	for (uint32_t i = 0; i < nr; i++)
		place[order[i].nr] = i;
}

/* Counterparts stay together: both count as much as they do together. */
static void join_orders(const struct pfs_plot *plot, const struct pfs_plot_band *bands, struct order *order)
{
	for (uint32_t i = 1; i < plot->nr_bands; i++)
		if (bands[i - 1].side && !bands[i].side && bands[i - 1].start == bands[i].start &&
		    bands[i - 1].block == bands[i].block)
			order[i - 1].count = order[i].count += order[i - 1].count;
}

/* Those with the most faults on top: blocks come from top to bottom, bands from bottom to top. */
static int sort_rows(struct pfs_plot *plot)
{
	uint32_t most = plot->nr_bands + plot->nr_blocks + 1;
	struct pfs_plot_block *blocks = calloc(most, sizeof(*blocks));
	struct pfs_plot_band *bands = calloc(most, sizeof(*bands));
	struct order *order = calloc(most, sizeof(*order));
	uint32_t *place = calloc(most, sizeof(*place));
	bool enough = blocks && bands && order && place;

	if (enough) {
		memcpy(blocks, plot->blocks, plot->nr_blocks * sizeof(*blocks));
		memcpy(bands, plot->bands, plot->nr_bands * sizeof(*bands));
		for (uint32_t i = 0; i < plot->nr_blocks; i++)
			order[i] = (struct order){ UINT64_MAX - blocks[i].faults - blocks[i].sampled, i };
		find_places(order, place, plot->nr_blocks);
		for (uint32_t i = 0; i < plot->nr_blocks; i++)
			plot->blocks[i] = blocks[order[i].nr];
		for (uint32_t i = 0; i < plot->nr_bands; i++) {
			bands[i].block = place[bands[i].block];
			order[i] = (struct order){ bands[i].faults + bands[i].sampled, i };
		}
		join_orders(plot, bands, order);
		find_places(order, place, plot->nr_bands);
		for (uint32_t i = 0; i < plot->nr_bands; i++)
			plot->bands[i] = bands[order[i].nr];
		for (uint32_t i = 0; i < plot->nr_segments; i++)
			plot->segments[i].band = place[plot->segments[i].band];
	}
	free(blocks);
	free(bands);
	free(order);
	free(place);
	return enough ? 0 : -ENOMEM;
}

int pfs_plot_lay_out(struct pfs_plot *plot, struct pfs_plot_data *data, uint32_t max_bands, enum pfs_plot_sort sort)
{
	struct pfs_plot_cells *cells = &data->cells;
	struct layout l = {
		.plot = plot,
		.max_blocks = max_bands >= 2 * MAX_BLOCKS ? MAX_BLOCKS
			      : max_bands > 3		  ? max_bands / 2
							  : 1,
	};
	int ret;

	*plot = (struct pfs_plot){ .data = data, .sort = sort };
	plot->unit_shift = data->model->page_shift + cells->page_shift;
	plot->nr_bins = cells->last_bin - cells->first_bin + 1;
	plot->from_ns = cells->first_bin << cells->time_shift;
	plot->to_ns = cells->last_bin < UINT64_MAX >> cells->time_shift ? (cells->last_bin + 1) << cells->time_shift
									: UINT64_MAX;
	pfs_plot_cells_sort(cells);
	ret = layout_blocks(&l);
	if (!ret)
		ret = layout_strips(&l);
	if (!ret)
		ret = layout_choose(&l, max_bands);
	if (!ret)
		ret = layout_bands(&l);
	if (!ret && sort == PFS_PLOT_BY_FAULTS)
		ret = sort_rows(plot);
	if (!ret && plot->nr_segments)
		qsort(plot->segments, plot->nr_segments, sizeof(*plot->segments), compare_segments);
	if (!ret)
		ret = pfs_plot_find_unobserved(plot);
	free(l.leaves);
	free(l.strips);
	free(l.block_of);
	if (ret)
		pfs_plot_fini(plot);
	return ret;
}

void pfs_plot_fini(struct pfs_plot *plot)
{
	for (uint32_t i = 0; plot->bands && i <= plot->nr_bands; i++)
		free(plot->bands[i].label);
	for (uint32_t i = 0; plot->blocks && i <= MAX_BLOCKS; i++)
		free(plot->blocks[i].label);
	free(plot->blocks);
	free(plot->bands);
	free(plot->segments);
	free(plot->unobserved);
	*plot = (struct pfs_plot){ 0 };
}

const struct pfs_plot_segment *pfs_plot_find(const struct pfs_plot_segment *from, const struct pfs_plot_cell *cell)
{
	while (from->group < cell->group || (from->group == cell->group && from->last < cell->page))
		from++;
	return from;
}

double pfs_plot_place(const struct pfs_plot_segment *segment, const struct pfs_plot_cell *cell)
{
	return segment->at + segment->len * (cell->page - segment->first + 0.5) / (segment->last - segment->first + 1);
}
