/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw events to pfscope events: changes of a layout by system calls, at their entry and return. */
#include "assemble/assemble_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
/* ioctls of a userfaultfd, by the number in their lowest byte; UFFD_NEW is of /dev/userfaultfd. */
#define UFFD_TYPE 0xaa
enum { UFFD_COPY = 3, UFFD_ZEROPAGE = 4, UFFD_MOVE = 5, UFFD_CONTINUE = 7, UFFD_POISON = 8 };
#define UFFD_NEW      0xaa00
#define GUARD_INSTALL 102 /* MADV_GUARD_INSTALL, 6.13 */

/* Results from -4095 on are errors; addresses never are. */
static bool failed(uint64_t result)
{
	return result >= (uint64_t)-4095;
}

/* ---- calls that populate ---- */

/* By a call that does not report what it cannot populate. */
static int populate(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r,
		    enum pfs_by by)
{
	struct pfs_event ev;

	asm_event_range(&ev, raw, t, PFS_POPULATE, r);
	return asm_emit_populate(a, t, raw, &ev, by);
}

/* By one that stops at the first page that it cannot populate, and fails. */
static int populate_or_fail(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, enum pfs_by by)
{
	struct pfs_event ev;
	int error = failed(raw->arg[0]) ? -(int64_t)raw->arg[0] : 0;

	asm_event_range(&ev, raw, t, PFS_POPULATE, asm_call_populates(a, t));
	PFS_SET(&ev, error, ERROR, error);
	/* Where no change of regions and no page of a file shows it, mlock may have failed before: see getrlimit(2). */
	if (by == PFS_BY_MLOCK && error && !t->call.stored && !t->call.has_reached)
		ev.inferred |= PFS_HAS(PFS_F_BY);
	if (by == PFS_BY_MADVISE)
		PFS_SET(&ev, access, ACCESS, t->call.arg[2] == MADV_POPULATE_READ ? PFS_READ : PFS_WRITE);
	return asm_emit_populate(a, t, raw, &ev, by);
}

/* The regions in the range are locked from now on, in such a way that they are populated; or no longer. */
static int emit_locked(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r,
		       bool locked)
{
	struct pfs_event ev;

	if (r.start >= r.end)
		return 0;
	if (t->proc)
		t->proc->has_locked |= locked;
	asm_event_range(&ev, raw, t, PFS_PROTECT, r);
	PFS_SET(&ev, traits, TRAITS, locked ? PFS_TRAIT_LOCKED : 0);
	PFS_SET(&ev, by, BY, PFS_BY_MLOCK);
	return asm_emit(a, &ev);
}

/* ---- calls that remove a range, while they run ---- */

/* At the end of a call that removes: unmaps what no row reported, except what other threads have mapped there since. */
static int remove_rest(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range rest = t->call.removes;
	int err = 0;

	while (!err && !t->call.removed && rest.start < rest.end) {
		struct range next = { rest.end, rest.end };

		for (unsigned int i = 0; i < t->call.nr_taken; i++)
			if (overlap(t->call.taken[i], rest) && t->call.taken[i].start < next.start)
				next = t->call.taken[i];
		err = asm_emit_range(a, t, raw, PFS_UNMAP, (struct range){ rest.start, next.start });
		rest.start = next.end;
	}
	return err;
}

/*
 * shmdt and io_destroy name only where the segment or ring begins; the model knows how long it is. Of a segment it
 * knows that only before the call, as the call's rows may take away parts; whether shmdt succeeds, shows after it.
 */
static int emit_unmap_at(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, enum pfs_op op)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_UNMAP);
	pfs_event_set_op(&ev, op);
	PFS_SET(&ev, start, START, t->call.arg[0]);
	return asm_emit(a, &ev);
}

int asm_sys_enter(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_call_begin(a, t, raw);
	switch (raw->nr) {
	case SYS_EXECVE:
	case SYS_EXECVEAT:
		asm_exec_begin(t);
		break;
	case SYS_CLONE:
	case SYS_CLONE3:
	case SYS_FORK:
		t->fork = (struct asm_fork){ .copying = true };
		break;
	case SYS_IOCTL:
		if ((raw->arg[1] >> 8 & 0xff) != UFFD_TYPE)
			asm_call_over(t);
		break;
	case SYS_SHMDT:
		return emit_unmap_at(a, t, raw, PFS_OP_DETACH_BEGIN);
	case SYS_IO_DESTROY:
		/*
		 * It unmaps its ring at once and then waits, long enough for another thread to be given the same
		 * address: so the ring goes when the call begins. Without a ring there, nothing is removed.
		 */
		asm_changed(t, raw, (struct range){ 0, UINT64_MAX }); /* its length is unknown */
		return emit_unmap_at(a, t, raw, PFS_OP_RING);
	default:
		break;
	}
	return 0;
}

