/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events, second half: what changes a layout.
 *
 * Three witnesses, each with its gaps: the writes of the kernel's region tree (ranges and identities,
 * but no attributes, and some removals leave no row), the side-band of mappings (all attributes, but
 * no removals and no moves) and the system calls (what was asked, and whether it was granted). Each
 * fact is passed on by the first that knows it; a system call's own account is used at its return for
 * what the other two did not say.
 */
#include "assemble_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#define GUARD_INSTALL 102	/* MADV_GUARD_INSTALL, 6.13 */
#define MAP_HUGETLB_FLAG 0x40000

/* Results from -4095 on are errors; addresses never are. */
static bool failed(uint64_t result)
{
	return result >= (uint64_t)-4095;
}

static uint64_t page_up(const struct pfs_assembler *a, uint64_t addr)
{
	return (addr + a->page_mask) & ~a->page_mask;
}

static bool covers(struct range outer, struct range inner)
{
	return outer.start <= inner.start && outer.end >= inner.end;
}

static bool overlap(struct range a, struct range b)
{
	return a.start < b.end && b.start < a.end;
}

static struct range range_of(uint64_t start, uint64_t len)
{
	return (struct range){ start, start + len < start ? UINT64_MAX : start + len };
}

static void event_range(struct pfs_event *ev, const struct raw_event *raw,
			const struct asm_thread *t, enum pfs_kind kind, struct range r)
{
	asm_event_init(ev, raw, t, kind);
	ev->start = r.start;
	ev->end = r.end;
	ev->have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
}

void asm_changed(struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	if (t->proc)
		t->proc->recent[t->proc->next_recent++ % NR_RECENT] =
			(struct asm_change){ raw->ts_ns, r };
}

/* Has the range been as it is since then, as far as can be told? 0: does not matter. */
static bool unchanged(const struct asm_proc *p, struct range r, uint64_t since_ns)
{
	const struct asm_change *oldest = &p->recent[p->next_recent % NR_RECENT];
	const struct asm_thread *t;

	if (!since_ns)
		return true;
	if (oldest->ts_ns >= since_ns)	/* there may have been more */
		return false;
	for (unsigned int i = 0; i < NR_RECENT; i++)
		if (p->recent[i].ts_ns >= since_ns && overlap(p->recent[i].range, r))
			return false;
	for (t = p->in_flight; t; t = t->next_in_flight)
		if (overlap(t->removes, r))
			return false;
	return true;
}

static int emit_unmap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		      struct range r)
{
	struct pfs_event ev;

	if (r.start >= r.end)
		return 0;
	event_range(&ev, raw, t, PFS_UNMAP, r);
	return asm_emit(a, &ev);
}

static int emit_populate(struct pfs_assembler *a, struct asm_thread *t,
			 const struct raw_event *raw, struct range r, enum pfs_by by)
{
	struct pfs_event ev;

	if (r.start >= r.end || a->handlers)	/* probes tell of each page */
		return 0;
	event_range(&ev, raw, t, PFS_POPULATE, r);
	ev.by = by;
	ev.have |= PFS_HAS(PFS_F_BY);
	return asm_emit(a, &ev);
}

/* ---- calls that remove a range, while they run ---- */

static void in_flight_add(struct asm_thread *t)
{
	if (!t->proc || t->is_in_flight)
		return;
	t->next_in_flight = t->proc->in_flight;
	t->proc->in_flight = t;
	t->is_in_flight = true;
}

static void in_flight_remove(struct asm_thread *t)
{
	struct asm_thread **p;

	if (!t->is_in_flight)
		return;
	for (p = &t->proc->in_flight; *p && *p != t; p = &(*p)->next_in_flight)
		;
	if (*p)
		*p = t->next_in_flight;
	t->is_in_flight = false;
}

void asm_call_over(struct asm_thread *t)
{
	in_flight_remove(t);
	t->nr = SYS_OTHER;
	t->stored = t->moved = t->removed = false;
	t->nr_taken = 0;
	t->removes = t->last_row = t->seen_row = (struct range){ 0, 0 };
}

/*
 * A new mapping can only take a range that another thread's munmap has already emptied, though that
 * call has not returned yet, and its removal may have left no row. If the row is longer than what was
 * asked for, the new part is merged with a neighbour, which may be what is about to be removed: whether
 * it is, rows of the removal yet to come will show.
 */
