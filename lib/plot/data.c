/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events into cells: see plot/data.h.
 */
#include "plot/data.h"

#include "model/space.h"
#include "plot/data_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEIGHBOURS = 8 };

struct pfs_plot_data *pfs_plot_data_new(const struct pfs_model *model, const struct pfs_filter *filter)
{
	struct pfs_plot_data *data = calloc(1, sizeof(*data) + sizeof(*data->priv));

	if (!data)
		return NULL;
	data->model = data->side[0].model = model;
	data->nr_sides = 1;
	data->filter = filter;
	data->cells.max = PFS_PLOT_MAX_CELLS;
	data->priv = (struct pfs_plot_data_private *)(data + 1);
	data->sites = calloc(1, sizeof(*data->sites));
	data->nr_sites = data->max_sites = 1;
	if (!data->sites) {
		free(data);
		return NULL;
	}
	return data;
}

void pfs_plot_data_free(struct pfs_plot_data *data)
{
	if (!data)
		return;
	for (uint32_t i = 0; i < data->nr_groups; i++)
		free(data->groups[i].ranges);
	plot_numbers_free(data->priv);
	pfs_intern_free(data->priv->names);
	pfs_plot_cells_fini(&data->cells);
	free(data->images);
	free(data->groups);
	free(data->threads);
	free(data->sites);
	free(data);
}

static bool is_region_wanted(const struct pfs_plot_data *data, const struct pfs_region *region, const char *name,
			     uint64_t addr)
{
	uint64_t page = addr >> data->model->page_shift << data->model->page_shift;

	if (region)
		return pfs_filter_memory(data->filter, region, name);
	return pfs_filter_region(data->filter, PFS_PLOT_NO_REGION, page, page + (1 << data->model->page_shift));
}

/*
 * Extends the group's ranges by the region and its neighbours of the same name: the pieces of a file are one band, also
 * if some between them are never touched. A few at a time; others follow when they are touched.
 */
static int reach(struct pfs_plot_group *group, const struct pfs_space *space, const struct pfs_region *region)
{
	const char *name = pfs_region_name(space, region);
	unsigned int at = pfs_space_lower(space, region->start), low = at, high = at;

	while (low && at - low < MAX_NEIGHBOURS && space->live[low - 1]->end == space->live[low]->start &&
	       pfs_region_name(space, space->live[low - 1]) == name)
		low--;
	while (high + 1 < space->nr_live && high - at < MAX_NEIGHBOURS &&
	       space->live[high]->end == space->live[high + 1]->start &&
	       pfs_region_name(space, space->live[high + 1]) == name)
		high++;
	return plot_group_reach(group, space->live[low]->start, space->live[high]->end);
}

/* Finds image and group of the page; often they are those of the last one. */
static int look_at(struct pfs_plot_data *data, struct pfs_space *space, const struct pfs_region *region, uint64_t addr)
{
	struct plot_place *place = &data->priv->place;
	const char *name = region ? pfs_region_name(space, region) : NULL, *kind;
	int ret;

	if (region && place->space == space && place->region == region && place->name == name &&
	    place->start == region->start && place->end == region->end)
		return 0;
	*place = (struct plot_place){ .space = space, .region = region, .name = name };
	ret = plot_image_number(data, space, &place->image);
	if (ret)
		return ret;
	kind = region ? pfs_region_kind(region, name) : PFS_PLOT_NO_REGION;
	place->wanted = is_region_wanted(data, region, name, addr);
	if (region) {
		place->start = region->start;
		place->end = region->end;
	}
	if (!place->wanted)
		return 0;
	ret = plot_group_number(data, place->image, kind ? kind : name, &place->group);
	if (ret)
		return ret;
	data->groups[place->group].nameless = region && kind;
	if (region)
		return reach(&data->groups[place->group], space, region);
	data->groups[place->group].unknown = true;
	return 0;
}

/* Counts the thread's last touches at the current place, in the cells or as left out. */
static int count(struct pfs_plot_data *data, struct plot_slot *slot)
{
	const struct plot_place *place = &data->priv->place;
	struct pfs_plot_cell *cell = &slot->thread.last;
	uint64_t nr = cell->count;
	int ret;

	data->left_out += place->wanted ? 0 : nr;
	if (!place->wanted)
		return 0;
	cell->group = place->group;
	ret = pfs_plot_cells_add(&data->cells, cell);
	if (ret)
		return ret;
	cell->count = 1;
	slot->thread.has_last = true;
	data->threads[slot->nr].count += nr;
	data->images[place->image].count += nr;
	*(cell->kind.sampled ? &data->sampled : &data->faults) += nr;
	data->outside += !cell->kind.sampled && !place->region;
	return 0;
}

