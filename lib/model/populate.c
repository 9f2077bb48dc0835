/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that the kernel faults in by itself: for system calls that populate a range, and in single faults with a class.
 *
 * A call gets the pages of a range in order. Where it cannot get one, it goes on with the next region or fails. Why it
 * could not is known for a hole and for permissions; of a file, `reached` events report how far it got.
 */
#include "model/model_priv.h"

#include "model/presence.h"
#include "model/space.h"

#include <errno.h>
#include <string.h>

#define KNOWS(region, field) ((region)->have & PFS_HAS(field))

int touch_reached(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		  struct pfs_outcome *outcome)
{
	struct pfs_space *space = model->priv->muted ? NULL : model_space_of(model, thread, ev);

	if (model->priv->muted)
		return 0;
	if (!space)
		return -ENOMEM;
	thread->nr_single += pfs_has(ev, PFS_F_COUNT) ? ev->count : 0;
	for (unsigned int i = pfs_space_lower(space, ev->start); i < space->nr_live && space->live[i]->start < ev->end;
	     i++) {
		struct pfs_region *r = space->live[i];

		if (!touch_is_file(r, ev) || ev->end_off < r->reached)
			continue;
		r->reached = ev->end_off;
		r->reached_last = pfs_has(ev, PFS_F_LAST) && ev->last;
		r->reached_counted = pfs_has(ev, PFS_F_COUNT);
	}
	return 0;
}

/* ---- which pages a call got ---- */

/* Of some pages, those before `sure` are populated, and those from `maybe` on are not. */
struct extent {
	uint64_t sure, maybe;
};

static struct extent clip(struct extent e, uint64_t start, uint64_t end)
{
	e.sure = e.sure < start ? start : e.sure > end ? end : e.sure;
	e.maybe = e.maybe < e.sure ? e.sure : e.maybe > end ? end : e.maybe;
	return e;
}

/* Whether the kernel passes over the region, or fails there: what may not be accessed, or has no pages. */
static bool refuses(const struct pfs_region *r, const struct pfs_event *ev)
{
	unsigned int access = pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0;

	if (KNOWS(r, PFS_F_NAME) && !strncmp(r->name, "[vvar", 5))
		return true;
	if (KNOWS(r, PFS_F_PERMS) && access == PFS_READ)
		return !(r->perms & PFS_PERM_R);
	return pfs_region_forbids(r, access);
}

/* Memory without a file: none of its pages is missing. */
static bool is_anonymous(const struct pfs_region *r)
{
	if (pfs_region_is_private_zero(r))
		return true;
	if (KNOWS(r, PFS_F_INO))
		return !pfs_is_file(r->dev, r->ino);
	return KNOWS(r, PFS_F_NAME) && (!r->name[0] || r->name[0] == '[');
}

/* The address at which the file has that offset. */
static uint64_t address_of(const struct pfs_region *r, uint64_t off)
{
	return off > r->off ? r->start + (off - r->off) : r->start;
}

/* What populating gets of the region's pages in [start, end). */
static struct extent gets(const struct pfs_region *r, uint64_t start, uint64_t end)
{
	struct extent e = { start, end };

	if (r->traits & PFS_TRAIT_GUARDED) /* where is not known */
		return e;
	/* There may be no such pages left; a child has none reserved. */
	if (r->traits & PFS_TRAIT_HUGETLB && (r->traits & PFS_TRAIT_NORESERVE || r->inherited))
		return e;
	if (KNOWS(r, PFS_F_PERMS) && !(r->perms & (PFS_PERM_R | PFS_PERM_W))) /* not if the CPU has protection keys */
		return e;
	if (is_anonymous(r))
		e.sure = end;
	else if (r->segment_len && r->since_ns)
		e.sure = e.maybe = address_of(r, r->segment_len);
	else if (r->reached)
		e.sure = address_of(r, r->reached);
	if (r->reached_last && r->reached)
		e.maybe = e.sure;
	return clip(e, start, end);
}

/* Why a call that fails at a page does so there. */
enum stop {
	NO_STOP,
	AT_HOLE,
	AT_REFUSAL,
	AT_PAGE, /* the end of a file */
	SOMEWHERE_ON,
};

/* The first page of [ev->start, ev->end) that cannot be got. */
static enum stop find_stop(const struct pfs_space *space, const struct pfs_event *ev, uint64_t *at)
{
	*at = ev->start;
	for (unsigned int i = pfs_space_lower(space, ev->start); *at < ev->end; i++) {
		const struct pfs_region *r = i < space->nr_live ? space->live[i] : NULL;
		uint64_t end = r && r->end < ev->end ? r->end : ev->end;
		struct extent e;

		if (!r || r->start > *at)
			return AT_HOLE;
		if (refuses(r, ev))
			return AT_REFUSAL;
		e = gets(r, *at, end);
		*at = e.sure;
		if (e.sure < end)
			return e.maybe == e.sure ? AT_PAGE : SOMEWHERE_ON;
	}
	return NO_STOP;
}

