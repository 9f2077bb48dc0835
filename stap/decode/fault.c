/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FAULT records to `fault` and `populate` events, and the events that follow from them.
 *
 * An exception is a `fault`. A page that the kernel faulted in by itself (get_user_pages) is a `populate`; it counts
 * for the thread that did it, even if another process has the page. The class is the kernel's own count: see
 * mm_account_fault() in mm/memory.c.
 */
#include "decode/decode_priv.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* enum vm_fault_reason, linux/mm_types.h */
#define VM_FAULT_MAJOR 0x4
#define VM_FAULT_RETRY 0x400
#define VM_FAULT_ERROR (0x1 | 0x2 | 0x10 | 0x20 | 0x40 | 0x800) /* OOM SIGBUS ... FALLBACK */

/* ---- the kind of a fault ---- */

static bool got_page(const struct pfs_rec_fault *fault)
{
	return fault->what & PFS_WHAT_HANDLED && !(fault->ret & (VM_FAULT_ERROR | VM_FAULT_RETRY));
}

static enum pfs_access access_of(const struct pfs_rec_fault *fault)
{
	if (fault->what & PFS_WHAT_HANDLED) {
		if (fault->flags & PFS_FLAG_INSTRUCTION)
			return PFS_EXECUTE;
		return fault->flags & PFS_FLAG_WRITE ? PFS_WRITE : PFS_READ;
	}
#if defined(__x86_64__) || defined(__i386__) /* arch/x86/include/asm/trap_pf.h */
	if (fault->code & 0x10)
		return PFS_EXECUTE;
	return fault->code & 0x2 ? PFS_WRITE : PFS_READ;
#else
	return 0;
#endif
}

/* Memory without a file; a private mapping of /dev/zero has one only for show. */
static bool is_anon(const struct pfs_rec_fault *fault, const struct mirror_region *r)
{
	return !(fault->what & PFS_WHAT_FILE) ||
	       (r && r->name && !strcmp(r->name, "/dev/zero") && !(r->perms & PFS_PERM_SHARED));
}

/* The first fault on a page of a file. For a write the mapping decides. */
static enum pfs_how first_of_file(const struct mirror_region *r, enum pfs_access access)
{
	if (access != PFS_WRITE)
		return PFS_HOW_FILE;
	if (!r || !r->described)
		return 0;
	return r->perms & PFS_PERM_SHARED ? PFS_HOW_FILE : PFS_HOW_COW;
}

/* How the handler served the fault; 0: unknown. */
static enum pfs_how how_of(const struct pfs_rec_fault *fault, const struct mirror_region *r, enum pfs_access access)
{
	if (!got_page(fault))
		return 0;
	if (r && r->traits & PFS_TRAIT_HUGETLB)
		return PFS_HOW_HUGE;
	switch (fault->how) {
	case PFS_WAS_SWAP:
		return PFS_HOW_SWAP;
	case PFS_WAS_NUMA:
		return PFS_HOW_NUMA;
	case PFS_WAS_HIDDEN:
		return PFS_HOW_HIDDEN;
	case PFS_WAS_HUGE:
		return PFS_HOW_HUGE;
	case PFS_WAS_PRESENT:
		if (access != PFS_WRITE && !(fault->flags & PFS_FLAG_UNSHARE))
			return 0;
		if (r && r->described && r->perms & PFS_PERM_SHARED)
			return PFS_HOW_FILE;
		return r && r->described ? PFS_HOW_COW : 0;
	case PFS_WAS_NONE:
		if (fault->what & PFS_WHAT_HUGE)
			return PFS_HOW_HUGE;
		if (!is_anon(fault, r))
			return first_of_file(r, access);
		/* [vdso] and the like are neither of a file nor anonymous */
		return r && r->name && r->name[0] == '[' && strcmp(r->name, "[stack]") && strncmp(r->name, "[anon", 5)
			       ? 0
			       : PFS_HOW_ANON;
	default:
		return 0;
	}
}

/* ---- the region of a fault ---- */

/* A region that is known from this fault only. */
static void region_of_fault(const struct pfs_decoder *d, struct mirror_region *r, const struct pfs_rec_fault *fault)
{
	*r = (struct mirror_region){
		.start = fault->vm_start, .end = fault->vm_end, .vma = fault->vma, .uncertain = true
	};
	if (!(fault->what & PFS_WHAT_FILE))
		return;
	r->dev = fault->dev;
	r->ino = fault->ino;
	r->off = (fault->pgoff - ((fault->addr - fault->vm_start) >> d->page_shift)) << d->page_shift;
}

/* Only a stack changes by itself: it grows down. */
static bool grew_down(const struct mirror_region *r, const struct pfs_rec_fault *fault)
{
	return r && r->end == fault->vm_end && fault->vm_start < r->start;
}

