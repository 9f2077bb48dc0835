/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of layouts. LAYOUT, its REGIONs and LAYOUT_END of one CPU together are a statement, which becomes the
 * difference to the mirror (diff.c). UNMAP and MOVE come before the layout that shows their outcome, and report the
 * pages.
 */
#include "decode/decode_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VM_READ	    UINT64_C(1)
#define VM_WRITE    UINT64_C(2)
#define VM_EXEC	    UINT64_C(4)
#define VM_MAYSHARE UINT64_C(0x80) /* what /proc/PID/maps shows as `s' */

static uint8_t perms_of(uint64_t vm_flags)
{
	return (vm_flags & VM_READ ? PFS_PERM_R : 0) | (vm_flags & VM_WRITE ? PFS_PERM_W : 0) |
	       (vm_flags & VM_EXEC ? PFS_PERM_X : 0) | (vm_flags & VM_MAYSHARE ? PFS_PERM_SHARED : 0);
}

static bool is_aligned(const struct pfs_decoder *d, uint64_t start, uint64_t end)
{
	return start < end && !((start | end) & (dec_page_size(d) - 1));
}

/* ---- regions ---- */

/* NULL: unknown. *err: -ENOMEM. */
static const char *region_name(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec_region *region,
			       int *err)
{
	char name[PFS_REGION_NAME_MAX + 1] = "";
	const char *text = name;

	memcpy(name, region->name, region->name_len);
	if (region->special == PFS_NAME_NONE)
		text = pfs_is_file(region->dev, region->ino) ? NULL : "";
	else if (region->special == PFS_NAME_UNKNOWN)
		text = NULL;
	else if (!region->name_len)
		text = dec_name(cpu);
	if (!text)
		return NULL;
	text = pfs_intern(&d->names, text);
	*err = text ? 0 : -ENOMEM;
	return text;
}

int dec_region(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	const struct pfs_rec_region *region = &rec->region;
	uint64_t behind = cpu->nr_stated ? cpu->stated[cpu->nr_stated - 1].end : 0;
	struct mirror_region r = {
		.start = region->start,
		.end = region->end,
		.vma = region->vma,
		.described = true,
		.perms = perms_of(region->vm_flags),
		.traits = region->traits,
		.page_shift = region->page_shift,
		.dev = region->dev,
		.ino = region->ino,
	};
	struct mirror_region *stated;
	int err = 0;

	if (!cpu->in_layout || region->mm != cpu->layout.layout.mm) {
		cpu->in_layout = false; /* its beginning is missing; its end will be counted */
		return 0;
	}
	if (!is_aligned(d, r.start, r.end) || r.start < behind || region->name_len > PFS_REGION_NAME_MAX ||
	    region->special > PFS_NAME_UNKNOWN) {
		d->stats.damaged++;
		cpu->torn = true;
		return 0;
	}
	if (pfs_is_file(r.dev, r.ino) || region->special == PFS_NAME_PATH)
		r.off = region->pgoff << d->page_shift;
	r.name = region_name(d, cpu, region, &err);
	if (err)
		return err;
	stated = pfs_array_add(cpu->stated, cpu->nr_stated, cpu->max_stated);
	if (!stated)
		return -ENOMEM;
	*stated = r;
	return 0;
}

/* ---- names that depend on the place ---- */

/*
 * For memory without a file in the order of fs/proc/task_mmu.c: heap, stack, then the given name. Readers of the events
 * know the break, and name the heap.
 */
static int place_name(struct pfs_decoder *d, const struct mirror *m, struct mirror_region *r)
{
	const char *name = NULL;

	if (!r->name || pfs_is_file(r->dev, r->ino) || (r->name[0] && strncmp(r->name, "[anon:", 6)))
		return 0;
	if (m->brk && r->start < m->brk && r->end > m->start_brk)
		name = "";
	else if (m->start_stack && r->start <= m->start_stack && r->end >= m->start_stack)
		name = "[stack]";
	if (!name)
		return 0;
	r->name = pfs_intern(&d->names, name);
	return r->name ? 0 : -ENOMEM;
}

