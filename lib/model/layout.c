/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout events: finds the space that an event is about and passes the event to space.c. */
#include "model/model_priv.h"

#include "base/intern.h"
#include "model/space.h"

#include <errno.h>

/* The end of an address space, or of an exec that failed. */
static int clear_space(struct pfs_thread *thread, struct pfs_space *space, const struct pfs_event *ev)
{
	if (space != thread->execing)
		return pfs_space_clear(space, ev->ts_ns);
	pfs_space_put(space);
	thread->execing = NULL;
	thread->fault_space = NULL;
	return 0;
}

/* The kernel's ranges are whole pages; a file may contain anything. */
static struct pfs_event in_whole_pages(const struct pfs_model *model, const struct pfs_event *ev)
{
	uint64_t mask = model_page_size(model) - 1;
	struct pfs_event whole = *ev;

	if (ev->kind == PFS_BRK)
		return whole;
	whole.start = ev->start & ~mask;
	whole.end = ev->end > ~mask ? ~mask : (ev->end + mask) & ~mask;
	whole.addr = ev->addr & ~mask;
	whole.from = ev->from & ~mask;
	whole.len = ev->len > ~mask ? ~mask : (ev->len + mask) & ~mask;
	return whole;
}

/* A fork may still copy a ring whose io_destroy has begun: it gets the attributes of the parent's retired ring. */
static void describe_leaving_ring(const struct pfs_thread *thread, struct pfs_event *map)
{
	const struct pfs_region *ring;

	if (pfs_has(map, PFS_F_NAME) || pfs_space_find(thread->forking, map->start))
		return;
	ring = pfs_space_gone_ring(pfs_proc_space(thread->proc), map->start);
	if (!ring || ring->end != map->end)
		return;
	map->perms = ring->perms;
	map->off = ring->off;
	map->dev = ring->dev;
	map->ino = ring->ino;
	map->name = ring->name;
	map->have |= ring->have & (PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) |
				   PFS_HAS(PFS_F_NAME));
}

/* A region of the copy that a fork is making. */
static int map_copied(struct pfs_thread *thread, struct pfs_event *map)
{
	struct pfs_region *region;
	int err;

	describe_leaving_ring(thread, map);
	err = pfs_space_map(thread->forking, map);
	region = pfs_space_find(thread->forking, map->start);
	if (region)
		region->inherited = true;
	return err;
}

/*
 * A fault makes a region grow, and comes before the map that reports it. If that is the stack, it is counted in no region
 * no more.
 */
static void region_grown(struct pfs_thread *thread, struct pfs_space *space, bool grows, struct pfs_outcome *outcome)
{
	struct pfs_region *region;

	if (space != thread->fault_space || !thread->outside[0])
		return;
	region = pfs_space_find(space, thread->fault_addr);
	if (!region)
		return;
	/* That prepares its anon_vma, so a fork copies its page table. The kernel may have been refused before. */
	*(thread->fault_mode == PFS_USER ? &region->written : &region->prepared) |= grows;
	if (!pfs_space_below_stack(space, thread->fault_addr))
		return;
	for (int i = 0; i < 2 && thread->outside[i]; i++)
		thread->outside[i]->outside--;
	thread->outside[0] = NULL;
	outcome->space = space;
	outcome->region = region;
}

static int apply_unmap(struct pfs_thread *thread, struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_segment segment = { ev->start, thread->shmdt_first, thread->shmdt_len, thread->shmdt_ino };

	switch (pfs_event_op(ev)) {
	case PFS_OP_IF_MAPPED:
		if (!pfs_space_find(space, ev->from))
			return 0;
		/* fall through */
	case PFS_OP_PLAIN:
		return pfs_space_unmap(space, ev->start, ev->end, ev->ts_ns);
	case PFS_OP_CLEAR:
		return clear_space(thread, space, ev);
	case PFS_OP_REPLACE:
		return pfs_space_replace(space, ev);
	case PFS_OP_MOVED:
		return pfs_space_unmap_moved(space, ev);
	case PFS_OP_DETACH_BEGIN:
		pfs_space_segment(space, ev->start, &segment);
		thread->shmdt_first = segment.first;
		thread->shmdt_len = segment.len;
		thread->shmdt_ino = segment.ino;
		return 0;
	case PFS_OP_DETACH:
		return pfs_space_detach(space, &segment, ev->ts_ns);
	case PFS_OP_RING:
		thread->ring = ev->start;
		return pfs_space_destroy_ring(space, ev->start, ev->ts_ns);
	case PFS_OP_FILLED:
	case PFS_NR_OPS:
		break;
	}
	return 0;
}

/* The region may have been extended by the fault that comes next, which is then one on the new pages. */
static void may_have_grown(struct pfs_thread *thread, struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_region *region = pfs_space_find(space, ev->end - 1);

	if (!pfs_has(ev, PFS_F_ID) || pfs_has(ev, PFS_F_PERMS) || !region || region->start <= ev->start ||
	    pfs_space_find(space, ev->start))
		return;
	thread->grown_start = ev->start;
	thread->grown_end = region->start;
}

int layout_apply(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *reported,
		 struct pfs_outcome *outcome)
{
	struct pfs_event whole = in_whole_pages(model, reported);
	const struct pfs_event *ev = &whole;
	bool other = pfs_has(ev, PFS_F_SPACE) && ev->space == PFS_SPACE_OTHER;
	struct pfs_space *space = other ? model_space_of_region(model, ev) : model_space_of(model, thread, ev);
	struct pfs_counts *counts = &thread->proc->counts, *all;
	bool grows;
	int err;

	if (!space)
		return other ? 0 : -ENOMEM;
	thread->ring = thread->grown_end = 0;
	all = model_counts(model, space);
	if (pfs_has(ev, PFS_F_NAME)) { /* the event's own may end with it */
		whole.name = pfs_intern(&model->priv->names, ev->name);
		if (!whole.name)
			return -ENOMEM;
	}
	switch (ev->kind) {
	case PFS_MAP:
		counts->maps += !space->launcher;
		all->maps++;
		if (space == thread->forking)
			return map_copied(thread, &whole);
		may_have_grown(thread, space, ev);
		grows = pfs_space_find(space, ev->end - 1) && !pfs_space_find(space, thread->fault_addr);
		err = model->polled ? pfs_space_replaced(space, ev) : 0;
		err = err ?: pfs_space_map(space, ev) ?: touch_raced(model, thread, space, ev->start, ev->end, ev->ts_ns);
		region_grown(thread, space, grows, outcome);
		return err;
	case PFS_UNMAP:
		thread->fault_space = NULL; /* a call of the thread does that */
		counts->unmaps += !space->launcher;
		all->unmaps++;
		return apply_unmap(thread, space, ev);
	case PFS_PROTECT:
		return pfs_space_protect(space, ev);
	case PFS_MOVE: /* or the row of what is removed at the target: that of the move comes when it is gone */
		if (model->priv->removed_rows && pfs_space_has(space, ev))
			return 0;
		return pfs_space_move(space, ev);
	default: /* PFS_BRK */
		if (pfs_has(ev, PFS_F_START))
			space->start_brk = ev->start;
		else if (!space->brk)
			space->start_brk = ev->end;
		space->brk = ev->end;
		return 0;
	}
}
