/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault-around: of the pages beside a fault the kernel maps those that are ready in the page cache. Which ones are is
 * concluded from what is known of the page cache (cache.c), also afterwards: until then a page may be mapped. touch.c has
 * the faults themselves.
 */
#include "model/model_priv.h"

#include "base/array.h"
#include "model/cache.h"
#include "model/presence.h"
#include "model/space.h"

#include <errno.h>

/* The part of a region that maps [off, end_off) of its file. */
struct part {
	struct pfs_space *space;
	uint64_t start, end;
	uint64_t off; /* of start */
};

static bool part_of(struct part *part, const struct pfs_region *region, uint64_t off, uint64_t end_off)
{
	if (!model_part_of(region, off, end_off, &part->start, &part->end))
		return false;
	part->off = region->off + (part->start - region->start);
	return true;
}

static int mark(const struct part *part, uint64_t start, uint64_t end, uint32_t flags, uint64_t now_ns)
{
	struct pfs_page what = { .first_ns = now_ns, .last_ns = now_ns, .flags = flags };
	uint32_t presence = flags == PFS_PAGE_AROUND ? PFS_PRESENT : PFS_MAYBE_AROUND;
	uint64_t nr;

	return pfs_pages_mark(part->space->pages, start, end, &what, PFS_PAGE_MAPPED | PFS_PAGE_MAYBE_AROUND, &nr)
		       ?: presence_set(part->space, start, end, presence, PFS_PRESENT | PFS_MAYBE_UNDER_WAY, now_ns);
}

/* ---- what the page cache tells ---- */

/* Marks the pages that were ready by then; the others may be mapped. Returns whether there are others. */
static int mark_ready(struct pfs_model *model, const struct part *part, const struct cache_file *file, uint64_t now_ns)
{
	const uint64_t size = model_page_size(model);
	int err = 0, open = 0;

	for (uint64_t addr = part->start; !err && addr < part->end; addr += size) {
		bool ready = cache_before(file, part->off + (addr - part->start)) == CACHE_READY;

		err = mark(part, addr, addr + size, ready ? PFS_PAGE_AROUND : PFS_PAGE_MAYBE_AROUND, now_ns);
		open |= !ready;
	}
	return err ? err : open;
}

/* Remembers that pages of the part may be mapped, until more is known of the file. */
static int put_off(struct pfs_model *model, struct cache_file *file, const struct part *part, uint64_t now_ns)
{
	struct cache_open *open = pfs_array_add(file->open, file->nr_open, file->max_open);

	if (!open)
		return -ENOMEM;
	*open = (struct cache_open){ pfs_space_get(part->space), part->start, part->end, part->off, now_ns };
	return 0;
}

static int mark_part(struct pfs_model *model, const struct part *part, const struct pfs_event *ev)
{
	const uint64_t most = UINT64_C(1) << 22; /* the kernel asks for no more than a page table has */
	struct cache_file *file;
	int ret;

	if (pfs_has(ev, PFS_F_COUNT)) /* all of these were mapped */
		return mark(part, part->start, part->end, PFS_PAGE_AROUND, ev->ts_ns);
	if (!pfs_has(ev, PFS_F_INO) || part->end - part->start > most)
		return mark(part, part->start, part->end, PFS_PAGE_MAYBE_AROUND, ev->ts_ns);
	file = cache_file(model->priv, ev->dev, ev->ino);
	if (!file)
		return -ENOMEM;
	ret = mark_ready(model, part, file, ev->ts_ns);
	return ret > 0 ? put_off(model, file, part, ev->ts_ns) : ret;
}