/* ---- system calls at their return ---- */

static int mmap_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = range_of(raw->arg[0], page_up(a, t->call.arg[1]));
	uint64_t flags = t->call.arg[3];
	bool on_fault = t->proc && t->proc->mlock_future_on_fault;
	bool locked = (flags & MAP_LOCKED || (t->proc && t->proc->mlock_future)) && !on_fault;
	struct pfs_event ev;
	int err = 0;

	if (!t->call.stored)
		err = asm_emit_range(a, t, raw, PFS_UNMAP, r);
	if (err)
		return err;
	asm_event_range(&ev, raw, t, t->call.stored ? PFS_PROTECT : PFS_MAP, r);
	if (asm_traits_of(flags & ~(uint64_t)MAP_LOCKED))
		PFS_SET(&ev, traits, TRAITS, asm_traits_of(flags & ~(uint64_t)MAP_LOCKED));
	if (!a->sideband) {
		PFS_SET(&ev, perms, PERMS, asm_perms_of(t->call.arg[2], flags));
		PFS_SET(&ev, off, OFF, flags & MAP_ANONYMOUS ? 0 : t->call.arg[5]);
		if (flags & MAP_ANONYMOUS && !(flags & MAP_SHARED))
			PFS_SET(&ev, name, NAME, "");
	}
	if (ev.kind == PFS_MAP || ev.traits || !a->sideband)
		err = asm_emit(a, &ev);
	if (!err && locked)
		err = emit_locked(a, t, raw, r, true);
	if (err || on_fault)
		return err;
	if ((flags & (MAP_POPULATE | MAP_NONBLOCK)) == MAP_POPULATE)
		return populate(a, t, raw, r, PFS_BY_MMAP);
	return locked ? populate(a, t, raw, r, PFS_BY_MLOCK) : 0;
}

static int munmap_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_changed(t, raw, t->call.removes);
	return remove_rest(a, t, raw);
}

static int mremap_moved(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, uint64_t old_len,
			uint64_t new_len)
{
	struct pfs_event ev;
	int err = 0;

	if (!t->call.moved && !t->call.stored) {
		asm_event_range(&ev, raw, t, PFS_MOVE, range_of(raw->arg[0], new_len));
		PFS_SET(&ev, from, FROM, t->call.arg[0]);
		PFS_SET(&ev, len, LEN, old_len);
		err = asm_emit_range(a, t, raw, PFS_UNMAP, asm_call_target(a, t)) ?: asm_emit(a, &ev);
	}
	/* It may leave no row; to unmap a range twice does no harm. */
	if (!err && !(t->call.arg[3] & MREMAP_DONTUNMAP))
		err = asm_emit_range(a, t, raw, PFS_UNMAP, range_of(t->call.arg[0], old_len));
	return err;
}

static int mremap_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t old_len = page_up(a, t->call.arg[1]), new_len = page_up(a, t->call.arg[2]);
	int err = 0;

	asm_changed(t, raw, range_of(t->call.arg[0], old_len));
	asm_changed(t, raw, range_of(raw->arg[0], new_len));
	if (raw->arg[0] != t->call.arg[0])
		err = mremap_moved(a, t, raw, old_len, new_len);
	else if (new_len < old_len)
		err = remove_rest(a, t, raw);
	else if (!a->rows && new_len != old_len) /* in huge pages it may not have grown at all */
		err = asm_emit_range(a, t, raw, PFS_MAP, range_of(t->call.arg[0], new_len));
	if (err || new_len <= old_len || !t->proc || !t->proc->has_locked)
		return err;
	return populate(a, t, raw, range_of(raw->arg[0] + old_len, new_len - old_len), PFS_BY_MREMAP);
}

static int mprotect_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct pfs_event ev;
	int err;

	asm_changed(t, raw, asm_call_range(a, t));
	if (a->sideband)
		return 0;
	err = asm_mprotect_populates(a, t, raw, asm_call_range(a, t));
	asm_event_range(&ev, raw, t, PFS_PROTECT, asm_call_range(a, t));
	PFS_SET(&ev, perms, PERMS, asm_perms_of(t->call.arg[2], 0));
	return err ?: asm_emit(a, &ev);
}

