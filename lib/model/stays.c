/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --refault could not observe: pages that stayed in memory when it took pages away, by range and interval, and
 * intervals in which it took none away. model.c passes on the notes; views ask by region.
 */
#include "model/model_priv.h"

#include "base/array.h"

#include <errno.h>

/* Those that reach into the range end: a new note of it has come. */
static void close_stays(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < space->nr_staying; i++) {
		struct pfs_stay *stay = &space->stays[space->staying[i]];

		if (stay->start < end && stay->end > start)
			stay->to_ns = now_ns;
		else
			space->staying[kept++] = space->staying[i];
	}
	space->nr_staying = kept;
}

int stay_apply(struct pfs_model *model, const struct pfs_fact *fact, uint64_t now_ns)
{
	struct pfs_proc *proc = pfs_model_proc(model, fact->pid);
	struct pfs_space *space = proc ? pfs_proc_space(proc) : NULL;
	struct pfs_stay *stay;
	uint32_t *staying;

	if (!space)
		return 0;
	close_stays(space, fact->start, fact->end, now_ns);
	if (!fact->count)
		return 0;
	stay = pfs_array_append(space->stays, space->nr_stays);
	if (!stay)
		return -ENOMEM;
	*stay = (struct pfs_stay){ fact->start, fact->end, now_ns, UINT64_MAX, fact->count, fact->tick.pages.pages };
	staying = pfs_array_append(space->staying, space->nr_staying);
	if (!staying)
		return -ENOMEM;
	*staying = space->nr_stays - 1;
	return 0;
}

int stay_tick(struct pfs_model *model, const struct pfs_refault_tick *tick, uint64_t now_ns)
{
	struct pfs_quiet *last = model->nr_quiet ? &model->quiet[model->nr_quiet - 1] : NULL;
	bool open = last && last->to_ns == UINT64_MAX;

	if (open && tick->cycle)
		last->to_ns = now_ns;
	if (open || tick->cycle)
		return 0;
	last = pfs_array_append(model->quiet, model->nr_quiet);
	if (!last)
		return -ENOMEM;
	*last = (struct pfs_quiet){ now_ns, UINT64_MAX };
	return 0;
}

bool pfs_stay_next(const struct pfs_space *space, const struct pfs_region *region, unsigned int page_shift,
		   unsigned int *at, struct pfs_stay *stay)
{
	while (*at < space->nr_stays) {
		uint64_t all;

		*stay = space->stays[(*at)++];
		if (stay->start >= region->end || stay->end <= region->start || stay->from_ns < region->born_ns ||
		    stay->from_ns >= region->died_ns)
			continue;
		stay->start = stay->start < region->start ? region->start : stay->start;
		stay->end = stay->end > region->end ? region->end : stay->end;
		stay->to_ns = stay->to_ns > region->died_ns ? region->died_ns : stay->to_ns;
		all = (stay->end - stay->start) >> page_shift;
		stay->pages = stay->pages > all ? all : stay->pages;
		stay->of = stay->of > all ? all : stay->of;
		return true;
	}
	return false;
}