/* The fault's region differs from the mirror's: the fault is right. */
static int heal(const struct dec_site *site)
{
	const struct pfs_rec_fault *fault = &site->rec->fault;
	struct mirror_region *known = mirror_by_vma(site->m, fault->vma, fault->vm_start, fault->vm_end), r;

	if (!known) { /* a split or moved region: its kernel address is not known yet */
		known = mirror_find(site->m, fault->addr);
		if (known && known->vma)
			known = NULL;
	}
	if (known && known->start == fault->vm_start && known->end == fault->vm_end) {
		known->vma = fault->vma;
		return 0;
	}
	region_of_fault(site->d, &r, fault);
	site->d->stats.corrected += site->m->stated && !grew_down(known, fault);
	if (!known) {
		int err = dec_split_upper(site, r.start, r.end);

		r.id = site->d->next_id++;
		return err ? err : dec_emit_map(site, &r, true);
	}
	if (known->start < r.start || known->end > r.end)
		return dec_shrink(site, known, r.start, r.end);
	r = mirror_part(known, fault->vm_start, fault->vm_end);
	r.vma = fault->vma;
	return dec_emit_map(site, &r, false);
}

static bool has_region(const struct pfs_decoder *d, const struct pfs_rec_fault *fault)
{
	return fault->what & PFS_WHAT_HANDLED && fault->vma && fault->addr >= fault->vm_start &&
	       fault->addr < fault->vm_end && !((fault->vm_start | fault->vm_end) & (dec_page_size(d) - 1));
}

/* The region in the mirror, as the fault reports it. NULL: none. Valid until the next change. */
static int find_region(const struct dec_site *site, struct mirror_region **r)
{
	const struct pfs_rec_fault *fault = &site->rec->fault;
	int err = 0;

	*r = site->m ? mirror_find(site->m, fault->addr) : NULL;
	if (!site->m || !has_region(site->d, fault))
		return 0;
	if (*r && (*r)->vma == fault->vma && (*r)->start == fault->vm_start && (*r)->end == fault->vm_end)
		return 0;
	err = heal(site);
	*r = mirror_find(site->m, fault->addr);
	return err;
}

/* ---- events ---- */

static unsigned int huge_order(const struct pfs_decoder *d)
{
	return d->page_shift - 3; /* a page table full of pages */
}

/* Where no page is of hugetlbfs. */
static uint64_t usual_size(const struct pfs_decoder *d, const struct pfs_rec_fault *fault)
{
	return dec_page_size(d) << (fault->what & PFS_WHAT_HUGE ? huge_order(d) : 0);
}

/* 0: unknown. */
static uint64_t page_size(const struct pfs_decoder *d, const struct pfs_rec_fault *fault, const struct mirror_region *r)
{
	if (r && r->traits & PFS_TRAIT_HUGETLB)
		return r->page_shift && r->page_shift < 64 ? UINT64_C(1) << r->page_shift : 0;
	return r || !(fault->what & PFS_WHAT_HUGE) ? usual_size(d, fault) : 0;
}

/* What exceptions and other faults have in common. */
static void describe(const struct pfs_decoder *d, struct pfs_event *ev, const struct pfs_rec *rec,
		     const struct mirror_region *r)
{
	const struct pfs_rec_fault *fault = &rec->fault;
	bool handled = fault->what & PFS_WHAT_HANDLED;
	enum pfs_access access = access_of(fault);
	enum pfs_how how = how_of(fault, r, access);
	uint64_t size = fault->what & PFS_WHAT_PFN ? page_size(d, fault, r) : 0;

	if (access)
		PFS_SET(ev, access, ACCESS, access);
	if (how)
		PFS_SET(ev, how, HOW, how);
	if (got_page(fault))
		PFS_SET(ev, class, CLASS,
			fault->ret & VM_FAULT_MAJOR || fault->flags & PFS_FLAG_TRIED ? PFS_MAJOR_CLASS : PFS_MINOR);
	if (handled) {
		PFS_SET(ev, flags, FLAGS, fault->flags & PFS_FLAGS_KNOWN);
		PFS_SET(ev, latency_ns, LATENCY, fault->latency_ns);
	}
	if (fault->what & PFS_WHAT_PFN)
		PFS_SET(ev, pfn, PFN, fault->pfn);
	if (size)
		PFS_SET(ev, page_size, PAGE_SIZE, size);
	if (handled && fault->what & PFS_WHAT_FILE)
		dec_set_file(ev, fault->dev, fault->ino, fault->pgoff << d->page_shift);
	if (r)
		PFS_SET(ev, id, ID, r->id);
}

