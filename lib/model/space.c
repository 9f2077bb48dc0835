/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The array of regions, its primitive (cut at [start, end)), removals and copies. Mapping is in space_map.c, moves and
 * segments are in space_move.c.
 */
#include "model/space_priv.h"

#include "model/presence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pfs_space *pfs_space_new(const struct pfs_pages *beside, uint64_t now_ns)
{
	struct pfs_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->pages = pfs_pages_new_beside(beside, 0, 0);
	if (!space->pages) {
		free(space);
		return NULL;
	}
	space->born_ns = now_ns;
	space->died_ns = UINT64_MAX;
	space->refs = 1;
	return space;
}

int pfs_space_track_presence(struct pfs_space *space)
{
	space->presence = pfs_pages_new_beside(space->pages, 0, 0);
	return space->presence ? 0 : -ENOMEM;
}

struct pfs_space *pfs_space_get(struct pfs_space *space)
{
	space->refs++;
	return space;
}

static void region_free(struct pfs_space *space, struct pfs_region *region)
{
	if (region->pages != space->pages)
		pfs_pages_free(region->pages);
	free(region);
}

void pfs_space_put(struct pfs_space *space)
{
	if (!space || --space->refs)
		return;
	for (unsigned int i = 0; i < space->nr_live; i++)
		region_free(space, space->live[i]);
	for (unsigned int i = 0; i < space->nr_retired; i++)
		region_free(space, space->retired[i]);
	pfs_pages_free(space->pages);
	pfs_pages_free(space->presence);
	pfs_pages_free(space->ended);
	pfs_pages_free(space->looked);
	pfs_sides_free(space->live, space->live_sides);
	free(space->retired);
	free(space->stays);
	free(space->staying);
	free(space);
}

unsigned int pfs_space_lower(const struct pfs_space *space, uint64_t addr)
{
	return pfs_lower_bound(space->nr_live, i, space->live[i]->end <= addr);
}

struct pfs_region *pfs_space_look_up(struct pfs_space *space, uint64_t addr)
{
	unsigned int i = pfs_space_lower(space, addr);

	if (i == space->nr_live || space->live[i]->start > addr)
		return NULL;
	return space->hot = space->live[i];
}

int space_insert(struct pfs_space *space, unsigned int at, struct pfs_region *region)
{
	return pfs_sides_insert(space->live, space->nr_live, space->live_sides, at, region) ? 0 : -ENOMEM;
}

void space_remove(struct pfs_space *space, unsigned int at)
{
	space->hot = NULL;
	pfs_sides_remove(space->live, space->nr_live, space->live_sides, at, at + 1);
}

bool space_is_file(const struct pfs_region *region)
{
	if (KNOWS(region, PFS_F_INO))
		return pfs_is_file(region->dev, region->ino);
	return KNOWS(region, PFS_F_OFF) && !(KNOWS(region, PFS_F_NAME) && !region->name[0]);
}

struct pfs_region *space_region_new(struct pfs_space *space, const struct pfs_region *like, uint64_t start,
				    uint64_t end, uint64_t now_ns)
{
	struct pfs_region *region = calloc(1, sizeof(*region));

	if (!region)
		return NULL;
	if (like) {
		*region = *like;
		if (space_is_file(like))
			region->off = like->off + (start - like->start);
	} else {
		region->born_ns = region->since_ns = now_ns;
	}
	region->start = start;
	region->end = end;
	region->died_ns = UINT64_MAX;
	region->pages = space->pages;
	return region;
}

/* Splits the live region that spans addr, if one does. The upper part is the new object. */
static int split_at(struct pfs_space *space, uint64_t addr)
{
	unsigned int i = pfs_space_lower(space, addr);
	struct pfs_region *low, *high;

	if (i == space->nr_live || space->live[i]->start >= addr)
		return 0;
	low = space->live[i];
	if (presence_split(space, low, addr, low->born_ns))
		return -ENOMEM;
	high = space_region_new(space, low, addr, low->end, low->born_ns);
	if (!high)
		return -ENOMEM;
	if (space_insert(space, i + 1, high)) {
		free(high);
		return -ENOMEM;
	}
	low->end = addr;
	return 0;
}

int space_cut(struct pfs_space *space, uint64_t start, uint64_t end)
{
	int err = split_at(space, start);

	return err ? err : split_at(space, end);
}

/* A retired region keeps the name that it had. */
static void freeze_name(struct pfs_space *space, struct pfs_region *region)
{
	const char *name = pfs_region_name(space, region);

	if (!name)
		return;
	region->name = name;
	region->have |= PFS_HAS(PFS_F_NAME);
}

