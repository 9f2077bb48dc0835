/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events to pfscope events: threads and processes, exec, fork and exit, and the one entrance.
 * Faults are assemble_fault.c's, layouts assemble_layout.c's, assemble_calls.c's and assemble_maps.c's.
 */
#include "assemble_priv.h"

#include "own_events.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sched.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pfs_assembler *pfs_assembler_new(const struct pfs_sink *sink)
{
	struct pfs_assembler *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->sink = *sink;
	a->page_mask = 4095;
	a->checks_first = true;
	asm_fault_init(a);
	return a;
}

void pfs_assembler_free(struct pfs_assembler *a)
{
	struct asm_thread *t, *next_thread;
	struct asm_proc *p, *next_proc;

	if (!a)
		return;
	HASH_ITER(hh, a->threads, t, next_thread) {
		HASH_DEL(a->threads, t);
		asm_held_free(t);
		free(t);
	}
	HASH_ITER(hh, a->procs, p, next_proc) {
		HASH_DEL(a->procs, p);
		free(p);
	}
	for (unsigned int i = 0; i < a->nr_header; i++)
		free(a->header[i]);
	free(a->unescaped);
	free(a);
}

const struct pfs_assembler_stats *pfs_assembler_stats(const struct pfs_assembler *a)
{
	return &a->stats;
}

int asm_emit(struct pfs_assembler *a, const struct pfs_event *ev)
{
	if (a->only_pid && pfs_has(ev, PFS_F_PID) && ev->pid != a->only_pid)
		return 0;
	return pfs_emit(&a->sink, ev);
}

void asm_event_init(struct pfs_event *ev, const struct raw_event *raw,
		    const struct asm_thread *thread, enum pfs_kind kind)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = kind;
	ev->ts_ns = raw->ts_ns;
	if (raw->cpu >= 0) {
		ev->cpu = raw->cpu;
		ev->have |= PFS_HAS(PFS_F_CPU);
	}
	if (!thread)
		return;
	ev->tid = thread->tid;
	ev->have |= PFS_HAS(PFS_F_TID);
	if (thread->proc) {
		ev->pid = thread->proc->pid;
		ev->have |= PFS_HAS(PFS_F_PID);
	}
}

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
	a->nr_ending -= t->ending;
	t->ending = false;
}

/* A number that is given to a new thread starts from nothing. */
static void thread_renew(struct pfs_assembler *a, struct asm_thread *t)
{
	asm_call_over(t);
	thread_alive(t, false);
	not_ending(a, t);
	t->end_concluded = false;
	t->proc = NULL;
	t->comm_said = t->exited = t->mm_gone = t->copying = t->in_exec = t->switched = t->exec_said = false;
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
static int thread_of(struct pfs_assembler *a, const struct raw_event *raw, struct asm_thread **out)
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
	if (t->exited && !t->in_exec && t->proc && t->proc->exec_thread &&
	    t->tid == t->proc->pid)
		return t->proc->exec_thread;
	return t;
}

/* ---- process life ---- */

static int thread_begins(struct pfs_assembler *a, struct asm_thread *t,
			 const struct raw_event *raw, int32_t tid)
{
	struct asm_thread *child = thread_get(a, tid);
	struct pfs_event ev;

	if (!child)
		return -ENOMEM;
	thread_renew(a, child);
	child->proc = t->proc;
	child->comm_said = true;	/* its creator's, as a copy */
	thread_alive(child, true);
	asm_event_init(&ev, raw, t, PFS_THREAD);
	ev.child = tid;
	ev.have |= PFS_HAS(PFS_F_CHILD);
	return asm_emit(a, &ev);
}

static int newtask(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
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
	case SYS_CLONE: return t->arg[0];
	case SYS_VFORK: return CLONE_VM | CLONE_VFORK;
	case SYS_FORK: return 0;
	default: return RAW_ABSENT;
	}
}

static int process_forked(struct pfs_assembler *a, struct asm_thread *t,
			  const struct raw_event *raw)
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

static int executed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
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
	t->exited = false;	/* the first thread's number lives on in the one that did the exec */
	t->comm_said = true;
	asm_changed(t, raw, (struct range){ 0, UINT64_MAX });
	if (t->proc) {
		proc_renew(t->proc);
		t->alive = false;
		thread_alive(t, true);
	}
	err = asm_emit(a, &ev);
	builder->in_exec = builder->switched = t->in_exec = t->switched = t->exec_said = false;
	builder->exec_comm[0] = '\0';
	return err;
}

