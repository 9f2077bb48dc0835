/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: what changes a layout, and here first of all the rows of the region tree.
 *
 * Three witnesses, each with its gaps: the writes of the kernel's region tree (ranges and identities,
 * but no attributes, and some removals leave no row), the side-band of mappings (all attributes, but
 * no removals and no moves) and the system calls (what was asked, and whether it was granted). Each
 * fact is passed on by the first that knows it; a system call's own account is used at its return for
 * what the other two did not say. (Side-band: assemble/maps.c, system calls: assemble/calls.c.)
 */
#include "assemble/assemble_priv.h"
#include "assemble/range.h"

#include <sys/mman.h>
#include <sys/shm.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

void asm_event_range(struct pfs_event *ev, const struct raw_event *raw, const struct asm_thread *t, enum pfs_kind kind,
		     struct range r)
{
	asm_event_init(ev, raw, t, kind);
	ev->start = r.start;
	ev->end = r.end;
	ev->have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
}

int asm_emit_unmap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	struct pfs_event ev;

	if (r.start >= r.end)
		return 0;
	asm_event_range(&ev, raw, t, PFS_UNMAP, r);
	return asm_emit(a, &ev);
}

void asm_changed(struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	if (t->proc)
		t->proc->recent[t->proc->next_recent++ % NR_RECENT] = (struct asm_change){ raw->ts_ns, r };
}

/*
 * A new mapping can only take a range that another thread's munmap has already emptied, though that
 * call has not returned yet, and its removal may have left no row. If the row is longer than what was
 * asked for, the new part is merged with a neighbour, which may be what is about to be removed: whether
 * it is, rows of the removal yet to come will show.
 */
static int others_removed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row)
{
	bool merged = t->nr != SYS_MMAP || row.end - row.start != page_up(a, t->arg[1]);
	struct asm_thread *other;
	int err = 0;

	if (!t->proc)
		return 0;
	for (other = t->proc->in_flight; other && !err; other = other->next_in_flight) {
		if (other == t || other->removed || !overlap(other->removes, row))
			continue;
		if (merged) {
			if (other->nr_taken < MAX_TAKEN)
				other->taken[other->nr_taken++] = row;
			continue;
		}
		other->removed = true;
		err = asm_emit_unmap(a, t, raw, other->removes);
	}
	return err;
}

static bool maps_anew(enum raw_sys nr)
{
	return nr == SYS_MMAP || nr == SYS_MREMAP || nr == SYS_BRK || nr == SYS_SHMAT;
}

/* Where MREMAP_FIXED puts what it moves; empty without it. */
struct range asm_move_target(const struct pfs_assembler *a, const struct asm_thread *t)
{
	static const struct range none;

	return t->arg[3] & MREMAP_FIXED ? range_of(t->arg[4], page_up(a, t->arg[2])) : none;
}

/* The range that the call, when it succeeds, replaces with a mapping of its own. */
static struct range replaces(const struct pfs_assembler *a, const struct asm_thread *t)
{
	static const struct range none;

	switch (t->nr) {
	case SYS_MMAP:
		if (t->arg[3] & MAP_FIXED)
			return range_of(t->arg[0], page_up(a, t->arg[1]));
		return none;
	case SYS_MREMAP: /* several regions at once cannot change their length */
		if (page_up(a, t->arg[1]) != page_up(a, t->arg[2]))
			return asm_move_target(a, t);
		return none;
	case SYS_REMAP_FILE_PAGES:
		return range_of(t->arg[0], page_up(a, t->arg[1]));
	default:
		return none;
	}
}

/* ---- rows of the region tree ---- */

/*
 * An exec first makes a stack for the arguments in a space of its own, then leaves the old space. Rows
 * of other regions, or removals (the stack is moved down), come after that. What was on the stack
 * before is the number of pages that the kernel faulted in for the arguments.
 */
static void exec_row(struct asm_thread *t, struct range row, uint64_t id)
{
	if (!t->exec_stack_id && id) {
		t->exec_stack_id = id;
		t->exec_stack = t->exec_stack_before = row;
		t->exec_stack_top = row.end;
		return;
	}
	if (id == t->exec_stack_id && row.end == t->exec_stack_top) {
		if (row.start >= t->exec_stack.start)
			return;
		if (!t->switched)
			t->exec_stack_before = t->exec_stack;
		if (!t->switched)
			t->exec_stack = row;
		return;
	}
	if (!t->switched) { /* seen by this row only: the growth before it was the move's */
		t->exec_stack = t->exec_stack_before;
		t->switched = true;
	}
	if (!id && row.start < t->exec_stack_top && row.end >= t->exec_stack_top)
		t->exec_stack_top = row.start;
}

/* The pages of the arguments, in the new space: nothing but this tells of them. */
int asm_exec_populated(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t len = t->exec_stack.end - t->exec_stack.start;
	struct pfs_event ev;

	if (!t->in_exec || !t->exec_stack_id)
		return 0;
	asm_event_range(&ev, raw, t, PFS_POPULATE, (struct range){ t->exec_stack_top - len, t->exec_stack_top });
	ev.by = PFS_BY_EXEC;
	ev.space = PFS_SPACE_EXEC;
	ev.have |= PFS_HAS(PFS_F_BY) | PFS_HAS(PFS_F_SPACE);
	return asm_emit(a, &ev);
}

static int emit_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id, enum pfs_which space)
{
	struct pfs_event ev;

	asm_event_range(&ev, raw, t, id ? PFS_MAP : PFS_UNMAP, row);
	if (id) {
		ev.id = id;
		ev.have |= PFS_HAS(PFS_F_ID);
	}
	if (space) {
		ev.space = space;
		ev.have |= PFS_HAS(PFS_F_SPACE);
	}
	return asm_emit(a, &ev);
}

