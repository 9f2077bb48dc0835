/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: the rows of the region tree.
 *
 * Three sources report a layout, each with its gaps (docs/ARCHITECTURE.md, "The way of an mmap"). Each fact is passed on
 * by the first that reports it; a system call's own account is used at its return for what the others did not report.
 */
#include "assemble/assemble_priv.h"

#include "record/i386.h"

#include <sys/shm.h>

/*
 * A new mapping can only take a range that another thread's munmap has already emptied, though that
 * call has not returned yet, and its removal may have left no row. If the row is longer than what was
 * asked for, the new part is merged with a neighbour, which may be what is about to be removed: whether
 * it is, rows of the removal yet to come will show.
 */
static int others_removed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row)
{
	bool merged = t->call.nr != SYS_MMAP || row.end - row.start != page_up(a, t->call.arg[1]);
	struct asm_thread *other;
	int err = 0;

	if (!t->proc)
		return 0;
	LIST_FOREACH (other, &t->proc->in_flight, in_flight) {
		if (err || other == t || other->call.removed || !overlap(other->call.removes, row))
			continue;
		if (merged) {
			if (other->call.nr_taken < MAX_TAKEN)
				other->call.taken[other->call.nr_taken++] = row;
			continue;
		}
		other->call.removed = true;
		err = asm_emit_range(a, t, raw, PFS_UNMAP, other->call.removes);
	}
	return err;
}

static bool maps_anew(enum raw_sys nr)
{
	return nr == SYS_MMAP || nr == SYS_MREMAP || nr == SYS_BRK || nr == SYS_SHMAT;
}

/*
 * An exec first makes a stack for the arguments in a space of its own, then leaves the old space. Rows
 * of other regions, or removals (the stack is moved down), come after that. What was on the stack
 * before is the number of pages that the kernel faulted in for the arguments.
 */
static void exec_row(struct asm_thread *t, struct range row, uint64_t id)
{
	if (!t->exec.stack_id && id) {
		t->exec.stack_id = id;
		t->exec.stack = t->exec.stack_before = row;
		t->exec.stack_top = row.end;
		return;
	}
	if (id == t->exec.stack_id && row.end == t->exec.stack_top) {
		if (row.start >= t->exec.stack.start)
			return;
		if (!t->exec.switched)
			t->exec.stack_before = t->exec.stack;
		if (!t->exec.switched)
			t->exec.stack = row;
		return;
	}
	if (!t->exec.switched) { /* seen by this row only: the growth before it was the move's */
		t->exec.stack = t->exec.stack_before;
		t->exec.switched = true;
	}
	if (!id && row.start < t->exec.stack_top && row.end >= t->exec.stack_top) {
		t->exec.is_32bit = t->exec.stack_top > RAW_32BIT_END && row.start <= RAW_32BIT_END;
		t->exec.stack_top = row.start;
	}
}

/* The pages of the arguments, in the new space: nothing else reports them. */
int asm_exec_populated(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t len = t->exec.stack.end - t->exec.stack.start;
	struct pfs_event ev;

	if (!t->exec.under_way || !t->exec.stack_id)
		return 0;
	asm_event_range(&ev, raw, t, PFS_POPULATE, (struct range){ t->exec.stack_top - len, t->exec.stack_top });
	PFS_SET(&ev, by, BY, PFS_BY_EXEC);
	PFS_SET(&ev, space, SPACE, PFS_SPACE_EXEC);
	return asm_emit(a, &ev);
}

static int emit_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id, enum pfs_which space)
{
	struct pfs_event ev;

	asm_event_range(&ev, raw, t, id ? PFS_MAP : PFS_UNMAP, row);
	if (id)
		PFS_SET(&ev, id, ID, id);
	if (space)
		PFS_SET(&ev, space, SPACE, space);
	return asm_emit(a, &ev);
}

/* A fork copies the whole tree: the first row of the child's tree marks the beginning. */
static int fork_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id)
{
	struct pfs_event ev;
	int err = 0;

	if (!t->call.stored) {
		t->call.stored = true;
		asm_event_init(&ev, raw, t, PFS_FORK);
		err = asm_emit(a, &ev);
	}
	return err ? err : emit_row(a, t, raw, row, id, PFS_SPACE_FORK);
}

/*
 * May this row be the destination of the move that the thread's mremap makes? The model decides
 * about pieces of a region that is split: 6.1 and 6.12 split before they move a part, 6.18 after it.
 */
static bool is_move(const struct pfs_assembler *a, const struct asm_thread *t, struct range row)
{
	if (t->call.arg[3] & MREMAP_FIXED)
		return overlap(row, asm_call_target(a, t));
	/* A region that shrinks stays; its rows concern what is left behind it. */
	if (t->call.arg[1] && page_up(a, t->call.arg[2]) <= page_up(a, t->call.arg[1]) &&
	    !(t->call.arg[3] & MREMAP_DONTUNMAP))
		return false;
	return !(t->call.arg[0] >= row.start && t->call.arg[0] < row.end);
}

