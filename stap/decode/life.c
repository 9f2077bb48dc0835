/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of processes, and whose an address space is.
 *
 * Records name a space by the kernel's address of it. It is the current one of some process; or the
 * copy that a fork is making, or the image that an exec is building, until FORK or EXEC says that it
 * runs. A vfork child has its parent's.
 */
#include "decode/decode_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of threads ---- */

/* Passed on if it is news. */
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
	ev.comm = t->comm;
	ev.have |= PFS_HAS(PFS_F_COMM);
	return pfs_emit(&d->sink, &ev);
}

/* A thread that was found running: which space it has, and what it has counted so far. */
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
	if (p->mirror || p->space_gone || p->execing || !rec->comm.mm)
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

	if (err || p->execing) /* the new image's name: EXEC says it, too */
		return err;
	return named(d, rec, rec->pid, rec->tid, rec->comm.comm);
}

/* ---- birth ---- */

/* A number that is given anew starts from nothing, but with its maker's name. */
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
	int err;

	if (!maker || !thread_begins(d, rec->life.child_tid, rec->pid, maker))
		return -ENOMEM;
	dec_event(&ev, rec, (struct dec_subject){ rec->pid, rec->tid, PFS_SPACE_CURRENT }, PFS_THREAD);
	ev.child = rec->life.child_tid;
	ev.have |= PFS_HAS(PFS_F_CHILD);
	err = pfs_emit(&d->sink, &ev);
	return err ? err : named(d, rec, rec->pid, rec->life.child_tid, rec->life.comm);
}

/* The child's space: its parent's, the copy that was told, or for want of that one of our own. */
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

	dec_event(&ev, rec, (struct dec_subject){ rec->pid, rec->tid, PFS_SPACE_CURRENT }, PFS_FORK);
	ev.child = rec->life.child_pid;
	ev.shared = !!(rec->life.flags & PFS_LIFE_SHARED);
	ev.have |= PFS_HAS(PFS_F_CHILD) | PFS_HAS(PFS_F_SHARED);
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
	err = child_space(d, rec, parent, &m);
	if (!err)
		err = emit_fork(d, rec);
	if (err)
		return err;
	dec_proc_renew(d, child);
	dec_take_space(d, child, m);
	return named(d, rec, pid, pid, rec->life.comm);
}

/* ---- exec ---- */

/* Another thread than the first goes on under the first one's number, with what it has counted. */
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

int dec_exec(struct pfs_decoder *d, const struct pfs_rec *rec, const char *name)
{
	struct dec_proc *p = dec_proc_get(d, rec->pid);
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);
	struct mirror *m = dec_mirror_get(d, rec->life.mm);
	int32_t old_tid = rec->life.child_tid;
	struct pfs_event ev;

	if (!p || !t || !m)
		return -ENOMEM;
	take_over(d, p, t, old_tid);
	/* Whoever began to build it: the model has it there. */
	if (m->state == MIRROR_EXECING && m->tid != rec->tid)
		old_tid = m->tid;
	dec_event(&ev, rec, (struct dec_subject){ rec->pid, rec->tid, PFS_SPACE_CURRENT }, PFS_EXEC);
	if (name) {
		ev.name = name;
		ev.have |= PFS_HAS(PFS_F_NAME);
	}
	if (old_tid > 0 && old_tid != rec->tid) {
		ev.child_tid = old_tid;
		ev.have |= PFS_HAS(PFS_F_CHILD_TID);
	}
	if (rec->life.comm[0]) {
		memcpy(t->comm, rec->life.comm, 16);
		ev.comm = t->comm;
		ev.have |= PFS_HAS(PFS_F_COMM);
	}
	t->failed = false;
	dec_take_space(d, p, m);
	return pfs_emit(&d->sink, &ev);
}

/* ---- death ---- */

/* The kernel's own account of what the process faulted since it was first heard of. */
static int tell_counts(struct pfs_decoder *d, const struct pfs_rec *rec, const struct dec_proc *p)
{
	struct dec_subject subject = { rec->pid, rec->tid, PFS_SPACE_CURRENT };

	if (p->uncounted)
		return 0;
	return dec_note(d, rec, &subject,
			PFS_FACT(COUNTED, .minor = p->minor, .major = p->major, .running = p->nr_found));
}

/* Its number stays known: two threads that end at the same moment may both be the last. */
static void process_over(struct pfs_decoder *d, struct dec_proc *p)
{
	struct mirror *m = p->mirror;

	p->over = true;
	dec_leave_space(p);
	if (p->execing)
		dec_mirror_drop(d, p->execing);
	if (!m || m->pid != p->pid || !m->users)
		return;
	for (struct dec_proc *other = d->procs; other; other = other->hh.next)
		if (other->mirror == m) /* a vfork child has it still */
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
		err = tell_counts(d, rec, p);
	}
	if (err)
		return err;
	dec_event(&ev, rec, (struct dec_subject){ rec->pid, rec->tid, PFS_SPACE_CURRENT }, PFS_EXIT);
	ev.last = last;
	ev.have |= PFS_HAS(PFS_F_LAST);
	return pfs_emit(&d->sink, &ev);
}
