/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults by the hundred: model/touch.c's touch_fault() for runs of everyday faults, in user mode and in the
 * lower half, which it marks and counts many at a time. What it leaves, model.c takes as events.
 */
#include "model/model_priv.h"

#include "model/space.h"

#include <errno.h>

/* How many faults, from the first on, lie in [start, end). */
static uint32_t nr_within(uint64_t start, uint64_t end, const uint64_t *addr, uint32_t nr)
{
	uint32_t i = 0;

	while (i < nr && addr[i] - start < end - start)
		i++;
	return i;
}

/* The same for addresses in no region from addr[0] on. 0: in the upper half there is more to count. */
static uint32_t nr_outside(const struct pfs_space *space, const uint64_t *addr, uint32_t nr)
{
	const uint64_t upper_half = UINT64_C(1) << 63;
	unsigned int next = pfs_space_lower(space, addr[0]);
	uint64_t end = next < space->nr_live ? space->live[next]->start : upper_half;

	return addr[0] >= upper_half ? 0 : nr_within(addr[0], end < upper_half ? end : upper_half, addr, nr);
}

static void count(struct pfs_counts *counts, const struct pfs_fault_run *run, uint32_t nr, uint32_t outside)
{
	counts->faults += nr;
	counts->user += nr;
	switch (run->access) {
	case PFS_READ:
		counts->read += nr;
		break;
	case PFS_WRITE:
		counts->write += nr;
		break;
	default:
		counts->exec += nr;
	}
	counts->outside += outside;
	counts->handling[0][0].exceptions += nr;
}

/* The faults [from, to) of the run are marked on their pages; now the rest that is to be known of them. */
static void take_note(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
		      const struct pfs_fault_run *run, uint32_t from, uint32_t to, uint32_t outside)
{
	count(model_counts(model, space), run, to - from, outside);
	if (!space->launcher)
		count(&thread->proc->counts, run, to - from, outside);
	thread->fault_space = space;
	thread->fault_addr = run->addr[to - 1];
	thread->fault_ns = run->ts_ns[to - 1];
	thread->fault_mode = PFS_USER;
	thread->fault_access = run->access;
	thread->nr_faults += to - from;
}

int touch_run(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_fault_run *run, uint32_t at)
{
	static const uint32_t flags[] = {
		[PFS_READ] = PFS_PAGE_READ | PFS_PAGE_USER,
		[PFS_WRITE] = PFS_PAGE_WRITE | PFS_PAGE_USER,
		[PFS_EXECUTE] = PFS_PAGE_EXEC | PFS_PAGE_USER,
	};
	struct pfs_space *space = pfs_proc_space(thread->proc);
	struct pfs_faults_on faults = { .tid = run->tid };
	uint32_t i = at, outside = 0;

	if (run->mode != PFS_USER || run->access - 1u >= PFS_EXECUTE || thread->ring)
		return 0;
	faults.flags = flags[run->access];
	while (i < run->nr) {
		struct pfs_region *region = pfs_space_find(space, run->addr[i]);

		faults.addr = run->addr + i;
		faults.ts_ns = run->ts_ns + i;
		if (!region) {
			faults.nr = nr_outside(space, faults.addr, run->nr - i);
			outside += faults.nr;
		} else if ((region->end - 1) >> 63) {
			break;
		} else {
			faults.nr = nr_within(region->start, region->end, faults.addr, run->nr - i);
			region->written |= run->access == PFS_WRITE && region->perms & PFS_PERM_W;
		}
		if (!faults.nr)
			break;
		if (pfs_pages_faults(space->pages, &faults))
			return -ENOMEM;
		i += faults.nr;
	}
	if (i > at)
		take_note(model, thread, space, run, at, i, outside);
	return i - at;
}
