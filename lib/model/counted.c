/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that a source counted by page and reports at the end: a `fault` with a `count`. By then the region may be
 * unmapped and the process ended, so the newest region that was at the address gets all of them.
 */
#include "model/model_priv.h"

#include "model/space.h"

#include <errno.h>

static bool holds(const struct pfs_region *region, uint64_t addr)
{
	return addr >= region->start && addr < region->end;
}

/* The region that has the page or had it last, and the space it was in; NULL: none ever had. */
static struct pfs_region *find_ever(struct pfs_proc *proc, uint64_t addr, struct pfs_space **space)
{
	for (unsigned int e = proc->nr_epochs; e-- > 0;) {
		struct pfs_space *s = proc->epochs[e].space;
		struct pfs_region *live = s->launcher ? NULL : pfs_space_find(s, addr);

		*space = s;
		if (live)
			return live;
		for (unsigned int i = s->nr_retired; !s->launcher && i-- > 0;)
			if (holds(s->retired[i], addr))
				return s->retired[i];
	}
	*space = pfs_proc_space(proc);
	return NULL;
}

static int mark(struct pfs_pages *pages, const struct pfs_event *ev, const struct fault_batch *batch)
{
	uint32_t nr = ev->count > UINT32_MAX ? UINT32_MAX : ev->count;
	struct pfs_page what = {
		.first_ns = ev->ts_ns,
		.last_ns = ev->ts_ns,
		.first_tid = ev->tid,
		.flags = touch_flags(batch) | (batch->mode ? 0 : PFS_PAGE_USER),
		.nr_faults = nr,
		.nr_read = batch->access == PFS_READ ? nr : 0,
		.nr_write = batch->access == PFS_WRITE ? nr : 0,
		.nr_exec = batch->access == PFS_EXECUTE ? nr : 0,
		.nr_kernel = batch->mode == PFS_KERNEL ? nr : 0,
	};

	return pfs_pages_add(pages, ev->addr, &what);
}

int touch_counted(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		  struct pfs_outcome *outcome)
{
	const struct fault_batch batch = touch_batch(model, ev);
	struct pfs_space *space;
	struct pfs_region *region = find_ever(thread->proc, ev->addr, &space);
	struct pfs_pages *pages;

	thread->fault_space = NULL; /* nothing that follows came of it */
	if (model->priv->muted)
		return 0;
	pages = pfs_space_pages(space, region);
	if (!pages || mark(pages, ev, &batch))
		return -ENOMEM;
	touch_count(model_counts(model, space), &batch, ev->count, !region);
	if (!space->launcher)
		touch_count(&thread->proc->counts, &batch, ev->count, !region);
	thread->nr_faults += ev->count;
	outcome->space = space;
	return 0;
}
