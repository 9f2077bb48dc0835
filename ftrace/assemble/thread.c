/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of threads and processes: looked up by number, reset where it ends; and the ranges of addresses that a
 * thread's current system call concerns, as far as its arguments determine them. It emits no events.
 */
#include "assemble/assemble_priv.h"

struct asm_proc *asm_proc_get(struct pfs_assembler *a, int32_t pid)
{
	return PFS_HASH_GET(a->procs, pid, pid);
}

struct asm_thread *asm_thread_get(struct pfs_assembler *a, int32_t tid)
{
	return PFS_HASH_GET(a->threads, tid, tid);
}

void asm_thread_set_alive(struct asm_thread *t, bool alive)
{
	if (t->proc && t->alive != alive)
		t->proc->nr_live += alive ? 1 : -1;
	t->alive = t->proc && alive;
}

void asm_thread_not_ending(struct pfs_assembler *a, struct asm_thread *t)
{
	a->nr_ending -= t->end_reported_ns != 0;
	t->end_reported_ns = 0;
	t->end_concluded = false;
}

void asm_thread_renew(struct pfs_assembler *a, struct asm_thread *t, struct asm_proc *proc)
{
	asm_call_over(t);
	asm_exec_over(t);
	asm_thread_set_alive(t, false);
	asm_thread_not_ending(a, t);
	*t = (struct asm_thread){ .tid = t->tid,
				  .proc = proc,
				  .pending = t->pending,
				  .doubtful = t->doubtful,
				  .reused_ns = t->reused_ns,
				  .seen_ns = t->seen_ns,
				  .hh = t->hh };
	t->named = true; /* its parent's name, which the child inherits */
}

void asm_proc_renew(struct asm_proc *p)
{
	p->nr_live = 0;
	while (!LIST_EMPTY(&p->execing))
		asm_exec_over(LIST_FIRST(&p->execing));
	p->brk = 0;
	memset(p->uffds, 0, sizeof(p->uffds));
	p->counted = true;
	p->mlock_future = p->mlock_future_on_fault = p->has_locked = p->is_32bit = false;
	p->shared_space = p->in_snapshot = false;
}

void asm_exec_begin(struct asm_thread *t)
{
	asm_exec_over(t);
	t->exec = (struct asm_exec){ .under_way = true, .is_listed = t->proc };
	if (t->proc)
		LIST_INSERT_HEAD(&t->proc->execing, t, execing);
}

void asm_exec_over(struct asm_thread *t)
{
	if (t->exec.is_listed)
		LIST_REMOVE(t, execing);
	t->exec = (struct asm_exec){ 0 };
}

/* ---- the current system call ---- */

static const struct range none;

struct range asm_call_range(const struct pfs_assembler *a, const struct asm_thread *t)
{
	return range_of(t->call.arg[0], page_up(a, t->call.arg[1]));
}

struct range asm_call_removes(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg, brk = t->proc ? t->proc->brk : 0;
	uint64_t old_len = page_up(a, arg[1]), new_len = page_up(a, arg[2]);

	switch (t->call.nr) {
	case SYS_MUNMAP:
		return asm_call_range(a, t);
	case SYS_MREMAP:
		if (new_len < old_len && !(arg[3] & MREMAP_FIXED))
			return range_of(arg[0] + new_len, old_len - new_len);
		return none;
	case SYS_BRK:
		if (arg[0] && arg[0] < brk)
			return (struct range){ page_up(a, arg[0]), page_up(a, brk) };
		return none;
	default:
		return none;
	}
}

struct range asm_call_target(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg;

	return arg[3] & MREMAP_FIXED ? range_of(arg[4], page_up(a, arg[2])) : none;
}

struct range asm_call_replaces(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg;

	switch (t->call.nr) {
	case SYS_MMAP:
		return arg[3] & MAP_FIXED ? asm_call_range(a, t) : none;
	case SYS_MREMAP: /* a call that moves several regions cannot change their length */
		return page_up(a, arg[1]) != page_up(a, arg[2]) ? asm_call_target(a, t) : none;
	case SYS_REMAP_FILE_PAGES:
		return asm_call_range(a, t);
	default:
		return none;
	}
}

bool asm_call_collapses(const struct asm_thread *t)
{
	return t->call.nr == SYS_MADVISE && t->call.arg[2] == MADV_COLLAPSE;
}

struct range asm_call_populates(const struct pfs_assembler *a, const struct asm_thread *t)
{
	const uint64_t *arg = t->call.arg;

	switch (t->call.nr) {
	case SYS_MMAP:
	case SYS_MREMAP:
	case SYS_SHMAT:
		return t->call.stored ? t->call.last_row : none;
	case SYS_REMAP_FILE_PAGES:
		return asm_call_range(a, t);
	case SYS_MADVISE:
		return arg[2] == MADV_POPULATE_READ || arg[2] == MADV_POPULATE_WRITE ? asm_call_range(a, t) : none;
	case SYS_MLOCK:
	case SYS_MLOCK2:
	case SYS_MUNLOCK: /* every page that has a byte of the range */
		return range_of(arg[0] & ~a->page_mask, page_up(a, arg[1] + (arg[0] & a->page_mask)));
	case SYS_MLOCKALL:
		return (struct range){ 0, UINT64_MAX };
	default:
		return none;
	}
}

int32_t asm_call_uffd(const struct asm_thread *t)
{
	for (unsigned int i = 1; t->proc && i <= MAX_UFFDS; i++) {
		const struct asm_uffd *uffd = &t->proc->uffds[(t->proc->next_uffd - i) % MAX_UFFDS];

		if (uffd->pid && uffd->fd == (int32_t)t->call.arg[0])
			return uffd->pid;
	}
	return 0;
}

void asm_call_begin(const struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_call_over(t);
	t->call.nr = raw->nr;
	t->call.begun_ns = raw->ts_ns;
	t->call.losses = a->losses;
	memcpy(t->call.arg, raw->arg, sizeof(t->call.arg));
	t->call.removes = asm_call_removes(a, t);
	t->is_in_flight = t->proc && t->call.removes.start < t->call.removes.end;
	if (t->is_in_flight)
		LIST_INSERT_HEAD(&t->proc->in_flight, t, in_flight);
}

void asm_call_over(struct asm_thread *t)
{
	if (t->is_in_flight)
		LIST_REMOVE(t, in_flight);
	t->is_in_flight = false;
	t->call = (struct asm_call){ .nr = SYS_OTHER };
}

void asm_changed(struct asm_thread *t, const struct raw_event *raw, struct range r)
{
	if (t->proc)
		t->proc->recent[t->proc->next_recent++ % NR_RECENT] = (struct asm_change){ raw->ts_ns, r };
}
