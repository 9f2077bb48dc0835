/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What madvise, truncation, and accesses by other processes do to the presence of pages (model/presence.h). */
#include "model/model_priv.h"

#include "model/cache.h"
#include "model/presence.h"
#include "model/space.h"

#include <errno.h>

/* Part of a file. */
struct part {
	uint32_t dev;
	uint64_t ino, off, end_off;
	uint32_t doubt; /* why it may have gone: PFS_MAYBE_*; 0: it has */
};

/* The kernel has split what was mapped at the ends of the range. */
static int split_ends(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns)
{
	const struct pfs_region *first = pfs_space_find(space, start), *last = pfs_space_find(space, end - 1);
	int err = first ? presence_split(space, first, start, now_ns) : 0;

	return err || !last ? err : presence_split(space, last, end, now_ns);
}

/*
 * The part of the file has gone from the page cache, and with it every page of it that a process has mapped; a private
 * copy may have gone, too (ftruncate), or not (MADV_REMOVE).
 */
static int remove_part_from(struct pfs_space *space, const struct part *part, uint64_t now_ns)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < space->nr_live; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t from, to;

		if (!(r->have & PFS_HAS(PFS_F_INO)) || r->ino != part->ino || r->dev != part->dev ||
		    !model_part_of(r, part->off, part->end_off, &from, &to))
			continue;
		if (part->doubt)
			err = presence_doubt(space, from, to, part->doubt, now_ns);
		else
			err = r->written && !(r->perms & PFS_PERM_SHARED)
				      ? presence_doubt(space, from, to, PFS_MAYBE_TRUNCATED, now_ns)
				      : presence_set(space, from, to, PFS_ABSENT, 0, now_ns);
		err = err ?: split_ends(space, from, to, now_ns);
	}
	return err;
}

static int remove_part(struct pfs_model *model, const struct part *part, uint64_t now_ns)
{
	int err = 0;

	for (struct pfs_proc *proc = model->procs; !err && proc; proc = proc->next)
		err = remove_part_from(pfs_proc_space(proc), part, now_ns);
	return err;
}

/*
 * The kernel splits a large folio of which only [off, end_off) is concerned. That unmaps all of it, and nothing reports it.
 * Sets *next to the offset behind the folio at off.
 */
static int split_folio(struct pfs_model *model, const struct part *of, uint64_t now_ns, uint64_t *next)
{
	struct cache_file *file = cache_file(model->priv, of->dev, of->ino);
	struct part part = *of;
	struct cache_folio folio;
	int err;

	*next = of->end_off;
	if (!file)
		return -ENOMEM;
	err = cache_split(file, model->page_shift, of->off, now_ns, &folio);
	if (err)
		return err;
	*next = folio.end_off;
	part.off = folio.off;
	part.end_off = folio.end_off;
	if (part.end_off - part.off == model_page_size(model) || (part.off >= of->off && part.end_off <= of->end_off))
		return 0;
	return remove_part(model, &part, now_ns);
}

int advise_evict(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct part part = { ev->dev, ev->ino, ev->off, ev->end_off, PFS_MAYBE_TRUNCATED };
	uint64_t next;
	int err = 0;

	if (model->priv->presence && !doubt_is_small(model, ev->dev))
		err = split_folio(model, &part, ev->ts_ns, &next);
	err = err ?: around_evicted(model, ev);
	part.doubt = 0;
	return err || !model->priv->presence ? err : remove_part(model, &part, ev->ts_ns);
}

/* The huge pages of its file that hold the region's pages in [start, end). */
static struct part part_of(const struct pfs_model *model, const struct pfs_region *r, uint64_t start, uint64_t end,
			   uint32_t doubt)
{
	const uint64_t huge = pfs_huge_size(model->page_shift);
	uint64_t off = r->off + (r->start < start ? start - r->start : 0);
	uint64_t end_off = r->off + ((r->end < end ? r->end : end) - r->start);

	return (struct part){ r->dev, r->ino, off & -huge, (end_off + huge - 1) & -huge, doubt };
}

/*
 * Pages of a file leave all mappings of it, and a large folio leaves as a whole. Anonymous ones leave for swap, which the
 * kernel counts; but what was freed leaves for nothing.
 */
static int advise_pageout(struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		const struct part part = part_of(model, r, ev->start, ev->end, PFS_MAYBE_PAGED_OUT);
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;
		bool swaps = r->have & PFS_HAS(PFS_F_INO) && !(r->traits & PFS_TRAIT_DROPPABLE);

		if (pfs_region_is_file(r))
			err = remove_part(model, &part, ev->ts_ns);
		else
			err = presence_turn(space, start, end, swaps ? PFS_MAYBE_FREE : PFS_PRESENT | PFS_MAYBE_FREE,
					    PFS_MAYBE_PAGED_OUT, ev->ts_ns);
	}
	return err;
}

