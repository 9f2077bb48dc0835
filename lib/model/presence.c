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

/* Pages of the same presence, found before they are changed: a tree must not change during a walk. */
struct runs {
	struct run {
		uint64_t start, end;
	} * run;
	size_t nr, max;
};

/* The pages of [start, end) that have one of `wanted`, and have had it since since_ns or later. */
static int find_runs(struct runs *runs, const struct pfs_space *space, uint64_t start, uint64_t end, uint32_t wanted,
		     uint64_t since_ns)
{
	struct pfs_page_walk walk;
	const struct pfs_page *page;
	uint64_t nr;

	*runs = (struct runs){ 0 };
	pfs_page_walk_start(&walk, space->presence, start, end);
	while ((page = pfs_page_walk_row(&walk, &nr))) {
		uint64_t run_end = walk.addr + (nr << pfs_pages_shift(space->presence));
		struct run *last = runs->nr ? &runs->run[runs->nr - 1] : NULL;

		if (!(page->flags & wanted) || page->first_ns < since_ns)
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

int presence_doubt(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence, uint64_t now_ns)
{
	struct runs runs;
	int err = space->presence ? find_runs(&runs, space, start, end, PFS_PRESENCE & ~PFS_ABSENT, 0) : 0;

	return err || !space->presence ? err : set_runs(&runs, space, presence, now_ns);
}

int presence_undo(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence)
{
	return space->presence ? pfs_pages_drop_only(space->presence, start, end, PFS_PAGE_NEWEST | presence) : 0;
}

int presence_discard(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t since_ns, uint64_t now_ns)
{
	struct runs raced;
	int err = space->presence ? find_runs(&raced, space, start, end, PFS_PRESENCE & ~PFS_ABSENT, since_ns) : 0;

	if (err || !space->presence)
		return err;
	err = presence_set(space, start, end, PFS_ABSENT, 0, now_ns);
	if (err) {
		free(raced.run);
		return err;
	}
	return set_runs(&raced, space, PFS_MAYBE_RACED, now_ns);
}

int presence_settle(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t ts_ns, bool mapped)
{
	const uint64_t size = space->presence ? UINT64_C(1) << pfs_pages_shift(space->presence) : 0;
	int err = 0;

	for (uint64_t addr = start; size && !err && addr < end; addr += size) {
		struct pfs_page_walk walk;
		const struct pfs_page *page;

		pfs_page_walk_start(&walk, space->presence, addr, addr + 1);
		page = pfs_page_walk_next(&walk);
		if (page && page->flags & PFS_MAYBE_AROUND && page->first_ns == ts_ns)
			err = presence_set(space, addr, addr + size, mapped ? PFS_PRESENT : PFS_ABSENT, 0, ts_ns);
	}
	return err;
}

int presence_faults(struct pfs_space *space, const struct pfs_faults_on *faults)
{
	struct pfs_faults_on present = *faults;

	present.flags = PFS_PAGE_NEWEST | PFS_PRESENT;
	return space->presence ? pfs_pages_faults(space->presence, &present) : 0;
}

int presence_copy(struct pfs_space *to, const struct pfs_space *from, const struct pfs_region *region)
{
	const struct pfs_page *page;
	struct pfs_page_walk walk;
	int err = 0;
	uint64_t nr;

	if (!from->presence || !to->presence || region->wiped || region->traits & PFS_TRAIT_DROPPABLE ||
	    !(region->written || region->older) || region->perms & PFS_PERM_SHARED)
		return 0;
	pfs_page_walk_start(&walk, from->presence, region->start, region->end);
	while (!err && (page = pfs_page_walk_row(&walk, &nr))) {
		uint64_t end = walk.addr + (nr << pfs_pages_shift(from->presence));
		uint32_t presence = page->flags & PFS_PRESENCE;

		if (!region->written && presence == PFS_PRESENT) /* only if it has private pages of before */
			presence = PFS_MAYBE_COPIED;
		err = presence_set(to, walk.addr, end, presence, 0, to->born_ns);
	}
	return err;
}

uint32_t presence_at(const struct pfs_space *space, uint64_t addr)
{
	return space->presence ? pfs_pages_flags(space->presence, addr) & PFS_PRESENCE : 0;
}