static bool has_hole(const struct pfs_space *space, const struct pfs_event *ev)
{
	uint64_t addr = ev->start;

	for (unsigned int i = pfs_space_lower(space, addr); addr < ev->end; i++) {
		if (i == space->nr_live || space->live[i]->start > addr)
			return true;
		addr = space->live[i]->end;
	}
	return false;
}

/*
 * mlock first locks all of the range: it fails at a hole, or beyond the limit, before it populates. Whether it got
 * further may be inferred only.
 */
static struct extent mlock_got(const struct pfs_space *space, const struct pfs_event *ev)
{
	bool unsure = ev->inferred & PFS_HAS(PFS_F_BY) || ev->error != ENOMEM;
	uint64_t at;
	enum stop stop = find_stop(space, ev, &at);

	if (has_hole(space, ev) || (stop == NO_STOP && ev->error == ENOMEM))
		return (struct extent){ ev->start, ev->start };
	return (struct extent){ unsure ? ev->start : at, stop == SOMEWHERE_ON ? ev->end : at };
}

static struct extent madvise_got(const struct pfs_space *space, const struct pfs_event *ev)
{
	static const int errors[] = { [AT_HOLE] = ENOMEM, [AT_REFUSAL] = EINVAL, [AT_PAGE] = EFAULT };
	uint64_t at;
	enum stop stop = find_stop(space, ev, &at);

	if (stop == SOMEWHERE_ON)
		return (struct extent){ ev->error == EFAULT ? at : ev->start, ev->end };
	if (stop == NO_STOP || ev->error != errors[stop]) /* another reason, at an earlier page */
		return (struct extent){ ev->start, at };
	return (struct extent){ at, at };
}

/* What the call got of all of its range, if it stops at a page that it cannot get. */
static struct extent call_got(const struct pfs_space *space, const struct pfs_event *ev)
{
	if (!ev->error)
		return (struct extent){ ev->end, ev->end };
	return ev->by == PFS_BY_MADVISE ? madvise_got(space, ev) : mlock_got(space, ev);
}

/* ---- populated ranges ---- */

/* What a call did to the pages of its range. */
struct populated {
	uint64_t marked, alone; /* pages; alone: those that fault-around had not mapped before */
	uint64_t faults; /* that these took, but for those that are counted as nr_around and nr_single of the thread */
	uint64_t least;	 /* at least so many of `faults` */
	bool sure;	 /* the numbers are exact */
};

/* Did the call map the range itself? Nobody has accessed it before then. */
static bool is_fresh(const struct pfs_event *ev)
{
	const uint32_t maps = 1U << PFS_BY_MMAP | 1U << PFS_BY_BRK | 1U << PFS_BY_MREMAP | 1U << PFS_BY_EXEC;

	return pfs_has(ev, PFS_F_BY) && ev->by < PFS_NR_BY && maps >> ev->by & 1;
}

/* Does the call populate that region only if it is locked, and mprotect only if it was not writable? */
static bool passes_over(const struct pfs_region *r, const struct pfs_event *ev)
{
	unsigned int by = pfs_has(ev, PFS_F_BY) ? ev->by : 0;

	if (by != PFS_BY_MREMAP && by != PFS_BY_MPROTECT)
		return refuses(r, ev);
	return !(r->traits & PFS_TRAIT_LOCKED) ||
	       (by == PFS_BY_MPROTECT ? r->perms & (PFS_PERM_W | PFS_PERM_SHARED) : refuses(r, ev));
}

static bool only_reads(const struct pfs_region *r, const struct pfs_event *ev)
{
	return pfs_has(ev, PFS_F_ACCESS) ? ev->access == PFS_READ : !(r->perms & PFS_PERM_W);
}

/*
 * Counts the faults for `alone` pages of the region, of those in [start, end). Each page of anonymous memory takes one; those
 * of a file take as many as are recorded, or as there are pages.
 */
static int count_faults(struct pfs_model *model, const struct pfs_region *r, const struct pfs_event *ev, uint64_t start,
			uint64_t end, uint64_t alone, struct populated *p)
{
	struct pfs_page what = { .first_ns = ev->ts_ns,
				 .last_ns = ev->ts_ns,
				 .flags = PFS_PAGE_NEWEST | PFS_PAGE_POPULATED };
	struct pfs_pages **pages = &model->priv->populated;
	bool known;
	uint64_t nr;

	if (!is_anonymous(r)) {
		p->faults += r->reached_counted ? 0 : alone;
		p->sure &= r->reached_counted && r->since_ns && (is_fresh(ev) || only_reads(r, ev));
		return 0;
	}
	known = r->since_ns && !r->inherited && !(r->traits & PFS_TRAIT_HUGETLB) &&
		!(only_reads(r, ev) && model_reads_huge_zero(model) && end - start >= pfs_huge_size(model->page_shift));
	p->faults += alone;
	p->least += known ? alone : 0;
	p->sure &= known && alone == (end - start) >> model->page_shift;
	if (!alone || is_fresh(ev))
		return 0;
	if (!*pages)
		*pages = pfs_pages_new(model->page_shift);
	return *pages ? pfs_pages_mark(*pages, start, end, &what, 0, &nr) : -ENOMEM;
}