/* Large folios of files, of which a part may lie in the range, are split. */
static int advise_cold(struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t end = r->end < ev->end ? r->end : ev->end;
		struct part part = { r->dev, r->ino, r->off + (r->start < ev->start ? ev->start - r->start : 0), 0,
				     PFS_MAYBE_PAGED_OUT };

		if (!pfs_region_is_file(r) || doubt_is_small(model, r->dev))
			continue;
		while (!err && part.off < r->off + (end - r->start)) {
			part.end_off = part.off;
			err = split_folio(model, &part, ev->ts_ns, &part.off);
		}
	}
	return err;
}

/* Huge pages of files replace small ones, which no mapping has any more; some of them also if that fails. */
static int collapse_files(struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct part part = part_of(model, space->live[i], ev->start, ev->end, PFS_MAYBE_HUGE);

		if (pfs_region_is_file(space->live[i]))
			err = remove_part(model, &part, ev->ts_ns);
	}
	return err;
}

/* All huge pages that fit into the range are there now. */
static int advise_collapse(struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	const uint64_t huge = pfs_huge_size(model->page_shift);
	int err = collapse_files(model, space, ev);

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && !model->priv->muted && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;

		start = (start + huge - 1) & -huge;
		end &= -huge;
		err = pfs_space_mark(space, start, end, PFS_PAGE_HUGE, 0, ev->ts_ns, NULL);
	}
	return err;
}

/* Of hugetlbfs, whole pages only: the end of the range is rounded down. */
static int advise_discard(struct pfs_space *space, const struct pfs_event *ev)
{
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;

		if (model_may_be_gigantic(r) && end & (MODEL_GIGANTIC - 1)) {
			err = presence_doubt(space, start, end, PFS_MAYBE_HUGE, ev->ts_ns);
			continue;
		}
		if (r->traits & PFS_TRAIT_HUGETLB)
			end &= -pfs_huge_size(pfs_pages_shift(space->pages));
		if (start < end)
			err = presence_discard(space, start, end, ev->ts_ns - ev->interval_ns, ev->ts_ns);
	}
	return err;
}

int advise_apply(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct pfs_space *space = model_space_of(model, thread, ev);
	bool partly = ev->inferred & PFS_HAS(PFS_F_END);

	thread->fault_space = NULL;
	if (!space)
		return -ENOMEM;
	if (ev->advice == PFS_ADVICE_COLLAPSE && !partly)
		return advise_collapse(model, space, ev);
	if (!model->priv->presence)
		return 0;
	if (ev->advice == PFS_ADVICE_COLD)
		return advise_cold(model, space, ev);
	if (partly)
		return (ev->advice == PFS_ADVICE_COLLAPSE ? collapse_files(model, space, ev) : 0)
			       ?: presence_doubt(space, ev->start, ev->end, PFS_MAYBE_FAILED, ev->ts_ns);
	switch (ev->advice) {
	case PFS_ADVICE_DONTNEED:
	case PFS_ADVICE_REMOVE:
		return advise_discard(space, ev)
			       ?: split_ends(space, ev->start, ev->end, ev->ts_ns)
				  ?: touch_raced(model, thread, space, ev->start, ev->end, ev->ts_ns);
	case PFS_ADVICE_FREE:
		return presence_turn(space, ev->start, ev->end, PFS_PRESENT, PFS_MAYBE_FREE, ev->ts_ns);
	case PFS_ADVICE_PAGEOUT:
		return advise_pageout(model, space, ev);
	default:
		return pfs_space_wipe_on_fork(space, ev->start, ev->end, ev->advice == PFS_ADVICE_WIPEONFORK);
	}
}

int advise_remote(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		  struct pfs_outcome *outcome)
{
	const struct pfs_thread *target = pfs_model_thread(model, ev->target);
	struct pfs_space *space = target ? pfs_proc_space(target->proc) : NULL;

	if (!space)
		return 0;
	space->remote_ns = ev->ts_ns;
	if (!pfs_has(ev, PFS_F_OP))
		return 0;
	space->filled_ns = ev->ts_ns;
	return ev->op == PFS_OP_MOVED ? presence_doubt(space, 0, UINT64_MAX, PFS_MAYBE_MOVED, ev->ts_ns) : 0;
}
