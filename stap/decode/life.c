/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of processes and threads: names, forks, execs, exits.
 */
#include "decode/decode_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of threads ---- */

/* Emits a name that has changed. */
static int named(struct pfs_decoder *d, const struct pfs_rec *rec, int32_t pid, int32_t tid, const char comm[16])
{
	struct dec_thread *t = dec_thread_get(d, tid, pid);
	struct pfs_event ev;

	if (!t)
		return -ENOMEM;
	if (!comm[0] || !strncmp(t->comm, comm, 16))
		return 0;
	memcpy(t->comm, comm, 16);
	dec_event(&ev, rec, (struct dec_subject){ pid, tid, PFS_SPACE_CURRENT }, PFS_COMM);
	PFS_SET(&ev, comm, COMM, t->comm);
	return pfs_emit(&d->sink, &ev);
}

/* A thread that was running already: its space, and its counts so far. */
static int found(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_proc *p)
{
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);
	struct mirror *m;

	if (!t)
		return -ENOMEM;
	if (p->over)
		dec_proc_renew(d, p);
	if (!t->known) {
		t->known = t->found = true;
		p->nr_found++;
		t->minor = rec->comm.min_flt;
		t->major = rec->comm.maj_flt;
	}
	if (p->mirror || p->space_gone || dec_exec_of(d, rec->pid, 0) || !rec->comm.mm)
		return 0;
	m = dec_mirror_get(d, rec->comm.mm);
	if (!m)
		return -ENOMEM;
	dec_take_space(d, p, m);
	return 0;
}

int dec_comm(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_proc *p = dec_proc_get(d, rec->pid);
	int err = p ? found(d, rec, p) : -ENOMEM;

	if (err || dec_exec_of(d, rec->pid, 0)) /* the new image's name: EXEC has it, too */
		return err;
	return named(d, rec, rec->pid, rec->tid, rec->comm.comm);
}

/* ---- birth ---- */

/* A new thread, whose number may have been used before, inherits its parent's name. */
static struct dec_thread *thread_begins(struct pfs_decoder *d, int32_t tid, int32_t pid, const struct dec_thread *maker)
{
	struct dec_thread *t = dec_thread_get(d, tid, pid);

	if (!t)
		return NULL;
	t->failed = t->found = false;
	t->start = t->end = 0;
	t->known = true;
	t->minor = t->major = 0;
	memcpy(t->comm, maker->comm, sizeof(t->comm));
	return t;
}

int dec_thread(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_thread *maker = dec_thread_get(d, rec->tid, rec->pid);
	struct pfs_event ev;

	if (!maker || !thread_begins(d, rec->life.child_tid, rec->pid, maker))
		return -ENOMEM;
	dec_event_own(&ev, rec, PFS_THREAD);
	PFS_SET(&ev, child, CHILD, rec->life.child_tid);
	return pfs_emit(&d->sink, &ev) ?: named(d, rec, rec->pid, rec->life.child_tid, rec->life.comm);
}

/* The child's space: its parent's, the copy that was reported, or else a copy of the parent's mirror. */
static int child_space(struct pfs_decoder *d, const struct pfs_rec *rec, const struct dec_proc *parent,
		       struct mirror **m)
{
	int err = 0;

	*m = parent->mirror;
	if (rec->life.flags & PFS_LIFE_SHARED && *m)
		return 0;
	*m = dec_mirror_find(d, rec->life.mm);
	if (!*m || (*m)->state != MIRROR_FORKING) {
		*m = dec_begin_fork(d, rec, rec->life.mm);
		err = *m ? dec_copy_begin(d, rec, *m) : -ENOMEM;
	}
	return err ? err : dec_copy_rest(d, rec, *m);
}

static int emit_fork(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct pfs_event ev;

	dec_event_own(&ev, rec, PFS_FORK);
	PFS_SET(&ev, child, CHILD, rec->life.child_pid);
	PFS_SET(&ev, shared, SHARED, !!(rec->life.flags & PFS_LIFE_SHARED));
	return pfs_emit(&d->sink, &ev);
}

