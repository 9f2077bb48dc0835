/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes by number, and their lives: fork, exec, exit, names; by the kernel's events, and by the
 * side-band where those were lost.
 */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <sched.h>

int pfs_assembler_thread(struct pfs_assembler *a, int32_t tid, int32_t pid)
{
	struct asm_thread *t = asm_thread_get(a, tid);

	if (!t)
		return -ENOMEM;
	t->proc = asm_proc_get(a, pid);
	return t->proc ? 0 : -ENOMEM;
}

int asm_thread_of(struct pfs_assembler *a, const struct raw_event *raw, struct asm_thread **out)
{
	struct asm_thread **hot = &a->hot[raw->cpu & 63], *t = *hot;
	const char *comm;

	if (!t || t->tid != raw->tid) {
		t = asm_thread_get(a, raw->tid);
		if (!t)
			return -ENOMEM;
		*hot = t;
	}
	*out = t;
	if (!t->proc && raw->tgid > 0) {
		t->proc = asm_proc_get(a, raw->tgid);
		if (!t->proc)
			return -ENOMEM;
	}
	if (t->named || raw->kind == RAW_PFS_TASK || raw->kind == RAW_PFS_NOTE)
		return 0;
	t->named = true;
	comm = raw->comm ? raw->comm : a->name ? a->name(a->name_ctx, t->tid) : NULL;
	return comm ? asm_emit_comm(a, t, raw, comm) : 0;
}

/* ---- process life ---- */

static int thread_begins(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, int32_t tid)
{
	struct asm_thread *child = asm_thread_get(a, tid);
	struct pfs_event ev;

	if (!child)
		return -ENOMEM;
	asm_thread_renew(a, child, t->proc);
	asm_thread_set_alive(child, true);
	asm_event_init(&ev, raw, t, PFS_THREAD);
	PFS_SET(&ev, child, CHILD, tid);
	return asm_emit(a, &ev);
}

int asm_newtask(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	t->fork.child = raw->arg[0];
	t->fork.flags = raw->arg[1];
	/* Kernel-made threads (io_uring's) have no fork event, so a thread begins here. */
	if (raw->arg[1] != RAW_ABSENT && raw->arg[1] & CLONE_THREAD)
		return thread_begins(a, t, raw, t->fork.child);
	return 0;
}

/* The clone flags of the fork under way; RAW_ABSENT if they are unknown. */
static uint64_t fork_flags(const struct asm_thread *t, int32_t child)
{
	if (t->fork.child == child && t->fork.flags != RAW_ABSENT)
		return t->fork.flags;
	switch (t->call.nr) {
	case SYS_CLONE:
		return t->call.arg[0];
	case SYS_VFORK:
		return CLONE_VM | CLONE_VFORK;
	case SYS_FORK:
		return 0;
	default:
		return RAW_ABSENT;
	}
}

/*
 * The kernel removes a number from the list of those to record a moment after the end of its process. If another process
 * has it by then, that one is forgotten, and nothing but the fork's event shows that it was there.
 */
#define FORGETS_WITHIN_NS UINT64_C(1000000000)

static int report_forgotten(struct pfs_assembler *a, const struct asm_thread *t, uint64_t ts_ns)
{
	struct pfs_event ev = { .kind = PFS_LOST, .ts_ns = ts_ns };

	PFS_SET(&ev, interval_ns, INTERVAL, ts_ns - t->seen_ns);
	return asm_emit(a, &ev);
}

/* A process gets the number of another, which may have ended unseen. */
static int number_given(struct pfs_assembler *a, struct asm_thread *child, const struct raw_event *raw)
{
	bool forgotten = child->reused_ns, at_once = child->exited && raw->ts_ns - child->ended_ns < FORGETS_WITHIN_NS;
	int err = forgotten ? report_forgotten(a, child, raw->ts_ns) : 0;

	child->reused_ns = a->own && !a->only_pid && (forgotten || at_once) ? raw->ts_ns : 0;
	child->seen_ns = raw->ts_ns;
	return err;
}

