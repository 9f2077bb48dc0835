/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a statement ("these are all regions of [lo, hi)") to the few events that make the mirror equal to it. If a
 * part of the statement is lost, each of its regions is a statement of its own.
 *
 * Each region stated takes the identity of one in the mirror: of the one with the same kernel address, else of one
 * that maps the same. A region without a match gets a new identity and is reported first, in full; it takes its
 * range from those around it. Then those that grew take theirs, and what is left to report are changed attributes.
 * A `map' with identity and permissions keeps the pages in its range (lib/model/space_map.c), so no order has
 * to be kept within a step.
 */
#include "decode/decode_priv.h"

#include <string.h>

static bool same_backing(const struct mirror_region *a, const struct mirror_region *b)
{
	if (!a->described || !b->described)
		return true;
	if (a->dev != b->dev || a->ino != b->ino || (a->perms ^ b->perms) & PFS_PERM_SHARED)
		return false;
	return !pfs_is_file(a->dev, a->ino) || a->off - a->start == b->off - b->start;
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* All but range, identity and permissions. */
static bool same_but_perms(const struct mirror_region *n, const struct mirror_region *r)
{
	return r->described && !r->uncertain && n->traits == r->traits && n->dev == r->dev && n->ino == r->ino &&
	       mirror_off_at(r, n->start) == n->off && !((n->perms ^ r->perms) & PFS_PERM_SHARED) &&
	       (!n->name || same_name(n->name, r->name));
}

/* ---- events, each with its change of the mirror ---- */

static void event_attributes(struct pfs_event *ev, const struct mirror_region *r)
{
	if (r->described) {
		PFS_SET(ev, perms, PERMS, r->perms);
		PFS_SET(ev, traits, TRAITS, r->traits);
	}
	if (r->described || pfs_is_file(r->dev, r->ino))
		dec_set_file(ev, r->dev, r->ino, r->off);
	if (r->name)
		PFS_SET(ev, name, NAME, r->name);
}

int dec_emit_map(const struct dec_site *site, const struct mirror_region *region, bool all)
{
	struct pfs_event ev;
	int err = mirror_map(site->m, region);

	if (err)
		return err;
	dec_event(&ev, site->rec, site->subject, PFS_MAP);
	dec_set_range(&ev, region->start, region->end);
	PFS_SET(&ev, id, ID, region->id);
	if (all)
		event_attributes(&ev, region);
	return pfs_emit(&site->d->sink, &ev);
}

static int emit_protect(const struct dec_site *site, struct mirror_region *r, uint8_t perms)
{
	struct pfs_event ev;

	r->perms = perms;
	dec_event(&ev, site->rec, site->subject, PFS_PROTECT);
	dec_set_range(&ev, r->start, r->end);
	PFS_SET(&ev, perms, PERMS, perms);
	return pfs_emit(&site->d->sink, &ev);
}

static int split_off(const struct dec_site *site, const struct mirror_region *r, uint64_t start, uint64_t end)
{
	struct mirror_region part = mirror_part(r, start, end);

	if (start >= end)
		return 0;
	part.id = site->d->next_id++;
	part.vma = 0;
	return dec_emit_map(site, &part, false);
}

int dec_shrink(const struct dec_site *site, const struct mirror_region *region, uint64_t start, uint64_t end)
{
	const struct mirror_region r = *region;

	return split_off(site, &r, end, r.end) ?: split_off(site, &r, r.start, start);
}

int dec_split_upper(const struct dec_site *site, uint64_t start, uint64_t end)
{
	const struct mirror_region *r = mirror_find(site->m, start);

	return r && r->start < start ? split_off(site, r, end, r->end) : 0;
}

int dec_emit_unmap(const struct dec_site *site, uint64_t start, uint64_t end)
{
	struct pfs_event ev;
	int err;

	if (start >= end || !mirror_next(site->m, start, end, NULL))
		return 0;
	err = dec_split_upper(site, start, end) ?: mirror_unmap(site->m, start, end);
	if (err)
		return err;
	dec_event(&ev, site->rec, site->subject, PFS_UNMAP);
	dec_set_range(&ev, start, end);
	return pfs_emit(&site->d->sink, &ev);
}

/* ---- the steps ---- */

/* Nothing is mapped in [start, end): reported from the mirror's first region there to its last. */
static int unmap_gap(const struct dec_site *site, uint64_t start, uint64_t end)
{
	const struct mirror_region *first = mirror_next(site->m, start, end, NULL), *last = first, *r = first;

	if (!first)
		return 0;
	while ((r = mirror_next(site->m, start, end, r)))
		last = r;
	return dec_emit_unmap(site, first->start > start ? first->start : start, last->end < end ? last->end : end);
}

static int unmap_gaps(const struct dec_site *site, const struct dec_statement *s)
{
	uint64_t at = s->lo;
	int err = 0;

	for (unsigned int i = 0; !err && i < s->nr; i++) {
		err = unmap_gap(site, at, s->region[i].start);
		at = s->region[i].end;
	}
	return err ? err : unmap_gap(site, at, s->hi);
}

static bool take(struct mirror_region *n, struct mirror_region *r)
{
	if (!r || r->taken)
		return false;
	n->id = r->id;
	return r->taken = true;
}

static void match(const struct dec_site *site, struct dec_statement *s)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		struct mirror_region *n = &s->region[i], *r = NULL;

		while ((r = mirror_next(site->m, n->start, n->end, r))) {
			r->taken = false;
			if (!n->name && n->ino == r->ino && n->dev == r->dev)
				n->name = r->name;
		}
	}
	for (unsigned int i = 0; i < s->nr; i++)
		take(&s->region[i], mirror_by_vma(site->m, s->region[i].vma, s->region[i].start, s->region[i].end));
	for (unsigned int i = 0; i < s->nr; i++) {
		struct mirror_region *n = &s->region[i], *r = NULL;

		while (!n->id && (r = mirror_next(site->m, n->start, n->end, r)))
			if (same_backing(n, r))
				take(n, r);
	}
}

static int add_new(const struct dec_site *site, struct dec_statement *s)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < s->nr; i++) {
		if (s->region[i].id)
			continue;
		s->region[i].id = site->d->next_id++;
		err = dec_emit_map(site, &s->region[i], true);
	}
	return err;
}

static int grow(const struct dec_site *site, const struct dec_statement *s)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < s->nr; i++) {
		const struct mirror_region *n = &s->region[i], *r = mirror_by_id(site->m, n->id, n->start, n->end);

		if (r && n->start <= r->start && n->end >= r->end && n->end - n->start > r->end - r->start)
			err = dec_emit_map(site, n, !same_but_perms(n, r) || n->perms != r->perms);
	}
	return err;
}

static int change(const struct dec_site *site, const struct mirror_region *n)
{
	struct mirror_region *r = mirror_find(site->m, n->start);

	if (!r || r->id != n->id || r->start != n->start || r->end != n->end || !same_but_perms(n, r))
		return dec_emit_map(site, n, true);
	r->vma = n->vma;
	return n->perms != r->perms ? emit_protect(site, r, n->perms) : 0;
}

/* A statement names whole regions: if one in the mirror reaches out of [lo, hi), the mirror is out of date. */
static int split_at_edges(const struct dec_site *site, const struct dec_statement *s)
{
	const struct mirror_region *r = s->lo < s->hi ? mirror_find(site->m, s->lo) : NULL;
	int err = r ? split_off(site, r, r->start, s->lo) : 0;

	r = s->lo < s->hi ? mirror_find(site->m, s->hi - 1) : NULL;
	return err || !r ? err : split_off(site, r, s->hi, r->end);
}

static int apply_whole(const struct dec_site *site, struct dec_statement *s)
{
	int err;

	if (s->nr && s->region[0].start < s->lo)
		s->lo = s->region[0].start;
	if (s->nr && s->region[s->nr - 1].end > s->hi)
		s->hi = s->region[s->nr - 1].end;
	err = split_at_edges(site, s) ?: unmap_gaps(site, s);
	if (err)
		return err;
	match(site, s);
	err = add_new(site, s) ?: grow(site, s);
	for (unsigned int i = 0; !err && i < s->nr; i++)
		err = change(site, &s->region[i]);
	return err;
}

int dec_diff(const struct dec_site *site, struct dec_statement *s)
{
	int err = 0;

	if (s->whole)
		return apply_whole(site, s);
	for (unsigned int i = 0; !err && i < s->nr; i++) {
		struct mirror_region *n = &s->region[i];
		struct dec_statement one = { .region = n, .nr = 1, .lo = n->start, .hi = n->end, .whole = true };

		err = apply_whole(site, &one);
	}
	return err;
}