static int others_removed(struct pfs_assembler *a, struct asm_thread *t,
			  const struct raw_event *raw, struct range row)
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
		err = emit_unmap(a, t, raw, other->removes);
	}
	return err;
}

/* At the end of a call that removes: what no row said, less what others have mapped there since. */
static int remove_rest(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range rest = t->removes;
	int err = 0;

	while (!err && !t->removed && rest.start < rest.end) {
		struct range next = { rest.end, rest.end };

		for (unsigned int i = 0; i < t->nr_taken; i++)
			if (overlap(t->taken[i], rest) && t->taken[i].start < next.start)
				next = t->taken[i];
		err = emit_unmap(a, t, raw, (struct range){ rest.start, next.start });
		rest.start = next.end;
	}
	return err;
}

static bool maps_anew(enum raw_sys nr)
{
	return nr == SYS_MMAP || nr == SYS_MREMAP || nr == SYS_BRK || nr == SYS_SHMAT;
}

/* Where MREMAP_FIXED puts what it moves; empty without it. */
static struct range move_target(const struct pfs_assembler *a, const struct asm_thread *t)
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
	case SYS_MREMAP:	/* several regions at once cannot change their length */
		if (page_up(a, t->arg[1]) != page_up(a, t->arg[2]))
			return move_target(a, t);
		return none;
	case SYS_REMAP_FILE_PAGES:
		return range_of(t->arg[0], page_up(a, t->arg[1]));
	default:
		return none;
	}
}

static struct range removes(const struct pfs_assembler *a, const struct asm_thread *t)
{
	static const struct range none;
	uint64_t old_len;

	switch (t->nr) {
	case SYS_MUNMAP:
		return range_of(t->arg[0], page_up(a, t->arg[1]));
	case SYS_MREMAP:
		old_len = page_up(a, t->arg[1]);
		if (page_up(a, t->arg[2]) < old_len && !(t->arg[3] & MREMAP_FIXED))
			return range_of(t->arg[0] + page_up(a, t->arg[2]),
					old_len - page_up(a, t->arg[2]));
		return none;
	case SYS_BRK:
		if (t->proc && t->proc->brk && t->arg[0] && t->arg[0] < t->proc->brk)
			return (struct range){ page_up(a, t->arg[0]), page_up(a, t->proc->brk) };
		return none;
	default:
		return none;
	}
}

/*
 * shmdt names where the segment begins. What all belongs to it the model knows, but only before the
 * call, as its rows may take away some; whether it succeeds, shows only after it.
 */
static int emit_shmdt(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		      bool last)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_UNMAP);
	ev.start = t->arg[0];
	ev.by = PFS_BY_SHMAT;
	ev.last = last;
	ev.have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_BY) | PFS_HAS(PFS_F_LAST);
	return asm_emit(a, &ev);
}

/*
 * io_destroy unmaps its ring at once and then waits, long enough for another thread to be given the
 * same address: so the ring goes when the call begins. Of a ring that is not there, nothing goes.
 */
static int emit_io_destroy(struct pfs_assembler *a, struct asm_thread *t,
			   const struct raw_event *raw)
{
	struct pfs_event ev;

	asm_changed(t, raw, (struct range){ 0, UINT64_MAX });	/* how long it is, is not said */
	asm_event_init(&ev, raw, t, PFS_UNMAP);
	ev.start = t->arg[0];
	ev.have |= PFS_HAS(PFS_F_START);
	return asm_emit(a, &ev);
}

