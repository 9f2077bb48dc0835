/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that a source counted by page and told at the end: a `fault` with a `count`. model.c calls
 * it.
 *
 * By then the region may have gone, the process may have exited. A page is looked for in what
 * lives, then in what went last; so of several regions that were at an address one after the other,
 * the newest gets all.
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

static int mark(struct pfs_pages *pages, const struct pfs_event *ev)
{
	unsigned int access = pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0;
	bool kernel = pfs_has(ev, PFS_F_MODE) && ev->mode == PFS_KERNEL;
	uint32_t nr = ev->count > UINT32_MAX ? UINT32_MAX : ev->count;
	struct pfs_page what = {
		.first_ns = ev->ts_ns,
		.last_ns = ev->ts_ns,
		.first_tid = ev->tid,
		.flags = access == PFS_READ	 ? PFS_PAGE_READ
			 : access == PFS_WRITE	 ? PFS_PAGE_WRITE
			 : access == PFS_EXECUTE ? PFS_PAGE_EXEC
						 : PFS_PAGE_ACCESS_UNKNOWN,
		.nr_faults = nr,
		.nr_read = access == PFS_READ ? nr : 0,
		.nr_write = access == PFS_WRITE ? nr : 0,
		.nr_exec = access == PFS_EXECUTE ? nr : 0,
		.nr_kernel = kernel ? nr : 0,
	};

	what.flags |= kernel ? PFS_PAGE_KERNEL : PFS_PAGE_USER;
	return pfs_pages_add(pages, ev->addr, &what);
}

static void count(struct pfs_counts *counts, const struct pfs_event *ev, bool outside)
{
	counts->faults += ev->count;
	switch (pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0) {
	case PFS_READ:
		counts->read += ev->count;
		break;
	case PFS_WRITE:
		counts->write += ev->count;
		break;
	case PFS_EXECUTE:
		counts->exec += ev->count;
		break;
	default:
		counts->access_unknown += ev->count;
	}
	if (pfs_has(ev, PFS_F_MODE))
		*(ev->mode == PFS_USER ? &counts->user : &counts->kernel) += ev->count;
	counts->outside += outside ? ev->count : 0;
}

int touch_counted(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		  struct pfs_outcome *outcome)
{
	struct pfs_space *space;
	struct pfs_region *region = find_ever(thread->proc, ev->addr, &space);
	struct pfs_pages *pages;

	thread->fault_space = NULL; /* nothing that follows came of it */
	if (model->priv->muted)
		return 0;
	pages = pfs_space_pages(space, region);
	if (!pages || mark(pages, ev))
		return -ENOMEM;
	count(model_counts(model, space), ev, !region);
	if (!space->launcher)
		count(&thread->proc->counts, ev, !region);
	thread->nr_faults += ev->count;
	outcome->space = space;
	return 0;
}
