/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Large folios of files: from 6.18 on a fault maps all pages of its page's folio, and fault-around those of each folio
 * that it finds, also outside of the range that its event gives. The folio must lie in the region, in one page of page
 * tables, and in the file (finish_fault() in mm/memory.c, filemap_map_pages() in mm/filemap.c).
 *
 * So of each fault all pages of its reach may be mapped (PFS_MAYBE_FOLIO), until the folio of its page and those at both
 * ends of the fault-around are known, by what is known of the page cache then (cache.h) or later. doubt.c, populate.c and
 * around.c call this.
 */
#include "model/model_priv.h"

#include "base/array.h"
#include "model/cache.h"
#include "model/presence.h"
#include "model/space.h"

#include <errno.h>

enum mapped { YES, NO, MAYBE };

/* An extent of addresses that a fault has mapped, or has not, or may have. */
struct extent {
	uint64_t start, end;
	enum mapped mapped;
};

/* ---- what one fault has mapped ---- */

static uint64_t off_of(const struct folio_fault *fault, uint64_t addr)
{
	return fault->off + (addr - fault->start);
}

/* Whether its fault-around has mapped the page at addr. */
static enum mapped at_around(const struct pfs_model *model, const struct cache_file *file,
			     const struct folio_fault *fault, uint64_t addr)
{
	const uint64_t now_ns = model->priv->end_ns ? model->priv->end_ns : UINT64_MAX, off = off_of(fault, addr);
	bool locked = cache_is_locked(file, model->page_shift, &fault->locked, off, fault->at_ns);

	if (addr < fault->around_start || addr >= fault->around_end)
		return NO;
	if (file->last.begun_ns <= fault->at_ns && cache_before(file, off) == CACHE_READY)
		return locked ? MAYBE : YES;
	switch (cache_verdict(file, off, fault->at_ns, now_ns)) {
	case CACHE_MAPPED:
		return locked ? MAYBE : YES;
	case CACHE_NOT_MAPPED:
		return NO;
	default:
		return MAYBE;
	}
}

/* May a fault left of the first nr have mapped a page of [start, end)? */
static bool may_have_mapped(const struct cache_file *file, size_t nr, const struct pfs_space *space, uint64_t start,
			    uint64_t end)
{
	for (size_t i = 0; i < nr; i++) {
		const struct folio_fault *fault = &file->faults[i];

		if (fault->space == space && fault->start_maybe < end && fault->end_maybe > start &&
		    !(end - start == UINT64_C(1) << pfs_pages_shift(space->pages) &&
		      presence_ended(space, start, fault->ts_ns)))
			return true;
	}
	return false;
}

/*
 * Was the fault served, and none of the other pages of the extent mapped before it? Of those that have changed since that
 * is not known.
 */
static bool served_all(const struct cache_file *file, const struct folio_fault *fault, const struct extent *e)
{
	const struct pfs_pages *presence = fault->space->presence;
	uint64_t nr = ((e->end - e->start) >> pfs_pages_shift(presence)) - 1, since_ns;
	struct pfs_page_walk walk;
	const struct pfs_page *page;

	if (presence_since(fault->space, fault->addr, &since_ns) != PFS_PRESENT || since_ns != fault->ts_ns)
		return false;
	if (may_have_mapped(file, fault - file->faults, fault->space, e->start, e->end))
		return false;
	pfs_page_walk_start(&walk, presence, e->start, e->end);
	while ((page = pfs_page_walk_next(&walk)))
		nr -= walk.addr != fault->addr && ((page->flags & PFS_MAYBE_FOLIO && page->first_ns <= fault->ts_ns) ||
						   page->first_ns == fault->at_ns);
	return !nr;
}

/* The addresses of the folio. False: it does not lie in the reach, so its pages are mapped one by one, if at all. */
static bool place(const struct folio_fault *fault, const struct cache_folio *folio, struct extent *e)
{
	if (folio->off < fault->off || folio->end_off > fault->off + (fault->end - fault->start))
		return false;
	e->start = fault->start + (folio->off - fault->off);
	e->end = fault->start + (folio->end_off - fault->off);
	return true;
}