int asm_sys_enter(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_call_over(t);
	t->nr = raw->nr;
	memcpy(t->arg, raw->arg, sizeof(t->arg));
	t->enter_ns = raw->ts_ns;
	t->removes = removes(a, t);
	if (t->removes.start < t->removes.end)
		in_flight_add(t);
	switch (raw->nr) {
	case SYS_EXECVE:
	case SYS_EXECVEAT:
		t->in_exec = true;
		t->switched = false;
		t->exec_stack_id = 0;
		t->exec_comm[0] = '\0';
		if (t->proc)
			t->proc->exec_thread = t;
		break;
	case SYS_CLONE:
	case SYS_CLONE3:
	case SYS_FORK:
		t->copying = true;
		t->new_tid = 0;
		break;
	case SYS_SHMDT:
		return emit_shmdt(a, t, raw, false);
	case SYS_IO_DESTROY:
		return emit_io_destroy(a, t, raw);
	default:
		break;
	}
	return 0;
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
	if (!t->switched) {	/* seen by this row only: the growth before it was the move's */
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
	event_range(&ev, raw, t, PFS_POPULATE,
		    (struct range){ t->exec_stack_top - len, t->exec_stack_top });
	ev.by = PFS_BY_EXEC;
	ev.space = PFS_SPACE_EXEC;
	ev.have |= PFS_HAS(PFS_F_BY) | PFS_HAS(PFS_F_SPACE);
	return asm_emit(a, &ev);
}

static int emit_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		    struct range row, uint64_t id, enum pfs_which space)
{
	struct pfs_event ev;

	event_range(&ev, raw, t, id ? PFS_MAP : PFS_UNMAP, row);
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
static int fork_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		    struct range row, uint64_t id)
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
		return overlap(row, move_target(a, t));
	/* What shrinks stays, and its rows are of what is left behind it. */
	if (t->arg[1] && page_up(a, t->arg[2]) <= page_up(a, t->arg[1]) &&
	    !(t->arg[3] & MREMAP_DONTUNMAP))
		return false;
	return !(t->arg[0] >= row.start && t->arg[0] < row.end);
}

/*
 * Of a fixed target the model finds out which of the regions moved it is (several may, since 6.17), or
 * that it is but what was left of another mapping there.
 */
static int move_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		    struct range row, uint64_t id)
{
	struct pfs_event ev;

	t->moved = true;
	event_range(&ev, raw, t, PFS_MOVE, row);
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
static int replace_range(struct pfs_assembler *a, struct asm_thread *t,
			 const struct raw_event *raw, struct range row, uint64_t id)
{
	struct range over = replaces(a, t);
	struct pfs_event ev;

	if (t->nr == SYS_SHMAT && t->arg[2] & SHM_REMAP && row.start == (t->arg[1] & ~a->page_mask))
		over = row;	/* how long the segment is, only the row of its own says */
	if (t->removed || over.start >= over.end || !covers(row, over))
		return 0;
	if (row.start < over.start) {
		t->removed = true;
		return emit_unmap(a, t, raw, over);
	}
	event_range(&ev, raw, t, PFS_UNMAP, over);
	ev.id = id;
	ev.len = row.end - row.start;
	ev.have |= PFS_HAS(PFS_F_ID) | PFS_HAS(PFS_F_LEN);
	return asm_emit(a, &ev);
}

/* A region was stored in the tree of the thread's own process. */
static int stored_row(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		      struct range row, uint64_t id)
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
	t->nr_taken = 0;	/* so what it removes was not removed before */
	if (id)
		return stored_row(a, t, raw, row, id);
	if (covers(row, t->removes))
		t->removed = true;
	return emit_unmap(a, t, raw, row);
}

/* ---- the side-band of mappings, and snapshots ---- */

static void set_file(struct pfs_event *ev, const struct raw_event *raw, const char *name)
{
	bool anon = !strcmp(name, "//anon");

	ev->dev = raw->arg[3];
	ev->ino = raw->arg[4];
	ev->off = ev->ino ? raw->arg[2] : 0;	/* the kernel numbers anonymous pages, too */
	ev->name = anon ? "" : name;
	ev->have |= PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_OFF) |
		    PFS_HAS(PFS_F_NAME);
}

static uint8_t perms_of(uint64_t prot, uint64_t flags)
{
	return (prot & PROT_READ ? PFS_PERM_R : 0) | (prot & PROT_WRITE ? PFS_PERM_W : 0) |
	       (prot & PROT_EXEC ? PFS_PERM_X : 0) | (flags & MAP_SHARED ? PFS_PERM_SHARED : 0);
}

static uint8_t traits_of(uint64_t flags)
{
	return (flags & MAP_STACK ? PFS_TRAIT_STACK : 0) |
	       (flags & MAP_HUGETLB_FLAG ? PFS_TRAIT_HUGETLB : 0) |
	       (flags & MAP_LOCKED ? PFS_TRAIT_LOCKED : 0) |
	       (flags & MAP_NORESERVE ? PFS_TRAIT_NORESERVE : 0);
}