/*
 * For a fixed target the model determines which of the moved regions this is (several may move, since 6.17), or whether
 * it is only the rest of another mapping there.
 */
static int move_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id)
{
	struct pfs_event ev;

	t->call.moved = true;
	asm_event_range(&ev, raw, t, PFS_MOVE, row);
	PFS_SET(&ev, id, ID, id);
	PFS_SET(&ev, from, FROM, t->call.arg[0]);
	PFS_SET(&ev, len, LEN, page_up(a, t->call.arg[1]));
	if (t->call.arg[3] & MREMAP_FIXED)
		PFS_SET(&ev, addr, ADDR, t->call.arg[4]);
	return asm_emit(a, &ev);
}

/*
 * The kernel empties a range that it maps over, with or without a row for that. A row from there on
 * may be the new mapping (with the neighbour above it that it was merged with), or only the upper part
 * of a region that is being split there (6.1 begins with that). Which one it is, the model finds out.
 */
static int replace_range(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
			 uint64_t id)
{
	struct range over = asm_call_replaces(a, t);
	struct pfs_event ev;

	if (t->call.nr == SYS_SHMAT && t->call.arg[2] & SHM_REMAP && row.start == (t->call.arg[1] & ~a->page_mask))
		over = row; /* only its own row has the length of the segment */
	if (t->call.removed || over.start >= over.end || !covers(row, over))
		return 0;
	if (row.start < over.start) {
		t->call.removed = true;
		return asm_emit_range(a, t, raw, PFS_UNMAP, over);
	}
	asm_event_range(&ev, raw, t, PFS_UNMAP, over);
	pfs_event_set_op(&ev, PFS_OP_REPLACE);
	PFS_SET(&ev, id, ID, id);
	PFS_SET(&ev, len, LEN, row.end - row.start);
	return asm_emit(a, &ev);
}

/* A region was stored in the tree of the thread's own process. */
static int stored_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		      uint64_t id)
{
	int err = 0;

	if (maps_anew(t->call.nr))
		err = others_removed(a, t, raw, row);
	if (!err)
		err = replace_range(a, t, raw, row, id);
	t->call.stored = true;
	t->call.last_row = row;
	if (err)
		return err;
	if (t->call.nr == SYS_MREMAP && is_move(a, t, row))
		return move_row(a, t, raw, row, id);
	return emit_row(a, t, raw, row, id, PFS_SPACE_CURRENT);
}

/* Another process's regions are split or merged, as they are registered. */
static int uffd_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id)
{
	int32_t pid = asm_call_uffd(t);
	struct pfs_event ev, lost;

	a->stats.foreign_rows++;
	if (!id)
		return 0;
	asm_event_range(&ev, raw, t, PFS_MAP, row);
	PFS_SET(&ev, id, ID, id);
	PFS_SET(&ev, space, SPACE, PFS_SPACE_OTHER);
	if (pid) {
		PFS_SET(&ev, target, TARGET, pid);
		return asm_emit(a, &ev);
	}
	asm_event_init(&lost, raw, NULL, PFS_LOST); /* unless somebody has a region of that identity */
	PFS_SET(&lost, count, COUNT, 1);
	PFS_SET(&lost, interval_ns, INTERVAL, 0);
	return asm_emit(a, &ev) ?: asm_emit(a, &lost);
}

int asm_ma_write(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range row = { raw->arg[0], raw->arg[1] + 1 };
	uint64_t id = raw->arg[2] < 4096 ? 0 : raw->arg[2];

	if (row.end == 0)
		row.end = UINT64_MAX & ~a->page_mask;
	a->rows = true;
	/* The kernel has other trees of this kind; none but an address space's is in whole pages. */
	if ((row.start | row.end) & a->page_mask || row.start >= row.end)
		return 0;
	if (row.start == t->call.seen_row.start && row.end == t->call.seen_row.end && id == t->call.seen_id)
		return 0;
	t->call.seen_row = row;
	t->call.seen_id = id;
	if (t->call.nr == SYS_PROCESS_MADVISE) {
		a->stats.foreign_rows++;
		return 0;
	}
	if (t->exec.under_way) {
		exec_row(t, row, id);
		return emit_row(a, t, raw, row, id, PFS_SPACE_EXEC);
	}
	if (t->fork.copying)
		return fork_row(a, t, raw, row, id);
	/* Its own space is torn down: the last one to close a userfaultfd changes another process's tree. */
	if (t->exited) {
		a->stats.foreign_rows++;
		return id ? emit_row(a, t, raw, row, id, PFS_SPACE_OTHER) : 0;
	}
	if (t->call.nr == SYS_IOCTL && asm_call_uffd(t) != (t->proc ? t->proc->pid : 0))
		return uffd_row(a, t, raw, row, id);
	asm_changed(t, raw, row);
	t->call.nr_taken = 0; /* so its range was not removed before */
	if (id)
		return stored_row(a, t, raw, row, id);
	if (covers(row, t->call.removes))
		t->call.removed = true;
	return asm_emit_range(a, t, raw, PFS_UNMAP, row);
}