int touch_around(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct pfs_region *region = touch_fault_region(thread);
	struct part part = { .space = thread->fault_space };
	int err = 0;

	if (model->priv->muted)
		return 0;
	if (!pfs_has(ev, PFS_F_START)) {
		thread->fault_brought = true;
		if (region && (pfs_has(ev, PFS_F_COUNT) || touch_beside_fault(region, thread, ev)) &&
		    part_of(&part, region, ev->off, ev->end_off))
			err = doubt_none(thread) ?: mark_part(model, &part, ev);
		return err;
	}
	/* The kernel populates [start, end): any mapping of that part of the file there may be meant. */
	part.space = model_space_of(model, thread, ev);
	if (!part.space)
		return -ENOMEM;
	thread->nr_around++;
	for (unsigned int i = pfs_space_lower(part.space, ev->start);
	     !err && i < part.space->nr_live && part.space->live[i]->start < ev->end; i++)
		if (touch_is_file(part.space->live[i], ev) && part_of(&part, part.space->live[i], ev->off, ev->end_off))
			err = mark_part(model, &part, ev);
	return err;
}

/* ---- more is known of a file ---- */

/* The page at addr, by then unsettled, was mapped or not. Its region may have been unmapped since. */
static int settle(const struct cache_open *open, uint64_t addr, uint64_t end, bool mapped)
{
	struct pfs_space *space = open->space;
	int err = pfs_pages_settle(space->pages, addr, end, open->ts_ns, mapped)
			  ?: presence_settle(space, addr, end, open->ts_ns, mapped);

	for (unsigned int i = space->nr_retired; !err && i-- > 0 && space->retired[i]->died_ns >= open->ts_ns;) {
		struct pfs_region *r = space->retired[i];

		if (r->pages && r->pages != space->pages && r->start < end && r->end > addr)
			err = pfs_pages_settle(r->pages, addr, end, open->ts_ns, mapped);
	}
	return err;
}

/* Returns 1 if a page of it is to be decided still, 0 if none is, or -ENOMEM. */
static int decide(struct pfs_model *model, const struct cache_file *file, const struct cache_open *open)
{
	const uint64_t size = model_page_size(model), now_ns = model->priv->end_ns ? model->priv->end_ns : UINT64_MAX;
	int err = 0, undecided = 0;

	for (uint64_t addr = open->start; !err && addr < open->end; addr += size) {
		enum cache_verdict verdict = cache_verdict(file, open->off + (addr - open->start), open->ts_ns, now_ns);

		undecided |= verdict == CACHE_UNDECIDED;
		if (verdict == CACHE_MAPPED || verdict == CACHE_NOT_MAPPED)
			err = settle(open, addr, addr + size, verdict == CACHE_MAPPED);
	}
	return err ? err : undecided;
}

/* Decides what can be by now, of [off, end_off). */
static int decide_all(struct pfs_model *model, struct cache_file *file, uint64_t off, uint64_t end_off)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < file->nr_open; i++) {
		struct cache_open *open = &file->open[i];
		bool meant = open->off < end_off && open->off + (open->end - open->start) > off;

		if (ret >= 0 && meant)
			ret = decide(model, file, open);
		if (!meant || ret)
			file->open[kept++] = *open;
		else
			pfs_space_put(open->space);
	}
	file->nr_open = kept;
	return ret < 0 ? ret : 0;
}

int around_cached(struct pfs_model *model, const struct pfs_event *ev)
{
	struct cache_file *file = cache_file(model->priv, ev->dev, ev->ino);
	enum pfs_cached state = pfs_has(ev, PFS_F_STATE) ? ev->state : 0;
	int err = file ? cache_learn(file, ev, state) : -ENOMEM;

	if (!err && state == PFS_CACHE_ADDED)
		err = decide_all(model, file, ev->off, ev->end_off);
	else if (!err && pfs_has(ev, PFS_F_LAST) && ev->last)
		err = decide_all(model, file, 0, UINT64_MAX);
	return err;
}

int around_evicted(struct pfs_model *model, const struct pfs_event *ev)
{
	struct cache_file *file = cache_file(model->priv, ev->dev, ev->ino);

	return file ? cache_evicted(file, ev) ?: decide_all(model, file, ev->off, ev->end_off) : -ENOMEM;
}