/* Nothing is mapped from the snapshot's line before to this address. */
static int snapshot_gap(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
			uint64_t end)
{
	struct range gap = { t->proc->snapshot_end, end };

	if (gap.start >= gap.end || !unchanged(t->proc, gap, t->proc->gap_look_ns))
		return 0;
	return emit_unmap(a, t, raw, gap);
}

int asm_pfs_map(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *owner = asm_exec_owner(t);
	bool snapshot = raw->arg[7] == PFS_MAP_SNAPSHOT;
	struct range r = { raw->arg[0], raw->arg[1] };
	const char *name = asm_own_string(a, raw->str ? raw->str : "");
	struct pfs_event ev;
	int err = 0;

	if (!name)
		return -ENOMEM;
	if (snapshot) {
		if (!t->proc || !t->proc->in_snapshot)
			return 0;
		err = snapshot_gap(a, t, raw, r.start);
		t->proc->snapshot_end = r.end;
		if (!unchanged(t->proc, r, t->proc->look_ns))
			return err;
	} else {
		a->sideband = true;
	}
	if (err)
		return err;
	event_range(&ev, raw, owner->in_exec && !snapshot ? owner : t, PFS_MAP, r);
	set_file(&ev, raw, name);
	ev.perms = perms_of(raw->arg[5], raw->arg[6]);
	ev.traits = traits_of(raw->arg[6]);
	ev.have |= PFS_HAS(PFS_F_PERMS) | (ev.traits ? PFS_HAS(PFS_F_TRAITS) : 0);
	if (owner->in_exec && !snapshot) {
		ev.space = PFS_SPACE_EXEC;
		ev.have |= PFS_HAS(PFS_F_SPACE);
	} else if (!snapshot) {
		t->last_row = r;
		t->stored = t->stored || t->nr == SYS_MMAP || t->nr == SYS_SHMAT;
		asm_changed(t, raw, r);
	}
	return asm_emit(a, &ev);
}

/*
 * value: "first" (stands for itself: later changes are replayed on it), "later T0" (a second look that
 * began at T0 ns: what has not changed since mends what the first could not know), "then T0" (it goes
 * on; what follows was read from T0 on), "end".
 */
int asm_snapshot(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		 const char *value)
{
	struct asm_proc *p = t->proc;
	uint64_t look_ns;

	if (!p)
		return 0;
	if (!strcmp(value, "end")) {
		bool counted = p->in_snapshot;

		p->in_snapshot = false;
		return counted ? snapshot_gap(a, t, raw, UINT64_MAX & ~a->page_mask) : 0;
	}
	if (sscanf(value, "then %" SCNu64, &look_ns) == 1) {
		p->gap_look_ns = p->look_ns;	/* what lies between two pieces, the first one decided */
		p->look_ns = look_ns;
		return 0;
	}
	p->snapshot_end = 0;
	p->in_snapshot = true;
	if (sscanf(value, "later %" SCNu64, &look_ns) != 1)
		look_ns = 0;
	p->look_ns = p->gap_look_ns = look_ns;
	return 0;
}

/* value: where the break began and where it is, both hex: what a snapshot says of it. */
int asm_brk_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		 const char *value)
{
	struct range brk;
	struct pfs_event ev;

	if (sscanf(value, "%" SCNx64 " %" SCNx64, &brk.start, &brk.end) != 2)
		return 0;
	if (t->proc)
		t->proc->brk = brk.end;
	event_range(&ev, raw, t, PFS_BRK, brk);
	return asm_emit(a, &ev);
}

/* ---- fault-around ---- */

struct range asm_populates(const struct pfs_assembler *a, const struct asm_thread *t)
{
	static const struct range none;

	switch (t->nr) {
	case SYS_MMAP: return t->stored ? t->last_row : none;
	case SYS_MADVISE:
		if (t->arg[2] == MADV_POPULATE_READ || t->arg[2] == MADV_POPULATE_WRITE)
			return range_of(t->arg[0], page_up(a, t->arg[1]));
		return none;
	case SYS_MLOCK:
	case SYS_MLOCK2:	/* every page that has a byte of it */
		return range_of(t->arg[0] & ~a->page_mask,
				page_up(a, t->arg[1] + (t->arg[0] & a->page_mask)));
	case SYS_MLOCKALL: return (struct range){ 0, UINT64_MAX };
	default: return none;
	}
}