/* A fork copies the whole tree: the first row of the copy says that it begins. */
static int fork_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id)
{
	struct pfs_event ev;
	int err = 0;

	if (!t->stored) {
		t->stored = true;
		asm_event_init(&ev, raw, t, PFS_FORK);
		err = asm_emit(a, &ev);
	}
	return err ? err : emit_row(a, t, raw, row, id, PFS_SPACE_FORK);
}

/*
 * May this row be the destination of the move that the thread's mremap makes? Of pieces of a region that
 * is split (6.1 and 6.12 do so before they move a part, 6.18 after it) the model knows better.
 */
static bool is_move(const struct pfs_assembler *a, const struct asm_thread *t, struct range row)
{
	if (t->arg[3] & MREMAP_FIXED)
		return overlap(row, asm_move_target(a, t));
	/* What shrinks stays, and its rows are of what is left behind it. */
	if (t->arg[1] && page_up(a, t->arg[2]) <= page_up(a, t->arg[1]) && !(t->arg[3] & MREMAP_DONTUNMAP))
		return false;
	return !(t->arg[0] >= row.start && t->arg[0] < row.end);
}

/*
 * Of a fixed target the model finds out which of the regions moved it is (several may, since 6.17), or
 * that it is but what was left of another mapping there.
 */
static int move_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		    uint64_t id)
{
	struct pfs_event ev;

	t->moved = true;
	asm_event_range(&ev, raw, t, PFS_MOVE, row);
	ev.id = id;
	ev.from = t->arg[0];
	ev.len = page_up(a, t->arg[1]);
	ev.have |= PFS_HAS(PFS_F_ID) | PFS_HAS(PFS_F_FROM) | PFS_HAS(PFS_F_LEN);
	if (t->arg[3] & MREMAP_FIXED) {
		ev.addr = t->arg[4];
		ev.have |= PFS_HAS(PFS_F_ADDR);
	}
	return asm_emit(a, &ev);
}

/*
 * The kernel empties a range that it maps over, with or without a row that says so. A row from there on
 * may be the new mapping (with the neighbour above it that it was merged with), or only the upper part
 * of a region that is being split there (6.1 begins with that). Which one it is, the model finds out.
 */
static int replace_range(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
			 uint64_t id)
{
	struct range over = replaces(a, t);
	struct pfs_event ev;

	if (t->nr == SYS_SHMAT && t->arg[2] & SHM_REMAP && row.start == (t->arg[1] & ~a->page_mask))
		over = row; /* how long the segment is, only the row of its own says */
	if (t->removed || over.start >= over.end || !covers(row, over))
		return 0;
	if (row.start < over.start) {
		t->removed = true;
		return asm_emit_unmap(a, t, raw, over);
	}
	asm_event_range(&ev, raw, t, PFS_UNMAP, over);
	ev.id = id;
	ev.len = row.end - row.start;
	ev.have |= PFS_HAS(PFS_F_ID) | PFS_HAS(PFS_F_LEN);
	return asm_emit(a, &ev);
}

/* A region was stored in the tree of the thread's own process. */
static int stored_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range row,
		      uint64_t id)
{
	int err = 0;

	if (maps_anew(t->nr))
		err = others_removed(a, t, raw, row);
	if (!err)
		err = replace_range(a, t, raw, row, id);
	t->stored = true;
	t->last_row = row;
	if (err)
		return err;
	if (t->nr == SYS_MREMAP && is_move(a, t, row))
		return move_row(a, t, raw, row, id);
	return emit_row(a, t, raw, row, id, PFS_SPACE_CURRENT);
}

int asm_ma_write(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range row = { raw->arg[0], raw->arg[1] + 1 };
	uint64_t id = raw->arg[2] < 4096 ? 0 : raw->arg[2];
	struct asm_thread *owner = asm_exec_owner(t);

	if (row.end == 0)
		row.end = UINT64_MAX & ~a->page_mask;
	a->rows = true;
	/* The kernel has other trees of this kind; none but an address space's is in whole pages. */
	if ((row.start | row.end) & a->page_mask || row.start >= row.end)
		return 0;
	if (row.start == t->seen_row.start && row.end == t->seen_row.end && id == t->seen_id)
		return 0;
	t->seen_row = row;
	t->seen_id = id;
	if (t->nr == SYS_PROCESS_MADVISE) {
		a->stats.foreign_rows++;
		return 0;
	}
	if (owner->in_exec) {
		exec_row(owner, row, id);
		if (owner != t && owner->tid != t->tid) {
			struct raw_event as_owner = *raw;

			as_owner.tid = owner->tid;
			return emit_row(a, owner, &as_owner, row, id, PFS_SPACE_EXEC);
		}
		return emit_row(a, t, raw, row, id, PFS_SPACE_EXEC);
	}
	if (t->copying)
		return fork_row(a, t, raw, row, id);
	/* Its own space is gone: the last one to close a userfaultfd mends another process's. */
	if (t->exited) {
		a->stats.foreign_rows++;
		return id ? emit_row(a, t, raw, row, id, PFS_SPACE_OTHER) : 0;
	}
	asm_changed(t, raw, row);
	t->nr_taken = 0; /* so what it removes was not removed before */
	if (id)
		return stored_row(a, t, raw, row, id);
	if (covers(row, t->removes))
		t->removed = true;
	return asm_emit_unmap(a, t, raw, row);
}
