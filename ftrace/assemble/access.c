/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses without a fault: what DAMON saw used, of the pages that pfscope had it look at (lib/refault/idle.h). It
 * tells of the number of a target, and notes of pfscope's say whose that is, how long an interval is, and which
 * thread is DAMON's.
 */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TARGETS 65536

static int set_target(struct pfs_assembler *a, unsigned int nr, int32_t pid)
{
	if (nr >= a->nr_targets) {
		unsigned int want = nr + 256;
		int32_t *bigger = realloc(a->targets, want * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		memset(bigger + a->nr_targets, 0, (want - a->nr_targets) * sizeof(*bigger));
		a->targets = bigger;
		a->nr_targets = want;
	}
	a->targets[nr] = pid;
	return 0;
}

static int set_targets(struct pfs_assembler *a, struct pfs_fact targets)
{
	int err = 0;

	do {
		if (targets.last >= MAX_TARGETS)
			break;
		for (uint64_t nr = targets.first; !err && nr <= targets.last; nr++)
			err = set_target(a, nr, targets.pid);
	} while (!err && *targets.rest && pfs_note_read(&targets, pfs_note_key(targets.key), targets.rest));
	return err;
}

int asm_access_note(struct pfs_assembler *a, const struct pfs_fact *fact)
{
	if (fact->key == PFS_NOTE_ACCESS_TARGETS)
		return set_targets(a, *fact);
	if (fact->key == PFS_NOTE_ACCESS_BY)
		a->access_tid = fact->pid;
	else
		a->access_ns = fact->method == PFS_REFAULT_IDLE ? fact->interval_ns : 0;
	return 0;
}

/* DAMON's thread is none of the processes'. That it ends makes its number free for another. */
bool asm_access_is_watcher(struct pfs_assembler *a, const struct raw_event *raw)
{
	bool is = raw->tid == a->access_tid && a->access_tid > 0 && raw->kind != RAW_PFS_NOTE;

	if (is && raw->kind == RAW_EXIT)
		a->access_tid = 0;
	return is;
}

static bool is_gone(struct pfs_assembler *a, int32_t pid)
{
	const struct asm_thread *first;

	HASH_FIND_INT(a->threads, &pid, first);
	return first && first->exited && (!first->proc || !first->proc->nr_live);
}

int asm_accessed(struct pfs_assembler *a, const struct raw_event *raw)
{
	uint64_t target = raw->arg[0], start = raw->arg[1], end = raw->arg[2];
	struct pfs_event ev;
	int32_t pid = target < a->nr_targets ? a->targets[target] : 0;

	/* Of a range of several pages it is not known which of them: somebody else's monitoring. */
	if (pid <= 0 || !a->access_ns || start == RAW_ABSENT || end - start != a->page_mask + 1 || !raw->arg[3] ||
	    is_gone(a, pid))
		return 0;
	asm_event_init(&ev, raw, NULL, PFS_ACCESS);
	ev.pid = ev.tid = pid;
	ev.addr = start;
	ev.interval_ns = a->access_ns;
	ev.have = PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_INTERVAL);
	ev.inferred = PFS_HAS(PFS_F_TID); /* some thread of it, or the kernel */
	return asm_emit(a, &ev);
}
