/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applies `map` and `protect` events. After a `map` its range is one region. Absent attributes are taken from the region
 * with the same id, else from the one around the range: splits and merges in the kernel's region tree come as events
 * with range and id only.
 */
#include "model/space_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Memory without a file of its own: nobody can open it to change its length. */
static bool has_fixed_length(const struct pfs_region *region)
{
	return !strncmp(region->name, "/SYSV", 5) || !strncmp(region->name, "/anon_hugepage", 14) ||
	       (!strncmp(region->name, "/dev/zero", 9) && region->perms & PFS_PERM_SHARED);
}

static void set_attributes(struct pfs_region *region, const struct pfs_event *ev)
{
	const uint16_t thp = PFS_TRAIT_THP | PFS_TRAIT_NO_THP;

	if (pfs_has(ev, PFS_F_PERMS))
		region->perms = ev->perms;
	if (pfs_has(ev, PFS_F_DEV))
		region->dev = ev->dev;
	if (pfs_has(ev, PFS_F_INO))
		region->ino = ev->ino;
	if (pfs_has(ev, PFS_F_NAME)) {
		region->name = ev->name;
		if (!region->segment_len && has_fixed_length(region))
			region->segment_len = ev->end - ev->start; /* wherever in it the mapping begins */
	}
	/* A map with id and permissions has all traits; otherwise its traits are added. */
	if (pfs_has(ev, PFS_F_TRAITS) && ev->kind == PFS_MAP && pfs_has(ev, PFS_F_ID) && pfs_has(ev, PFS_F_PERMS))
		region->traits = ev->traits;
	else if (pfs_has(ev, PFS_F_TRAITS))
		region->traits = ev->traits | (region->traits & ~(ev->traits & thp ? thp : 0));
	/* Guard pages are in the page table, so that a fork copies it. */
	if (ev->kind == PFS_PROTECT && ev->traits & PFS_TRAIT_GUARDED && !(ev->inferred & PFS_HAS(PFS_F_TRAITS)))
		region->written = true;
	region->have |= ev->have & ATTRIBUTES;
	region->inferred &= ~(ev->have & ATTRIBUTES);
	region->inferred |= ev->inferred & ATTRIBUTES;
	if (pfs_has(ev, PFS_F_OFF))
		region->off = ev->off + (space_is_file(region) ? region->start - ev->start : 0);
}

/* The kernel merges only compatible VMAs, so unknown attributes can be copied. */
static void learn_from(struct pfs_region *region, const struct pfs_region *other)
{
	if (KNOWS(region, PFS_F_PERMS) || !KNOWS(other, PFS_F_PERMS))
		return;
	region->perms = other->perms;
	if (KNOWS(other, PFS_F_DEV))
		region->dev = other->dev;
	if (KNOWS(other, PFS_F_INO))
		region->ino = other->ino;
	if (KNOWS(other, PFS_F_NAME))
		region->name = other->name;
	region->traits |= other->traits;
	if (KNOWS(other, PFS_F_OFF))
		region->off = other->off - (space_is_file(other) ? other->start - region->start : 0);
	region->have |= other->have & ATTRIBUTES;
	region->inferred |= other->inferred & ATTRIBUTES;
}

/* Extends `region` to the union of itself and [start, end). */
static int grow_over(struct pfs_space *space, struct pfs_region *region, uint64_t start, uint64_t end)
{
	unsigned int i;

	if (region->start < start)
		start = region->start;
	if (region->end > end)
		end = region->end;
	if (space_cut(space, start, end))
		return -ENOMEM;
	i = pfs_space_lower(space, start);
	while (i < space->nr_live && space->live[i]->start < end) {
		if (space->live[i] == region) {
			i++;
			continue;
		}
		/* Merged into it: the pages stay where they are, the object goes. */
		region->written |= space->live[i]->written;
		region->prepared |= space->live[i]->prepared;
		learn_from(region, space->live[i]);
		if (space->live[i]->since_ns < region->since_ns)
			region->since_ns = space->live[i]->since_ns;
		free(space->live[i]);
		space_remove(space, i);
	}
	if (space_is_file(region))
		region->off -= region->start - start;
	region->start = start;
	region->end = end;
	return 0;
}

