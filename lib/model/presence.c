/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See model/presence.h. */
#include "model/presence.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

int presence_set(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence, uint32_t unless,
		 uint64_t now_ns)
{
	const struct pfs_page what = { .first_ns = now_ns, .last_ns = now_ns, .flags = PFS_PAGE_NEWEST | presence };
	uint64_t nr;

	if (!space->presence || start >= end)
		return 0;
	if (!presence)
		return pfs_pages_drop(space->presence, start, end);
	return pfs_pages_mark(space->presence, start, end, &what, unless, &nr);
}

int presence_look(struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_page what = { .first_ns = ev->ts_ns,
				       .last_ns = ev->ts_ns,
				       .flags = PFS_PAGE_NEWEST |
						(ev->state == PFS_CACHE_MAPPED ? PFS_PRESENT : PFS_ABSENT) };
	uint64_t nr;

	if (!pfs_has(ev, PFS_F_START) || !pfs_has(ev, PFS_F_END)) {
		space->looked_ns = ev->ts_ns - (pfs_has(ev, PFS_F_INTERVAL) ? ev->interval_ns : 0);
		return 0;
	}
	if (!space->presence || !pfs_has(ev, PFS_F_STATE) || ev->start >= ev->end)
		return 0;
	if (!space->looked)
		space->looked = pfs_pages_new_beside(space->pages, 0, 0);
	return space->looked ? pfs_pages_mark(space->looked, ev->start, ev->end, &what, 0, &nr) : -ENOMEM;
}

int presence_end(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns)
{
	const struct pfs_page what = { .first_ns = now_ns,
				       .last_ns = now_ns,
				       .flags = PFS_PAGE_NEWEST | PFS_PAGE_REFERENCED };
	uint64_t nr;

	if (!space->presence || start >= end)
		return 0;
	if (space->looked && pfs_pages_drop(space->looked, start, end))
		return -ENOMEM;
	if (!space->ended)
		space->ended = pfs_pages_new_beside(space->pages, 0, 0);
	if (!space->ended)
		return -ENOMEM;
	return pfs_pages_mark(space->ended, start, end, &what, 0, &nr) ?: pfs_pages_drop(space->presence, start, end);
}

/* The newest event of the page, valid until the next call with that walk; NULL: none. */
static const struct pfs_page *page_at(struct pfs_page_walk *walk, const struct pfs_pages *pages, uint64_t addr)
{
	if (!pages)
		return NULL;
	pfs_page_walk_start(walk, pages, addr, addr + 1);
	return pfs_page_walk_next(walk);
}

bool presence_ended(const struct pfs_space *space, uint64_t addr, uint64_t since_ns)
{
	struct pfs_page_walk walk;
	const struct pfs_page *page = page_at(&walk, space->ended, addr);

	return page && page->last_ns > since_ns;
}

/* Pages of the same presence, found before they are changed: a tree must not change during a walk. */
struct runs {
	struct run {
		uint64_t start, end;
	} * run;
	size_t nr, max;
};

/* The pages of [start, end) that have one of `wanted`, since some time from first_ns to last_ns. */
static int find_runs(struct runs *runs, const struct pfs_space *space, uint64_t start, uint64_t end, uint32_t wanted,
		     uint64_t first_ns, uint64_t last_ns)
{
	struct pfs_page_walk walk;
	const struct pfs_page *page;
	uint64_t nr;

	*runs = (struct runs){ 0 };
	pfs_page_walk_start(&walk, space->presence, start, end);
	while ((page = pfs_page_walk_row(&walk, &nr))) {
		uint64_t run_end = walk.addr + (nr << pfs_pages_shift(space->presence));
		struct run *last = runs->nr ? &runs->run[runs->nr - 1] : NULL;

		if (!(page->flags & wanted) || page->first_ns < first_ns || page->first_ns > last_ns)
			continue;
		if (last && last->end == walk.addr) {
			last->end = run_end;
			continue;
		}
		last = pfs_array_add(runs->run, runs->nr, runs->max);
		if (!last) {
			free(runs->run);
			return -ENOMEM;
		}
		*last = (struct run){ walk.addr, run_end };
	}
	return 0;
}

/* Sets the presence of all of them, and frees them. */
static int set_runs(struct runs *runs, struct pfs_space *space, uint32_t presence, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < runs->nr; i++)
		err = presence_set(space, runs->run[i].start, runs->run[i].end, presence, 0, now_ns);
	free(runs->run);
	return err;
}

/* Those of find_runs() get the presence `to`. */
static int change(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t wanted, uint64_t first_ns,
		  uint64_t last_ns, uint32_t to, uint64_t now_ns)
{
	struct runs runs;

	if (!space->presence)
		return 0;
	return find_runs(&runs, space, start, end, wanted, first_ns, last_ns) ?: set_runs(&runs, space, to, now_ns);
}

int presence_turn(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t from, uint32_t to, uint64_t now_ns)
{
	return change(space, start, end, from, 0, UINT64_MAX, to, now_ns);
}

int presence_doubt(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence, uint64_t now_ns)
{
	return presence_turn(space, start, end, PFS_PRESENCE & ~PFS_ABSENT, presence, now_ns);
}

