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

/* The pages of [off, end_off) in the region. False: there are none. */
static bool part_of(struct around *part, const struct pfs_region *region, uint64_t off, uint64_t end_off)
{
	if (!model_part_of(region, off, end_off, &part->start, &part->end))
		return false;
	part->off = region->off + (part->start - region->start);
	return true;
}

/* `locked`: others may have passed over it, so that it will not be known. */
static int mark(const struct around *part, uint64_t start, uint64_t end, uint32_t flags, uint32_t presence, bool locked)
{
	uint64_t since_ns;
	int err = pfs_space_mark(part->space, start, end, flags, PFS_PAGE_MAPPED | PFS_PAGE_MAYBE_AROUND, part->ts_ns,
				 NULL);

	/* What an earlier fault may have mapped stays in doubt because of that. */
	if (err || (presence == PFS_MAYBE_AROUND && !locked &&
		    presence_since(part->space, start, &since_ns) == PFS_MAYBE_FOLIO && since_ns < part->fault_ns))
		return err;
	return presence_set(part->space, start, end, presence, PFS_PRESENT | PFS_MAYBE_UNDER_WAY, part->ts_ns);
}

/* ---- what another reading tells ---- */

/* Pages of which it is not known at once have numbers from 1. */
struct pfs_arounds {
	uint64_t *first; /* by the number of the event: that of its first page; 0: none */
	size_t max_events;
	uint8_t *pages; /* enum cache_verdict: the first one that was no CACHE_UNDECIDED */
	uint64_t nr_pages;
	size_t max_pages;
};

struct pfs_arounds *pfs_arounds_new(void)
{
	return calloc(1, sizeof(struct pfs_arounds));
}

void pfs_arounds_free(struct pfs_arounds *arounds)
{
	if (!arounds)
		return;
	free(arounds->first);
	free(arounds->pages);
	free(arounds);
}

void pfs_model_arounds(struct pfs_model *model, struct pfs_arounds *arounds, bool known)
{
	model->priv->arounds = arounds;
	model->priv->arounds_known = known;
}

/* NULL: there is none. */
static uint8_t *verdict_of(const struct pfs_model *model, const struct around *part, uint64_t addr, bool known)
{
	const struct pfs_arounds *arounds = model->priv->arounds;

	if (!arounds || model->priv->arounds_known != known || part->nr >= arounds->max_events ||
	    !arounds->first[part->nr])
		return NULL;
	return &arounds->pages[arounds->first[part->nr] + ((addr - part->start) >> model->page_shift)];
}

static bool was_mapped(const struct pfs_model *model, const struct around *part, uint64_t addr)
{
	const uint8_t *verdict = verdict_of(model, part, addr, true);

	return verdict && *verdict == CACHE_MAPPED;
}

static void note_verdict(const struct pfs_model *model, const struct around *part, uint64_t addr,
			 enum cache_verdict verdict)
{
	uint8_t *known = verdict_of(model, part, addr, false);

	if (known && *known == CACHE_UNDECIDED)
		*known = verdict;
}

/* Some pages of the part will be known later, perhaps. 0 or -ENOMEM. */
static int note_open(struct pfs_model *model, const struct around *part)
{
	struct pfs_arounds *arounds = model->priv->arounds;
	uint64_t nr = (part->end - part->start) >> model->page_shift;

	if (!arounds || model->priv->arounds_known)
		return 0;
	if (!pfs_array_extend(arounds->first, arounds->max_events, part->nr + 1) ||
	    !pfs_array_extend(arounds->pages, arounds->max_pages, arounds->nr_pages + nr + 1))
		return -ENOMEM;
	arounds->first[part->nr] = arounds->nr_pages + 1;
	arounds->nr_pages += nr;
	return 0;
}

/* ---- what the page cache tells ---- */

/* Marks the pages that were ready by then; the others may be mapped. Returns whether there are others. */
static int mark_ready(struct pfs_model *model, const struct around *part, const struct cache_file *file)
{
	const uint64_t size = model_page_size(model);
	int err = 0, open = 0;

	for (uint64_t addr = part->start; !err && addr < part->end; addr += size) {
		uint64_t off = part->off + (addr - part->start);
		bool locked = cache_is_locked(file, model->page_shift, &part->locked, off, part->ts_ns);
		bool known = was_mapped(model, part, addr);
		bool ready = known || (!locked && cache_before(file, off) == CACHE_READY);

		err = mark(part, addr, addr + size, ready ? PFS_PAGE_AROUND : PFS_PAGE_MAYBE_AROUND,
			   ready ? PFS_PRESENT : PFS_MAYBE_AROUND, locked && !known);
		open |= !ready;
	}
	return err ? err : open;
}

/* Remembers that pages of the part may be mapped, until more is known of the file. */
static int put_off(struct cache_file *file, const struct around *part)
{
	struct around *open = pfs_array_add(file->open, file->nr_open, file->max_open);

	if (!open)
		return -ENOMEM;
	*open = *part;
	pfs_space_get(part->space);
	return 0;
}

static int mark_part(struct pfs_model *model, const struct around *part, const struct pfs_event *ev)
{
	const uint64_t most = UINT64_C(1) << 22; /* the kernel asks for no more than a page table has */
	struct cache_file *file;
	int ret;

	if (pfs_has(ev, PFS_F_COUNT)) /* all of these were mapped */
		return mark(part, part->start, part->end, PFS_PAGE_AROUND, PFS_PRESENT, false);
	if (!pfs_has(ev, PFS_F_INO) || part->end - part->start > most)
		return mark(part, part->start, part->end, PFS_PAGE_MAYBE_AROUND, PFS_MAYBE_AROUND, false);
	file = cache_file(model->priv, ev->dev, ev->ino);
	if (!file)
		return -ENOMEM;
	ret = mark_ready(model, part, file);
	return ret > 0 ? note_open(model, part) ?: put_off(file, part) : ret;
}