static int emit_fault(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_subject subject,
		      const struct mirror_region *r)
{
	const struct pfs_rec_fault *fault = &rec->fault;
	struct pfs_event ev;

	dec_event(&ev, rec, subject, PFS_FAULT);
	describe(d, &ev, rec, r);
	PFS_SET(&ev, addr, ADDR, fault->addr);
	PFS_SET(&ev, ip, IP, fault->ip);
	PFS_SET(&ev, code, CODE, fault->code);
	PFS_SET(&ev, mode, MODE, fault->what & PFS_WHAT_KERNEL ? PFS_KERNEL : PFS_USER);
	if (r)
		dec_set_range(&ev, r->start, r->end);
	return pfs_emit(&d->sink, &ev);
}

/* The page or the huge page. */
static void page_range(const struct pfs_decoder *d, struct pfs_event *ev, const struct pfs_rec_fault *fault)
{
	uint64_t size = usual_size(d, fault);

	dec_set_range(ev, fault->addr & -size, (fault->addr & -size) + size);
}

static int emit_populate(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_subject subject,
			 const struct mirror_region *r, bool charged)
{
	struct pfs_event ev;

	dec_event(&ev, rec, subject, PFS_POPULATE);
	page_range(d, &ev, &rec->fault);
	describe(d, &ev, rec, r);
	if (!charged) /* the kernel counts it for a process that is not recorded */
		ev.have &= ~PFS_HAS(PFS_F_CLASS);
	PFS_SET(&ev, by, BY, subject.space == PFS_SPACE_EXEC ? PFS_BY_EXEC : PFS_BY_GUP);
	return pfs_emit(&d->sink, &ev);
}

static int emit_huge(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_subject subject)
{
	const struct pfs_rec_fault *fault = &rec->fault;
	struct pfs_event ev;

	if (!(fault->what & PFS_WHAT_HUGE))
		return 0;
	dec_event(&ev, rec, subject, PFS_HUGE);
	PFS_SET(&ev, order, ORDER, huge_order(d));
	if (fault->what & PFS_WHAT_PFN)
		PFS_SET(&ev, pfn, PFN, fault->pfn & -(UINT64_C(1) << ev.order));
	if (!(fault->what & PFS_WHAT_EXCEPTION))
		page_range(d, &ev, fault);
	return pfs_emit(&d->sink, &ev);
}

/* All pages of a large folio are mapped. Of a file, where the region is known: as if fault-around had mapped them. */
static int emit_folio(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_subject subject,
		      const struct mirror_region *r)
{
	const struct pfs_rec_fault *fault = &rec->fault;
	uint64_t nr = UINT64_C(1) << fault->order, size = dec_page_size(d) * nr, pgoff = fault->pgoff & -nr;
	struct pfs_event ev;

	if (!fault->order || (!is_anon(fault, r) && !r))
		return 0;
	dec_event(&ev, rec, subject, is_anon(fault, r) ? PFS_HUGE : PFS_AROUND);
	if (ev.kind == PFS_HUGE) {
		PFS_SET(&ev, order, ORDER, fault->order);
		PFS_SET(&ev, pfn, PFN, fault->pfn & -nr);
		if (!(fault->what & PFS_WHAT_EXCEPTION))
			dec_set_range(&ev, fault->addr & -size, (fault->addr & -size) + size);
		return pfs_emit(&d->sink, &ev);
	}
	PFS_SET(&ev, addr, ADDR, fault->addr);
	if (!(fault->what & PFS_WHAT_EXCEPTION))
		dec_set_range(&ev, r->start, r->end);
	dec_set_file(&ev, fault->dev, fault->ino, pgoff << d->page_shift);
	PFS_SET(&ev, end_off, END_OFF, (pgoff + nr) << d->page_shift);
	PFS_SET(&ev, count, COUNT, nr);
	return pfs_emit(&d->sink, &ev);
}

/* ---- what follows a fault ---- */

static int emit_pages(struct pfs_decoder *d, struct pfs_event *ev, const struct pfs_rec_around *around, uint64_t pgoff,
		      uint64_t end_pgoff)
{
	dec_set_file(ev, around->dev, around->ino, pgoff << d->page_shift);
	PFS_SET(ev, end_off, END_OFF, end_pgoff << d->page_shift);
	return pfs_emit(&d->sink, ev);
}

/*
 * Fault-around of the thread's last fault; with its region if that was no exception. An event for each run of pages that
 * were mapped, with their number, if these are known.
 */