/* The region in [start, end) that has this identity, or that may take it: see pfs_space_map(). */
struct pfs_region *space_identify(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_region *adopt = NULL;

	for (unsigned int i = pfs_space_lower(space, ev->start); i < space->nr_live && space->live[i]->start < ev->end;
	     i++) {
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
	region = space_region_new(space, within, ev->start, ev->end, ev->ts_ns);
	if (!region || space_cut(space, ev->start, ev->end))
		goto fail;
	if (!within && !pfs_has(ev, PFS_F_PERMS)) /* an old one: an event that creates a region has its permissions */
		region->since_ns = 0;
	i = pfs_space_lower(space, ev->start);
	while (i < space->nr_live && space->live[i]->start < ev->end) {
		if (within) { /* the piece of it that the cut left here: same pages, new object */
			free(space->live[i]);
			space_remove(space, i);
		} else if (space_retire(space, i, ev->ts_ns)) {
			goto fail;
		}
	}
	if (space_insert(space, i, region))
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

/* The regions in a range: those that the region tree reported, and those of a snapshot. */
struct cover {
	unsigned int nr;
	bool same_id;				/* one has the identity that is looked for */
	struct pfs_region *reported, *snapshot; /* the first ones; NULL: none */
	bool reported_differ, snapshot_differ;	/* not all of them could be one region */
};

static void cover_add(struct cover *c, struct pfs_region *r, uint64_t id)
{
	struct pfs_region **first = KNOWS(r, PFS_F_ID) ? &c->reported : &c->snapshot;
	bool differs = *first && !may_merge(*first, r);

	c->nr++;
	c->same_id = c->same_id || (KNOWS(r, PFS_F_ID) && r->id == id);
	c->reported_differ = c->reported_differ || (differs && first == &c->reported);
	c->snapshot_differ = c->snapshot_differ || (differs && first == &c->snapshot);
	*first = *first ? *first : r;
}

static struct cover covered(struct pfs_space *space, const struct pfs_event *ev)
{
	struct cover c = { 0 };

	for (unsigned int i = pfs_space_lower(space, ev->start); i < space->nr_live && space->live[i]->start < ev->end;
	     i++)
		cover_add(&c, space->live[i], ev->id);
	return c;
}

/*
 * A snapshot of a running process may show the results of changes that are replayed over it later. So a region that is
 * stored over several different parts is older than these: it becomes one with parts that were reported, and otherwise
 * the parts, which are newer, stay. 1: done.
 */
static int map_over_newer(struct pfs_space *space, const struct pfs_event *ev)
{
	struct cover c = covered(space, ev);

	if (c.same_id || c.nr < 2 || (c.reported && c.reported_differ) || (!c.reported && !c.snapshot_differ))
		return 0;
	if (!c.reported)
		return 1;
	if (space_cut(space, ev->start, ev->end))
		return -ENOMEM;
	c = covered(space, ev);
	c.reported->id = ev->id;
	return grow_over(space, c.reported, ev->start, ev->end) ? -ENOMEM : 1;
}

/* The kernel's region tree stored region `id` over [start, end). */
static int map_identified(struct pfs_space *space, const struct pfs_event *ev)
{
	int done = pfs_has(ev, PFS_F_PERMS) ? 0 : map_over_newer(space, ev);
	struct pfs_region *region;

	if (done)
		return done < 0 ? done : 0;
	region = space_identify(space, ev);
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

/* Can it be a part of the mapping that is described, as far as is known? */
static bool same_backing(const struct pfs_region *r, const struct pfs_event *ev)
{
	if (KNOWS(r, PFS_F_PERMS) && (r->perms ^ ev->perms) & PFS_PERM_SHARED)
		return false;
	if (!KNOWS(r, PFS_F_INO) || !pfs_has(ev, PFS_F_INO))
		return true;
	if (r->dev != ev->dev || r->ino != ev->ino)
		return false;
	return !pfs_is_file(ev->dev, ev->ino) || !pfs_has(ev, PFS_F_OFF) || r->off - r->start == ev->off - ev->start;
}

/* Retires what was mapped in the range before, if it is not the same mapping. Regions do not reach out of it. */
static int retire_others(struct pfs_space *space, const struct pfs_event *ev)
{
	unsigned int i = pfs_space_lower(space, ev->start);
	int err = 0;

	while (!err && i < space->nr_live && space->live[i]->start < ev->end) {
		if (same_backing(space->live[i], ev))
			i++;
		else
			err = space_retire(space, i, ev->ts_ns);
	}
	return err;
}

int pfs_space_replaced(struct pfs_space *space, const struct pfs_event *map)
{
	return space_cut(space, map->start, map->end) ?: retire_others(space, map);
}

/*
 * A statement: [start, end) is one region with these attributes. From a source with identities that is all of
 * the region; another one may have yet to report what it is a part of.
 */
static int map_stated(struct pfs_space *space, const struct pfs_event *ev)
{
	struct pfs_region *region = pfs_space_find(space, ev->start);
	bool exact = region && region->start == ev->start && region->end == ev->end, id = pfs_has(ev, PFS_F_ID);
	unsigned int i;

	if (space_cut(space, ev->start, ev->end) || (id && retire_others(space, ev)))
		return -ENOMEM;
	i = pfs_space_lower(space, ev->start);
	if (i < space->nr_live && space->live[i]->start < ev->end) {
		region = space->live[i];
		if (!exact) /* its rows come later, with its id */
			region->have &= ~PFS_HAS(PFS_F_ID);
		if (grow_over(space, region, ev->start, ev->end))
			return -ENOMEM;
	} else {
		region = space_region_new(space, NULL, ev->start, ev->end, ev->ts_ns);
		if (!region)
			return -ENOMEM;
		if (space_insert(space, i, region)) {
			free(region);
			return -ENOMEM;
		}
	}
	if (!id && !region->since_ns && !KNOWS(region, PFS_F_PERMS) && pfs_has(ev, PFS_F_PERMS))
		region->since_ns = ev->ts_ns;
	if (id)
		region->id = ev->id;
	region->have |= ev->have & PFS_HAS(PFS_F_ID);
	set_attributes(region, ev);
	return 0;
}

int pfs_space_map(struct pfs_space *space, const struct pfs_event *ev)
{
	if (ev->start >= ev->end)
		return 0;
	space->hot = NULL;
	space->empty = false;
	/* What has moved has its attributes from where it was; like a row it may be but a part of a region. */
	if (pfs_has(ev, PFS_F_ID) && (!pfs_has(ev, PFS_F_PERMS) || pfs_has(ev, PFS_F_FROM)))
		return map_identified(space, ev);
	return map_stated(space, ev);
}

/* Fills in what the region does not know yet, of what holds for all of [start, end). */
static void fill_in(struct pfs_region *region, const struct pfs_event *ev)
{
	struct pfs_event unknown = *ev;

	unknown.have &= ~(region->have & ATTRIBUTES) | PFS_HAS(PFS_F_TRAITS);
	set_attributes(region, &unknown);
}

/* A call that locks or unlocks has split regions at the ends of its range, and leaves huge pages alone. */
static void set_locked(struct pfs_region *region, const struct pfs_event *ev)
{
	if (region->start < ev->start || region->end > ev->end || region->traits & PFS_TRAIT_HUGETLB)
		return;
	region->traits = (region->traits & ~PFS_TRAIT_LOCKED) | (ev->traits & PFS_TRAIT_LOCKED);
	region->have |= PFS_HAS(PFS_F_TRAITS);
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
		if (pfs_has(ev, PFS_F_BY)) {
			set_locked(r, ev);
			continue;
		}
		/* mprotect cannot change whether a mapping is shared */
		perms = (ev->perms & ~PFS_PERM_SHARED) | (r->perms & PFS_PERM_SHARED);
		if (pfs_has(ev, PFS_F_PERMS) && KNOWS(r, PFS_F_PERMS) && r->perms != perms) {
			if (space_cut(space, ev->start, ev->end))
				return -ENOMEM;
			r = space->live[pfs_space_lower(space, ev->start > r->start ? ev->start : r->start)];
			r->perms = perms;
			addr = r->end;
		}
		fill_in(r, ev);
	}
	return 0;
}
