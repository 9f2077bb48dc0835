/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a plot: see plot/plot.h. Strips (plot/strips.c) become bands in order of address; where there are too
 * many, adjacent small strips share a band.
 */
#include "plot/layout_priv.h"

#include "base/array.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_FOLD = 16 }; /* shorter runs of untouched units are not folded */

static int label_band(struct plot_layout *l, struct pfs_plot_band *band, const struct plot_strip *strips, uint32_t nr)
{
	char escaped[PFS_LABEL_MAX];

	if (nr > 1) {
		if (asprintf(&band->label, "%" PRIu32 " small regions", nr) >= 0)
			return 0;
		band->label = NULL;
		return -ENOMEM;
	}
	band->name = plot_group_of(l, strips->group)->name;
	band->unknown = plot_group_of(l, strips->group)->unknown;
	pfs_plot_escape(escaped, sizeof(escaped), band->name);
	band->label = strdup(pfs_label_base(escaped));
	return band->label ? 0 : -ENOMEM;
}

/* Gaps of this many untouched units are folded: a quarter of the touched ones or more. */
static uint64_t fold_from(const struct plot_strip *strips, uint32_t nr)
{
	uint64_t touched = 0;

	for (uint32_t i = 0; i < nr; i++)
		touched += strips[i].end - strips[i].first;
	return touched / 4 > MIN_FOLD ? touched / 4 : MIN_FOLD;
}

static void add_segments(struct plot_layout *l, const struct plot_strip *strip, uint64_t fold)
{
	struct pfs_plot *plot = l->plot;
	struct pfs_plot_segment *segment = NULL;

	for (uint32_t i = strip->first; i < strip->end; i++) {
		uint64_t page = l->leaves[i].page;

		if (!segment || page - segment->last - 1 >= fold) {
			segment = &plot->segments[plot->nr_segments++];
			*segment = (struct pfs_plot_segment){ .group = strip->group,
							      .band = plot->nr_bands,
							      .first = page };
		}
		segment->last = page;
		plot->bands[plot->nr_bands].faults += l->leaves[i].faults;
		plot->bands[plot->nr_bands].sampled += l->leaves[i].sampled;
	}
}

/* Places the segments in the band, with a gap for each fold. */
static void place_segments(struct pfs_plot_band *band, struct pfs_plot_segment *segments, uint32_t nr)
{
	double units = 0, gap = 0, at = 0;

	for (uint32_t i = 0; i < nr; i++) {
		units += segments[i].last - segments[i].first + 1;
		band->nr_folds += i && segments[i].first != segments[i - 1].last + 1;
	}
	if (band->nr_folds) {
		gap = units / 40 > 1 ? units / 40 : 1;
		if (gap * band->nr_folds > units / 4)
			gap = units / 4 / band->nr_folds;
	}
	band->pages = units + gap * band->nr_folds;
	for (uint32_t i = 0; i < nr; i++) {
		if (i && segments[i].first != segments[i - 1].last + 1)
			at += gap;
		segments[i].at = at / band->pages;
		segments[i].len = (segments[i].last - segments[i].first + 1) / band->pages;
		at += segments[i].last - segments[i].first + 1;
	}
}

static int add_band(struct plot_layout *l, const struct plot_strip *strips, uint32_t nr)
{
	struct pfs_plot *plot = l->plot;
	struct pfs_plot_band *band = &plot->bands[plot->nr_bands];
	uint32_t first = plot->nr_segments;
	uint64_t fold = fold_from(strips, nr);
	int ret = label_band(l, band, strips, nr);

	if (ret)
		return ret;
	band->block = strips->block;
	for (uint32_t i = 0; i < nr; i++)
		add_segments(l, &strips[i], fold);
	band->start = strips->start;
	for (uint32_t i = first; i < plot->nr_segments; i++) {
		uint64_t end = (plot->segments[i].last + 1) << plot->unit_shift;

		band->end = i == first || end - 1 > band->end - 1 ? end : band->end;
	}
	place_segments(band, plot->segments + first, plot->nr_segments - first);
	plot->blocks[band->block].faults += band->faults;
	plot->blocks[band->block].sampled += band->sampled;
	plot->nr_bands++;
	return 0;
}

static int make_bands(struct plot_layout *l)
{
	struct pfs_plot *plot = l->plot;
	uint32_t next;
	int ret = 0;

	plot->bands = calloc(l->nr_strips + 1, sizeof(*plot->bands));
	plot->segments = malloc((l->nr_leaves + 1) * sizeof(*plot->segments));
	if (!plot->bands || !plot->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_strips && !ret; i = next) {
		const struct plot_strip *strip = &l->strips[i];

		next = i + 1;
		while (!strip->own && next < l->nr_strips && !l->strips[next].own &&
		       l->strips[next].block == strip->block)
			next++;
		ret = add_band(l, strip, next - i);
	}
	return ret;
}

static int compare_segments(const void *a, const void *b)
{
	const struct pfs_plot_segment *x = a, *y = b;

	return pfs_order(x->group, y->group) ?: pfs_order(x->first, y->first);
}

int pfs_plot_lay_out(struct pfs_plot *plot, struct pfs_plot_data *data, uint32_t max_bands)
{
	struct pfs_plot_cells *cells = &data->cells;
	struct plot_layout l = {
		.plot = plot,
		.max_blocks = max_bands >= 2 * PLOT_MAX_BLOCKS ? PLOT_MAX_BLOCKS
			      : max_bands > 3		       ? max_bands / 2
							       : 1,
	};
	int ret;

	*plot = (struct pfs_plot){ .data = data };
	plot->unit_shift = data->model->page_shift + cells->page_shift;
	plot->nr_bins = cells->last_bin - cells->first_bin + 1;
	plot->from_ns = cells->first_bin << cells->time_shift;
	plot->to_ns = cells->last_bin < UINT64_MAX >> cells->time_shift ? (cells->last_bin + 1) << cells->time_shift
									: UINT64_MAX;
	pfs_plot_cells_sort(cells);
	ret = plot_blocks_make(&l);
	if (!ret)
		ret = plot_strips_make(&l);
	if (!ret)
		ret = plot_strips_choose(&l, max_bands);
	if (!ret)
		ret = make_bands(&l);
	if (!ret && plot->nr_segments)
		qsort(plot->segments, plot->nr_segments, sizeof(*plot->segments), compare_segments);
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
	for (uint32_t i = 0; plot->blocks && i <= PLOT_MAX_BLOCKS; i++)
		free(plot->blocks[i].label);
	free(plot->blocks);
	free(plot->bands);
	free(plot->segments);
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