void asm_seen(struct asm_thread *t, uint64_t ts_ns)
{
	t->seen_ns = ts_ns;
	if (ts_ns - t->reused_ns > FORGETS_WITHIN_NS)
		t->reused_ns = 0;
}

int asm_report_forgotten(struct pfs_assembler *a)
{
	struct asm_thread *t, *next;
	int err = 0;

	HASH_ITER (hh, a->threads, t, next)
		if (!err && t->reused_ns && a->last_ns > t->seen_ns)
			err = report_forgotten(a, t, a->last_ns);
	return err;
}

int asm_forked(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int32_t pid = raw->arg[1];
	uint64_t flags = fork_flags(t, pid);
	bool made_thread = t->fork.child == pid;
	struct asm_proc *proc;
	struct asm_thread *child;
	struct pfs_event ev;
	int err;

	t->fork = (struct asm_fork){ 0 };
	if (flags != RAW_ABSENT && flags & CLONE_THREAD)
		return made_thread ? 0 : thread_begins(a, t, raw, pid);
	child = asm_thread_get(a, pid);
	proc = asm_proc_get(a, pid);
	if (!child || !proc)
		return -ENOMEM;
	err = number_given(a, child, raw);
	if (err)
		return err;
	asm_thread_renew(a, child, proc);
	asm_proc_renew(proc);
	asm_thread_set_alive(child, true);
	asm_event_init(&ev, raw, t, PFS_FORK);
	PFS_SET(&ev, child, CHILD, pid);
	ev.shared = flags != RAW_ABSENT && flags & CLONE_VM;
	if (flags != RAW_ABSENT)
		ev.have |= PFS_HAS(PFS_F_SHARED);
	proc->shared_space = ev.shared;
	if (t->proc) {
		proc->brk = t->proc->brk;
		proc->mlock_future = t->proc->mlock_future && ev.shared;
		proc->is_32bit = t->proc->is_32bit;
		proc->mlock_future_on_fault = t->proc->mlock_future_on_fault && ev.shared;
		proc->has_locked = t->proc->has_locked && ev.shared;
		proc->next_uffd = t->proc->next_uffd;
		memcpy(proc->uffds, t->proc->uffds, sizeof(proc->uffds));
	}
	if (a->only_pid)
		return 0;
	return asm_emit(a, &ev) ?: proc->is_32bit ? asm_is_32bit(a, child, raw) : 0;
}

int asm_executed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int32_t old_tid = raw->arg[1] == RAW_ABSENT ? raw->tid : (int32_t)raw->arg[1];
	struct asm_thread *builder = asm_thread_get(a, old_tid);
	bool is_32bit, left = t->end_reported_ns;
	struct pfs_event ev;
	int err;

	if (!builder)
		return -ENOMEM;
	if (!builder->exec.under_way)
		builder = t;
	err = a->handlers ? asm_pending_exec(a, builder) : asm_exec_populated(a, builder, raw);
	if (err)
		return err;
	asm_event_init(&ev, raw, t, PFS_EXEC);
	if (raw->str)
		PFS_SET(&ev, name, NAME, raw->str);
	if (old_tid != raw->tid)
		PFS_SET(&ev, child_tid, CHILD_TID, old_tid);
	if (builder->exec.comm[0])
		PFS_SET(&ev, comm, COMM, builder->exec.comm);
	err = asm_emit(a, &ev);
	is_32bit = builder->exec.is_32bit;
	asm_exec_over(t);
	asm_thread_not_ending(a, t);
	t->exited = false; /* the first thread's number lives on in the one that did the exec */
	t->named = true;
	asm_changed(t, raw, (struct range){ 0, UINT64_MAX });
	if (t->proc) {
		asm_proc_renew(t->proc);
		t->alive = false;
		asm_thread_set_alive(t, true);
	}
	if (!err && left) /* by the side-band, with the privileges that the program had before */
		err = asm_emit_lack(a, t, raw, "what=PERF_RECORD_MMAP2 tells=mappings of setuid programs",
				    &a->setuid_lack);
	return !err && is_32bit && t->proc ? asm_is_32bit(a, t, raw) : err;
}