/* ---- the break ---- */

static int report_brk(const struct dec_site *site, const struct pfs_rec_layout *layout)
{
	struct mirror *m = site->m;
	bool same = layout->brk == m->brk && layout->start_brk == m->start_brk;
	struct pfs_event ev;

	m->start_stack = layout->start_stack ? layout->start_stack : m->start_stack;
	if (!layout->brk || same)
		return 0;
	m->start_brk = layout->start_brk;
	m->brk = layout->brk;
	dec_event(&ev, site->rec, site->subject, PFS_BRK);
	dec_set_range(&ev, m->start_brk, m->brk);
	return pfs_emit(&site->d->sink, &ev);
}

/* ---- a fork's copy ---- */

int dec_copy_begin(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *child)
{
	struct dec_subject subject = { child->pid, child->tid, PFS_SPACE_CURRENT };
	const struct dec_proc *p = dec_proc_find(d, child->pid);
	struct pfs_event ev;

	dec_event(&ev, rec, subject, PFS_FORK);
	if (p && p->mirror && mirror_copy(child, p->mirror))
		return -ENOMEM;
	return pfs_emit(&d->sink, &ev);
}

/* A region of the copy, which mostly differs from the parent's in its identity only. */
static int copy_region(const struct dec_site *site, struct mirror_region *n)
{
	const struct mirror_region *r = mirror_find(site->m, n->start);
	bool same = r && r->start == n->start && r->end == n->end && r->described && !r->uncertain;

	if (!n->name && r && n->ino == r->ino && n->dev == r->dev)
		n->name = r->name;
	same = same && n->perms == r->perms && n->traits == r->traits && n->dev == r->dev && n->ino == r->ino &&
	       n->off == r->off && n->name == r->name;
	n->id = site->d->next_id++;
	return dec_emit_map(site, n, !same);
}

/* Removes the parent's regions in [lo, hi) that were not reported of the child. */
static void copy_forget(struct mirror *child, uint64_t lo, uint64_t hi)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < child->nr; i++) {
		const struct mirror_region *r = &child->region[i];

		if (!r->copied || r->end <= lo || r->start >= hi)
			child->region[kept++] = *r;
	}
	child->nr = kept;
}

static int copy_stated(const struct dec_site *site, struct dec_statement *s)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < s->nr; i++)
		err = copy_region(site, &s->region[i]);
	if (!err && s->whole)
		copy_forget(site->m, s->lo, s->hi);
	return err;
}

int dec_copy_rest(struct pfs_decoder *d, const struct pfs_rec *rec, struct mirror *child)
{
	const struct dec_site site = { d, rec, { child->pid, child->tid, PFS_SPACE_FORK }, child };
	int err = 0;

	for (unsigned int i = 0; !err && i < child->nr; i++) {
		struct mirror_region r = child->region[i];

		if (!r.copied)
			continue;
		r.copied = false;
		r.id = d->next_id++;
		err = dec_emit_map(&site, &r, false);
	}
	return err;
}

/* ---- a layout ---- */

static bool is_first_stack(const struct pfs_decoder *d, const struct dec_statement *s)
{
	return s->nr && dec_is_first_stack(d, s->region[s->nr - 1].end);
}

/*
 * An unknown space is new if the layout's reason is a fork or an exec. At a fault it may be the image that an exec is
 * building, or the space of an unrecorded process that this thread accesses: NULL.
 */