/* What the fault has mapped of the folio at addr: its own, or that at an end of its fault-around, beyond that. */
static struct extent mapped_at(const struct pfs_model *model, const struct cache_file *file,
			       const struct folio_fault *fault, uint64_t addr)
{
	struct extent e = { fault->start, fault->end, MAYBE };
	enum mapped around = at_around(model, file, fault, addr);
	const uint64_t size = model_page_size(model);
	bool own = addr == fault->addr && !fault->failed;
	struct cache_folio folio;

	if (!own && around == NO)
		return (struct extent){ .mapped = NO };
	if (!cache_folio(file, model->page_shift, off_of(fault, addr), fault->at_ns, &folio))
		return e;
	if (!place(fault, &folio, &e) || e.end - e.start == size)
		return (struct extent){ addr, addr + size, own && around == YES ? YES : NO };
	if (!folio.at_end && (around == YES || (own && served_all(file, fault, &e))))
		e.mapped = YES;
	return e;
}

/* ---- what follows for the pages ---- */

/* The pages were mapped by the fault, unless something happened to them since, or to their mapping. */
static int settle(const struct folio_fault *fault, const struct extent *e)
{
	const struct pfs_page what = { .first_ns = fault->ts_ns, .last_ns = fault->ts_ns, .flags = PFS_PAGE_AROUND };
	struct pfs_space *space = fault->space;
	uint64_t size = UINT64_C(1) << pfs_pages_shift(space->pages), since_ns, nr;
	int err = 0;

	for (uint64_t addr = e->start; !err && addr < e->end; addr += size) {
		uint32_t presence = presence_since(space, addr, &since_ns);

		if (!presence || presence == PFS_PRESENT || (since_ns > fault->ts_ns && since_ns != fault->at_ns) ||
		    presence_ended(space, addr, fault->ts_ns))
			continue;
		err = presence_set(space, addr, addr + size, PFS_PRESENT, 0, fault->ts_ns)
			      ?: pfs_pages_mark(space->pages, addr, addr + size, &what, PFS_PAGE_MAPPED, &nr);
	}
	return err;
}

static void may_be(struct folio_fault *fault, uint64_t start, uint64_t end)
{
	fault->start_maybe = start < fault->start_maybe ? start : fault->start_maybe;
	fault->end_maybe = end > fault->end_maybe ? end : fault->end_maybe;
}

/* Pages of the fault-around that an earlier fault may have mapped are in doubt because of that (around.c). */
static int resolve_around(struct pfs_model *model, const struct cache_file *file, struct folio_fault *fault)
{
	const uint64_t size = model_page_size(model);
	uint64_t since_ns;
	int err = 0;

	for (uint64_t addr = fault->around_start; !err && addr < fault->around_end; addr += size) {
		struct extent e = { addr, addr + size, YES };
		enum mapped around;

		if (presence_since(fault->space, addr, &since_ns) != PFS_MAYBE_FOLIO || since_ns >= fault->ts_ns)
			continue;
		around = at_around(model, file, fault, addr);
		if (around == YES)
			err = settle(fault, &e);
		else if (around == MAYBE)
			may_be(fault, addr, addr + size);
	}
	return err;
}

/* Settles what can be, and finds the part of which it is not known. 0 or -ENOMEM. */
static int resolve(struct pfs_model *model, const struct cache_file *file, struct folio_fault *fault)
{
	uint64_t at[3] = { fault->addr };
	unsigned int nr = 1;
	int err = 0;

	if (fault->never || (!fault->over && at_around(model, file, fault, fault->addr) != YES))
		return 0;
	if (fault->around_start < fault->around_end) {
		at[nr++] = fault->around_start;
		at[nr++] = fault->around_end - model_page_size(model);
	}
	fault->start_maybe = UINT64_MAX;
	fault->end_maybe = 0;
	for (unsigned int i = 0; !err && i < nr; i++) {
		struct extent e = mapped_at(model, file, fault, at[i]);

		if (e.mapped == YES)
			err = settle(fault, &e);
		else if (e.mapped == MAYBE)
			may_be(fault, e.start, e.end);
	}
	return err ?: resolve_around(model, file, fault);
}

/*
 * The pages were not mapped since the fault, nor when it came. Of a region from before the recording nothing is known
 * of those that were never mapped since.
 */