int dec_around(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_around *around = &rec->around;
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);
	struct pfs_event ev;
	int err = 0;

	if (!t)
		return -ENOMEM;
	dec_event_own(&ev, rec, PFS_AROUND);
	if (t->subject.pid)
		dec_event(&ev, rec, t->subject, PFS_AROUND);
	PFS_SET(&ev, addr, ADDR, around->addr);
	if (t->start < t->end)
		dec_set_range(&ev, t->start, t->end);
	if (!around->exact)
		return emit_pages(d, &ev, around, around->pgoff, around->end_pgoff);
	for (uint64_t left = around->mapped; !err && left; left &= left + (left & -left)) {
		unsigned int first = __builtin_ctzll(left);
		unsigned int nr = ~(left >> first) ? __builtin_ctzll(~(left >> first)) : 64;

		PFS_SET(&ev, count, COUNT, nr);
		err = emit_pages(d, &ev, around, around->pgoff + first, around->pgoff + first + nr);
	}
	return err;
}

int dec_evict(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct pfs_event ev;

	dec_event_own(&ev, rec, PFS_EVICT);
	return emit_pages(d, &ev, &rec->around, rec->around.pgoff, rec->around.end_pgoff);
}

/* The kernel also sends SIGSEGV without a page fault (a general protection fault): that is no event. */
int dec_signal(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);
	struct pfs_event ev;

	if (!t)
		return -ENOMEM;
	if (!t->failed || (rec->life.code != SIGSEGV && rec->life.code != SIGBUS))
		return 0;
	t->failed = false;
	dec_event_own(&ev, rec, PFS_SIGNAL);
	PFS_SET(&ev, sig, SIG, rec->life.code);
	return pfs_emit(&d->sink, &ev);
}

/* ---- faults ---- */

static int locate(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_thread *t, struct mirror *m,
		  struct mirror_region **r)
{
	t->subject = dec_subject_of(d, rec, m);
	t->start = t->end = 0;
	return find_region(&(const struct dec_site){ d, rec, t->subject, m }, r);
}

/* An exception happens in the process's current space, or in the one that its exec has just entered. */
static int space_of_exception(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror **m)
{
	struct dec_proc *p = dec_proc_get(d, rec->pid);
	struct mirror *execing;

	*m = rec->fault.mm ? dec_mirror_find(d, rec->fault.mm) : NULL;
	if (!p)
		return -ENOMEM;
	/* Back in the program that called exec: it has failed. */
	execing = dec_exec_of(d, rec->pid, rec->tid);
	if (execing && execing != *m && !(rec->fault.what & PFS_WHAT_KERNEL))
		return dec_exec_failed(d, rec, execing);
	if (*m || !rec->fault.mm)
		return 0;
	if (p->mirror || p->space_gone)
		return dec_begin_exec(d, rec, rec->fault.mm, m);
	*m = dec_mirror_get(d, rec->fault.mm);
	if (!*m)
		return -ENOMEM;
	dec_take_space(d, p, *m);
	return 0;
}

static int exception(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_thread *t)
{
	struct mirror_region *r = NULL;
	struct mirror *m;
	int err = space_of_exception(d, rec, &m);

	if (err)
		return err;
	err = locate(d, rec, t, m, &r) ?: emit_fault(d, rec, t->subject, r) ?: emit_huge(d, rec, t->subject)
		      ?: emit_folio(d, rec, t->subject, r);
	t->failed = !got_page(&rec->fault);
	return err;
}

/* The space of the page: the process's own, another recorded one, or NULL: it is not recorded. */
static int space_of_page(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror **m)
{
	const struct dec_proc *p = dec_proc_find(d, rec->pid);

	*m = dec_mirror_find(d, rec->fault.mm);
	if (*m && (*m)->state != MIRROR_LEFT)
		return 0;
	*m = NULL;
	if (!p || (!dec_is_first_stack(d, rec->fault.vm_end) && !p->space_gone))
		return 0;
	return dec_begin_exec(d, rec, rec->fault.mm, m);
}

static int kernels_own(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_thread *t)
{
	const struct dec_proc *p = dec_proc_find(d, rec->pid);
	struct dec_subject charged = { rec->pid, rec->tid, PFS_SPACE_OTHER };
	struct mirror_region *r = NULL;
	struct mirror *m;
	int err = space_of_page(d, rec, &m);

	if (err)
		return err;
	err = locate(d, rec, t, m, &r);
	if (err)
		return err;
	if (r) {
		t->start = r->start;
		t->end = r->end;
	}
	if (!got_page(&rec->fault)) {
		d->stats.no_page++;
		return 0;
	}
	/* The kernel counts the fault for the thread that did it, even on a page of another process. */
	if (!p || (m && t->subject.pid == rec->pid))
		charged = t->subject;
	err = emit_populate(d, rec, charged, r, p);
	return !err && m ? emit_huge(d, rec, t->subject) ?: emit_folio(d, rec, t->subject, r) : err;
}

int dec_fault(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_thread *t = dec_thread_get(d, rec->tid, rec->pid);

	if (!t)
		return -ENOMEM;
	if (rec->fault.what & PFS_WHAT_EXCEPTION)
		return exception(d, rec, t);
	return kernels_own(d, rec, t);
}