int space_retire(struct pfs_space *space, unsigned int at, uint64_t now_ns)
{
	struct pfs_region *region = space->live[at];
	struct pfs_region **retired = pfs_array_append(space->retired, space->nr_retired);
	struct pfs_pages *pages = NULL;

	if (!retired)
		return -ENOMEM;
	if (presence_end(space, region->start, region->end, now_ns)) {
		space->nr_retired--;
		return -ENOMEM;
	}
	if (pfs_pages_any(space->pages, region->start, region->end)) {
		pages = pfs_pages_new_beside(space->pages, region->start, region->end);
		if (!pages || pfs_pages_move(space->pages, region->start, region->end, pages, 0)) {
			pfs_pages_free(pages);
			space->nr_retired--;
			return -ENOMEM;
		}
	}
	freeze_name(space, region);
	region->pages = pages;
	region->died_ns = now_ns;
	space_remove(space, at);
	*retired = region;
	return 0;
}

struct pfs_pages *pfs_space_pages(struct pfs_space *space, struct pfs_region *region)
{
	if (!region || region->died_ns == UINT64_MAX)
		return space->pages;
	if (!region->pages) /* nothing was touched in it while it lived */
		region->pages = pfs_pages_new_beside(space->pages, region->start, region->end);
	return region->pages;
}

/* A huge page is unmapped as a whole or not at all: the real start of a removal that begins in one. */
static uint64_t whole_pages(struct pfs_space *space, uint64_t start)
{
	const uint64_t huge = pfs_huge_size(pfs_pages_shift(space->pages));
	const struct pfs_region *r = pfs_space_find(space, start);

	if (!r || !(r->traits & PFS_TRAIT_HUGETLB))
		return start;
	return (start + huge - 1) & -huge;
}

int pfs_space_unmap(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns)
{
	unsigned int i;
	int err;

	start = whole_pages(space, start);

	if (start >= end)
		return 0;
	err = space_cut(space, start, end);
	i = pfs_space_lower(space, start);
	while (!err && i < space->nr_live && space->live[i]->start < end)
		err = space_retire(space, i, now_ns);
	return err;
}

int pfs_space_clear(struct pfs_space *space, uint64_t now_ns)
{
	struct pfs_pages *presence = space->presence;
	int err = 0;

	/* Upwards, for the name of a piece of the stack depends on the piece above it. */
	for (unsigned int i = 0; i < space->nr_live; i++)
		freeze_name(space, space->live[i]);
	space->presence = NULL; /* which pages were mapped last is still shown */
	/* From the end, so that nothing is shifted. */
	while (!err && space->nr_live)
		err = space_retire(space, space->nr_live - 1, now_ns);
	space->presence = presence;
	space->empty = true;
	space->died_ns = now_ns;
	return err;
}

struct pfs_space *pfs_space_copy(const struct pfs_space *space, uint64_t now_ns)
{
	struct pfs_space *copy = pfs_space_new(space->pages, now_ns);

	if (!copy)
		return NULL;
	if (space->presence && pfs_space_track_presence(copy)) {
		pfs_space_put(copy);
		return NULL;
	}
	copy->remote_ns = space->remote_ns ? now_ns + 1 : 0; /* what it mapped was copied */
	copy->heap_touches = space->heap_touches;
	copy->start_brk = space->start_brk;
	copy->brk = space->brk;
	copy->exe = space->exe;
	copy->copied_from = space;
	copy->complete = space->complete;
	for (unsigned int i = 0; i < space->nr_live; i++) {
		const struct pfs_region *from = space->live[i];
		struct pfs_region *region = space_region_new(copy, from, from->start, from->end, now_ns);

		if (!region || space_insert(copy, i, region)) {
			free(region);
			pfs_space_put(copy);
			return NULL;
		}
		if (presence_copy(copy, space, from)) {
			pfs_space_put(copy);
			return NULL;
		}
		region->older = (!from->since_ns || from->older) && !(from->perms & PFS_PERM_SHARED);
		/* The child's regions have other identities. */
		region->have &= ~PFS_HAS(PFS_F_ID);
		region->born_ns = region->since_ns = now_ns;
		region->inherited = true;
		region->traits &= ~PFS_TRAIT_LOCKED;
	}
	return copy;
}

int pfs_space_wipe_on_fork(struct pfs_space *space, uint64_t start, uint64_t end, bool wipe)
{
	int err = space_cut(space, start, end);

	for (unsigned int i = pfs_space_lower(space, start); !err && i < space->nr_live && space->live[i]->start < end;
	     i++)
		space->live[i]->wiped = wipe;
	return err;
}