/* The same of private memory that becomes writable. While it has no private page, each page takes one: to get it, or to copy it. */
static void count_copies(const struct pfs_model *model, const struct pfs_region *r, uint64_t start, struct extent e,
			 struct populated *p)
{
	bool known = r->since_ns && !r->inherited && !r->written && !r->prepared && !(r->traits & PFS_TRAIT_HUGETLB);

	p->faults += r->written ? 0 : (e.maybe - start) >> model->page_shift;
	p->least += known ? (e.sure - start) >> model->page_shift : 0;
	p->sure &= known && e.sure == e.maybe;
}

/*
 * The faults without an exception that a call took. A huge page takes one. A fault that looked up a page of a file may be
 * that of a fault-around, or another: another process may have locked the page, which fault-around then passes over.
 */
static void count_unasked(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_space *space,
			  const struct pfs_event *ev, const struct populated *p)
{
	uint64_t saved = thread->huge_saved, around = thread->nr_around, single = thread->nr_single;
	size_t by = pfs_has(ev, PFS_F_BY) && ev->by < PFS_NR_BY ? ev->by : 0;

	TOUCH_COUNT(unasked[by], (p->faults > saved ? p->faults - saved : 0) + around + single);
	TOUCH_COUNT(unasked_least[by], (p->least > saved ? p->least - saved : 0) + (around > single ? around : single));
	TOUCH_COUNT(unasked_unsure[by], !p->sure || saved || (around && single));
	thread->huge_saved = thread->nr_around = thread->nr_single = 0;
}

const struct pfs_pages *pfs_model_populated(const struct pfs_model *model)
{
	return model->priv->populated;
}

static int populate_pages(struct pfs_model *model, struct pfs_space *space, uint64_t start, uint64_t end,
			  const struct pfs_event *ev, uint64_t *marked, uint64_t *alone)
{
	uint32_t present = PFS_PAGE_TOUCHED | PFS_PAGE_POPULATED | PFS_PAGE_HUGE;
	uint64_t nr_pages = (end - start) >> model->page_shift, before = *alone;
	int err;

	err = pfs_space_mark(space, start, end, PFS_PAGE_POPULATED, present | PFS_PAGE_AROUND | PFS_PAGE_MAYBE_AROUND,
			     ev->ts_ns, alone);
	if (!err && *alone - before < nr_pages) /* the rest is of fault-around */
		err = pfs_space_mark(space, start, end, PFS_PAGE_POPULATED, present, ev->ts_ns, marked);
	return err;
}

static int populate_range(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
			  const struct pfs_event *ev)
{
	bool fails = pfs_has(ev, PFS_F_ERROR), becomes_writable = pfs_has(ev, PFS_F_BY) && ev->by == PFS_BY_MPROTECT;
	struct extent got = fails ? call_got(space, ev) : (struct extent){ 0, 0 };
	uint32_t doubt = fails ? PFS_MAYBE_FAILED : PFS_MAYBE_POPULATED;
	struct populated p = { .sure = true };
	int err = 0;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		struct pfs_region *r = space->live[i];
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;
		struct extent e = fails ? clip(got, start, end) : gets(r, start, end);
		bool ends = r->reached && r->reached_last;
		bool copies = touch_batch(model, ev).access == PFS_WRITE && !(r->perms & PFS_PERM_SHARED);
		uint64_t before = p.alone;

		r->reached_counted &= r->reached > 0;
		r->reached = 0;
		if (passes_over(r, ev))
			continue;
		if (becomes_writable)
			count_copies(model, r, start, e, &p);
		if (e.maybe > start)
			r->written |=
				becomes_writable || (touch_batch(model, ev).access != PFS_READ && pfs_region_copies(r));
		if (e.maybe > start && !r->written)
			doubt_read(model, r);
		if (!model->priv->muted)
			err = doubt_populated(model, space, r, start, e.maybe, ev->ts_ns)
				      ?: (copies ? 0 : folio_populated(model, space, r, start, e.sure, e.maybe, ev->ts_ns))
				      ?: populate_pages(model, space, start, e.sure, ev, &p.marked, &p.alone)
				      ?: presence_set(space, e.sure, e.maybe, doubt, PFS_PRESENT, ev->ts_ns);
		if (!err && ends && !model->priv->muted) /* not as a part of a large folio either */
			err = presence_set(space, e.maybe, end, PFS_ABSENT, PFS_PRESENT, ev->ts_ns);
		if (!err && !model->priv->muted && !becomes_writable)
			err = count_faults(model, r, ev, start, e.sure, p.alone - before, &p);
		p.sure &= e.sure == e.maybe || r->reached_counted;
	}
	TOUCH_COUNT(populated, p.marked + p.alone);
	if (!model->priv->muted)
		count_unasked(model, thread, space, ev, &p);
	return err;
}