/* The first thread ended in another thread's exec, which continues under its number. All others have ended as well. */
static int take_over(struct pfs_assembler *a, struct asm_thread *first)
{
	struct asm_thread *t = first->proc ? LIST_FIRST(&first->proc->execing) : NULL;
	struct asm_pending *pending = first->pending;
	int err;

	if (!t || !first->exited || first->tid != first->proc->pid)
		return 0;
	err = asm_pending_release(a, first) ?: asm_pending_release(a, t);
	first->pending = t->pending;
	t->pending = pending;
	first->call = t->call;
	first->exec = t->exec;
	first->exec.is_listed = false;
	first->exec.old_tid = t->tid;
	asm_call_over(t);
	asm_exec_over(t);
	asm_thread_set_alive(t, false);
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
				 .arg = { t->tid, t->exec.old_tid ? t->exec.old_tid : t->tid } };

	return asm_executed(a, t, &end);
}

/* The side-band reported an exec: what follows is of the new image, whatever else was lost. */
static int exec_reported(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const char *comm = asm_unescaped(a, raw->str);
	int err;

	if (!comm)
		return -ENOMEM;
	/* Reported before: everything between two execs was lost. */
	err = t->exec.reported_ns ? exec_over(a, t, raw) : take_over(a, t);
	if (!t->exec.under_way)
		asm_exec_begin(t);
	t->exec.switched = true;
	t->exec.reported_ns = raw->ts_ns;
	if (!t->exec.comm[0])
		strncpy(t->exec.comm, comm, sizeof(t->exec.comm) - 1);
	return err;
}

/*
 * Only after its exec can a program do these, or end; and a snapshot that began later waits until all regions are
 * there.
 */
static bool is_after_exec(const struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_fact fact;
	uint64_t look_ns;

	switch (raw->kind) {
	case RAW_FAULT_USER:
	case RAW_SYS_ENTER:
	case RAW_SYS_EXIT:
	case RAW_CALL_ENTER:
	case RAW_CALL_EXIT:
	case RAW_EXIT:
		return true;
	case RAW_PFS_NOTE:
		if (!raw->str || strncmp(raw->str, "snapshot=", 9) || !pfs_note_read(&fact, "snapshot", raw->str + 9))
			return false;
		look_ns = fact.op == PFS_SNAPSHOT_FIRST ? raw->ts_ns : fact.op == PFS_SNAPSHOT_LATER ? fact.look_ns : 0;
		return look_ns > t->exec.reported_ns;
	default:
		return false;
	}
}

int asm_follow_exec(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	/* A thread that has ended does none of these while another one lives. */
	bool by_other = raw->kind == RAW_EXIT_MMAP || raw->kind == RAW_RENAME || raw->kind == RAW_MA_WRITE;
	int err = t->exited && by_other ? take_over(a, t) : 0;

	return !err && t->exec.reported_ns && is_after_exec(t, raw) ? exec_over(a, t, raw) : err;
}

static int exited(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_proc *p = t->proc;
	bool last = false, counted = false, known = raw->arg[1] != RAW_ABSENT;
	struct pfs_event ev;
	int err = 0;

	asm_call_over(t);
	asm_exec_over(t);
	t->exited = true;
	t->ended_ns = raw->ts_ns;
	if (t->alive) {
		asm_thread_set_alive(t, false);
		counted = p->counted;
		last = counted && !p->nr_live;
	}
	if (known)
		last = raw->arg[1];
	asm_event_init(&ev, raw, t, PFS_EXIT);
	if (known || counted)
		PFS_SET(&ev, last, LAST, last);
	err = asm_emit(a, &ev);
	/* Kernels differ in whether the address space or the thread is given up first. */
	if (!err && last && (t->mm_gone || !a->exit_mmap) && !(p && p->shared_space))
		err = asm_emit_clear(a, t, raw, PFS_SPACE_CURRENT);
	t->mm_gone = false;
	return err;
}