static int undo_part(const struct folio_fault *fault, uint64_t start, uint64_t end)
{
	struct pfs_space *space = fault->space;
	const struct pfs_region *region = pfs_space_find(space, start);
	const uint64_t size = UINT64_C(1) << pfs_pages_shift(space->pages);
	uint32_t presence = !region || region->older || !region->since_ns ? 0 : PFS_ABSENT;
	bool any_ended = space->ended && pfs_pages_any(space->ended, start, end);
	int err = any_ended ? 0 : presence_undo_folio(space, start, end, fault->ts_ns, presence);

	for (; !err && any_ended && start < end; start += size)
		if (!presence_ended(space, start, fault->ts_ns))
			err = presence_undo_folio(space, start, start + size, fault->ts_ns, presence);
	return err;
}

enum { PART = 512 };

/* Sets maybe[nr] for each page of [start, end), at most PART of them, that a fault left may have mapped. */
static void find_maybe(const struct cache_file *file, const struct pfs_space *space, uint64_t start, uint64_t end,
		       bool *maybe)
{
	const unsigned int shift = pfs_pages_shift(space->pages);

	for (size_t i = 0; i < file->nr_faults; i++) {
		const struct folio_fault *fault = &file->faults[i];

		if (fault->space != space)
			continue;
		for (uint64_t at = fault->start_maybe > start ? fault->start_maybe : start;
		     at < end && at < fault->end_maybe; at += UINT64_C(1) << shift)
			if (!maybe[(at - start) >> shift])
				maybe[(at - start) >> shift] = !presence_ended(space, at, fault->ts_ns);
	}
}

/* Of the pages that the fault has put in doubt, those that no fault left may have mapped are not. */
static int undo(const struct pfs_model *model, const struct cache_file *file, struct folio_fault *fault)
{
	const uint64_t size = model_page_size(model);
	uint64_t from = fault->start_doubt, end = fault->end_doubt, part_end;
	bool is_whole = !may_have_mapped(file, file->nr_faults, fault->space, from, end);
	int err = 0;

	fault->start_doubt = fault->start_maybe;
	fault->end_doubt = fault->end_maybe;
	if (is_whole)
		return undo_part(fault, from, end);
	for (; !err && from < end; from = part_end) {
		bool maybe[PART] = { false };

		part_end = end - from > PART * size ? from + PART * size : end;
		find_maybe(file, fault->space, from, part_end, maybe);
		for (uint64_t at = from; !err && at < part_end; at += size)
			if (!maybe[(at - from) / size])
				err = undo_part(fault, at, at + size);
	}
	return err;
}

/* Resolves the faults from the first one on, and forgets those of which all is known. 0 or -ENOMEM. */
static int resolve_from(struct pfs_model *model, struct cache_file *file, size_t first)
{
	size_t kept = first;
	int err = 0;

	for (size_t i = first; !err && i < file->nr_faults; i++)
		err = resolve(model, file, &file->faults[i]);
	for (size_t i = first; !err && i < file->nr_faults; i++)
		if (file->faults[i].start_doubt != file->faults[i].start_maybe ||
		    file->faults[i].end_doubt != file->faults[i].end_maybe)
			err = undo(model, file, &file->faults[i]);
	if (err)
		return err;
	for (size_t i = first; i < file->nr_faults; i++) {
		if (file->faults[i].start_maybe < file->faults[i].end_maybe)
			file->faults[kept++] = file->faults[i];
		else
			pfs_space_put(file->faults[i].space);
	}
	file->nr_faults = kept;
	return 0;
}

/* ---- what comes ---- */

static struct cache_file *file_of(struct pfs_model *model, const struct pfs_region *region)
{
	return cache_file(model->priv, region->dev, region->ino);
}

static struct folio_fault *add_fault(struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region,
				     uint64_t addr, uint64_t ts_ns)
{
	uint64_t size = model_page_size(model), table = size << (model->page_shift - 3), start = addr & -table;
	uint64_t end = start + table;
	struct cache_file *file = file_of(model, region);
	struct folio_fault *fault = file ? pfs_array_add(file->faults, file->nr_faults, file->max_faults) : NULL;

	if (!fault)
		return NULL;
	start = start > region->start ? start : region->start;
	end = end && end < region->end ? end : region->end;
	*fault = (struct folio_fault){
		.space = pfs_space_get(space),
		.start = start,
		.end = end,
		.off = region->off + (start - region->start),
		.start_maybe = start,
		.end_maybe = end,
		.start_doubt = start,
		.end_doubt = end,
		.addr = addr & -size,
		.ts_ns = ts_ns,
		.at_ns = ts_ns,
	};
	return fault;
}

