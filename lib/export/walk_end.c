/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a format gets at the end: regions in order of their birth, losses; and the charts over time. */
#include "export/walk_priv.h"

#include "base/array.h"
#include "base/units.h"
#include "model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct born {
	const struct pfs_region *region;
	const struct pfs_space *space;
	const struct pfs_proc *proc;
	uint64_t from_ns, to_ns;
	uint32_t nr;
};

struct births {
	struct born *all;
	size_t nr, max;
};

static int by_birth(const void *a, const void *b)
{
	const struct born *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->nr < y->nr ? -1 : x->nr > y->nr;
}

static int add_births(struct viewer_walk *walk, struct births *births, const struct pfs_proc *proc,
		      const struct pfs_epoch *epoch)
{
	const struct pfs_viewer *v = walk->viewer;
	const struct pfs_space *space = epoch->space;

	for (unsigned int i = 0; i < space->nr_live + space->nr_retired; i++) {
		const struct pfs_region *r = i < space->nr_live ? space->live[i] : space->retired[i - space->nr_live];
		uint64_t from = r->born_ns > v->first_ns ? r->born_ns : v->first_ns;
		uint64_t to = r->died_ns < v->end_ns ? r->died_ns : v->end_ns;
		struct born *born;

		if (to < from || !pfs_filter_memory(v->options.filter, r, pfs_region_name(space, r)))
			continue;
		born = pfs_array_add(births->all, births->nr, births->max);
		if (!born)
			return -ENOMEM;
		*born = (struct born){ r, space, proc, from, to, births->nr };
	}
	return 0;
}

static uint64_t faults_in(const struct pfs_region *region)
{
	struct pfs_page_walk walk;
	const struct pfs_page *page;
	uint64_t nr, sum = 0;

	if (!region->pages)
		return 0;
	pfs_page_walk_start(&walk, region->pages, region->start, region->end);
	while ((page = pfs_page_walk_row(&walk, &nr)))
		sum += page->nr_faults * nr;
	return sum;
}

static int put_region(struct viewer_walk *walk, const struct born *born)
{
	struct pfs_viewer *v = walk->viewer;
	const struct pfs_region *r = born->region;
	const char *name = pfs_region_name(born->space, r), *kind = pfs_region_kind(r, name);
	struct viewer_region region = {
		.start = r->start,
		.end = r->end,
		.born_ns = born->from_ns,
		.died_ns = born->to_ns,
		.proc = viewer_proc_number(walk, born->proc),
		.faults = faults_in(r),
		.name = viewer_text(&v->calls, kind ? kind : name),
		.in_file = pfs_region_is_file(r),
		.has_off = pfs_region_is_file(r) && r->have & PFS_HAS(PFS_F_OFF),
		.off = r->off,
		.ino = r->ino,
		.dev = r->dev,
		.perms = "????",
	};

	if (!region.name || region.proc == UINT32_MAX)
		return -ENOMEM;
	if (r->have & PFS_HAS(PFS_F_PERMS))
		*pfs_perms_put(region.perms, r->perms) = '\0';
	if (!v->procs[region.proc]->name)
		v->procs[region.proc]->name = viewer_text(&v->calls, born->proc->comm ? born->proc->comm : "?");
	return v->procs[region.proc]->name ? v->format->region(v, &region) : -ENOMEM;
}

static int put_regions(struct viewer_walk *walk)
{
	struct pfs_viewer *v = walk->viewer;
	struct births births = { 0 };
	int ret = 0;

	for (const struct pfs_proc *proc = v->model->procs; !ret && proc; proc = proc->next)
		for (unsigned int i = 0; !ret && i < proc->nr_epochs; i++)
			if (!proc->epochs[i].shared && !proc->epochs[i].space->launcher &&
			    pfs_filter_proc(v->options.filter, v->model, proc))
				ret = add_births(walk, &births, proc, &proc->epochs[i]);
	if (births.nr)
		qsort(births.all, births.nr, sizeof(*births.all), by_birth);
	for (size_t i = 0; !ret && i < births.nr; i++)
		ret = put_region(walk, &births.all[i]);
	free(births.all);
	return ret;
}

static int put_losses(struct pfs_viewer *v)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < v->model->nr_losses; i++) {
		const struct pfs_loss *loss = &v->model->losses[i];
		uint64_t from = loss->from_ns > v->first_ns ? loss->from_ns : v->first_ns;
		uint64_t to = loss->to_ns < v->end_ns ? loss->to_ns : v->end_ns;

		if (from <= to)
			ret = v->format->lost(v, loss, from, to);
	}
	return ret;
}

int viewer_walk_end(struct viewer_walk *walk)
{
	struct pfs_viewer *v = walk->viewer;
	int ret = 0;

	while (!ret && walk->head < walk->tail)
		ret = viewer_put_oldest(walk);
	if (!ret)
		ret = viewer_writer_end(walk->writer);
	if (!walk->tail) /* else it is what it was with the first item, by which the bins of the charts go */
		v->base_ns = pfs_model_base_ns(v->model);
	v->first_ns = v->options.filter && v->options.filter->from.set ? pfs_time_ns(&v->options.filter->from, v->model)
								       : v->base_ns;
	v->end_ns = pfs_filter_end_ns(v->options.filter, v->model);
	v->end_ns = v->end_ns < v->model->last_ns ? v->end_ns : v->model->last_ns;
	if (!ret && v->format->region)
		ret = put_regions(walk);
	if (!ret && v->format->lost)
		ret = put_losses(v);
	return ret;
}

bool viewer_moment_next(const struct pfs_viewer *viewer, const struct viewer_proc *proc, struct viewer_moment *moment)
{
	static const struct viewer_bin none;
	bool first = !moment->next;
	uint32_t last;

	if (proc->first_ns == UINT64_MAX)
		return false;
	if (first)
		moment->next = viewer_ns(viewer, proc->first_ns) >> viewer->bin_shift;
	last = viewer_ns(viewer, proc->last_ns) >> viewer->bin_shift;
	while (moment->next <= last + 1) {
		const struct viewer_bin *bin = moment->next <= last ? &proc->bins[moment->next] : &none;
		uint64_t rate = bin->faults * UINT64_C(1000000000) >> viewer->bin_shift;

		moment->ts_ns = viewer->base_ns + ((uint64_t)moment->next++ << viewer->bin_shift);
		moment->new_resident = first || bin->pages;
		moment->new_rate = first || rate != moment->rate;
		moment->resident += bin->pages * (INT64_C(1) << viewer->model->page_shift);
		moment->rate = rate;
		if (moment->new_resident || moment->new_rate)
			return true;
	}
	return false;
}

static const char *name_of_recording(struct pfs_viewer *viewer)
{
	const char *command = viewer_note(viewer, "command"), *file = viewer->options.recording;

	if (command && *command)
		return command;
	return file && strcmp(file, "-") ? basename(file) : "pfscope";
}

const char *viewer_title(struct pfs_viewer *viewer)
{
	const struct pfs_model *m = viewer->model;
	const char *name = name_of_recording(viewer), *title;
	char count[64], *text;

	if (viewer->format->lost || (!m->lost && !m->lost_unknown))
		return viewer_text(&viewer->calls, name) ?: "pfscope";
	if (asprintf(&text, "%s (%s lost)", name,
		     pfs_at_least(count, sizeof(count), m->lost, m->lost_unknown, "event")) < 0)
		return "pfscope";
	title = viewer_text(&viewer->calls, text);
	free(text);
	return title ?: "pfscope";
}