/* Some of the pages may be mapped one by one since. */
int presence_split(struct pfs_space *space, const struct pfs_region *region, uint64_t addr, uint64_t now_ns)
{
	const uint64_t size = pfs_huge_size(pfs_pages_shift(space->pages)), first = addr & -size;
	const uint64_t start = first > region->start ? first : region->start;
	const uint64_t end = first + size < region->end ? first + size : region->end;
	struct pfs_page_walk walk;
	const struct pfs_page *page;
	bool huge = false;

	if (!space->presence || addr == first || !pfs_region_is_file(region))
		return 0;
	pfs_page_walk_start(&walk, space->pages, start, end);
	while (!huge && (page = pfs_page_walk_next(&walk)))
		huge = page->flags & PFS_PAGE_HUGE;
	return huge ? presence_doubt(space, start, end, PFS_MAYBE_HUGE, now_ns) : 0;
}

int presence_undo(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence)
{
	return space->presence ? pfs_pages_drop_only(space->presence, start, end, PFS_PAGE_NEWEST | presence) : 0;
}

int presence_undo_folio(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t ts_ns, uint32_t presence)
{
	return change(space, start, end, PFS_MAYBE_FOLIO, 0, ts_ns, presence, space->born_ns);
}

int presence_discard(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t since_ns, uint64_t now_ns)
{
	struct runs raced;
	int err;

	if (!space->presence)
		return 0;
	err = find_runs(&raced, space, start, end, PFS_PRESENCE & ~PFS_ABSENT, since_ns, UINT64_MAX);
	if (err)
		return err;
	err = presence_set(space, start, end, PFS_ABSENT, 0, now_ns);
	if (err) {
		free(raced.run);
		return err;
	}
	return set_runs(&raced, space, PFS_MAYBE_RACED, now_ns);
}

int presence_settle(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t ts_ns, uint32_t presence)
{
	return change(space, start, end, PFS_MAYBE_AROUND, ts_ns, ts_ns, presence, ts_ns);
}

int presence_faults(struct pfs_space *space, const struct pfs_faults_on *faults)
{
	struct pfs_faults_on present = *faults;

	present.flags = PFS_PAGE_NEWEST | PFS_PRESENT;
	return space->presence ? pfs_pages_faults(space->presence, &present) : 0;
}

/* Whether a huge page of the region's file may be mapped in it. */
static bool fits_huge(const struct pfs_region *region)
{
	const uint64_t size = pfs_huge_size(pfs_pages_shift(region->pages));

	return pfs_region_is_file(region) && !(region->traits & PFS_TRAIT_HUGETLB) &&
	       !((region->off - region->start) & (size - 1)) &&
	       ((region->start + size - 1) & -size) + size <= region->end;
}

/* Of the mapped pages of [start, end) a fork copies those that were written to; the others may be of a huge page. */
static int copy_written(struct pfs_space *to, const struct pfs_region *region, uint64_t start, uint64_t end)
{
	uint64_t size = UINT64_C(1) << pfs_pages_shift(to->presence);
	int err = 0;

	for (uint64_t addr = start; !err && addr < end; addr += size) {
		bool written = pfs_pages_flags(region->pages, addr) & PFS_PAGE_WRITE;

		err = presence_set(to, addr, addr + size, written ? PFS_PRESENT : PFS_MAYBE_COPIED, 0, to->born_ns);
	}
	return err;
}

int presence_copy(struct pfs_space *to, const struct pfs_space *from, const struct pfs_region *region)
{
	bool older = region->prepared || ((region->older || !region->since_ns) && !(region->perms & PFS_PERM_SHARED));
	const struct pfs_page *page;
	struct pfs_page_walk walk;
	int err = 0;
	uint64_t nr;

	if (!from->presence || !to->presence || region->wiped || region->traits & PFS_TRAIT_DROPPABLE ||
	    !(region->written || older || region->traits & PFS_TRAIT_GUARDED))
		return 0;
	pfs_page_walk_start(&walk, from->presence, region->start, region->end);
	while (!err && (page = pfs_page_walk_row(&walk, &nr))) {
		uint64_t end = walk.addr + (nr << pfs_pages_shift(from->presence));
		uint32_t presence = page->flags & PFS_PRESENCE;

		if (!region->written &&
		    presence == PFS_PRESENT) /* it may have private pages of before, or guard pages */
			presence = PFS_MAYBE_COPIED;
		if (presence == PFS_PRESENT && region->pages && fits_huge(region))
			err = copy_written(to, region, walk.addr, end);
		else
			err = presence_set(to, walk.addr, end, presence, 0, to->born_ns);
	}
	return err;
}

uint32_t presence_at(const struct pfs_space *space, uint64_t addr)
{
	return space->presence ? pfs_pages_flags(space->presence, addr) & PFS_PRESENCE : 0;
}

uint32_t presence_since(const struct pfs_space *space, uint64_t addr, uint64_t *since_ns)
{
	struct pfs_page_walk walk;
	const struct pfs_page *page = page_at(&walk, space->presence, addr);

	*since_ns = page ? page->first_ns : 0;
	return page ? page->flags & PFS_PRESENCE : 0;
}