int asm_exit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	bool concluded = t->end_concluded;

	t->reused_ns = 0;
	asm_thread_not_ending(a, t);
	return concluded ? 0 : exited(a, t, raw);
}

/* The side-band reported the end of a thread whose exit event is lost, or too late. */
static int conclude_end(struct pfs_assembler *a, struct asm_thread *t, uint64_t ts_ns)
{
	struct raw_event end = { .kind = RAW_EXIT,
				 .ts_ns = ts_ns,
				 .cpu = -1,
				 .tid = t->tid,
				 .tgid = t->proc ? t->proc->pid : -1,
				 .arg = { t->tid, RAW_ABSENT } };
	int err;

	asm_thread_not_ending(a, t);
	t->end_concluded = true;
	err = t->exec.reported_ns ? exec_over(a, t, &end) : 0;
	return err ?: exited(a, t, &end);
}

int asm_conclude_ends(struct pfs_assembler *a, uint64_t ts_ns)
{
	struct asm_thread *t, *next;
	int err = 0;

	if (!a->nr_ending)
		return 0;
	HASH_ITER (hh, a->threads, t, next)
		if (!err && t->end_reported_ns)
			err = conclude_end(a, t, ts_ns ? ts_ns : t->end_reported_ns);
	return err;
}

int asm_mm_gone(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	a->exit_mmap = true;
	if (t->exec.under_way) {
		t->exec.switched = true;
		return 0;
	}
	if (t->exited)
		return asm_emit_clear(a, t, raw, PFS_SPACE_CURRENT);
	/* It may be another process's, of which this thread was the last user: the thread's exit will show. */
	t->mm_gone = true;
	return 0;
}

int asm_renamed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *task;

	if (!raw->str)
		return 0;
	if (t->exec.under_way) { /* the new image's name, which belongs to the exec event */
		strncpy(t->exec.comm, raw->str, sizeof(t->exec.comm) - 1);
		return 0;
	}
	task = raw->arg[0] == RAW_ABSENT ? t : asm_thread_get(a, raw->arg[0]);
	if (!task)
		return -ENOMEM;
	if (!task->proc)
		task->proc = t->proc; /* one may only rename threads of one's own process */
	return asm_emit_comm(a, task, raw, raw->str);
}

/* ---- reports of the side-band and of snapshots ---- */

/*
 * The exit event comes before or after this, by kernel, unless it is lost; perhaps all that there was of the thread
 * but this is. During an exec it may be the end of the side-band alone, which a program with other privileges (setuid)
 * does not keep: then the event of the exec is yet to come.
 */
static int end_reported(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (t->exited || !t->alive || t->end_reported_ns || !raw->ts_ns)
		return 0;
	t->end_reported_ns = raw->ts_ns;
	a->nr_ending++;
	return 0;
}

int asm_task_reported(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *task = asm_thread_get(a, raw->arg[0]);
	const char *comm;

	if (!task)
		return -ENOMEM;
	if (raw->arg[2] == PFS_TASK_ENDED)
		return end_reported(a, task, raw);
	if (!task->proc && !task->exited) {
		task->proc = asm_proc_get(a, raw->arg[1]);
		if (!task->proc)
			return -ENOMEM;
		task->proc->counted = true;
		asm_thread_set_alive(task, true);
	}
	if (raw->arg[2] == PFS_TASK_EXECS && raw->str)
		return exec_reported(a, task, raw);
	if (task->named || !raw->str || !raw->str[0])
		return 0;
	comm = asm_unescaped(a, raw->str);
	return comm ? asm_emit_comm(a, task, raw, comm) : -ENOMEM;
}
