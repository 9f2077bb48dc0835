/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses without a fault: pages that DAMON saw accessed, of those that pfscope had it watch (refault/idle.h). DAMON
 * reports the number of a target; pfscope's notes hold the process of each number, the interval, and DAMON's thread.
 */
#include "assemble/assemble_priv.h"

#include "base/array.h"

#include <errno.h>

#define MAX_TARGETS 65536

static int set_target(struct pfs_assembler *a, unsigned int nr, int32_t pid)
{
	if (!pfs_array_extend(a->targets, a->nr_targets, nr + 1))
		return -ENOMEM;
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

/* DAMON's thread belongs to no recorded process. After its exit another thread may get its number. */
bool asm_access_is_watcher(struct pfs_assembler *a, const struct raw_event *raw)
{
	bool is = raw->tid == a->access_tid && a->access_tid > 0 && raw->kind != RAW_PFS_NOTE;

	if (is && raw->kind == RAW_EXIT)
		a->access_tid = 0;
	return is;
}

static bool has_exited(struct pfs_assembler *a, int32_t pid)
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

	/* A range of several pages comes from somebody else's monitoring, and does not identify the page. */
	if (pid <= 0 || !a->access_ns || start == RAW_ABSENT || end - start != a->page_mask + 1 || !raw->arg[3] ||
	    has_exited(a, pid))
		return 0;
	asm_event_init(&ev, raw, NULL, PFS_ACCESS);
	ev.pid = ev.tid = pid;
	ev.have = PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID); /* no CPU */
	PFS_SET(&ev, addr, ADDR, start);
	PFS_SET(&ev, interval_ns, INTERVAL, a->access_ns);
	ev.inferred = PFS_HAS(PFS_F_TID); /* some thread of it, or the kernel */
	return asm_emit(a, &ev);
}