static int brk_grew(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, uint64_t before)
{
	struct range r = { page_up(a, before), page_up(a, raw->arg[0]) };
	struct pfs_event ev;
	int err = 0;

	if (r.start >= r.end)
		return 0;
	if (!t->call.stored || !a->sideband) {
		asm_event_range(&ev, raw, t, t->call.stored ? PFS_PROTECT : PFS_MAP, r);
		PFS_SET(&ev, perms, PERMS, PFS_PERM_R | PFS_PERM_W);
		PFS_SET(&ev, name, NAME, "");
		err = asm_emit(a, &ev);
	}
	if (!err && t->proc && t->proc->mlock_future)
		err = populate(a, t, raw, r, PFS_BY_MLOCK);
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
	PFS_SET(&ev, end, END, now);
	err = asm_emit(a, &ev);
	if (err || !before)
		return err;
	asm_changed(t, raw, (struct range){ now < before ? now : before, page_up(a, now < before ? before : now) });
	if (now > before)
		return brk_grew(a, t, raw, before);
	return remove_rest(a, t, raw);
}

/* Traits that the regions of the range have from now on, besides those they had; or some of them have, if it failed. */
static int emit_traits(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, struct range r,
		       uint16_t traits)
{
	struct pfs_event ev;

	if (r.start >= r.end)
		return 0;
	asm_event_range(&ev, raw, t, PFS_PROTECT, r);
	PFS_SET(&ev, traits, TRAITS, traits);
	ev.inferred |= failed(raw->arg[0]) ? PFS_HAS(PFS_F_TRAITS) : 0;
	return asm_emit(a, &ev);
}

/* partly: the call failed on the way, so it is not known how far it came. */
static int emit_advise(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, bool partly)
{
	enum pfs_advice advice = pfs_advice_of(t->call.arg[2]);
	struct range r = asm_call_range(a, t);
	struct pfs_event ev;

	if (!advice || r.start >= r.end)
		return 0;
	asm_event_range(&ev, raw, t, PFS_ADVISE, r);
	ev.inferred |= partly ? PFS_HAS(PFS_F_END) : 0;
	PFS_SET(&ev, advice, ADVICE, advice);
	PFS_SET(&ev, interval_ns, INTERVAL, raw->ts_ns - t->call.begun_ns);
	return asm_emit(a, &ev);
}

/* ENOMEM: a part was not mapped, and the rest is done. */
static int madvise_failed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err;

	if (t->call.arg[0] & a->page_mask) /* an unaligned start is refused */
		return 0;
	err = emit_advise(a, t, raw, (int64_t)raw->arg[0] != -ENOMEM);
	if (!err && t->call.arg[2] == GUARD_INSTALL)
		err = emit_traits(a, t, raw, asm_call_range(a, t), PFS_TRAIT_GUARDED);
	return err ?: populate_or_fail(a, t, raw, PFS_BY_MADVISE);
}

static int madvise_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = asm_call_range(a, t);
	int err = emit_advise(a, t, raw, false);

	if (err)
		return err;
	if (t->call.arg[2] == GUARD_INSTALL)
		return emit_traits(a, t, raw, r, PFS_TRAIT_GUARDED);
	if (t->call.arg[2] == MADV_HUGEPAGE)
		return emit_traits(a, t, raw, r, PFS_TRAIT_THP);
	if (t->call.arg[2] == MADV_NOHUGEPAGE)
		return emit_traits(a, t, raw, r, PFS_TRAIT_NO_THP);
	return populate_or_fail(a, t, raw, PFS_BY_MADVISE);
}

static bool locks_on_fault(const struct asm_thread *t)
{
	return t->call.nr == SYS_MLOCK2 && t->call.arg[2] & MLOCK_ONFAULT;
}

/* It is replaced by an mmap with MAP_POPULATE: see mm/mmap.c. */
static int remap_file_pages_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return t->call.arg[4] & MAP_NONBLOCK ? 0 : populate(a, t, raw, asm_call_populates(a, t), PFS_BY_MMAP);
}

static int mlock_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int err = emit_locked(a, t, raw, asm_call_populates(a, t), !locks_on_fault(t));

	return err || locks_on_fault(t) ? err : populate_or_fail(a, t, raw, PFS_BY_MLOCK);
}

/* ENOMEM: beyond the limit, or there is a hole, or a page could not be had; EAGAIN: memory ran out half-way. */
static int mlock_failed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	int64_t error = -(int64_t)raw->arg[0];

	return locks_on_fault(t) || (error != ENOMEM && error != EAGAIN) ? 0
									 : populate_or_fail(a, t, raw, PFS_BY_MLOCK);
}

static int munlock_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return emit_locked(a, t, raw, asm_call_populates(a, t), false);
}