static int space_is_new(struct pfs_decoder *d, const struct pfs_rec *rec, const struct pfs_rec_layout *layout,
			const struct dec_statement *s, struct mirror **m)
{
	const struct dec_proc *p = dec_proc_find(d, rec->pid);

	*m = NULL;
	switch (layout->why) {
	case PFS_WHY_FORK:
		*m = p ? dec_begin_fork(d, rec, layout->mm) : NULL;
		return *m ? dec_copy_begin(d, rec, *m) : p ? -ENOMEM : 0;
	case PFS_WHY_EXEC:
		return dec_begin_exec(d, rec, layout->mm, m);
	case PFS_WHY_FAULT:
		if (p && (p->space_gone || is_first_stack(d, s)))
			return dec_begin_exec(d, rec, layout->mm, m);
		return 0;
	default:
		return 0;
	}
}

static int find_space(struct pfs_decoder *d, const struct pfs_rec *rec, const struct pfs_rec_layout *layout,
		      const struct dec_statement *s, struct mirror **m)
{
	*m = dec_mirror_find(d, layout->mm);
	if (*m && ((*m)->users || (*m)->state == MIRROR_FORKING || (*m)->state == MIRROR_EXECING))
		return 0;
	return space_is_new(d, rec, layout, s, m);
}

static int apply_layout(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec, struct dec_statement *s)
{
	const struct pfs_rec_layout *layout = &cpu->layout.layout;
	struct dec_site site = { .d = d, .rec = rec };
	bool full;
	int err = find_space(d, rec, layout, s, &site.m);

	if (err || !site.m)
		return err;
	site.subject = dec_subject_of(d, rec, site.m);
	err = report_brk(&site, layout);
	for (unsigned int i = 0; !err && i < s->nr; i++)
		err = place_name(d, site.m, &s->region[i]);
	if (err)
		return err;
	if (site.m->state == MIRROR_FORKING)
		return copy_stated(&site, s);
	err = dec_diff(&site, s);
	/* A long one arrives in parts, in order of address. */
	full = s->whole && s->hi == UINT64_MAX;
	site.m->stated = site.m->stated || full;
	if (!err && layout->why == PFS_WHY_START && full)
		err = dec_note(d, rec, &site.subject, PFS_FACT(SNAPSHOT, .op = PFS_SNAPSHOT_START));
	return err;
}

/* If records of the layout are missing, only the regions that arrived are applied. */
static int layout_over(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec,
		       const struct pfs_rec_layout *end)
{
	struct dec_statement s = { .region = cpu->stated, .nr = cpu->nr_stated };

	cpu->in_layout = false;
	s.whole = end && !cpu->torn && end->mm == cpu->layout.layout.mm && end->nr_regions == cpu->nr_stated &&
		  end->lo <= end->hi;
	d->stats.torn += !s.whole;
	d->stats.damaged += !s.whole && !cpu->torn; /* no gap in the numbers explains it */
	if (s.whole) {
		s.lo = end->lo;
		s.hi = end->hi;
	} else if (s.nr) {
		s.lo = s.hi = s.region[0].start;
	}
	return apply_layout(d, cpu, rec, &s);
}

int dec_layout_cut_off(struct pfs_decoder *d, struct dec_cpu *cpu)
{
	struct pfs_rec begin = cpu->layout;

	return cpu->in_layout ? layout_over(d, cpu, &begin, NULL) : 0;
}

int dec_layout(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	int err = dec_layout_cut_off(d, cpu);

	cpu->in_layout = true;
	cpu->torn = false;
	cpu->nr_stated = 0;
	cpu->layout = *rec;
	return err;
}

int dec_layout_end(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	if (!cpu->in_layout) { /* its beginning is missing */
		d->stats.torn++;
		d->stats.damaged += !cpu->torn;
		return 0;
	}
	if (!cpu->layout.layout.brk) {
		cpu->layout.layout.brk = rec->layout.brk;
		cpu->layout.layout.start_brk = rec->layout.start_brk;
		cpu->layout.layout.start_stack = rec->layout.start_stack;
	}
	return layout_over(d, cpu, rec, &rec->layout);
}

/* ---- ranges ---- */

