/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a plot is empty because nothing was observed: pages that stayed in memory when --refault took pages away, as areas
 * of bands. See plot/plot.h.
 */
#include "plot/plot.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int add_area(struct pfs_plot *plot, struct pfs_plot_unobserved area)
{
	struct pfs_plot_unobserved *added = pfs_array_append(plot->unobserved, plot->nr_unobserved);

	if (!added)
		return -ENOMEM;
	*added = area;
	return 0;
}

static const struct pfs_plot_side *side_of(const struct pfs_plot_data *data, uint32_t image)
{
	return &data->side[data->images[image].side];
}

static uint64_t moved(uint64_t ts_ns, uint64_t shift_ns)
{
	return ts_ns == UINT64_MAX ? ts_ns : ts_ns + shift_ns;
}

/* In each segment of the group. */
static int add_stay(struct pfs_plot *plot, uint32_t group, const struct pfs_stay *stay)
{
	const struct pfs_plot_group *of = &plot->data->groups[group];
	uint64_t shift = pfs_plot_shift_of(of, stay->start), shift_ns = side_of(plot->data, of->image)->shift_ns;
	uint64_t first = (stay->start + shift) >> plot->unit_shift, last = (stay->end - 1 + shift) >> plot->unit_shift;
	uint32_t at = pfs_lower_bound(plot->nr_segments, i, plot->segments[i].group < group);
	int ret = 0;

	for (; !ret && at < plot->nr_segments && plot->segments[at].group == group; at++) {
		const struct pfs_plot_segment *s = &plot->segments[at];
		uint64_t from = first > s->first ? first : s->first, to = last < s->last ? last : s->last;
		double unit = s->len / (s->last - s->first + 1);

		if (from <= to)
			ret = add_area(plot, (struct pfs_plot_unobserved){ s->band, s->at + unit * (from - s->first),
									   unit * (to - from + 1),
									   moved(stay->from_ns, shift_ns),
									   moved(stay->to_ns, shift_ns), false });
	}
	return ret;
}

/* Stays of one range, one after the other, become one. */
static int add_region(struct pfs_plot *plot, uint32_t group, const struct pfs_space *space,
		      const struct pfs_region *region)
{
	struct pfs_stay stay, whole = { 0 };
	unsigned int at = 0;
	int ret = 0;

	while (!ret && pfs_stay_next(space, region, plot->data->model->page_shift, &at, &stay)) {
		if (whole.to_ns == stay.from_ns && whole.start == stay.start && whole.end == stay.end) {
			whole.to_ns = stay.to_ns;
			continue;
		}
		ret = whole.to_ns ? add_stay(plot, group, &whole) : 0;
		whole = stay;
	}
	return ret || !whole.to_ns ? ret : add_stay(plot, group, &whole);
}

const struct pfs_space *pfs_plot_unobserved_space(const struct pfs_plot_data *data, uint32_t image)
{
	for (const struct pfs_proc *proc = side_of(data, image)->model->procs; proc; proc = proc->next)
		for (unsigned int i = 0; i < proc->nr_epochs; i++)
			if (proc->epochs[i].space == data->images[image].space)
				return proc->epochs[i].space->nr_stays ? proc->epochs[i].space : NULL;
	return NULL;
}

uint32_t pfs_plot_group_of(const struct pfs_plot_data *data, uint32_t image, const struct pfs_space *space,
			   const struct pfs_region *region)
{
	const char *name = pfs_region_name(space, region), *kind = pfs_region_kind(region, name);
	uint32_t nr = 0;

	name = kind ? kind : name;
	while (nr < data->nr_groups && (data->groups[nr].image != image || data->groups[nr].name != name))
		nr++;
	return nr < data->nr_groups ? pfs_plot_group_at(data, nr, region->start) : nr;
}

static int add_image(struct pfs_plot *plot, uint32_t image)
{
	const struct pfs_space *space = pfs_plot_unobserved_space(plot->data, image);
	unsigned int nr = space ? space->nr_live + space->nr_retired : 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		const struct pfs_region *region =
			i < space->nr_live ? space->live[i] : space->retired[i - space->nr_live];
		uint32_t group = pfs_plot_group_of(plot->data, image, space, region);

		if (group < plot->data->nr_groups)
			ret = add_region(plot, group, space, region);
	}
	return ret;
}

/* Intervals in which nothing was taken away, in all bands of the recording. */
static int add_quiet(struct pfs_plot *plot, uint32_t side)
{
	const struct pfs_plot_side *of = &plot->data->side[side];
	int ret = 0;

	for (unsigned int i = 0; !ret && i < of->model->nr_quiet; i++)
		for (uint32_t band = 0; !ret && band < plot->nr_bands; band++)
			if (plot->bands[band].side == side)
				ret = add_area(plot,
					       (struct pfs_plot_unobserved){
						       band, 0, 1, moved(of->model->quiet[i].from_ns, of->shift_ns),
						       moved(of->model->quiet[i].to_ns, of->shift_ns), true });
	return ret;
}

int pfs_plot_find_unobserved(struct pfs_plot *plot)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < plot->data->nr_images; i++)
		ret = add_image(plot, i);
	for (uint32_t side = 0; !ret && side < plot->data->nr_sides; side++)
		ret = add_quiet(plot, side);
	return ret;
}

bool pfs_plot_unobserved_columns(const struct pfs_plot *plot, const struct pfs_plot_grid *grid,
				 const struct pfs_plot_unobserved *area, uint32_t *first, uint32_t *end)
{
	uint64_t from = area->from_ns > plot->from_ns ? area->from_ns - plot->from_ns : 0, column = grid->column_ns;
	uint64_t to = area->to_ns < plot->to_ns ? area->to_ns : plot->to_ns;

	if (to <= plot->from_ns + from)
		return false;
	to -= plot->from_ns;
	*first = (from + (area->quiet ? column / 2 : 0)) / column;
	*end = (to + (area->quiet ? column / 2 : column - 1)) / column;
	*end = *end < grid->columns ? *end : grid->columns;
	return *first < *end;
}
