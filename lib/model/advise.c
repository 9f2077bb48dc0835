/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What madvise, and accesses by other processes, do to the presence of pages (model/presence.h). */
#include "model/model_priv.h"

#include "model/presence.h"
#include "model/space.h"

#include <errno.h>

/* The part of the file behind [off, end_off) has gone, and with it every page of it that a process has mapped. */
static int remove_from(struct pfs_space *space, const struct pfs_region *part, const struct pfs_event *ev)
{
	uint64_t end_off = part->off + (part->end - part->start);
	int err = 0;

	for (unsigned int i = 0; !err && i < space->nr_live; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->off > part->off ? r->start : r->start + (part->off - r->off);
		uint64_t end = r->off < end_off ? r->start + (end_off - r->off) : r->start;

		if (r->ino != part->ino || r->dev != part->dev || !(r->have & PFS_HAS(PFS_F_INO)) || start >= r->end)
			continue;
		end = end < r->end ? end : r->end;
		err = r->written ? presence_doubt(space, start, end, PFS_MAYBE_RACED, ev->ts_ns)
				 : presence_set(space, start, end, PFS_ABSENT, 0, ev->ts_ns);
	}
	return err;
}

static int advise_remove(struct pfs_model *model, struct pfs_space *space, const struct pfs_event *ev)
{
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		struct pfs_region part = *space->live[i];

		if (!(part.have & PFS_HAS(PFS_F_INO)))
			continue;
		part.start = ev->start > part.start ? ev->start : part.start;
		part.end = ev->end < part.end ? ev->end : part.end;
		part.off += part.start - space->live[i]->start;
		for (struct pfs_proc *proc = model->procs; !err && proc; proc = proc->next)
			err = remove_from(pfs_proc_space(proc), &part, ev);
	}
	return err ?: presence_discard(space, ev->start, ev->end, ev->ts_ns - ev->interval_ns, ev->ts_ns);
}

/* All huge pages that fit into the range are there now. */
static int advise_collapse(struct pfs_space *space, const struct pfs_event *ev)
{
	const uint64_t huge = UINT64_C(0x200000);
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;

		err = presence_set(space, (start + huge - 1) & -huge, end & -huge, PFS_PRESENT, 0, ev->ts_ns);
	}
	return err;
}

static int advise_fork(struct pfs_space *space, const struct pfs_event *ev)
{
	for (unsigned int i = pfs_space_lower(space, ev->start); i < space->nr_live && space->live[i]->start < ev->end;
	     i++)
		space->live[i]->wiped = ev->advice == PFS_ADVICE_WIPEONFORK;
	return 0;
}

int advise_apply(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct pfs_space *space = model->priv->presence ? model_space_of(model, thread, ev) : NULL;

	thread->fault_space = NULL;
	if (!model->priv->presence)
		return 0;
	if (!space)
		return -ENOMEM;
	if (ev->inferred & PFS_HAS(PFS_F_END))
		return presence_doubt(space, ev->start, ev->end, PFS_MAYBE_FAILED, ev->ts_ns);
	switch (ev->advice) {
	case PFS_ADVICE_DONTNEED:
		return presence_discard(space, ev->start, ev->end, ev->ts_ns - ev->interval_ns, ev->ts_ns);
	case PFS_ADVICE_FREE:
		return presence_doubt(space, ev->start, ev->end, PFS_MAYBE_FREE, ev->ts_ns);
	case PFS_ADVICE_PAGEOUT:
		return presence_doubt(space, ev->start, ev->end, PFS_MAYBE_PAGED_OUT, ev->ts_ns);
	case PFS_ADVICE_REMOVE:
		return advise_remove(model, space, ev);
	case PFS_ADVICE_COLLAPSE:
		return advise_collapse(space, ev);
	default:
		return advise_fork(space, ev);
	}
}

int advise_remote(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		  struct pfs_outcome *outcome)
{
	const struct pfs_thread *target = pfs_model_thread(model, ev->target);

	if (target)
		pfs_proc_space(target->proc)->remote_ns = ev->ts_ns;
	return 0;
}
