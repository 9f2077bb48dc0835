/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes, threads and address spaces: the tables, and the space of each process.
 *
 * Records name an address space by its mm, the kernel's address of it. It is the current one of a process, or the
 * copy that a fork is making, or the image that an exec is building, until FORK or EXEC makes it current. A
 * vfork child shares its parent's.
 */
#include "decode/decode_priv.h"

#include <errno.h>
#include <stdlib.h>

/* ---- tables ---- */

struct dec_proc *dec_proc_find(struct pfs_decoder *d, int32_t pid)
{
	struct dec_proc *p;

	HASH_FIND_INT(d->procs, &pid, p);
	return p;
}

struct dec_proc *dec_proc_get(struct pfs_decoder *d, int32_t pid)
{
	return PFS_HASH_GET(d->procs, pid, pid);
}

struct dec_thread *dec_thread_get(struct pfs_decoder *d, int32_t tid, int32_t pid)
{
	struct dec_thread *t = PFS_HASH_GET(d->threads, tid, tid);

	if (t)
		t->pid = pid;
	return t;
}

struct mirror *dec_mirror_find(struct pfs_decoder *d, uint64_t mm)
{
	struct mirror *m;

	HASH_FIND(hh, d->mirrors, &mm, sizeof(mm), m);
	return m;
}

struct mirror *dec_mirror_get(struct pfs_decoder *d, uint64_t mm)
{
	return PFS_HASH_GET(d->mirrors, mm, mm);
}

void dec_leave_space(struct dec_proc *p)
{
	if (p->mirror)
		p->mirror->users--;
	p->mirror = NULL;
}

static void space_goes(struct dec_proc *p, const struct mirror *m)
{
	if (p->mirror != m)
		return;
	dec_leave_space(p);
	p->space_gone = true;
}

struct mirror *dec_exec_of(const struct pfs_decoder *d, int32_t pid, int32_t tid)
{
	struct mirror *m = d->execs;

	while (m && (m->pid != pid || (tid && m->tid != tid)))
		m = m->next_exec;
	return m;
}

static void forget_exec(struct pfs_decoder *d, struct mirror *m)
{
	struct mirror **at = &d->execs;

	while (*at && *at != m)
		at = &(*at)->next_exec;
	if (*at)
		*at = m->next_exec;
}

void dec_mirror_drop(struct pfs_decoder *d, struct mirror *m)
{
	struct dec_proc *p = dec_proc_find(d, m->pid);

	forget_exec(d, m);
	if (p)
		space_goes(p, m);
	for (p = d->procs; p && m->users; p = p->hh.next) /* shared: vfork */
		space_goes(p, m);
	HASH_DEL(d->mirrors, m);
	mirror_fini(m);
	free(m);
}

void dec_execs_over(struct pfs_decoder *d, const struct dec_proc *p)
{
	struct mirror *m;

	while ((m = dec_exec_of(d, p->pid, 0)))
		dec_mirror_drop(d, m);
}

/* The number belongs to a new process now. */
void dec_proc_renew(struct pfs_decoder *d, struct dec_proc *p)
{
	dec_execs_over(d, p);
	dec_leave_space(p);
	p->space_gone = p->over = p->uncounted = false;
	p->minor = p->major = p->nr_found = 0;
}

void dec_take_space(struct pfs_decoder *d, struct dec_proc *p, struct mirror *m)
{
	struct mirror *old = p->mirror;

	m->users++;
	dec_leave_space(p);
	p->mirror = m;
	p->space_gone = false;
	forget_exec(d, m);
	if (m->state != MIRROR_CURRENT || !m->pid) {
		m->pid = p->pid;
		m->tid = p->pid;
		m->state = MIRROR_CURRENT;
	}
	if (old && !old->users)
		old->state = MIRROR_LEFT;
}

/* ---- forks, execs and owners ---- */

struct mirror *dec_begin_fork(struct pfs_decoder *d, const struct pfs_rec *rec, uint64_t mm)
{
	struct mirror *m = dec_mirror_find(d, mm);

	if (m) /* the kernel reuses the address; the end of that space is missing */
		dec_mirror_drop(d, m);
	m = dec_mirror_get(d, mm);
	if (!m)
		return NULL;
	m->state = MIRROR_FORKING;
	m->pid = rec->pid;
	m->tid = rec->tid;
	return m;
}

static int emit_clear(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_subject subject)
{
	struct pfs_event ev;

	dec_event(&ev, rec, subject, PFS_UNMAP);
	pfs_event_set_op(&ev, PFS_OP_CLEAR);
	return pfs_emit(&d->sink, &ev);
}

int dec_exec_failed(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *m)
{
	const struct dec_subject subject = { m->pid, m->tid, PFS_SPACE_EXEC };

	dec_mirror_drop(d, m);
	return emit_clear(d, rec, subject);
}

int dec_begin_exec(struct pfs_decoder *d, const struct pfs_rec *rec, uint64_t mm, struct mirror **out)
{
	struct dec_proc *p = dec_proc_get(d, rec->pid);
	struct mirror *m = dec_mirror_find(d, mm), *failed;
	int err = 0;

	if (!p)
		return -ENOMEM;
	if (m) /* reused, as above */
		dec_mirror_drop(d, m);
	failed = dec_exec_of(d, rec->pid, rec->tid);
	if (failed)
		err = dec_exec_failed(d, rec, failed);
	*out = m = dec_mirror_get(d, mm);
	if (!m)
		return -ENOMEM;
	m->state = MIRROR_EXECING;
	m->pid = rec->pid;
	m->tid = rec->tid;
	m->next_exec = d->execs;
	d->execs = m;
	return err;
}

/* While an exec builds its image, the stack is at the very top of the address space. */
bool dec_is_first_stack(const struct pfs_decoder *d, uint64_t end)
{
	uint64_t above = end + dec_page_size(d);

	return end && (!(end & (end - 1)) || !(above & (above - 1)));
}

int dec_space_over(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *m)
{
	struct dec_subject subject = dec_subject_of(d, rec, m);
	const struct dec_proc *p = dec_proc_find(d, subject.pid);
	bool current = m->state == MIRROR_CURRENT && (!p || p->over || p->mirror == m);

	if (m->state == MIRROR_EXECING)
		return dec_exec_failed(d, rec, m);
	dec_mirror_drop(d, m);
	return current && subject.pid ? emit_clear(d, rec, subject) : 0;
}

struct dec_subject dec_subject_of(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *m)
{
	const struct dec_proc *p = dec_proc_find(d, rec->pid);

	/* From de_thread() on the thread that executes has the first one's number. */
	if (m && m->state == MIRROR_EXECING && rec->pid == m->pid && rec->tid == m->pid)
		m->tid = m->pid;
	if (!m || (p && p->mirror == m))
		return (struct dec_subject){ rec->pid, rec->tid, PFS_SPACE_CURRENT };
	switch (m->state) {
	case MIRROR_FORKING:
		return (struct dec_subject){ m->pid, m->tid, PFS_SPACE_FORK };
	case MIRROR_EXECING:
		return (struct dec_subject){ m->pid, m->tid, PFS_SPACE_EXEC };
	default:
		return (struct dec_subject){ m->pid, m->pid, PFS_SPACE_CURRENT };
	}
}
