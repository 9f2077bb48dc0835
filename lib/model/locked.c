/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of files that threads may have locked: a fault locks the folio of its page until it is mapped or copied, and
 * fault-around each folio while it maps it. Fault-around passes over what another thread has locked just then, so of two at the
 * same time neither need have mapped a page. If both map the file at the same address, the other one maps the page instead.
 * touch.c tells of faults, model.c when they are over, and around.c asks.
 */
#include "model/model_priv.h"

#include "base/array.h"
#include "model/cache.h"

#include <errno.h>

/* Fault-around maps the pages of an aligned 64 KiB, unless the kernel is set otherwise. */
#define AROUND_BYTES UINT64_C(65536)

static struct locked *current(struct pfs_model *model, const struct pfs_thread *thread)
{
	struct locked_pages *all = &model->priv->locked;

	for (size_t i = 0; thread->locks && i < all->nr; i++)
		if (all->now[i].tid == thread->tid)
			return &all->now[i];
	return NULL;
}

static void add_over(struct locked_pages *all, const struct locked *l)
{
	struct locked *slot = &all->over[all->nr_over++ % NR_LOCKS_OVER];

	all->forgotten_ns = slot->to_ns;
	*slot = *l;
}

static int begin(struct pfs_model *model, struct pfs_thread *thread, const struct locked *fresh)
{
	struct locked_pages *all = &model->priv->locked;
	struct locked *l = pfs_array_add(all->now, all->nr, all->max);

	if (!l)
		return -ENOMEM;
	*l = *fresh;
	l->to_ns = UINT64_MAX;
	thread->locks = true;
	return 0;
}

void locked_goes_on(struct pfs_model *model, struct pfs_thread *thread, uint64_t ts_ns)
{
	struct locked_pages *all = &model->priv->locked;
	struct locked *l = current(model, thread);

	thread->went_on_ns = ts_ns;
	thread->locks = false;
	if (!l)
		return;
	l->to_ns = ts_ns;
	add_over(all, l);
	*l = all->now[--all->nr];
}

/* The page of a fault, and what fault-around may map beside it. */
static void may_lock(struct locked *l, uint64_t size, bool beside)
{
	l->off = l->page;
	l->end_off = l->page + size;
	if (beside) {
		l->off -= l->off < AROUND_BYTES ? l->off : AROUND_BYTES;
		l->end_off += AROUND_BYTES;
	}
}

int locked_fault(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_space *space,
		 const struct pfs_region *region, const struct fault_batch *batch, uint32_t nr)
{
	struct locked fresh = { .tid = thread->tid, .space = space };

	locked_goes_on(model, thread, batch->ts_ns[0]);
	if (!region || !pfs_region_is_file(region))
		return 0;
	/* A copy of a page that is mapped needs no lock. */
	if (batch->mapped == FAULT_ON_MAPPED && !(region->perms & PFS_PERM_SHARED))
		return 0;
	fresh.dev = region->dev;
	fresh.ino = region->ino;
	fresh.base = region->start - region->off;
	for (uint32_t i = 0; i < nr; i++) {
		fresh.page = (batch->addr[i] - fresh.base) & -model_page_size(model);
		fresh.from_ns = batch->ts_ns[i];
		may_lock(&fresh, model_page_size(model), batch->access != PFS_WRITE);
		if (i + 1 == nr)
			break;
		fresh.to_ns = batch->ts_ns[i + 1];
		add_over(&model->priv->locked, &fresh);
	}
	return begin(model, thread, &fresh);
}

/* Adds to the pages those that l has, if it may have locked folios of `own` meanwhile that are not mapped by that. */
static void add_other(struct cache_locked *pages, const struct locked *l, const struct locked *own, uint64_t reach)
{
	if (l->tid == own->tid || l->dev != own->dev || l->ino != own->ino || l->to_ns < own->from_ns ||
	    (l->space && l->space == own->space && l->base == own->base) || l->end_off <= (own->off & -reach) ||
	    l->off >= ((own->end_off + reach - 1) & -reach))
		return;
	pages->off = l->off < pages->off ? l->off : pages->off;
	pages->end_off = l->end_off > pages->end_off ? l->end_off : pages->end_off;
}

/* What others may have locked in folios of `own`, since that began. */
static struct cache_locked by_others(const struct pfs_model *model, const struct locked *own)
{
	const struct locked_pages *all = &model->priv->locked;
	const uint64_t reach = pfs_huge_size(model->page_shift); /* no folio is larger */
	struct cache_locked pages = { UINT64_MAX, 0 };

	if (all->forgotten_ns >= own->from_ns)
		return (struct cache_locked){ 0, UINT64_MAX };
	for (size_t i = 0; i < all->nr; i++)
		add_other(&pages, &all->now[i], own, reach);
	for (uint64_t i = all->nr_over;
	     i-- > 0 && all->nr_over - i <= NR_LOCKS_OVER && all->over[i % NR_LOCKS_OVER].to_ns >= own->from_ns;)
		add_other(&pages, &all->over[i % NR_LOCKS_OVER], own, reach);
	return pages;
}

/* Has the fault-around mapped the page of the fault itself, so that this is over? */
static bool has_mapped_own(struct pfs_model *model, const struct locked *own, const struct cache_locked *others)
{
	const struct cache_file *file = cache_file(model->priv, own->dev, own->ino);

	return file && cache_before(file, own->page) == CACHE_READY &&
	       !cache_is_locked(file, model->page_shift, others, own->page, own->to_ns);
}

int locked_tried(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct cache_locked *others)
{
	struct locked *fault = current(model, thread);
	struct locked own = { .tid = thread->tid, .from_ns = thread->went_on_ns };
	bool of_fault = fault && !pfs_has(ev, PFS_F_START) && fault->dev == ev->dev && fault->ino == ev->ino;

	if (fault)
		own = *fault;
	if (!of_fault)
		own.space = NULL;
	own.dev = ev->dev;
	own.ino = ev->ino;
	own.off = ev->off;
	own.end_off = ev->end_off;
	own.to_ns = ev->ts_ns;
	*others = by_others(model, &own);
	if (of_fault)
		*fault = own;
	locked_goes_on(model, thread, ev->ts_ns);
	if (!of_fault)
		add_over(&model->priv->locked, &own);
	if (of_fault && has_mapped_own(model, &own, others))
		return 0;
	/* It goes on, and looks the page itself up. Of several that are populated that may be any. */
	if (of_fault)
		may_lock(&own, model_page_size(model), false);
	own.from_ns = ev->ts_ns;
	return begin(model, thread, &own);
}