/* The range ends where the file does, at the latest: a fault beyond that is refused, what is in the range is mapped. */
static bool is_beside(const struct pfs_region *region, const struct pfs_thread *thread, const struct pfs_event *ev)
{
	return touch_beside_fault(region, thread, ev) ||
	       (touch_is_file(region, ev) && region->off + (thread->fault_addr - region->start) >= ev->end_off);
}

/*
 * The kernel populates [start, end). The range of its fault-around is in one region of those that map the file there: which
 * one is not recorded. Returns the next such region from *i on, or NULL.
 */
static struct pfs_region *next_meant(const struct pfs_space *space, const struct pfs_event *ev, unsigned int *i)
{
	while (*i < space->nr_live && space->live[*i]->start < ev->end) {
		struct pfs_region *r = space->live[(*i)++];

		if (touch_is_file(r, ev) && !pfs_region_forbids(r, 0) && ev->off >= r->off &&
		    ev->end_off - r->off <= r->end - r->start)
			return r;
	}
	return NULL;
}

static int mark_populated(struct pfs_model *model, struct around *part, const struct pfs_event *ev)
{
	unsigned int first = pfs_space_lower(part->space, ev->start), i = first, nr = 0;
	struct pfs_region *r;
	int err = 0;

	while (next_meant(part->space, ev, &i))
		nr++;
	for (i = first; !err && (r = next_meant(part->space, ev, &i));) {
		if (!part_of(part, r, ev->off, ev->end_off))
			continue;
		err = nr == 1 ? mark_part(model, part, ev)
			      : mark(part, part->start, part->end, PFS_PAGE_MAYBE_AROUND, PFS_MAYBE_POPULATED, false);
	}
	return err;
}

int touch_around(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
		 struct pfs_outcome *outcome)
{
	struct pfs_region *region = touch_fault_region(thread);
	struct around part = { .space = thread->fault_space,
			       .ts_ns = ev->ts_ns,
			       .fault_ns = thread->fault_ns,
			       .nr = ++model->priv->nr_arounds };
	int err = locked_tried(model, thread, ev, &part.locked);

	if (err || model->priv->muted)
		return err;
	if (!pfs_has(ev, PFS_F_START)) {
		thread->fault_brought = true;
		if (region && region->have & PFS_HAS(PFS_F_OFF) &&
		    (pfs_has(ev, PFS_F_COUNT) || is_beside(region, thread, ev)) &&
		    part_of(&part, region, ev->off, ev->end_off))
			err = doubt_none(thread) ?: mark_part(model, &part, ev)
				      ?: folio_around(model, thread, region, &part);
		return err;
	}
	part.space = model_space_of(model, thread, ev);
	part.fault_ns = 0;
	if (!part.space)
		return -ENOMEM;
	thread->nr_around++;
	return mark_populated(model, &part, ev);
}

/* ---- more is known of a file ---- */

/* The page at addr, by then unsettled, was mapped or not. Its region may have been unmapped since. */
static int settle(const struct cache_file *file, const struct around *open, uint64_t addr, uint64_t end, bool mapped)
{
	struct pfs_space *space = open->space;
	uint32_t otherwise = folio_may_have_mapped(file, space, addr, end) ? PFS_MAYBE_FOLIO : PFS_ABSENT;
	int err = pfs_pages_settle(space->pages, addr, end, open->ts_ns, mapped)
			  ?: presence_settle(space, addr, end, open->ts_ns, mapped ? PFS_PRESENT : otherwise);

	for (unsigned int i = space->nr_retired; !err && i-- > 0 && space->retired[i]->died_ns >= open->ts_ns;) {
		struct pfs_region *r = space->retired[i];

		if (r->pages && r->pages != space->pages && r->start < end && r->end > addr)
			err = pfs_pages_settle(r->pages, addr, end, open->ts_ns, mapped);
	}
	return err;
}

/* Returns 1 if a page of it is to be decided still, 0 if none is, or -ENOMEM. */
static int decide(struct pfs_model *model, const struct cache_file *file, const struct around *open)
{
	const uint64_t size = model_page_size(model), now_ns = model->priv->end_ns ? model->priv->end_ns : UINT64_MAX;
	int err = 0, undecided = 0;

	for (uint64_t addr = open->start; !err && addr < open->end; addr += size) {
		uint64_t off = open->off + (addr - open->start);
		enum cache_verdict verdict = cache_verdict(file, off, open->ts_ns, now_ns);

		undecided |= verdict == CACHE_UNDECIDED;
		if (verdict == CACHE_NOT_MAPPED ||
		    (verdict == CACHE_MAPPED &&
		     !cache_is_locked(file, model->page_shift, &open->locked, off, open->ts_ns))) {
			err = settle(file, open, addr, addr + size, verdict == CACHE_MAPPED);
			note_verdict(model, open, addr, verdict);
		}
	}
	return err ? err : undecided;
}

/* Decides what can be by now, of [off, end_off). */
static int decide_all(struct pfs_model *model, struct cache_file *file, uint64_t off, uint64_t end_off)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < file->nr_open; i++) {
		struct around *open = &file->open[i];
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
		err = folio_learned(model, file) ?: decide_all(model, file, 0, UINT64_MAX);
	return err;
}

int around_evicted(struct pfs_model *model, const struct pfs_event *ev)
{
	struct cache_file *file = cache_file(model->priv, ev->dev, ev->ino);

	return file ? cache_evicted(file, ev) ?: decide_all(model, file, ev->off, ev->end_off) : -ENOMEM;
}