void pfs_space_found(struct pfs_space *space)
{
	for (unsigned int i = 0; !space->complete && i < space->nr_live; i++)
		space->live[i]->since_ns = 0;
	space->complete = true;
}

void pfs_space_older(struct pfs_space *space, uint64_t ts_ns)
{
	for (unsigned int i = 0; i < space->nr_live; i++)
		if (space->live[i]->since_ns == ts_ns)
			space->live[i]->since_ns = 0;
	pfs_space_found(space);
}

int pfs_space_confirm(struct pfs_space *space)
{
	unsigned int kept = 0;
	int err = 0;

	space->hot = NULL;
	for (unsigned int i = 0; i < space->nr_live; i++) {
		struct pfs_region *region = space->live[i];

		if (KNOWS(region, PFS_F_ID)) {
			space->live[kept++] = region;
			continue;
		}
		err = err ?: presence_set(space, region->start, region->end, 0, 0, 0);
		region_free(space, region);
	}
	if (kept < space->nr_live)
		pfs_sides_remove(space->live, space->nr_live, space->live_sides, kept, space->nr_live);
	return err;
}

void pfs_space_begin(struct pfs_space *space)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < space->nr_retired; i++) {
		if (space->retired[i]->pages)
			space->retired[kept++] = space->retired[i];
		else
			region_free(space, space->retired[i]);
	}
	space->nr_retired = kept;
}

int pfs_space_mark(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t flags, uint32_t unless,
		   uint64_t now_ns, uint64_t *marked)
{
	const struct pfs_page what = { .first_ns = now_ns, .last_ns = now_ns, .flags = flags };
	uint64_t nr = 0;
	int err;

	if (start >= end) /* an end of 0 is no top of memory here */
		return 0;
	err = pfs_pages_mark(space->pages, start, end, &what, unless, &nr);
	if (marked)
		*marked += nr;
	if (!err && flags & (PFS_PAGE_POPULATED | PFS_PAGE_HUGE))
		err = presence_set(space, start, end, PFS_PRESENT, 0, now_ns);
	return err;
}

bool pfs_space_below_stack(const struct pfs_space *space, uint64_t addr)
{
	unsigned int i = pfs_space_lower(space, addr);

	return i < space->nr_live && KNOWS(space->live[i], PFS_F_NAME) && !strcmp(space->live[i]->name, "[stack]");
}

const char *pfs_region_name(const struct pfs_space *space, const struct pfs_region *region)
{
	unsigned int next;

	if (region->died_ns != UINT64_MAX)
		return KNOWS(region, PFS_F_NAME) ? region->name : NULL;
	if (KNOWS(region, PFS_F_NAME) && region->name[0] && strcmp(region->name, "[heap]") &&
	    strcmp(region->name, "[stack]"))
		return region->name;
	/* As in the kernel: any mapping without a file that overlaps the heap. */
	if (!pfs_region_is_file(region) && space->brk && region->start < space->brk + space->heap_touches &&
	    region->end + space->heap_touches > space->start_brk)
		return "[heap]";
	if (!KNOWS(region, PFS_F_NAME))
		return NULL;
	if (!strcmp(region->name, "[heap]"))
		return space->brk ? "" : region->name;
	/* Of a stack in pieces only the highest has the name. */
	next = pfs_space_lower(space, region->end);
	if (!strcmp(region->name, "[stack]") && next < space->nr_live && space->live[next]->start == region->end &&
	    KNOWS(space->live[next], PFS_F_NAME) && !strcmp(space->live[next]->name, "[stack]"))
		return "";
	return region->name;
}

bool pfs_region_is_private_zero(const struct pfs_region *region)
{
	return KNOWS(region, PFS_F_NAME) && !(region->perms & PFS_PERM_SHARED) && !strcmp(region->name, "/dev/zero");
}

bool pfs_region_is_anonymous(const struct pfs_region *region, const char *name)
{
	return pfs_region_is_private_zero(region) || !*name || !strcmp(name, "[heap]") || !strncmp(name, "[stack", 6) ||
	       !strncmp(name, "[anon", 5);
}

const char *pfs_region_kind(const struct pfs_region *region, const char *name)
{
	if (name && name[0])
		return NULL;
	if (KNOWS(region, PFS_F_TRAITS) && region->traits & PFS_TRAIT_STACK)
		return "thread stack";
	return name ? "anon" : "?";
}
