/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes by number, and their lives: fork, exec, exit, names; by the kernel's events, and where those
 * were lost by the side-band's word.
 */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads and processes ---- */

static struct asm_proc *proc_get(struct pfs_assembler *a, int32_t pid)
{
	struct asm_proc *p;

	HASH_FIND_INT(a->procs, &pid, p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	HASH_ADD_INT(a->procs, pid, p);
	if (!HASH_ADD_FAILED(p))
		return p;
	free(p);
	return NULL;
}

static struct asm_thread *thread_get(struct pfs_assembler *a, int32_t tid)
{
	struct asm_thread *t;

	HASH_FIND_INT(a->threads, &tid, t);
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	HASH_ADD_INT(a->threads, tid, t);
	if (!HASH_ADD_FAILED(t))
		return t;
	free(t);
	return NULL;
}

static void thread_alive(struct asm_thread *t, bool alive)
{
	if (t->proc && t->alive != alive)
		t->proc->nr_live += alive ? 1 : -1;
	t->alive = t->proc && alive;
}

static void not_ending(struct pfs_assembler *a, struct asm_thread *t)
{
	a->nr_ending -= t->ending_ns != 0;
	t->ending_ns = 0;
}

/* A number that is given to a new thread starts from nothing. */
static void thread_renew(struct pfs_assembler *a, struct asm_thread *t)
{
	asm_call_over(t);
	thread_alive(t, false);
	not_ending(a, t);
	t->end_concluded = false;
	t->proc = NULL;
	t->comm_said = t->exited = t->mm_gone = t->copying = t->in_exec = t->switched = false;
	t->exec_said_ns = 0;
}

static void proc_renew(struct asm_proc *p)
{
	p->nr_live = 0;
	p->exec_thread = NULL;
	p->brk = 0;
	p->counted = true;
	p->mlock_future = p->shared_space = p->in_snapshot = false;
}

int pfs_assembler_thread(struct pfs_assembler *a, int32_t tid, int32_t pid)
{
	struct asm_thread *t = thread_get(a, tid);

	if (!t)
		return -ENOMEM;
	t->proc = proc_get(a, pid);
	return t->proc ? 0 : -ENOMEM;
}

/* The thread of a raw event. Its name is passed on the first time that a record says it. */
int asm_thread_of(struct pfs_assembler *a, const struct raw_event *raw, struct asm_thread **out)
{
	struct asm_thread **hot = &a->hot[raw->cpu & 63], *t = *hot;
	struct pfs_event ev;
	const char *comm;

	if (!t || t->tid != raw->tid) {
		t = thread_get(a, raw->tid);
		if (!t)
			return -ENOMEM;
		*hot = t;
	}
	*out = t;
	if (!t->proc && raw->tgid > 0) {
		t->proc = proc_get(a, raw->tgid);
		if (!t->proc)
			return -ENOMEM;
	}
	if (t->comm_said || raw->kind == RAW_PFS_TASK || raw->kind == RAW_PFS_NOTE)
		return 0;
	t->comm_said = true;
	comm = raw->comm ? raw->comm : a->name ? a->name(a->name_ctx, t->tid) : NULL;
	if (!comm)
		return 0;
	asm_event_init(&ev, raw, t, PFS_COMM);
	ev.comm = comm;
	ev.have |= PFS_HAS(PFS_F_COMM);
	return asm_emit(a, &ev);
}

struct asm_thread *asm_exec_owner(struct asm_thread *t)
{
	/* After the first thread died in another one's exec, that one goes on under its number. */
	if (t->exited && !t->in_exec && t->proc && t->proc->exec_thread && t->tid == t->proc->pid)
		return t->proc->exec_thread;
	return t;
}

/* ---- process life ---- */

static int thread_begins(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, int32_t tid)
{
	struct asm_thread *child = thread_get(a, tid);
	struct pfs_event ev;

	if (!child)
		return -ENOMEM;
	thread_renew(a, child);
	child->proc = t->proc;
	child->comm_said = true; /* its creator's, as a copy */
	thread_alive(child, true);
	asm_event_init(&ev, raw, t, PFS_THREAD);
	ev.child = tid;
	ev.have |= PFS_HAS(PFS_F_CHILD);
	return asm_emit(a, &ev);
}

int asm_newtask(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	t->new_tid = raw->arg[0];
	t->new_flags = raw->arg[1];
	/* Kernel-made threads (io_uring's) have no fork event, so a thread begins here. */
	if (raw->arg[1] != RAW_ABSENT && raw->arg[1] & CLONE_THREAD)
		return thread_begins(a, t, raw, t->new_tid);
	return 0;
}

/* The clone flags of the fork under way; RAW_ABSENT if nothing says them. */
static uint64_t fork_flags(const struct asm_thread *t, int32_t child)
{
	if (t->new_tid == child && t->new_flags != RAW_ABSENT)
		return t->new_flags;
	switch (t->nr) {
	case SYS_CLONE:
		return t->arg[0];
	case SYS_VFORK:
		return CLONE_VM | CLONE_VFORK;
	case SYS_FORK:
		return 0;
	default:
		return RAW_ABSENT;
	}
}

int asm_forked(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int32_t pid = raw->arg[1];
	uint64_t flags = fork_flags(t, pid);
	struct asm_thread *child;
	struct pfs_event ev;

	t->copying = false;
	if (flags != RAW_ABSENT && flags & CLONE_THREAD)
		return t->new_tid == pid ? 0 : thread_begins(a, t, raw, pid);
	child = thread_get(a, pid);
	if (!child)
		return -ENOMEM;
	thread_renew(a, child);
	child->comm_said = true;
	child->proc = proc_get(a, pid);
	if (!child->proc)
		return -ENOMEM;
	proc_renew(child->proc);
	thread_alive(child, true);
	asm_event_init(&ev, raw, t, PFS_FORK);
	ev.child = pid;
	ev.have |= PFS_HAS(PFS_F_CHILD);
	ev.shared = flags != RAW_ABSENT && flags & CLONE_VM;
	if (flags != RAW_ABSENT)
		ev.have |= PFS_HAS(PFS_F_SHARED);
	child->proc->shared_space = ev.shared;
	if (t->proc) {
		child->proc->brk = t->proc->brk;
		child->proc->mlock_future = t->proc->mlock_future && ev.shared;
	}
	if (a->only_pid)
		return 0;
	return asm_emit(a, &ev);
}

int asm_executed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int32_t old_tid = raw->arg[1] == RAW_ABSENT ? raw->tid : (int32_t)raw->arg[1];
	struct asm_thread *builder = thread_get(a, old_tid);
	struct pfs_event ev;
	int err;