static int mlockall_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	bool on_fault = t->call.arg[0] & MCL_ONFAULT;
	int err;

	if (t->proc) {
		t->proc->mlock_future = t->call.arg[0] & MCL_FUTURE && !on_fault;
		t->proc->mlock_future_on_fault = t->call.arg[0] & MCL_FUTURE && on_fault;
	}
	if (!(t->call.arg[0] & MCL_CURRENT))
		return 0;
	err = emit_locked(a, t, raw, asm_call_populates(a, t), !on_fault);
	return err || on_fault ? err : populate(a, t, raw, asm_call_populates(a, t), PFS_BY_MLOCK);
}

static int munlockall_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (t->proc)
		t->proc->mlock_future = t->proc->mlock_future_on_fault = false;
	return emit_locked(a, t, raw, (struct range){ 0, UINT64_MAX }, false);
}

/* The segment is mapped like any other: under mlockall it is locked. */
static int shmat_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = asm_call_populates(a, t);
	int err;

	if (!t->proc || !t->proc->mlock_future || r.start >= r.end)
		return 0;
	err = emit_locked(a, t, raw, r, true);
	return err ?: populate(a, t, raw, r, PFS_BY_SHMAT);
}

static int shmdt_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_changed(t, raw, (struct range){ 0, UINT64_MAX });
	return emit_unmap_at(a, t, raw, PFS_OP_DETACH);
}

static int mseal_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return emit_traits(a, t, raw, asm_call_range(a, t), PFS_TRAIT_SEALED);
}

/* A name given to anonymous memory: the text is the program's own and not in the trace. */
static int prctl_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range r = range_of(t->call.arg[2], page_up(a, t->call.arg[3]));

	if (t->call.arg[0] != PR_SET_VMA)
		return 0;
	asm_changed(t, raw, r);
	return asm_emit_range(a, t, raw, PFS_PROTECT, r);
}

/* Memory of another process is read or written: which addresses is the caller's own memory. */
static int emit_remote(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, int32_t pid)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_REMOTE);
	PFS_SET(&ev, target, TARGET, pid);
	return asm_emit(a, &ev);
}

static int process_vm_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	return emit_remote(a, t, raw, t->call.arg[0]);
}

static int ptrace_done(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	switch (t->call.arg[0]) {
	case PTRACE_PEEKTEXT:
	case PTRACE_PEEKDATA:
	case PTRACE_POKETEXT:
	case PTRACE_POKEDATA:
		return emit_remote(a, t, raw, t->call.arg[1]);
	default:
		return 0;
	}
}

static int uffd_made(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (t->proc)
		t->proc->uffds[t->proc->next_uffd++ % MAX_UFFDS] = (struct asm_uffd){ raw->arg[0], t->proc->pid };
	return 0;
}

/* Pages of that process were filled, or moved to where there were none: which is the caller's own memory. */
static int emit_filled(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw, int32_t pid,
		       bool moved)
{
	struct pfs_event ev;

	asm_event_init(&ev, raw, t, PFS_REMOTE);
	PFS_SET(&ev, target, TARGET, pid);
	pfs_event_set_op(&ev, moved ? PFS_OP_MOVED : PFS_OP_FILLED);
	return asm_emit(a, &ev);
}

/* Failed or not: it may have filled some. */
static int uffd_ioctl(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint8_t op = t->call.arg[1];
	int32_t pid = asm_call_uffd(t);
	struct asm_proc *p, *next;
	int err = 0;

	if (t->call.arg[1] == UFFD_NEW)
		return failed(raw->arg[0]) ? 0 : uffd_made(a, t, raw);
	if (op != UFFD_COPY && op != UFFD_ZEROPAGE && op != UFFD_MOVE && op != UFFD_CONTINUE && op != UFFD_POISON)
		return 0;
	if (pid)
		return emit_filled(a, t, raw, pid, op == UFFD_MOVE);
	HASH_ITER (hh, a->procs, p, next) /* it came from another process, or was copied: it may be any's */
		if (!err)
			err = emit_filled(a, t, raw, p->pid, op == UFFD_MOVE);
	return err;
}

/* The old image continues: the new one is dropped. */
static int exec_failed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	if (!t->exec.under_way)
		return 0;
	asm_exec_over(t);
	return asm_emit_clear(a, t, raw, PFS_SPACE_EXEC);
}

/*
 * Before 6.17 mremap to a fixed address removed what was there, and the end of what shrinks, before it
 * checked whether it can be done. It checked before that only whether there is anything to move.
 */
