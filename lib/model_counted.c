/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that a source counted by page and told at the end: a `fault` with a `count`. model.c calls
 * it.
 *
 * By then the region may have gone, the process may have exited. A page is looked for in what
 * lives, then in what went last; so of several regions that were at an address one after the other,
 * the newest gets all.
 */
#include "model_priv.h"

#include "space.h"

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

static void add(uint32_t *to, uint64_t n)
{
	*to = n > UINT32_MAX - *to ? UINT32_MAX : *to + (uint32_t)n;
}

static void mark_page(struct pfs_page *page, const struct pfs_event *ev)
{
	unsigned int access = pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0;
	bool kernel = pfs_has(ev, PFS_F_MODE) && ev->mode == PFS_KERNEL;

	if (!page->flags)
		page->first_ns = ev->ts_ns;
	if (!page->nr_faults)
		page->first_tid = ev->tid;
	page->last_ns = ev->ts_ns;
	page->flags |= access == PFS_READ ? PFS_PAGE_READ : access == PFS_WRITE ? PFS_PAGE_WRITE :
		       access == PFS_EXECUTE ? PFS_PAGE_EXEC : PFS_PAGE_ACCESS_UNKNOWN;
	page->flags |= kernel ? PFS_PAGE_KERNEL : PFS_PAGE_USER;
	add(&page->nr_faults, ev->count);
	if (access == PFS_READ)
		add(&page->nr_read, ev->count);
	else if (access == PFS_WRITE)
		add(&page->nr_write, ev->count);
	else if (access == PFS_EXECUTE)
		add(&page->nr_exec, ev->count);
	if (kernel)
		add(&page->nr_kernel, ev->count);
}

static void count(struct pfs_counts *counts, const struct pfs_event *ev, bool outside)
{
	counts->faults += ev->count;
	switch (pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0) {
	case PFS_READ: counts->read += ev->count; break;
	case PFS_WRITE: counts->write += ev->count; break;
	case PFS_EXECUTE: counts->exec += ev->count; break;
	default: counts->access_unknown += ev->count;
	}
	if (pfs_has(ev, PFS_F_MODE))
		*(ev->mode == PFS_USER ? &counts->user : &counts->kernel) += ev->count;
	counts->outside += outside ? ev->count : 0;
}

int touch_counted(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev)
{
	struct pfs_space *space;
	struct pfs_region *region = find_ever(thread->proc, ev->addr, &space);
	struct pfs_pages *pages;
	struct pfs_page *page;

	thread->fault_space = NULL;	/* nothing that follows came of it */
	if (model->priv->muted)
		return 0;
	pages = pfs_space_pages(space, region);
	page = pages ? pfs_pages_get(pages, ev->addr) : NULL;
	if (!page)
		return -ENOMEM;
	mark_page(page, ev);
	count(model_counts(model, space), ev, !region);
	if (!space->launcher)
		count(&thread->proc->counts, ev, !region);
	thread->nr_faults += ev->count;
	return 0;
}