	if (!builder)
		return -ENOMEM;
	err = a->handlers ? asm_held_exec(a, builder) : asm_exec_populated(a, builder, raw);
	if (err)
		return err;
	asm_event_init(&ev, raw, t, PFS_EXEC);
	if (raw->str) {
		ev.name = raw->str;
		ev.have |= PFS_HAS(PFS_F_NAME);
	}
	if (old_tid != raw->tid) {
		ev.child_tid = old_tid;
		ev.have |= PFS_HAS(PFS_F_CHILD_TID);
	}
	if (builder->exec_comm[0]) {
		ev.comm = builder->exec_comm;
		ev.have |= PFS_HAS(PFS_F_COMM);
	}
	t->exited = false; /* the first thread's number lives on in the one that did the exec */
	t->comm_said = true;
	asm_changed(t, raw, (struct range){ 0, UINT64_MAX });
	if (t->proc) {
		proc_renew(t->proc);
		t->alive = false;
		thread_alive(t, true);
	}
	err = asm_emit(a, &ev);
	builder->in_exec = builder->switched = t->in_exec = t->switched = false;
	t->exec_said_ns = 0;
	builder->exec_comm[0] = '\0';
	return err;
}

/* An exec whose end was lost. */
static int exec_over(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct raw_event end = { .kind = RAW_EXEC,
				 .ts_ns = raw->ts_ns,
				 .cpu = raw->cpu,
				 .tid = t->tid,
				 .tgid = raw->tgid,
				 .arg = { t->tid, asm_exec_owner(t)->tid } };

	return asm_executed(a, t, &end);
}

/* The side-band's word for an exec: what follows is of the new image, whatever else was lost. */
static int exec_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const char *comm = asm_own_string(a, raw->str);
	struct asm_thread *builder;
	int err = 0;

	if (!comm)
		return -ENOMEM;
	if (t->exec_said_ns) /* it was all lost from then to the next one */
		err = exec_over(a, t, raw);
	builder = asm_exec_owner(t);
	if (!builder->in_exec) {
		builder->in_exec = true;
		builder->exec_stack_id = 0;
		builder->exec_comm[0] = '\0';
		if (t->proc)
			t->proc->exec_thread = builder;
	}
	builder->switched = true;
	t->exec_said_ns = raw->ts_ns;
	if (!builder->exec_comm[0])
		strncpy(builder->exec_comm, comm, sizeof(builder->exec_comm) - 1);
	return err;
}

/*
 * What only a program does, and its end, come after its exec; and a look at its regions that began later, for it waits
 * until they are all there.
 */
static bool is_after_exec(const struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t look_ns = raw->ts_ns;

	switch (raw->kind) {
	case RAW_FAULT_USER:
	case RAW_SYS_ENTER:
	case RAW_SYS_EXIT:
	case RAW_EXIT:
		return true;
	case RAW_PFS_NOTE:
		return raw->str &&
		       (!strcmp(raw->str, "snapshot=first") ||
			sscanf(raw->str, "snapshot=later %" SCNu64, &look_ns) == 1) &&
		       look_ns > t->exec_said_ns;
	default:
		return false;
	}
}