static void set_around(struct folio_fault *fault, uint64_t start, uint64_t end, uint64_t ts_ns)
{
	fault->around_start = start > fault->start ? start : fault->start;
	fault->around_end = end < fault->end ? end : fault->end;
	fault->at_ns = ts_ns;
}

static bool is_concerned(const struct pfs_model *model, const struct pfs_space *space, const struct pfs_region *region)
{
	return space->presence && model->priv->whole_folios && pfs_region_is_file(region);
}

static int doubt(const struct folio_fault *fault)
{
	return presence_set(fault->space, fault->start, fault->end, PFS_MAYBE_FOLIO, PFS_PRESENCE & ~PFS_ABSENT,
			    fault->ts_ns);
}

int folio_fault(struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region,
		const struct fault_batch *batch, uint32_t i, bool over)
{
	struct folio_fault *fault;

	if (!is_concerned(model, space, region))
		return 0;
	if (batch->access == PFS_WRITE && !(region->perms & PFS_PERM_SHARED)) /* it gets a copy of one page */
		return 0;
	fault = add_fault(model, space, region, batch->addr[i], batch->ts_ns[i]);
	if (!fault)
		return -ENOMEM;
	fault->over = over;
	fault->never = !batch->access || batch->mapped != FAULT_ON_ABSENT || !(region->have & PFS_HAS(PFS_F_OFF));
	return doubt(fault);
}

int folio_populated(struct pfs_model *model, struct pfs_space *space, const struct pfs_region *region, uint64_t start,
		    uint64_t sure, uint64_t maybe, uint64_t ts_ns)
{
	const uint64_t ends[] = { start, maybe - model_page_size(model) };
	int err = 0;

	if (start >= maybe || !is_concerned(model, space, region))
		return 0;
	for (unsigned int i = 0; !err && i < 2; i++) {
		struct folio_fault *fault = add_fault(model, space, region, ends[i], ts_ns);

		if (!fault)
			return -ENOMEM;
		fault->over = true;
		fault->never = ends[i] >= sure;
		set_around(fault, start, sure, ts_ns);
		err = doubt(fault);
	}
	return err;
}

/* The newest fault of the thread, if it is left. 0 or -ENOMEM. */
static int under_way(struct pfs_model *model, const struct pfs_thread *thread, const struct pfs_region *region,
		     struct cache_file **file, struct folio_fault **fault)
{
	*fault = NULL;
	if (!region || !is_concerned(model, thread->fault_space, region))
		return 0;
	*file = file_of(model, region);
	if (!*file)
		return -ENOMEM;
	for (size_t i = (*file)->nr_faults; i-- > 0 && (*file)->faults[i].ts_ns >= thread->fault_ns && !*fault;)
		if ((*file)->faults[i].ts_ns == thread->fault_ns && (*file)->faults[i].space == thread->fault_space)
			*fault = &(*file)->faults[i];
	return 0;
}

int folio_around(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_region *region,
		 const struct around *part)
{
	struct cache_file *file;
	struct folio_fault *fault;
	int err = under_way(model, thread, region, &file, &fault);

	if (err || !fault)
		return err;
	fault->never = false;
	set_around(fault, part->start, part->end, part->ts_ns);
	fault->locked = part->locked;
	return resolve_from(model, file, fault - file->faults);
}

int folio_over(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_region *region, bool served)
{
	struct cache_file *file;
	struct folio_fault *fault;
	int err = under_way(model, thread, region, &file, &fault);

	if (err || !fault)
		return err;
	fault->over = true;
	fault->failed = !served;
	fault->never &= served;
	return resolve_from(model, file, fault - file->faults);
}

int folio_learned(struct pfs_model *model, struct cache_file *file)
{
	return resolve_from(model, file, 0);
}

bool folio_may_have_mapped(const struct cache_file *file, const struct pfs_space *space, uint64_t addr, uint64_t end)
{
	return may_have_mapped(file, file->nr_faults, space, addr, end);
}