/* An exec whose end was lost. */
static int exec_over(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct raw_event end = { .kind = RAW_EXEC, .ts_ns = raw->ts_ns, .cpu = raw->cpu, .tid = t->tid,
				 .tgid = raw->tgid, .arg = { t->tid, asm_exec_owner(t)->tid } };

	return executed(a, t, &end);
}

/* The side-band's word for an exec: what follows is of the new image, whatever else was lost. */
static int exec_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const char *comm = asm_own_string(a, raw->str);
	struct asm_thread *builder;
	int err = 0;

	if (!comm)
		return -ENOMEM;
	if (t->exec_said)	/* it was all lost from then to the next one */
		err = exec_over(a, t, raw);
	builder = asm_exec_owner(t);
	if (!builder->in_exec) {
		builder->in_exec = true;
		builder->exec_stack_id = 0;
		builder->exec_comm[0] = '\0';
		if (t->proc)
			t->proc->exec_thread = builder;
	}
	builder->switched = t->exec_said = true;
	if (!builder->exec_comm[0])
		strncpy(builder->exec_comm, comm, sizeof(builder->exec_comm) - 1);
	return err;
}

/* What only a program does, and its end, come after its exec. */
static bool is_after_exec(enum raw_kind kind)
{
	return kind == RAW_FAULT_USER || kind == RAW_SYS_ENTER || kind == RAW_SYS_EXIT || kind == RAW_EXIT;
}

static int emit_gone(struct pfs_assembler *a, const struct asm_thread *t,
		     const struct raw_event *raw)
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

static int exit_event(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	bool told = t->end_concluded;

	not_ending(a, t);
	t->end_concluded = false;
	return told ? 0 : exited(a, t, raw);
}

/* The exit event of a thread that the side-band told the end of is lost, or as good as. */
static int conclude_end(struct pfs_assembler *a, struct asm_thread *t, uint64_t ts_ns)
{
	struct raw_event end = { .kind = RAW_EXIT, .ts_ns = ts_ns, .cpu = -1, .tid = t->tid,
				 .tgid = t->proc ? t->proc->pid : -1, .arg = { t->tid, RAW_ABSENT } };

	not_ending(a, t);
	t->end_concluded = true;
	return exited(a, t, &end);
}

/* Whatever was to come of them may be among what is missing. */
static int conclude_ends(struct pfs_assembler *a, uint64_t ts_ns)
{
	struct asm_thread *t, *next;
	int err = 0;

	if (!a->nr_ending)
		return 0;
	HASH_ITER(hh, a->threads, t, next)
		if (!err && t->ending)
			err = conclude_end(a, t, ts_ns ? ts_ns : t->ending_ns);
	return err;
}

static int mm_gone(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
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

static int renamed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct asm_thread *owner = asm_exec_owner(t), *who;
	struct pfs_event ev;

	if (!raw->str)
		return 0;
	if (owner->in_exec) {	/* the new image's name: said with the exec itself */
		strncpy(owner->exec_comm, raw->str, sizeof(owner->exec_comm) - 1);
		return 0;
	}
	who = raw->arg[0] == RAW_ABSENT ? t : thread_get(a, raw->arg[0]);
	if (!who)
		return -ENOMEM;
	if (!who->proc)
		who->proc = t->proc;	/* one may only rename threads of one's own process */
	who->comm_said = true;
	asm_event_init(&ev, raw, who, PFS_COMM);
	ev.comm = raw->str;
	ev.have |= PFS_HAS(PFS_F_COMM);
	return asm_emit(a, &ev);
}

/* ---- pfscope's own records ---- */

/* pfscope's records carry their strings escaped. Valid until the next call. NULL: no memory. */
const char *asm_own_string(struct pfs_assembler *a, const char *str)
{
	size_t size = strlen(str) + 1;

	if (size > a->max_unescaped) {
		char *bigger = realloc(a->unescaped, size);

		if (!bigger)
			return NULL;
		a->unescaped = bigger;
		a->max_unescaped = size;
	}
	pfs_own_unescape(a->unescaped, a->max_unescaped, str);
	return a->unescaped;
}