int asm_map_pages(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = asm_populates(a, t);
	struct pfs_event ev;

	if (raw->arg[2] == RAW_ABSENT || raw->arg[3] == RAW_ABSENT)
		return 0;
	asm_event_init(&ev, raw, t, PFS_AROUND);
	ev.dev = raw->arg[0];
	ev.ino = raw->arg[1];
	ev.off = raw->arg[2] * (a->page_mask + 1);
	ev.end_off = (raw->arg[3] + 1) * (a->page_mask + 1);
	ev.have |= PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_OFF) |
		   PFS_HAS(PFS_F_END_OFF);
	if (r.start < r.end) {
		ev.start = r.start;
		ev.end = r.end;
		ev.have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
	}
	if (t->in_exec && t->switched) {
		ev.space = PFS_SPACE_EXEC;
		ev.have |= PFS_HAS(PFS_F_SPACE);
	}
	return asm_emit_beside(a, t, &ev);
}

/* ---- system calls at their return ---- */

static int mmap_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = range_of(raw->arg[0], page_up(a, t->arg[1]));
	uint64_t flags = t->arg[3];
	struct pfs_event ev;
	int err = 0;

	if (!t->stored)
		err = emit_unmap(a, t, raw, r);
	if (err)
		return err;
	event_range(&ev, raw, t, t->stored ? PFS_PROTECT : PFS_MAP, r);
	ev.traits = traits_of(flags);
	ev.have |= ev.traits ? PFS_HAS(PFS_F_TRAITS) : 0;
	if (!a->sideband) {
		ev.perms = perms_of(t->arg[2], flags);
		ev.off = flags & MAP_ANONYMOUS ? 0 : t->arg[5];
		ev.have |= PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_OFF);
		if (flags & MAP_ANONYMOUS && !(flags & MAP_SHARED)) {
			ev.name = "";
			ev.have |= PFS_HAS(PFS_F_NAME);
		}
	}
	if (ev.kind == PFS_MAP || ev.traits || !a->sideband)
		err = asm_emit(a, &ev);
	if (err || flags & MAP_NONBLOCK)
		return err;
	if (flags & MAP_POPULATE)
		return emit_populate(a, t, raw, r, PFS_BY_MMAP);
	if (flags & MAP_LOCKED || (t->proc && t->proc->mlock_future))
		return emit_populate(a, t, raw, r, PFS_BY_MLOCK);
	return 0;
}

static int munmap_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_changed(t, raw, t->removes);
	return remove_rest(a, t, raw);
}

static int mremap_moved(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
			uint64_t old_len, uint64_t new_len)
{
	struct pfs_event ev;
	int err = 0;

	if (!t->moved && !t->stored) {
		event_range(&ev, raw, t, PFS_MOVE, range_of(raw->arg[0], new_len));
		ev.from = t->arg[0];
		ev.len = old_len;
		ev.have |= PFS_HAS(PFS_F_FROM) | PFS_HAS(PFS_F_LEN);
		err = emit_unmap(a, t, raw, move_target(a, t));
		if (!err)
			err = asm_emit(a, &ev);
	}
	/* It may leave no row; a range that is gone already is no matter. */
	if (!err && !(t->arg[3] & MREMAP_DONTUNMAP))
		err = emit_unmap(a, t, raw, range_of(t->arg[0], old_len));
	return err;
}

static int mremap_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t old_len = page_up(a, t->arg[1]), new_len = page_up(a, t->arg[2]);
	struct pfs_event ev;

	asm_changed(t, raw, range_of(t->arg[0], old_len));
	asm_changed(t, raw, range_of(raw->arg[0], new_len));
	if (raw->arg[0] != t->arg[0])
		return mremap_moved(a, t, raw, old_len, new_len);
	if (new_len < old_len)
		return remove_rest(a, t, raw);
	if (a->rows || new_len == old_len)	/* in huge pages it may not have grown at all */
		return 0;
	event_range(&ev, raw, t, PFS_MAP, range_of(t->arg[0], new_len));
	return asm_emit(a, &ev);
}

static int mprotect_done(struct pfs_assembler *a, struct asm_thread *t,
			 const struct raw_event *raw)
{
	struct pfs_event ev;

	asm_changed(t, raw, range_of(t->arg[0], page_up(a, t->arg[1])));
	if (a->sideband)
		return 0;
	event_range(&ev, raw, t, PFS_PROTECT, range_of(t->arg[0], page_up(a, t->arg[1])));
	ev.perms = perms_of(t->arg[2], 0);
	ev.have |= PFS_HAS(PFS_F_PERMS);
	return asm_emit(a, &ev);
}