static int mremap_emptied(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	uint64_t old_len = page_up(a, t->call.arg[1]), new_len = page_up(a, t->call.arg[2]);
	int error = -(int64_t)raw->arg[0];
	struct pfs_event ev;
	int err;

	if (!(t->call.stored || error == EFAULT || error == EAGAIN || error == ENOMEM))
		return 0;
	asm_event_range(&ev, raw, t, PFS_UNMAP, asm_call_target(a, t));
	pfs_event_set_op(&ev, PFS_OP_IF_MAPPED);
	PFS_SET(&ev, from, FROM, t->call.arg[0]);
	err = asm_emit(a, &ev);
	if (err || old_len <= new_len)
		return err;
	asm_event_set_range(&ev, range_of(t->call.arg[0] + new_len, old_len - new_len));
	return asm_emit(a, &ev);
}

/*
 * mremap was to move several regions, and has moved some of them: those are no longer at their old place. A copy (old
 * length 0) over its own source removes that, and then finds nothing to copy.
 */
static int mremap_failed(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	struct range over = asm_call_target(a, t);
	bool over_itself = !t->call.arg[1] && (int64_t)raw->arg[0] == -EFAULT && t->call.arg[0] >= over.start &&
			   t->call.arg[0] < over.end;
	struct pfs_event ev;

	if (t->call.arg[3] & MREMAP_FIXED && (!a->checks_first || over_itself))
		return mremap_emptied(a, t, raw);
	if (!t->call.moved || t->call.arg[3] & MREMAP_DONTUNMAP)
		return 0;
	asm_event_range(&ev, raw, t, PFS_UNMAP, asm_call_range(a, t));
	pfs_event_set_op(&ev, PFS_OP_MOVED);
	return asm_emit(a, &ev);
}

/* By system call: what its success changes, and its failure. */
static const struct {
	asm_fn *done, *failed;
} returns[SYS_NR] = {
	[SYS_MMAP] = { mmap_done, NULL },
	[SYS_MUNMAP] = { munmap_done, NULL },
	[SYS_MREMAP] = { mremap_done, mremap_failed },
	[SYS_MPROTECT] = { mprotect_done, NULL },
	[SYS_PKEY_MPROTECT] = { mprotect_done, NULL },
	[SYS_BRK] = { brk_done, NULL },
	[SYS_MADVISE] = { madvise_done, madvise_failed },
	[SYS_MSEAL] = { mseal_done, NULL },
	[SYS_SHMAT] = { shmat_done, NULL },
	[SYS_REMAP_FILE_PAGES] = { remap_file_pages_done, NULL },
	[SYS_SHMDT] = { shmdt_done, NULL },
	[SYS_MLOCK] = { mlock_done, mlock_failed },
	[SYS_MLOCK2] = { mlock_done, mlock_failed },
	[SYS_MUNLOCK] = { munlock_done, NULL },
	[SYS_MLOCKALL] = { mlockall_done, NULL },
	[SYS_MUNLOCKALL] = { munlockall_done, NULL },
	[SYS_PRCTL] = { prctl_done, NULL },
	[SYS_PROCESS_VM_READV] = { process_vm_done, process_vm_done },
	[SYS_PROCESS_VM_WRITEV] = { process_vm_done, process_vm_done },
	[SYS_PTRACE] = { ptrace_done, NULL },
	[SYS_USERFAULTFD] = { uffd_made, NULL },
	[SYS_IOCTL] = { uffd_ioctl, uffd_ioctl },
	[SYS_EXECVE] = { NULL, exec_failed },
	[SYS_EXECVEAT] = { NULL, exec_failed },
};

int asm_sys_exit(struct pfs_assembler *a, struct asm_thread *t, const struct raw_event *raw)
{
	asm_fn *fn = failed(raw->arg[0]) ? returns[raw->nr].failed : returns[raw->nr].done;
	int err = 0;

	if (t->call.nr != raw->nr && raw->nr == SYS_IOCTL) /* of another file */
		return 0;
	if (t->call.nr != raw->nr) {
		/* A new process or thread returns from a call that it never entered. */
		if (raw->nr != SYS_CLONE && raw->nr != SYS_CLONE3 && raw->nr != SYS_FORK && raw->nr != SYS_VFORK &&
		    raw->nr != SYS_EXECVE && raw->nr != SYS_EXECVEAT)
			a->stats.unpaired_exits++;
		if (raw->nr == SYS_BRK)
			err = brk_done(a, t, raw);
		asm_call_over(t);
		return err;
	}
	if (fn)
		err = fn(a, t, raw);
	t->fork = (struct asm_fork){ 0 };
	asm_call_over(t);
	return err;
}