/*
 * The exit event comes before or after this, by kernel, unless it is lost; perhaps all that there was of the thread
 * but this is.
 */
static int end_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err = t->exec_said ? exec_over(a, t, raw) : 0;

	if (err || t->exited || !t->alive || t->ending)
		return err;
	t->ending = true;
	t->ending_ns = raw->ts_ns;
	a->nr_ending++;
	return 0;
}

static int task_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
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

/* "6.1.0-56-cloud-amd64" is before 6.17. */
static bool is_before(const char *release, unsigned int major, unsigned int minor)
{
	unsigned int has_major, has_minor;

	if (sscanf(release, "%u.%u", &has_major, &has_minor) != 2)
		return false;
	return has_major < major || (has_major == major && has_minor < minor);
}

/* Notes that change how the rest of the stream is read. */
static void heed_note(struct pfs_assembler *a, const struct raw_event *raw, const char *key,
		      const char *value)
{
	if (!strcmp(key, "page_size")) {
		unsigned long size = strtoul(value, NULL, 10);

		if (size >= 1024 && !(size & (size - 1)))
			a->page_mask = size - 1;
	} else if (!strcmp(key, "pfscope")) {
		a->own = true;
	} else if (!strcmp(key, "kernel")) {
		a->checks_first = !is_before(value, 6, 17);
	} else if (!strcmp(key, "machine")) {
		asm_fault_machine(a, value);
	} else if (!strcmp(key, "sideband")) {
		a->sideband = !strcmp(value, "mmap2");
	} else if (!strcmp(key, "exit_mmap")) {
		a->exit_mmap = !strcmp(value, "yes");
	} else if (!strcmp(key, "only")) {
		a->only_pid = atoi(value);
	} else {
		asm_held_note(a, key, value);
	}
}

int pfs_assembler_header(struct pfs_assembler *a, const char *key, const char *value)
{
	struct raw_event none = { 0 };

	if (a->nr_header == MAX_HEADER)
		return -ENOMEM;
	if (asprintf(&a->header[a->nr_header], "%s=%s", key, value) < 0)
		return -ENOMEM;
	a->nr_header++;
	heed_note(a, &none, key, value);
	return 0;
}

void pfs_assembler_set_names(struct pfs_assembler *a, const char *(*name)(void *ctx, int32_t tid),
			     void *ctx)
{
	a->name = name;
	a->name_ctx = ctx;
}

/* The header facts get the time of the first event: a recording begins with them. */
static int emit_header(struct pfs_assembler *a, const struct raw_event *raw)
{
	struct pfs_event ev;
	int err = 0;

	for (unsigned int i = 0; i < a->nr_header; i++) {
		char *equals = strchr(a->header[i], '=');

		asm_event_init(&ev, raw, NULL, PFS_NOTE);
		ev.have = PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE);
		*equals = '\0';
		ev.key = a->header[i];
		ev.value = equals + 1;
		if (!err)
			err = asm_emit(a, &ev);
		free(a->header[i]);
	}
	a->nr_header = 0;
	return err;
}

/* since_ns: of the last record before what is missing. Each may be RAW_ABSENT. */
static int lost(struct pfs_assembler *a, const struct raw_event *raw, uint64_t count, uint64_t since_ns)
{
	struct pfs_event ev;
	int err;

	asm_event_init(&ev, raw, NULL, PFS_LOST);
	if (count != RAW_ABSENT) {
		ev.count = count;
		ev.have |= PFS_HAS(PFS_F_COUNT);
	}
	if (since_ns <= raw->ts_ns) {
		ev.interval_ns = raw->ts_ns - since_ns;
		ev.have |= PFS_HAS(PFS_F_INTERVAL);
	}
	err = asm_emit(a, &ev);
	return err ? err : conclude_ends(a, raw->ts_ns);
}

/* "12 since 3624957203779": what the side-band or the kernel's tables had no room for; the time may be missing. */
static int lost_said(struct pfs_assembler *a, const struct raw_event *raw, const char *said)
{
	uint64_t count = RAW_ABSENT, since_ns = RAW_ABSENT;

	sscanf(said, "%" SCNu64 " since %" SCNu64, &count, &since_ns);
	return lost(a, raw, count, since_ns);
}