/* Takes back the count of a fault in no known region. */
static void count_back(struct pfs_plot_data *data, struct plot_slot *slot)
{
	if (!slot->thread.has_last) {
		data->left_out--;
		return;
	}
	pfs_plot_cells_remove(&data->cells, &slot->thread.last);
	slot->thread.has_last = false;
	data->threads[slot->nr].count--;
	data->images[data->priv->place.image].count--;
	data->faults--;
	data->outside--;
}

/* A touch at the current place, by an instruction in that mode (0: unknown). */
static int touch(struct pfs_plot_data *data, struct plot_slot *slot, const struct pfs_outcome *outcome,
		 const struct pfs_plot_cell *touch, uint64_t ip, unsigned int mode)
{
	struct pfs_plot_data_private *priv = data->priv;
	struct pfs_space *space = outcome->space;
	int ret = 0;

	slot->thread.last = *touch;
	slot->thread.has_last = false;
	slot->thread.outside = !touch->kind.sampled && !outcome->region;
	if (ip != PLOT_NO_IP && (priv->place.wanted || slot->thread.outside))
		ret = plot_site_number(data, space, ip, mode, &slot->thread.last.site);
	return ret ? ret : count(data, slot);
}

static int touch_once(struct pfs_plot_data *data, struct plot_slot *slot, const struct pfs_event *ev,
		      const struct pfs_outcome *outcome)
{
	const struct pfs_plot_cell cell = {
		.count = 1,
		.page = ev->addr >> data->model->page_shift,
		.ts_ns = ev->ts_ns,
		.addr = ev->addr,
		.thread = slot->nr,
		.kind = {
			.access = pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0,
			.class = pfs_has(ev, PFS_F_CLASS) && ev->class <= PFS_MAJOR_CLASS ? ev->class : 0,
			.sampled = ev->kind == PFS_ACCESS,
			.label = ev->kind == PFS_FAULT && data->filter ? pfs_labels_last(data->filter->labelled) : 0,
		},
	};
	int ret = look_at(data, outcome->space, outcome->region, ev->addr);

	return ret ? ret
		   : touch(data, slot, outcome, &cell, pfs_has(ev, PFS_F_IP) ? ev->ip : PLOT_NO_IP,
			   pfs_has(ev, PFS_F_MODE) ? ev->mode : 0);
}

/* The thread's last fault made the stack grow, so it lies in it. */
static int grown(struct pfs_plot_data *data, struct plot_slot *slot, const struct pfs_outcome *outcome)
{
	int ret;

	if (!slot->thread.outside)
		return 0;
	slot->thread.outside = false;
	ret = look_at(data, outcome->space, outcome->region, slot->thread.last.addr);
	if (ret)
		return ret;
	count_back(data, slot);
	return count(data, slot);
}

/* The thread's last fault turns out to be major, or ended in a signal. */
static int learn(struct pfs_plot_data *data, struct plot_slot *slot, enum pfs_kind what)
{
	struct pfs_plot_cell *last = &slot->thread.last;

	if (!slot->thread.has_last || !pfs_plot_cells_remove(&data->cells, last))
		return 0;
	if (what == PFS_MAJOR)
		last->kind.class = PFS_MAJOR_CLASS;
	else
		last->kind.signal = true;
	return pfs_plot_cells_add(&data->cells, last);
}

/* The shown time extends as long as shown threads have events. */
static int go_on(struct pfs_plot_data *data, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	if (!data->cells.any || !pfs_kind_is(ev, PFS_KIND_THREAD) || outcome->muted)
		return 0;
	return pfs_plot_cells_reach(&data->cells, ev->ts_ns);
}

static bool is_shown(const struct pfs_outcome *outcome)
{
	return outcome->space && !outcome->space->launcher;
}