static int brk_grew(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		    uint64_t before)
{
	struct range r = { page_up(a, before), page_up(a, raw->arg[0]) };
	struct pfs_event ev;
	int err = 0;

	if (r.start >= r.end)
		return 0;
	if (!t->stored || !a->sideband) {
		event_range(&ev, raw, t, t->stored ? PFS_PROTECT : PFS_MAP, r);
		ev.perms = PFS_PERM_R | PFS_PERM_W;
		ev.name = "";
		ev.have |= PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_NAME);
		err = asm_emit(a, &ev);
	}
	if (!err && t->proc && t->proc->mlock_future)
		err = emit_populate(a, t, raw, r, PFS_BY_MLOCK);
	return err;
}

static int brk_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t before = t->proc ? t->proc->brk : 0, now = raw->arg[0];
	struct pfs_event ev;
	int err;

	if (now == before)
		return 0;
	if (t->proc)
		t->proc->brk = now;
	asm_event_init(&ev, raw, t, PFS_BRK);
	ev.end = now;
	ev.have |= PFS_HAS(PFS_F_END);
	err = asm_emit(a, &ev);
	if (err || !before)
		return err;
	asm_changed(t, raw, (struct range){ now < before ? now : before,
					    page_up(a, now < before ? before : now) });
	if (now > before)
		return brk_grew(a, t, raw, before);
	return remove_rest(a, t, raw);
}

/* What holds for regions of the range from now on, whatever else they are. */
static int emit_traits(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw,
		       struct range r, uint8_t traits)
{
	struct pfs_event ev;

	event_range(&ev, raw, t, PFS_PROTECT, r);
	ev.traits = traits;
	ev.have |= PFS_HAS(PFS_F_TRAITS);
	return asm_emit(a, &ev);
}

static int madvise_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	if (t->arg[2] == GUARD_INSTALL)
		return emit_traits(a, t, raw, range_of(t->arg[0], page_up(a, t->arg[1])),
				   PFS_TRAIT_GUARDED);
	event_range(&ev, raw, t, PFS_POPULATE, asm_populates(a, t));
	if (ev.start >= ev.end || a->handlers)
		return 0;
	ev.by = PFS_BY_MADVISE;
	ev.access = t->arg[2] == MADV_POPULATE_READ ? PFS_READ : PFS_WRITE;
	ev.have |= PFS_HAS(PFS_F_BY) | PFS_HAS(PFS_F_ACCESS);
	return asm_emit(a, &ev);
}

static int mlock_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (t->nr == SYS_MLOCK2 && t->arg[2] & MLOCK_ONFAULT)
		return 0;
	return emit_populate(a, t, raw, asm_populates(a, t), PFS_BY_MLOCK);
}

static int mlockall_done(struct pfs_assembler *a, struct asm_thread *t,
			 const struct raw_event *raw)
{
	bool on_fault = t->arg[0] & MCL_ONFAULT;

	if (t->proc)
		t->proc->mlock_future = t->arg[0] & MCL_FUTURE && !on_fault;
	if (!(t->arg[0] & MCL_CURRENT) || on_fault)
		return 0;
	return emit_populate(a, t, raw, asm_populates(a, t), PFS_BY_MLOCK);
}

static int munlockall_done(struct pfs_assembler *a, struct asm_thread *t,
			   const struct raw_event *raw)
{
	if (t->proc)
		t->proc->mlock_future = false;
	return 0;
}

static int shmdt_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_changed(t, raw, (struct range){ 0, UINT64_MAX });
	return emit_shmdt(a, t, raw, true);
}

static int mseal_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return emit_traits(a, t, raw, range_of(t->arg[0], page_up(a, t->arg[1])),
			   PFS_TRAIT_SEALED);
}

/* A name given to anonymous memory: the text is the program's own and not in the trace. */
static int prctl_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	if (t->arg[0] != PR_SET_VMA)
		return 0;
	asm_changed(t, raw, range_of(t->arg[2], page_up(a, t->arg[3])));
	event_range(&ev, raw, t, PFS_PROTECT, range_of(t->arg[2], page_up(a, t->arg[3])));
	return asm_emit(a, &ev);
}