int asm_after_exec(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return t->exec_said_ns && is_after_exec(t, raw) ? exec_over(a, t, raw) : 0;
}

static int emit_gone(struct pfs_assembler *a, const struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_UNMAP);
	ev.end = UINT64_MAX;
	ev.have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
	return asm_emit(a, &ev);
}

static int exited(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_proc *p = t->proc;
	bool last = false, counted = false, known = raw->arg[1] != RAW_ABSENT;
	struct pfs_event ev;
	int err = 0;

	asm_call_over(t);
	t->exited = true;
	if (t->alive) {
		thread_alive(t, false);
		counted = p->counted;
		last = counted && !p->nr_live;
	}
	if (known)
		last = raw->arg[1];
	asm_event_init(&ev, raw, t, PFS_EXIT);
	ev.last = last;
	ev.have |= PFS_HAS(PFS_F_LAST) * (known || counted);
	err = asm_emit(a, &ev);
	/* Kernels differ in whether the address space or the thread is given up first. */
	if (!err && last && (t->mm_gone || !a->exit_mmap) && !(p && p->shared_space))
		err = emit_gone(a, t, raw);
	t->mm_gone = false;
	return err;
}

int asm_exit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	bool told = t->end_concluded;

	not_ending(a, t);
	t->end_concluded = false;
	return told ? 0 : exited(a, t, raw);
}

/* The exit event of a thread that the side-band told the end of is lost, or as good as. */
static int conclude_end(struct pfs_assembler *a, struct asm_thread *t, uint64_t ts_ns)
{
	struct raw_event end = { .kind = RAW_EXIT,
				 .ts_ns = ts_ns,
				 .cpu = -1,
				 .tid = t->tid,
				 .tgid = t->proc ? t->proc->pid : -1,
				 .arg = { t->tid, RAW_ABSENT } };

	not_ending(a, t);
	t->end_concluded = true;
	return exited(a, t, &end);
}

int asm_conclude_ends(struct pfs_assembler *a, uint64_t ts_ns)
{
	struct asm_thread *t, *next;
	int err = 0;

	if (!a->nr_ending)
		return 0;
	HASH_ITER (hh, a->threads, t, next)
		if (!err && t->ending_ns)
			err = conclude_end(a, t, ts_ns ? ts_ns : t->ending_ns);
	return err;
}

int asm_mm_gone(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *owner = asm_exec_owner(t);

	a->exit_mmap = true;
	if (owner->in_exec) {
		owner->switched = true;
		return 0;
	}
	if (t->exited)
		return emit_gone(a, t, raw);
	/* Perhaps another process's, whose last user this thread was: its own exit will tell. */
	t->mm_gone = true;
	return 0;
}

int asm_renamed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *owner = asm_exec_owner(t), *who;
	struct pfs_event ev;

	if (!raw->str)
		return 0;
	if (owner->in_exec) { /* the new image's name: said with the exec itself */
		strncpy(owner->exec_comm, raw->str, sizeof(owner->exec_comm) - 1);
		return 0;
	}
	who = raw->arg[0] == RAW_ABSENT ? t : thread_get(a, raw->arg[0]);
	if (!who)
		return -ENOMEM;
	if (!who->proc)
		who->proc = t->proc; /* one may only rename threads of one's own process */
	who->comm_said = true;
	asm_event_init(&ev, raw, who, PFS_COMM);
	ev.comm = raw->str;
	ev.have |= PFS_HAS(PFS_F_COMM);
	return asm_emit(a, &ev);
}

/* ---- what the side-band and snapshots say of them ---- */

/*
 * The exit event comes before or after this, by kernel, unless it is lost; perhaps all that there was of the thread
 * but this is.
 */
static int end_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err = t->exec_said_ns ? exec_over(a, t, raw) : 0;

	if (err || t->exited || !t->alive || t->ending_ns || !raw->ts_ns)
		return err;
	t->ending_ns = raw->ts_ns;
	a->nr_ending++;
	return 0;
}

int asm_task_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *who = thread_get(a, raw->arg[0]);
	struct pfs_event ev;

	if (!who)
		return -ENOMEM;
	if (raw->arg[2] == PFS_TASK_ENDED)
		return end_said(a, who, raw);
	if (!who->proc && !who->exited) {
		who->proc = proc_get(a, raw->arg[1]);
		if (!who->proc)
			return -ENOMEM;
		who->proc->counted = true;
		thread_alive(who, true);
	}
	if (raw->arg[2] == PFS_TASK_EXECS && raw->str)
		return exec_said(a, who, raw);
	if (who->comm_said || !raw->str || !raw->str[0])
		return 0;
	who->comm_said = true;
	asm_event_init(&ev, raw, who, PFS_COMM);
	ev.comm = asm_own_string(a, raw->str);
	if (!ev.comm)
		return -ENOMEM;
	ev.have |= PFS_HAS(PFS_F_COMM);
	return asm_emit(a, &ev);
}