static int feed_of_thread(struct pfs_plot_data *data, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct plot_slot *slot;
	int ret = plot_thread_number(data, outcome->thread, &slot);

	if (ret)
		return ret;
	switch (ev->kind) {
	case PFS_FAULT:
	case PFS_ACCESS:
		return is_shown(outcome) ? touch_once(data, slot, ev, outcome) : 0;
	case PFS_MAJOR:
	case PFS_SIGNAL:
		return is_shown(outcome) ? learn(data, slot, ev->kind) : 0;
	case PFS_MAP:
		ret = is_shown(outcome) ? grown(data, slot, outcome) : 0;
		return ret ? ret : go_on(data, ev, outcome);
	default:
		return go_on(data, ev, outcome);
	}
}

/* Regions of which --refault could not take all away, and that time, are in the plot, also if there is never a touch. */
static int feed_note(struct pfs_plot_data *data, const struct pfs_event *ev)
{
	const struct pfs_proc *proc;
	struct pfs_space *space;
	struct pfs_fact fact;
	bool wanted = false;
	int ret = 0;

	if (!pfs_has(ev, PFS_F_KEY) || !pfs_has(ev, PFS_F_VALUE) || pfs_note_find(ev->key) != PFS_NOTE_REFAULT_STAYED ||
	    !pfs_note_read(&fact, ev->key, ev->value))
		return 0;
	proc = pfs_model_proc(data->model, fact.pid);
	space = proc && pfs_filter_proc(data->filter, data->model, proc) ? pfs_proc_space(proc) : NULL;
	for (unsigned int i = space ? pfs_space_lower(space, fact.start) : 0;
	     !ret && space && i < space->nr_live && space->live[i]->start < fact.end; i++) {
		ret = look_at(data, space, space->live[i], space->live[i]->start);
		if (!ret && data->priv->place.wanted)
			wanted = data->images[data->priv->place.image].unobserved = true;
	}
	if (data->filter && data->filter->from.set)
		wanted &= ev->ts_ns >= pfs_time_ns(&data->filter->from, data->model);
	return ret || !wanted ? ret : pfs_plot_cells_reach(&data->cells, ev->ts_ns);
}

static int feed(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pfs_plot_data *data = ctx;

	data->priv->layout += !pfs_kind_is(ev, PFS_KIND_FILTERED);
	if (ev->kind == PFS_FAULT && pfs_has(ev, PFS_F_COUNT))
		data->timeless += is_shown(outcome) ? ev->count : 0;
	else if (ev->kind == PFS_NOTE && !outcome->thread)
		return feed_note(data, ev);
	else if (outcome->thread)
		return feed_of_thread(data, ev, outcome);
	return 0;
}

/* The end of the faults of the run that fall into the cell of the i-th, not before it. */
static uint32_t cell_end(const struct pfs_plot_data *data, const struct pfs_fault_run *run, uint32_t i)
{
	unsigned int page_shift = data->model->page_shift + data->cells.page_shift;
	uint32_t end = i + 1;

	while (end < run->nr && run->ts_ns[end] >= run->ts_ns[i] && !((run->addr[end] ^ run->addr[i]) >> page_shift) &&
	       !((run->ts_ns[end] ^ run->ts_ns[i]) >> data->cells.time_shift))
		end++;
	return end;
}

/* The first fault sets time and place of a new cell. Those behind it count as one touch, with the place of the last. */
static int feed_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	struct pfs_plot_data *data = ctx;
	struct plot_slot *slot;
	struct pfs_plot_cell cell = { .kind.access = run->access <= PFS_EXECUTE ? run->access : 0 };
	int ret = plot_thread_number(data, outcome->thread, &slot);

	if (ret || !is_shown(outcome))
		return ret;
	cell.thread = slot->nr;
	for (uint32_t i = 0, end = 0; i < run->nr && !ret; i++) {
		cell.count = i < end ? end - i : 1;
		if (i < end)
			i = end - 1;
		else if (outcome->region)
			end = cell_end(data, run, i);
		cell.ts_ns = run->ts_ns[i];
		cell.addr = run->addr[i];
		cell.page = cell.addr >> data->model->page_shift;
		if (!i || !outcome->region)
			ret = look_at(data, outcome->space, outcome->region, cell.addr);
		if (!ret)
			ret = touch(data, slot, outcome, &cell, run->ip[i], run->mode);
	}
	return ret;
}

struct pfs_observer pfs_plot_data_observer(struct pfs_plot_data *data)
{
	return (struct pfs_observer){ feed, feed_faults, data };
}