/* ---- userfaultfd ---- */

/* Another thread filled the pages, perhaps with those that were at ev->from. An inferred end: not all of them. */
static int populate_filled(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
			   const struct pfs_event *ev)
{
	uint64_t marked = 0;
	int err;

	for (unsigned int i = pfs_space_lower(space, ev->start); i < space->nr_live && space->live[i]->start < ev->end;
	     i++)
		space->live[i]->written = true; /* a fork copies them */
	if (model->priv->muted)
		return 0;
	if (ev->inferred & PFS_HAS(PFS_F_END))
		err = presence_set(space, ev->start, ev->end, PFS_MAYBE_POPULATED, PFS_PRESENT, ev->ts_ns);
	else
		err = pfs_space_mark(space, ev->start, ev->end, PFS_PAGE_POPULATED,
				     PFS_PAGE_TOUCHED | PFS_PAGE_POPULATED, ev->ts_ns, &marked);
	TOUCH_COUNT(populated, marked);
	if (err || !pfs_has(ev, PFS_F_FROM))
		return err;
	return presence_set(space, ev->from, ev->from + (ev->end - ev->start), PFS_ABSENT, 0, ev->ts_ns);
}

/* ---- single faults ---- */

static void count_unasked_fault(struct pfs_counts *counts, const struct pfs_event *ev)
{
	size_t by = pfs_has(ev, PFS_F_BY) && ev->by < PFS_NR_BY ? ev->by : 0;

	counts->unasked[by]++;
	counts->unasked_least[by]++;
	*(ev->class == PFS_MINOR ? &counts->unasked_minor : &counts->unasked_major) += 1;
	touch_handling(counts, ev)->unasked++;
}

/*
 * A single fault with its class, which the kernel has counted for this thread, also if the memory is another process's
 * (space NULL: of an unrecorded one).
 */
static int populate_by_fault(struct pfs_model *model, struct pfs_thread *thread, struct pfs_space *space,
			     const struct pfs_event *ev)
{
	uint32_t class = ev->class == PFS_MINOR ? PFS_PAGE_MINOR : PFS_PAGE_MAJOR;
	const struct pfs_space *own =
		pfs_has(ev, PFS_F_SPACE) && ev->space == PFS_SPACE_EXEC ? space : pfs_proc_space(thread->proc);
	struct pfs_region *region = space ? pfs_space_find(space, ev->start) : NULL;
	uint64_t marked = 0, again = 0;
	int err;

	if (region) /* it may not be writable: mprotect that makes it so has not returned, or a debugger writes */
		region->written |= touch_batch(model, ev).access == PFS_WRITE && !(region->perms & PFS_PERM_SHARED);
	if (region && !region->written)
		doubt_read(model, region);
	if (model->priv->muted)
		return 0;
	thread->nr_around = thread->nr_single = thread->huge_saved = 0; /* estimates are for those without a class */
	count_unasked_fault(model_counts(model, own), ev);
	if (!own->launcher)
		count_unasked_fault(&thread->proc->counts, ev);
	if (!space)
		return 0;
	err = pfs_space_mark(space, ev->start, ev->end, PFS_PAGE_POPULATED, PFS_PAGE_TOUCHED | PFS_PAGE_POPULATED,
			     ev->ts_ns, &marked);
	if (!err)
		err = pfs_space_mark(space, ev->start, ev->end, class, 0, ev->ts_ns, &again);
	TOUCH_COUNT(populated, marked);
	return err;
}

int touch_populate(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		   struct pfs_outcome *outcome)
{
	bool other = pfs_has(ev, PFS_F_SPACE) && ev->space == PFS_SPACE_OTHER;
	struct pfs_space *space = other ? model_space_of_region(model, ev) : model_space_of(model, thread, ev);

	thread->fault_space = NULL;
	if (!space && !other)
		return -ENOMEM;
	if (pfs_has(ev, PFS_F_CLASS))
		return populate_by_fault(model, thread, space, ev);
	if (space && pfs_has(ev, PFS_F_BY) && ev->by == PFS_BY_USERFAULTFD)
		return populate_filled(model, thread, space, ev);
	return space ? populate_range(model, thread, space, ev) : 0;
}