static int note_said(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	const char *text = asm_own_string(a, raw->str ? raw->str : ""), *equals;
	struct pfs_event ev;
	char key[64];
	int err = 0;

	if (!text)
		return -ENOMEM;
	equals = strchr(text, '=');
	if (!equals || (size_t)(equals - text) >= sizeof(key))
		return 0;
	memcpy(key, text, equals - text);
	key[equals - text] = '\0';
	heed_note(a, raw, key, equals + 1);
	asm_event_init(&ev, raw, raw->tid > 0 ? t : NULL, PFS_NOTE);
	ev.key = key;
	ev.value = equals + 1;
	ev.have |= PFS_HAS(PFS_F_KEY) | PFS_HAS(PFS_F_VALUE);
	err = asm_emit(a, &ev);
	if (!err && !strcmp(key, "brk"))
		err = asm_brk_said(a, t, raw, equals + 1);
	if (!err && (!strcmp(key, "sideband_lost") || !strcmp(key, "histogram_lost")))
		err = lost_said(a, raw, equals + 1);
	if (!err && !strcmp(key, "snapshot"))
		err = asm_snapshot(a, t, raw, equals + 1);
	return err;
}

int pfs_assembler_finish(struct pfs_assembler *a)
{
	struct asm_thread *t, *next;
	int err = conclude_ends(a, 0);

	HASH_ITER(hh, a->threads, t, next)
		if (!err)
			err = asm_held_release(a, t);
	return err;
}

/* ---- the one entrance ---- */

int pfs_assembler_feed(void *assembler, const struct raw_event *raw)
{
	struct pfs_assembler *a = assembler;
	struct asm_thread *t;
	int err;

	a->stats.raw++;
	if (a->nr_header) {
		err = emit_header(a, raw);
		if (err)
			return err;
	}
	if (raw->kind == RAW_OTHER || (raw->kind == RAW_FUNCTION && !a->functions)) {
		a->stats.other++;
		return 0;
	}
	if (raw->kind == RAW_LOST)
		return lost(a, raw, raw->arg[0], raw->arg[1]);
	err = thread_of(a, raw, &t);
	if (!err && t->exec_said && is_after_exec(raw->kind))	/* its end was lost */
		err = exec_over(a, t, raw);
	if (!err && a->holds)
		err = asm_held_heed(a, asm_exec_owner(t), raw);
	if (err)
		return err;
	switch (raw->kind) {
	case RAW_FAULT_USER:
	case RAW_FAULT_KERNEL: return asm_fault(a, asm_exec_owner(t), raw);
	case RAW_HANDLER: return asm_handler(a, asm_exec_owner(t), raw);
	case RAW_HANDLER_END: return asm_handler_end(a, asm_exec_owner(t), raw);
	case RAW_FUNCTION: return asm_function(a, asm_exec_owner(t), raw);
	case RAW_SYS_ENTER: return asm_sys_enter(a, t, raw);
	case RAW_SYS_EXIT: return asm_sys_exit(a, t, raw);
	case RAW_MA_WRITE: return asm_ma_write(a, t, raw);
	case RAW_MAP_PAGES: return asm_map_pages(a, asm_exec_owner(t), raw);
	case RAW_PFS_MAP: return asm_pfs_map(a, t, raw);
	case RAW_ADD_CACHE: return asm_add_cache(a, asm_exec_owner(t), raw);
	case RAW_PAGE_ALLOC: return asm_page_alloc(a, asm_exec_owner(t), raw);
	case RAW_SIGNAL: return asm_signal(a, asm_exec_owner(t), raw);
	case RAW_EXIT_MMAP: return mm_gone(a, t, raw);
	case RAW_EXEC: return executed(a, t, raw);
	case RAW_FORK: return process_forked(a, t, raw);
	case RAW_NEWTASK: return newtask(a, t, raw);
	case RAW_EXIT: return exit_event(a, t, raw);
	case RAW_RENAME: return renamed(a, t, raw);
	case RAW_PFS_TASK: return task_said(a, t, raw);
	case RAW_PFS_NOTE: return note_said(a, t, raw);
	case RAW_PFS_HIST: return asm_fault_counted(a, t, raw);
	default: return 0;
	}
}
