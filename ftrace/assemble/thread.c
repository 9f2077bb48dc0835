/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of threads and processes: looked up by number, reset where it ends. It emits no events.
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
	asm_thread_set_alive(t, false);
	asm_thread_not_ending(a, t);
	*t = (struct asm_thread){ .tid = t->tid, .proc = proc, .pending = t->pending, .hh = t->hh };
	t->named = true; /* its parent's name, which the child inherits */
}

void asm_proc_renew(struct asm_proc *p)
{
	p->nr_live = 0;
	p->exec_thread = NULL;
	p->brk = 0;
	p->counted = true;
	p->mlock_future = p->shared_space = p->in_snapshot = false;
}

struct asm_thread *asm_exec_owner(struct asm_thread *t)
{
	/* The first thread ended during another thread's exec, which continues under the first one's number. */
	if (t->exited && !t->exec.under_way && t->proc && t->proc->exec_thread && t->tid == t->proc->pid)
		return t->proc->exec_thread;
	return t;
}

void asm_exec_begin(struct asm_thread *t)
{
	t->exec = (struct asm_exec){ .under_way = true };
	if (t->proc)
		t->proc->exec_thread = t;
}

void asm_call_begin(const struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_call_over(t);
	t->call.nr = raw->nr;
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
