/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address space's regions, kept as the kernel keeps its VMAs: a sorted array of ranges, changed by
 * one primitive, cut at [start, end), and a line or two for each kind of change.
 *
 * A `map` event says "this range is one region from now on". Attributes that it leaves out are taken
 * from the region with the same identity, else from the one that the range lies in: the kernel's
 * splits and merges come as such events, and its region tree says no more than ranges and identities.
 */
#include "space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTES (PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_DEV) |	\
		    PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_NAME) | PFS_HAS(PFS_F_TRAITS))
#define HUGE_PAGE UINT64_C(0x200000)
#define KNOWS(region, field) ((region)->have & PFS_HAS(field))

struct pfs_space *pfs_space_new(unsigned int page_shift, uint64_t now_ns)
{
	struct pfs_space *space = calloc(1, sizeof(*space));

	if (!space)
		return NULL;
	space->pages = pfs_pages_new(page_shift);
	if (!space->pages) {
		free(space);
		return NULL;
	}
	space->born_ns = now_ns;
	space->died_ns = UINT64_MAX;
	space->refs = 1;
	return space;
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
	free(space->live);
	free(space->retired);
	free(space);
}

unsigned int pfs_space_lower(const struct pfs_space *space, uint64_t addr)
{
	unsigned int lo = 0, hi = space->nr_live;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (space->live[mid]->end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct pfs_region *pfs_space_find(struct pfs_space *space, uint64_t addr)
{
	struct pfs_region *hot = space->hot;
	unsigned int i;

	if (hot && addr >= hot->start && addr < hot->end)
		return hot;
	i = pfs_space_lower(space, addr);
	if (i == space->nr_live || space->live[i]->start > addr)
		return NULL;
	return space->hot = space->live[i];
}

/* Room for one more pointer in a growing array. */
static int array_reserve(struct pfs_region ***array, unsigned int nr, unsigned int *max)
{
	struct pfs_region **bigger;
	unsigned int want;

	if (nr < *max)
		return 0;
	want = *max ? *max * 2 : 16;
	bigger = realloc(*array, want * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	*max = want;
	return 0;
}

static int live_insert(struct pfs_space *space, unsigned int at, struct pfs_region *region)
{
	int err = array_reserve(&space->live, space->nr_live, &space->max_live);

	if (err)
		return err;
	memmove(&space->live[at + 1], &space->live[at],
		(space->nr_live - at) * sizeof(*space->live));
	space->live[at] = region;
	space->nr_live++;
	return 0;
}

static void live_remove(struct pfs_space *space, unsigned int at)
{
	space->hot = NULL;
	space->nr_live--;
	memmove(&space->live[at], &space->live[at + 1],
		(space->nr_live - at) * sizeof(*space->live));
}

/* Offsets in a file move along with the start of a region; anonymous memory has none. */
static bool is_file(const struct pfs_region *region)
{
	if (KNOWS(region, PFS_F_INO))
		return region->ino;
	return KNOWS(region, PFS_F_OFF) && !(KNOWS(region, PFS_F_NAME) && !region->name[0]);
}

/* A new region with the attributes of `like` (NULL: none known), as if `like` reached to start. */
static struct pfs_region *region_new(struct pfs_space *space, const struct pfs_region *like,
				     uint64_t start, uint64_t end, uint64_t now_ns)
{
	struct pfs_region *region = calloc(1, sizeof(*region));

	if (!region)
		return NULL;
	if (like) {
		*region = *like;
		if (is_file(like))
			region->off = like->off + (start - like->start);
	} else {
		region->born_ns = now_ns;
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
	high = region_new(space, low, addr, low->end, low->born_ns);
	if (!high)
		return -ENOMEM;
	if (live_insert(space, i + 1, high)) {
		free(high);
		return -ENOMEM;
	}
	low->end = addr;
	return 0;
}

static int cut(struct pfs_space *space, uint64_t start, uint64_t end)
{
	int err = split_at(space, start);

	return err ? err : split_at(space, end);
}

/* What the region is called while it lives is what it was called ever after. */
static void freeze_name(struct pfs_space *space, struct pfs_region *region)
{
	const char *name = pfs_region_name(space, region);

	if (!name)
		return;
	region->name = name;
	region->have |= PFS_HAS(PFS_F_NAME);
}

/* Moves live region `at` to the retired ones, with the pages that were touched in it. */
static int retire(struct pfs_space *space, unsigned int at, uint64_t now_ns)
{
	struct pfs_region *region = space->live[at];
	struct pfs_pages *pages = NULL;
	uint64_t addr = region->start;
	int err;

	err = array_reserve(&space->retired, space->nr_retired, &space->max_retired);
	if (err)
		return err;
	if (pfs_pages_next(space->pages, &addr, region->end)) {
		pages = pfs_pages_new(pfs_pages_shift(space->pages));
		if (!pages)
			return -ENOMEM;
		err = pfs_pages_move(space->pages, region->start, region->end, pages, 0);
		if (err) {
			pfs_pages_free(pages);
			return err;
		}
	}
	freeze_name(space, region);
	region->pages = pages;
	region->died_ns = now_ns;
	live_remove(space, at);
	space->retired[space->nr_retired++] = region;
	return 0;
}

struct pfs_pages *pfs_space_pages(struct pfs_space *space, struct pfs_region *region)
{
	if (!region || region->died_ns == UINT64_MAX)
		return space->pages;
	if (!region->pages)	/* nothing was touched in it while it lived */
		region->pages = pfs_pages_new(pfs_pages_shift(space->pages));
	return region->pages;
}

/* A huge page goes as a whole or not at all: where a removal that begins in one really begins. */
static uint64_t whole_pages(struct pfs_space *space, uint64_t start)
{
	const struct pfs_region *r = pfs_space_find(space, start);

	if (!r || !(r->traits & PFS_TRAIT_HUGETLB))
		return start;
	return (start + HUGE_PAGE - 1) & -HUGE_PAGE;
}

int pfs_space_unmap(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns)
{
	unsigned int i;
	int err;

	start = whole_pages(space, start);

	if (start >= end)
		return 0;
	err = cut(space, start, end);
	i = pfs_space_lower(space, start);
	while (!err && i < space->nr_live && space->live[i]->start < end)
		err = retire(space, i, now_ns);
	return err;
}

/* Does this region look like a piece of a segment attached at addr? As the kernel tells: by the offset. */
static bool attached_at(const struct pfs_region *region, uint64_t addr)
{
	return region->segment_len && region->start - addr == region->off;
}

void pfs_space_segment(const struct pfs_space *space, uint64_t addr, struct pfs_segment *segment)
{
	*segment = (struct pfs_segment){ .addr = addr };
	for (unsigned int i = pfs_space_lower(space, addr); i < space->nr_live; i++) {
		const struct pfs_region *r = space->live[i];

		if (!attached_at(r, addr))
			continue;
		segment->first = r->start;
		segment->len = r->segment_len;
		segment->ino = r->ino;
		return;
	}
}

int pfs_space_detach(struct pfs_space *space, const struct pfs_segment *segment, uint64_t now_ns)
{
	unsigned int i = pfs_space_lower(space, segment->addr);
	int err = 0;

	while (!err && segment->first && i < space->nr_live) {
		struct pfs_region *r = space->live[i++];

		if (!attached_at(r, segment->addr) || r->ino != segment->ino)
			continue;
		/* mremap may have made it reach beyond the segment: there only the first piece goes. */
		if (r->start != segment->first && r->end - segment->addr > segment->len)
			continue;
		if (!(r->traits & PFS_TRAIT_SEALED))	/* on a sealed one it fails in silence */
			err = retire(space, --i, now_ns);
	}
	return err;
}

int pfs_space_destroy_ring(struct pfs_space *space, uint64_t addr, uint64_t now_ns)
{
	unsigned int i = pfs_space_lower(space, addr);

	if (i == space->nr_live || space->live[i]->start != addr ||
	    !KNOWS(space->live[i], PFS_F_NAME) || strncmp(space->live[i]->name, "/[aio]", 6))
		return 0;
	return retire(space, i, now_ns);
}

/* Did a region arrive somewhere from this address? */
static bool moved_away(const struct pfs_space *space, uint64_t from)
{
	for (unsigned int i = 0; i < space->nr_live; i++)
		if (space->live[i]->moved_from == from)
			return true;
	return false;
}

int pfs_space_unmap_moved(struct pfs_space *space, const struct pfs_event *ev)
{
	uint64_t addr = ev->start;
	int err = 0;

	while (!err && addr < ev->end) {
		unsigned int i = pfs_space_lower(space, addr);
		uint64_t start, end;

		if (i == space->nr_live || space->live[i]->start >= ev->end)
			break;
		start = space->live[i]->start > addr ? space->live[i]->start : addr;
		end = space->live[i]->end < ev->end ? space->live[i]->end : ev->end;
		if (moved_away(space, start))
			err = pfs_space_unmap(space, start, end, ev->ts_ns);
		addr = end;
	}
	return err;
}

int pfs_space_clear(struct pfs_space *space, uint64_t now_ns)
{
	int err = 0;

	/* Upwards, for what a piece of the stack is called depends on the piece above it. */
	for (unsigned int i = 0; i < space->nr_live; i++)
		freeze_name(space, space->live[i]);
	/* From the end, so that nothing is shifted. */
	while (!err && space->nr_live)
		err = retire(space, space->nr_live - 1, now_ns);
	space->empty = true;
	space->died_ns = now_ns;
	return err;
}

static void set_attributes(struct pfs_region *region, const struct pfs_event *ev)
{
	if (pfs_has(ev, PFS_F_PERMS))
		region->perms = ev->perms;
	if (pfs_has(ev, PFS_F_DEV))
		region->dev = ev->dev;
	if (pfs_has(ev, PFS_F_INO))
		region->ino = ev->ino;
	if (pfs_has(ev, PFS_F_NAME)) {
		region->name = ev->name;
		if (!region->segment_len && !strncmp(ev->name, "/SYSV", 5))
			region->segment_len = ev->off + (ev->end - ev->start);
	}
	/* A map with identity and permissions describes all of it; else what is told is what is added. */
	if (pfs_has(ev, PFS_F_TRAITS))
		region->traits = ev->traits | (ev->kind == PFS_MAP && pfs_has(ev, PFS_F_ID) &&
					       pfs_has(ev, PFS_F_PERMS) ? 0 : region->traits);
	region->have |= ev->have & ATTRIBUTES;
	region->inferred &= ~(ev->have & ATTRIBUTES);
	region->inferred |= ev->inferred & ATTRIBUTES;
	if (pfs_has(ev, PFS_F_OFF))
		region->off = ev->off + (is_file(region) ? region->start - ev->start : 0);
}

/* What the kernel merges is alike: a region of which nothing is known is what the other one is. */
static void learn_from(struct pfs_region *region, const struct pfs_region *other)
{
	if (KNOWS(region, PFS_F_PERMS) || !KNOWS(other, PFS_F_PERMS))
		return;
	region->perms = other->perms;
	region->dev = other->dev;
	region->ino = other->ino;
	region->name = other->name;
	region->traits |= other->traits;
	region->off = other->off - (is_file(other) ? other->start - region->start : 0);
	region->have |= other->have & ATTRIBUTES;
	region->inferred |= other->inferred & ATTRIBUTES;
}

/* Makes `region` reach over exactly the union of itself and [start, end). */
static int grow_over(struct pfs_space *space, struct pfs_region *region, uint64_t start,
		     uint64_t end)
{
	unsigned int i;

	if (region->start < start)
		start = region->start;
	if (region->end > end)
		end = region->end;
	if (cut(space, start, end))
		return -ENOMEM;
	i = pfs_space_lower(space, start);
	while (i < space->nr_live && space->live[i]->start < end) {
		if (space->live[i] == region) {
			i++;
			continue;
		}
		/* Merged into it: the pages stay where they are, the object goes. */
		region->written |= space->live[i]->written;
		learn_from(region, space->live[i]);
		free(space->live[i]);
		live_remove(space, i);
	}
	if (is_file(region))
		region->off -= region->start - start;
	region->start = start;
	region->end = end;
	return 0;
}

/* The region in [start, end) that has this identity, or that may take it: see pfs_space_map(). */
static struct pfs_region *identify(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_region *adopt = NULL;

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     i < space->nr_live && space->live[i]->start < ev->end; i++) {
		struct pfs_region *r = space->live[i];

		if (KNOWS(r, PFS_F_ID)) {
			if (r->id == ev->id)
				return r;
		} else if (!adopt && r->start >= ev->start && r->end <= ev->end) {
			adopt = r;
		}
	}
	return adopt;
}

/* A region of its own over [start, end), whatever was there: cut out, or replaced. */
static struct pfs_region *carve(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_region *within = pfs_space_find(space, ev->start), *region;
	unsigned int i;

	if (within && within->end < ev->end)
		within = NULL;
	if (within && within->start == ev->start && within->end == ev->end)
		within = NULL;
	region = region_new(space, within, ev->start, ev->end, ev->ts_ns);
	if (!region || cut(space, ev->start, ev->end))
		goto fail;
	i = pfs_space_lower(space, ev->start);
	while (i < space->nr_live && space->live[i]->start < ev->end) {
		if (within) {	/* the piece of it that the cut left here: same pages, new object */
			free(space->live[i]);
			live_remove(space, i);
		} else if (retire(space, i, ev->ts_ns)) {
			goto fail;
		}
	}
	if (live_insert(space, i, region))
		goto fail;
	return region;
fail:
	free(region);
	return NULL;
}

static bool may_merge(const struct pfs_region *a, const struct pfs_region *b)
{
	return a->perms == b->perms && a->dev == b->dev && a->ino == b->ino;
}

/* What lies in a range: regions told by the region tree, and others, as of a snapshot. */
struct cover {
	unsigned int nr;
	bool same_id;			/* one has the identity that is looked for */
	struct pfs_region *told, *seen;	/* the first ones; NULL: none */
	bool told_differ, seen_differ;	/* not all of them could be one region */
};

static void cover_add(struct cover *c, struct pfs_region *r, uint64_t id)
{
	struct pfs_region **first = KNOWS(r, PFS_F_ID) ? &c->told : &c->seen;
	bool differs = *first && !may_merge(*first, r);

	c->nr++;
	c->same_id = c->same_id || (KNOWS(r, PFS_F_ID) && r->id == id);
	c->told_differ = c->told_differ || (differs && first == &c->told);
	c->seen_differ = c->seen_differ || (differs && first == &c->seen);
	*first = *first ? *first : r;
}

static struct cover covered(struct pfs_space *space, const struct pfs_event *ev)
{
	struct cover c = { 0 };

	for (unsigned int i = pfs_space_lower(space, ev->start);
	     i < space->nr_live && space->live[i]->start < ev->end; i++)
		cover_add(&c, space->live[i], ev->id);
	return c;
}

/*
 * A snapshot of a process that runs on shows parts of the layout as they became only by changes that are
 * replayed over it. So a region stored over several parts was there before they came to differ: if others
 * tell of it, it is what they are, and else the parts, which are newer, stay. 1: done.
 */
static int map_over_newer(struct pfs_space *space, const struct pfs_event *ev)
{
	struct cover c = covered(space, ev);

	if (c.same_id || c.nr < 2 || (c.told && c.told_differ) || (!c.told && !c.seen_differ))
		return 0;
	if (!c.told)
		return 1;
	if (cut(space, ev->start, ev->end))
		return -ENOMEM;
	c = covered(space, ev);
	c.told->id = ev->id;
	return grow_over(space, c.told, ev->start, ev->end) ? -ENOMEM : 1;
}

/* The kernel's region tree stored region `id` over [start, end). */
static int map_identified(struct pfs_space *space, const struct pfs_event *ev)
{
	int done = pfs_has(ev, PFS_F_PERMS) ? 0 : map_over_newer(space, ev);
	struct pfs_region *region;

	if (done)
		return done < 0 ? done : 0;
	region = identify(space, ev);
	if (region) {
		if (grow_over(space, region, ev->start, ev->end))
			return -ENOMEM;
	} else {
		region = carve(space, ev);
		if (!region)
			return -ENOMEM;
	}
	region->id = ev->id;
	region->have |= PFS_HAS(PFS_F_ID);
	set_attributes(region, ev);
	return 0;
}

/* A source without identities says what [start, end) is. */
static int map_described(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_region *region = pfs_space_find(space, ev->start);
	bool exact = region && region->start == ev->start && region->end == ev->end;
	unsigned int i;

	if (cut(space, ev->start, ev->end))
		return -ENOMEM;
	i = pfs_space_lower(space, ev->start);
	if (i < space->nr_live && space->live[i]->start < ev->end) {
		region = space->live[i];
		if (!exact)	/* rows are behind this: which one it is, they have yet to tell */
			region->have &= ~PFS_HAS(PFS_F_ID);
		if (grow_over(space, region, ev->start, ev->end))
			return -ENOMEM;
	} else {
		region = region_new(space, NULL, ev->start, ev->end, ev->ts_ns);
		if (!region)
			return -ENOMEM;
		if (live_insert(space, i, region)) {
			free(region);
			return -ENOMEM;
		}
	}
	set_attributes(region, ev);
	return 0;
}

int pfs_space_map(struct pfs_space *space, const struct pfs_event *ev)
{
	if (ev->start >= ev->end)
		return 0;
	space->hot = NULL;
	space->empty = false;
	return pfs_has(ev, PFS_F_ID) ? map_identified(space, ev) : map_described(space, ev);
}

/* Fills in what the region does not know yet, of what holds for all of [start, end). */
static void fill_in(struct pfs_region *region, const struct pfs_event *ev)
{
	struct pfs_event unknown = *ev;

	unknown.have &= ~(region->have & ATTRIBUTES) | PFS_HAS(PFS_F_TRAITS);
	set_attributes(region, &unknown);
}

int pfs_space_protect(struct pfs_space *space, const struct pfs_event *ev)
{
	uint64_t addr = ev->start;

	while (addr < ev->end) {
		unsigned int i = pfs_space_lower(space, addr);
		struct pfs_region *r;
		uint8_t perms;

		if (i == space->nr_live || space->live[i]->start >= ev->end)
			break;
		r = space->live[i];
		addr = r->end;
		/* mprotect cannot change whether a mapping is shared */
		perms = (ev->perms & ~PFS_PERM_SHARED) | (r->perms & PFS_PERM_SHARED);
		if (pfs_has(ev, PFS_F_PERMS) && KNOWS(r, PFS_F_PERMS) && r->perms != perms) {
			if (cut(space, ev->start, ev->end))
				return -ENOMEM;
			r = space->live[pfs_space_lower(space, ev->start > r->start ? ev->start :
							r->start)];
			r->perms = perms;
			addr = r->end;
		}
		fill_in(r, ev);
	}
	return 0;
}

/* Is the range but a piece of a region that goes on beyond it, which the kernel split? */
static bool is_split(struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_region *r = pfs_space_find(space, ev->start);

	return r && r->end >= ev->end && (r->start < ev->start || r->end > ev->end) &&
	       !(pfs_has(ev, PFS_F_ID) && KNOWS(r, PFS_F_ID) && r->id == ev->id);
}

/* Is all of the range in one region? Then nothing can have been moved there, but to a fixed address. */
static bool is_within(struct pfs_space *space, const struct pfs_event *ev)
{
	const struct pfs_region *r = pfs_space_find(space, ev->start);

	return r && r->end >= ev->end;
}

int pfs_space_replace(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_event row = *ev;

	row.end = ev->start + ev->len;
	if (is_split(space, &row))
		return 0;
	return pfs_space_unmap(space, ev->start, ev->end, ev->ts_ns);
}

/*
 * A move to a fixed address takes several regions, the gaps between them stay as they were at the
 * target. Which one arrived in [start, end)? Narrows *move to it; false: none of them.
 */
static bool narrow_move(struct pfs_space *space, struct pfs_event *move)
{
	uint64_t from_end = move->from + move->len;

	for (unsigned int i = pfs_space_lower(space, move->from);
	     i < space->nr_live && space->live[i]->start < from_end; i++) {
		const struct pfs_region *r = space->live[i];
		uint64_t start = r->start > move->from ? r->start : move->from;
		uint64_t end = r->end < from_end ? r->end : from_end;
		uint64_t to = move->addr + (start - move->from);

		if (to >= move->start && to + (end - start) <= move->end) {
			move->from = start;
			move->len = end - start;
			move->addr = to;
			return true;
		}
	}
	return false;
}

/*
 * A private mapping of /dev/zero is anonymous memory that shows a file. As long as nothing was written
 * to it, the kernel numbers its pages anew by address when it moves it.
 */
static bool is_private_zero(const struct pfs_region *region)
{
	return KNOWS(region, PFS_F_NAME) && !strcmp(region->name, "/dev/zero") &&
	       !(region->perms & PFS_PERM_SHARED);
}

/* Maps [start, end) with the attributes that the region at ev->from has. */
static int map_as_source(struct pfs_space *space, const struct pfs_event *ev, bool merged)
{
	const struct pfs_region *source = pfs_space_find(space, ev->from);
	bool written = source && (source->written || source->traits & PFS_TRAIT_GUARDED);
	struct pfs_event map = *ev;
	struct pfs_region *dest;
	int err;

	map.kind = PFS_MAP;
	if (source && !merged) {
		map.have |= source->have & ATTRIBUTES;
		map.perms = source->perms;
		map.traits = source->traits;
		map.dev = source->dev;
		map.ino = source->ino;
		map.name = source->name;
		map.off = source->off + (is_file(source) ? ev->from - source->start : 0);
		if (is_private_zero(source) && !written)
			map.off = map.addr;
	}
	err = pfs_space_map(space, &map);
	dest = err ? NULL : pfs_space_find(space, ev->start);
	if (dest) {
		dest->written |= written;
		dest->moved_from = merged ? 0 : ev->from;
	}
	return err;
}

int pfs_space_move(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_event move = *ev;
	struct pfs_region *dest;
	uint64_t room;
	int err = 0;

	if (pfs_has(ev, PFS_F_ADDR)) {
		if (is_split(space, ev) || !narrow_move(space, &move))
			return pfs_space_map(space, ev);
		err = pfs_space_unmap(space, move.addr, move.addr + move.len, ev->ts_ns);
	} else if (is_within(space, ev)) {
		return pfs_space_map(space, ev);
	}
	/* Merged into its new neighbour: only what the neighbour did not reach is new. */
	dest = pfs_has(ev, PFS_F_ID) ? identify(space, ev) : NULL;
	if (!pfs_has(ev, PFS_F_ADDR))
		move.addr = dest && dest->start <= ev->start ? dest->end : ev->start;
	room = ev->end > move.addr ? ev->end - move.addr : 0;
	if (!err)
		err = map_as_source(space, &move, dest);
	if (!err)
		err = pfs_pages_move(space->pages, move.from,
				     move.from + (move.len < room ? move.len : room),
				     space->pages, move.addr - move.from);
	return err;
}

struct pfs_space *pfs_space_copy(const struct pfs_space *space, uint64_t now_ns)
{
	struct pfs_space *copy = pfs_space_new(pfs_pages_shift(space->pages), now_ns);

	if (!copy)
		return NULL;
	copy->heap_touches = space->heap_touches;
	copy->start_brk = space->start_brk;
	copy->brk = space->brk;
	copy->exe = space->exe;
	copy->complete = space->complete;
	for (unsigned int i = 0; i < space->nr_live; i++) {
		const struct pfs_region *from = space->live[i];
		struct pfs_region *region = region_new(copy, from, from->start, from->end, now_ns);

		if (!region || live_insert(copy, i, region)) {
			free(region);
			pfs_space_put(copy);
			return NULL;
		}
		/* The child's regions are other objects of the kernel. */
		region->have &= ~PFS_HAS(PFS_F_ID);
		region->born_ns = now_ns;
	}
	return copy;
}

void pfs_space_confirm(struct pfs_space *space)
{
	unsigned int kept = 0;

	space->hot = NULL;
	for (unsigned int i = 0; i < space->nr_live; i++) {
		if (KNOWS(space->live[i], PFS_F_ID))
			space->live[kept++] = space->live[i];
		else
			region_free(space, space->live[i]);
	}
	space->nr_live = kept;
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

const char *pfs_region_name(const struct pfs_space *space, const struct pfs_region *region)
{
	unsigned int next;

	if (region->died_ns != UINT64_MAX)
		return KNOWS(region, PFS_F_NAME) ? region->name : NULL;
	if (KNOWS(region, PFS_F_NAME) && region->name[0] && strcmp(region->name, "[heap]") &&
	    strcmp(region->name, "[stack]"))
		return region->name;
	/* As the kernel decides it: any mapping without a file that overlaps the break's range. */
	if (!(KNOWS(region, PFS_F_INO) && region->ino) && space->brk &&
	    region->start < space->brk + space->heap_touches &&
	    region->end + space->heap_touches > space->start_brk)
		return "[heap]";
	if (!KNOWS(region, PFS_F_NAME))
		return NULL;
	if (!strcmp(region->name, "[heap]"))
		return space->brk ? "" : region->name;
	/* Of a stack in pieces only the one that holds the first frame, the highest, has the name. */
	next = pfs_space_lower(space, region->end);
	if (!strcmp(region->name, "[stack]") && next < space->nr_live &&
	    space->live[next]->start == region->end && KNOWS(space->live[next], PFS_F_NAME) &&
	    !strcmp(space->live[next]->name, "[stack]"))
		return "";
	return region->name;
}