typedef int (*call_done)(struct pfs_assembler *, struct asm_thread *, const struct raw_event *);

static const call_done calls_done[SYS_NR] = {
	[SYS_MMAP] = mmap_done,
	[SYS_MUNMAP] = munmap_done,
	[SYS_MREMAP] = mremap_done,
	[SYS_MPROTECT] = mprotect_done,
	[SYS_PKEY_MPROTECT] = mprotect_done,
	[SYS_BRK] = brk_done,
	[SYS_MADVISE] = madvise_done,
	[SYS_MSEAL] = mseal_done,
	[SYS_SHMDT] = shmdt_done,
	[SYS_MLOCK] = mlock_done,
	[SYS_MLOCK2] = mlock_done,
	[SYS_MLOCKALL] = mlockall_done,
	[SYS_MUNLOCKALL] = munlockall_done,
	[SYS_PRCTL] = prctl_done,
};

/* The old image goes on: forget what was built of the new one. */
static int exec_failed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	if (!t->in_exec)
		return 0;
	t->in_exec = t->switched = false;
	if (t->proc)
		t->proc->exec_thread = NULL;
	event_range(&ev, raw, t, PFS_UNMAP, (struct range){ 0, UINT64_MAX });
	ev.space = PFS_SPACE_EXEC;
	ev.have |= PFS_HAS(PFS_F_SPACE);
	return asm_emit(a, &ev);
}

/*
 * Before 6.17 mremap to a fixed address removed what was there, and the end of what shrinks, before it
 * looked whether it can be done. Only that there is nothing to be moved it saw before that.
 */
static int mremap_emptied(struct pfs_assembler *a, struct asm_thread *t,
			  const struct raw_event *raw)
{
	uint64_t old_len = page_up(a, t->arg[1]), new_len = page_up(a, t->arg[2]);
	int error = -(int64_t)raw->arg[0];
	struct pfs_event ev;
	int err;

	if (!(t->stored || error == EFAULT || error == EAGAIN || error == ENOMEM))
		return 0;
	event_range(&ev, raw, t, PFS_UNMAP, move_target(a, t));
	ev.from = t->arg[0];
	ev.have |= PFS_HAS(PFS_F_FROM);
	err = asm_emit(a, &ev);
	if (err || old_len <= new_len)
		return err;
	ev.start = t->arg[0] + new_len;
	ev.end = t->arg[0] + old_len;
	return asm_emit(a, &ev);
}

/* Of several regions that mremap was to move, some have arrived: those are gone from where they were. */
static int mremap_failed(struct pfs_assembler *a, struct asm_thread *t,
			 const struct raw_event *raw)
{
	struct pfs_event ev;

	if (t->arg[3] & MREMAP_FIXED && !a->checks_first)
		return mremap_emptied(a, t, raw);
	if (!t->moved || t->arg[3] & MREMAP_DONTUNMAP)
		return 0;
	event_range(&ev, raw, t, PFS_UNMAP, range_of(t->arg[0], page_up(a, t->arg[1])));
	ev.by = PFS_BY_MREMAP;
	ev.have |= PFS_HAS(PFS_F_BY);
	return asm_emit(a, &ev);
}

int asm_sys_exit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	call_done done = calls_done[raw->nr];
	int err = 0;

	if (t->nr != raw->nr) {
		/* A new process or thread returns from a call that it never entered. */
		if (raw->nr != SYS_CLONE && raw->nr != SYS_CLONE3 && raw->nr != SYS_FORK &&
		    raw->nr != SYS_VFORK && raw->nr != SYS_EXECVE && raw->nr != SYS_EXECVEAT)
			a->stats.unpaired_exits++;
		if (raw->nr == SYS_BRK)
			err = brk_done(a, t, raw);
		asm_call_over(t);
		return err;
	}
	if (raw->nr == SYS_EXECVE || raw->nr == SYS_EXECVEAT)
		err = failed(raw->arg[0]) ? exec_failed(a, t, raw) : 0;
	else if (done && !failed(raw->arg[0]))
		err = done(a, t, raw);
	else if (raw->nr == SYS_MREMAP && failed(raw->arg[0]))
		err = mremap_failed(a, t, raw);
	t->copying = false;
	asm_call_over(t);
	return err;
}