int dec_fork(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_thread *maker = dec_thread_get(d, rec->tid, rec->pid);
	struct dec_proc *parent = dec_proc_get(d, rec->pid), *child;
	int32_t pid = rec->life.child_pid;
	struct mirror *m;
	int err;

	if (pid <= 0 || pid == rec->pid) {
		d->stats.damaged++;
		return 0;
	}
	child = dec_proc_get(d, pid);
	if (!maker || !parent || !child || !thread_begins(d, pid, pid, maker))
		return -ENOMEM;
	err = child_space(d, rec, parent, &m) ?: emit_fork(d, rec);
	if (err)
		return err;
	dec_proc_renew(d, child);
	dec_take_space(d, child, m);
	return named(d, rec, pid, pid, rec->life.comm);
}

/* ---- exec ---- */

/* A thread other than the first takes over the first one's number, and keeps its own counts. */
static void take_over(struct pfs_decoder *d, struct dec_proc *p, struct dec_thread *t, int32_t old_tid)
{
	struct dec_thread *old;

	HASH_FIND_INT(d->threads, &old_tid, old);
	if (!old || old == t || old->pid != t->pid)
		return;
	if (t->found && p->nr_found) /* its new name had made it look like one */
		p->nr_found--;
	t->found = old->found;
	t->known = old->known;
	t->minor = old->minor;
	t->major = old->major;
	HASH_DEL(d->threads, old);
	free(old);
}

int dec_exec(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	const char *name = dec_name(cpu);
	struct dec_proc *p = dec_proc_get(d, rec->pid);
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);
	struct mirror *m = dec_mirror_get(d, rec->life.mm);
	int32_t old_tid = rec->life.child_tid;
	struct pfs_event ev;

	if (!p || !t || !m)
		return -ENOMEM;
	take_over(d, p, t, old_tid);
	/* In the model the image belongs to the thread that began to build it. */
	if (m->state == MIRROR_EXECING && m->tid != rec->tid)
		old_tid = m->tid;
	dec_event_own(&ev, rec, PFS_EXEC);
	if (name)
		PFS_SET(&ev, name, NAME, name);
	if (old_tid > 0 && old_tid != rec->tid)
		PFS_SET(&ev, child_tid, CHILD_TID, old_tid);
	if (rec->life.comm[0]) {
		memcpy(t->comm, rec->life.comm, 16);
		PFS_SET(&ev, comm, COMM, t->comm);
	}
	t->failed = false;
	dec_take_space(d, p, m);
	return pfs_emit(&d->sink, &ev);
}

/* ---- death ---- */

/* The process stays in the table: two threads that end at the same moment may both be the last. */
static void process_over(struct pfs_decoder *d, struct dec_proc *p)
{
	struct mirror *m = p->mirror;

	p->over = true;
	dec_leave_space(p);
	dec_execs_over(d, p);
	if (!m || m->pid != p->pid || !m->users)
		return;
	for (struct dec_proc *other = d->procs; other; other = other->hh.next)
		if (other->mirror == m) /* a vfork child still has it */
			m->pid = m->tid = other->pid;
}

static void count_thread(struct dec_proc *p, const struct dec_thread *t, const struct pfs_rec_life *life)
{
	if (!t->known || life->min_flt < t->minor || life->maj_flt < t->major)
		p->uncounted = true;
	p->minor += life->min_flt - t->minor;
	p->major += life->maj_flt - t->major;
}

int dec_exit(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);
	struct dec_proc *p = dec_proc_get(d, rec->pid);
	const struct dec_subject subject = { rec->pid, rec->tid, PFS_SPACE_CURRENT };
	bool last = rec->life.flags & PFS_LIFE_LAST;
	struct pfs_event ev;
	int err = 0;

	if (!t || !p)
		return -ENOMEM;
	count_thread(p, t, &rec->life);
	HASH_DEL(d->threads, t);
	free(t);
	if (last) {
		process_over(d, p);
		if (!p->uncounted)
			err = dec_note(d, rec, &subject,
				       PFS_FACT(COUNTED, .minor = p->minor, .major = p->major, .running = p->nr_found));
	}
	if (err)
		return err;
	dec_event_own(&ev, rec, PFS_EXIT);
	PFS_SET(&ev, last, LAST, last);
	return pfs_emit(&d->sink, &ev);
}
