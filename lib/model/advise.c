/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What madvise, truncation, and accesses by other processes do to the presence of pages (model/presence.h). */
#include "model/model_priv.h"

#include "model/presence.h"
#include "model/space.h"

#include <errno.h>

#define HUGE_PAGE UINT64_C(0x200000)

/* Part of a file. */
struct part {
	uint32_t dev;
	uint64_t ino, off, end_off;
	bool paged_out; /* it may have gone */
};

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
		if (part->paged_out)
			err = presence_doubt(space, from, to, PFS_MAYBE_PAGED_OUT, now_ns);
		else
			err = r->written && !(r->perms & PFS_PERM_SHARED)
				      ? presence_doubt(space, from, to, PFS_MAYBE_TRUNCATED, now_ns)
				      : presence_set(space, from, to, PFS_ABSENT, 0, now_ns);
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

int advise_evict(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	const struct part part = { ev->dev, ev->ino, ev->off, ev->end_off, false };

	return around_evicted(model, ev) ?: (model->priv->presence ? remove_part(model, &part, ev->ts_ns) : 0);
}

/* Pages of a file leave all mappings of it, and a large folio leaves as a whole. */
static int advise_pageout(struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	int err = presence_doubt(space, ev->start, ev->end, PFS_MAYBE_PAGED_OUT, ev->ts_ns);

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t off = r->off + (r->start < ev->start ? ev->start - r->start : 0);
		uint64_t end_off = r->off + ((r->end < ev->end ? r->end : ev->end) - r->start);
		const struct part part = { r->dev, r->ino, off & -HUGE_PAGE, (end_off + HUGE_PAGE - 1) & -HUGE_PAGE,
					   true };

		if (pfs_region_is_file(r))
			err = remove_part(model, &part, ev->ts_ns);
	}
	return err;
}

/* All huge pages that fit into the range are there now. */
static int advise_collapse(const struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_page what = { .first_ns = ev->ts_ns, .last_ns = ev->ts_ns, .flags = PFS_PAGE_HUGE };
	uint64_t marked;
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;

		start = (start + HUGE_PAGE - 1) & -HUGE_PAGE;
		end &= -HUGE_PAGE;
		if (start < end && !model->priv->muted)
			err = pfs_pages_mark(space->pages, start, end, &what, 0, &marked);
		err = err ?: presence_set(space, start, end, PFS_PRESENT, 0, ev->ts_ns);
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
	if (partly)
		return presence_doubt(space, ev->start, ev->end, PFS_MAYBE_FAILED, ev->ts_ns);
	switch (ev->advice) {
	case PFS_ADVICE_DONTNEED:
	case PFS_ADVICE_REMOVE:
		return presence_discard(space, ev->start, ev->end, ev->ts_ns - ev->interval_ns, ev->ts_ns);
	case PFS_ADVICE_FREE:
		return presence_doubt(space, ev->start, ev->end, PFS_MAYBE_FREE, ev->ts_ns);
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

	if (!target)
		return 0;
	pfs_proc_space(target->proc)->remote_ns = ev->ts_ns;
	if (!pfs_has(ev, PFS_F_OP) || ev->op != PFS_OP_MOVED)
		return 0;
	return presence_doubt(pfs_proc_space(target->proc), 0, UINT64_MAX, PFS_MAYBE_MOVED, ev->ts_ns);
}