int dec_unmap(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_site site = { .d = d, .rec = rec, .m = dec_mirror_find(d, rec->range.mm) };

	if (!site.m)
		return 0;
	if (!rec->range.start && rec->range.end == UINT64_MAX)
		return dec_space_over(d, rec, site.m);
	if (!is_aligned(d, rec->range.start, rec->range.end)) {
		d->stats.damaged++;
		return 0;
	}
	site.subject = dec_subject_of(d, rec, site.m);
	return dec_emit_unmap(&site, rec->range.start, rec->range.end);
}

static int emit_move(const struct dec_site *site, const struct mirror_region *moved)
{
	struct pfs_event ev;

	dec_event(&ev, site->rec, site->subject, PFS_MOVE);
	dec_set_range(&ev, moved->start, moved->end);
	PFS_SET(&ev, from, FROM, site->rec->range.start);
	PFS_SET(&ev, len, LEN, moved->end - moved->start);
	PFS_SET(&ev, id, ID, moved->id);
	return pfs_emit(&site->d->sink, &ev);
}

int dec_move(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	uint64_t from = rec->range.start, len = rec->range.end - from, to = rec->range.to;
	struct dec_site site = { .d = d, .rec = rec, .m = dec_mirror_find(d, rec->range.mm) };
	struct mirror_region moved;
	int err = 0;

	if (!is_aligned(d, from, rec->range.end) || !is_aligned(d, to, to + len)) {
		d->stats.damaged++;
		return 0;
	}
	if (!site.m || !mirror_find(site.m, from)) /* the layout that follows shows the result */
		return 0;
	site.subject = dec_subject_of(d, rec, site.m);
	/* Only an exec moves its stack to a range that overlaps; mremap clears the target. */
	if (to >= from + len || from >= to + len)
		err = dec_emit_unmap(&site, to, to + len);
	if (err)
		return err;
	moved = mirror_part(mirror_find(site.m, from), from, from + len);
	moved.start = to;
	moved.end = to + len;
	moved.id = d->next_id++;
	moved.vma = 0;
	moved.uncertain = true;
	return mirror_map(site.m, &moved) ?: emit_move(&site, &moved);
}

/* After -ENOMEM a part was not mapped, and the rest is done; after another error it is not known how far it came. */
int dec_advise(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_advise *advise = &rec->advise;
	enum pfs_advice advice = pfs_advice_of(advise->behavior);
	struct mirror *m = dec_mirror_find(d, advise->mm);
	struct pfs_event ev;

	if (!m || !advice || advise->start >= advise->end)
		return 0;
	dec_event(&ev, rec, dec_subject_of(d, rec, m), PFS_ADVISE);
	dec_set_range(&ev, advise->start, advise->end);
	ev.inferred |= advise->ret && advise->ret != -ENOMEM ? PFS_HAS(PFS_F_END) : 0;
	PFS_SET(&ev, advice, ADVICE, advice);
	PFS_SET(&ev, interval_ns, INTERVAL, rec->ts_ns - advise->begun_ns);
	return pfs_emit(&d->sink, &ev);
}

/* The event is of the process whose pages these are, whoever filled them. */
int dec_fill(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_range *range = &rec->range;
	struct mirror *m = dec_mirror_find(d, range->mm);
	struct pfs_event ev;

	if (!is_aligned(d, range->start, range->end)) {
		d->stats.damaged++;
		return 0;
	}
	if (!m)
		return 0;
	dec_event(&ev, rec, dec_subject_of(d, rec, m), PFS_POPULATE);
	dec_set_range(&ev, range->start, range->end);
	ev.inferred |= range->sparse ? PFS_HAS(PFS_F_END) : 0;
	if (range->to)
		PFS_SET(&ev, from, FROM, range->to);
	PFS_SET(&ev, by, BY, PFS_BY_USERFAULTFD);
	return pfs_emit(&d->sink, &ev);
}
