/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bands of strips: their labels, thumbs and segments. See layout_priv.h. */
#include "plot/layout_priv.h"

#include "base/array.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIN_FOLD = 16 }; /* shorter runs of untouched units are not folded */

/* "libc.so.6"; a region without a name has its first address and size: "anon 7f1c40000000 64K". Allocated, or NULL. */
static char *strip_label(const struct layout *l, const struct strip *strip)
{
	const struct pfs_plot_group *group = group_of(l, strip->group);
	const char *side = pfs_plot_side_text(l->plot->data, strip->side);
	uint32_t nr = pfs_plot_find_range(l->plot, strip->group, l->leaves[strip->first].page);
	const struct pfs_plot_range *range = group->nameless && nr < group->nr_ranges ? &group->ranges[nr] : NULL;
	char escaped[PFS_LABEL_MAX], size[8], *label;
	int ret;

	pfs_plot_escape(escaped, sizeof(escaped), group->name);
	if (range)
		ret = asprintf(&label, "%s%s %" PRIx64 " %s", side, escaped, range->start - range->shift,
			       pfs_size_text(size, range->end - range->start - range->grown));
	else
		ret = asprintf(&label, "%s%s", side, pfs_label_base(escaped));
	return ret < 0 ? NULL : label;
}

static int label_band(struct layout *l, struct pfs_plot_band *band, const struct strip *strips, uint32_t nr)
{
	if (nr > 1) {
		if (asprintf(&band->label, "%s%" PRIu32 " small regions",
			     pfs_plot_side_text(l->plot->data, strips->side), nr) >= 0)
			return 0;
		band->label = NULL;
		return -ENOMEM;
	}
	band->name = group_of(l, strips->group)->name;
	band->unknown = group_of(l, strips->group)->unknown;
	band->label = strip_label(l, strips);
	return band->label ? 0 : -ENOMEM;
}

/* The pages of the strip's region, else those of its leaves. */
static void extent_of(const struct layout *l, const struct strip *strip, uint64_t *first, uint64_t *end)
{
	uint32_t ruler = ruler_of(l, strip->group);
	const struct pfs_plot_group *group = group_of(l, ruler);
	uint32_t range = pfs_plot_find_range(l->plot, ruler, l->leaves[strip->first].page);

	*first = l->leaves[strip->first].page;
	*end = l->leaves[strip->end - 1].page + 1;
	if (range < group->nr_ranges && group->ranges[range].start >> l->plot->unit_shift <= *first) {
		*first = group->ranges[range].start >> l->plot->unit_shift;
		*end = ((group->ranges[range].end - 1) >> l->plot->unit_shift) + 1;
	}
}

/* Regions that share a band are side by side in it, each as large as it is. */
static void fill_thumb(const struct layout *l, struct pfs_plot_band *band, const struct strip *strips, uint32_t nr)
{
	double part[PFS_PLOT_THUMB] = { 0 }, all = 0, before = 0;
	uint64_t first, end;

	for (uint32_t i = 0; i < nr; i++) {
		extent_of(l, &strips[i], &first, &end);
		all += end - first;
	}
	for (uint32_t i = 0; i < nr; before += end - first, i++) {
		extent_of(l, &strips[i], &first, &end);
		for (uint32_t k = strips[i].first; k < strips[i].end; k++) {
			const struct leaf *leaf = &l->leaves[k];
			double from = (before + (leaf->page - first)) / all * PFS_PLOT_THUMB;
			double to = from + PFS_PLOT_THUMB / all;

			for (uint32_t at = from; leaf->faults + leaf->sampled && at < to && at < PFS_PLOT_THUMB; at++)
				part[at] += fmin(to, at + 1) - fmax(from, at);
		}
	}
	for (uint32_t at = 0; at < PFS_PLOT_THUMB; at++)
		band->thumb[at] = fmin(8, ceil(part[at] * 8 - 1e-6));
}

/* Gaps of this many untouched units are folded: a quarter of the touched ones or more. */
static uint64_t fold_from(const struct strip *strips, uint32_t nr)
{
	uint64_t touched = 0;

	for (uint32_t i = 0; i < nr; i++)
		touched += strips[i].end - strips[i].first;
	return touched / 4 > MIN_FOLD ? touched / 4 : MIN_FOLD;
}

static void add_segments(struct layout *l, const struct strip *strip, uint64_t fold)
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

static int add_band(struct layout *l, const struct strip *strips, uint32_t nr)
{
	struct pfs_plot *plot = l->plot;
	struct pfs_plot_band *band = &plot->bands[plot->nr_bands];
	uint32_t first = plot->nr_segments;
	uint64_t fold = fold_from(strips, nr);
	int ret = label_band(l, band, strips, nr);

	if (ret)
		return ret;
	band->block = strips->block;
	band->side = strips->side;
	fill_thumb(l, band, strips, nr);
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
	plot->blocks[band->block].of_side[band->side] += band->faults + band->sampled;
	plot->nr_bands++;
	return 0;
}

static int compare_sides(const void *a, const void *b)
{
	const struct strip *x = a, *y = b;

	return pfs_order(y->side, x->side) ?: pfs_order(x->start, y->start) ?: pfs_order(x->group, y->group);
}

/* A band for the strips, or one for those of each recording. */
static int add_bands(struct layout *l, struct strip *strips, uint32_t nr)
{
	uint32_t second = 0; /* how many are of the second recording */
	int ret = 0;

	for (uint32_t i = 0; i < nr; i++)
		second += strips[i].side;
	if (second) {
		qsort(strips, nr, sizeof(*strips), compare_sides);
		ret = add_band(l, strips, second);
	}
	return ret || second == nr ? ret : add_band(l, strips + second, nr - second);
}

int layout_bands(struct layout *l)
{
	struct pfs_plot *plot = l->plot;
	uint32_t next;
	int ret = 0;

	plot->bands = calloc(l->nr_strips + 1, sizeof(*plot->bands));
	plot->segments = malloc((l->nr_leaves + 1) * sizeof(*plot->segments));
	if (!plot->bands || !plot->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_strips && !ret; i = next) {
		const struct strip *strip = &l->strips[i];

		next = i + 1;
		while (!strip->own && next < l->nr_strips && !l->strips[next].own &&
		       l->strips[next].block == strip->block)
			next++;
		ret = add_bands(l, &l->strips[i], next - i);
	}
	return ret;
}
