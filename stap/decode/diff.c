/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From one layout to the next with the fewest events.
 *
 * What UNMAP records have not said is unmapped first. Then each region told is matched with one of the
 * mirror: by the kernel's address of it, else by what it maps; pages stay where a match is. New
 * regions inside old ones are pieces that the kernel split off: they are carved from the ends towards
 * the piece that keeps the old identity, so that no identity is ever in two places.
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

static bool same_range(const struct mirror_region *a, const struct mirror_region *b)
{
	return a->start == b->start && a->end == b->end;
}

/* ---- events, and the same done to the mirror ---- */

static void event_range(struct pfs_event *ev, uint64_t start, uint64_t end)
{
	ev->start = start;
	ev->end = end;
	ev->have |= PFS_HAS(PFS_F_START) | PFS_HAS(PFS_F_END);
}

static void event_attributes(struct pfs_event *ev, const struct mirror_region *r)
{
	if (r->described) {
		ev->perms = r->perms;
		ev->traits = r->traits;
		ev->have |= PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_TRAITS);
	}
	if (r->described || pfs_is_file(r->dev, r->ino)) {
		ev->off = r->off;
		ev->dev = r->dev;
		ev->ino = r->ino;
		ev->have |= PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_INO);
	}
	if (r->name) {
		ev->name = r->name;
		ev->have |= PFS_HAS(PFS_F_NAME);
	}
}

int dec_emit_map(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_voice voice, struct mirror *m,
		 const struct mirror_region *region, bool all)
{
	struct pfs_event ev;
	int err = mirror_map(m, region);

	if (err)
		return err;
	dec_event(&ev, rec, voice, PFS_MAP);
	event_range(&ev, region->start, region->end);
	ev.id = region->id;
	ev.have |= PFS_HAS(PFS_F_ID);
	if (all)
		event_attributes(&ev, region);
	return pfs_emit(&d->sink, &ev);
}

static int emit_protect(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_voice voice,
			struct mirror_region *r, uint8_t perms)
{
	struct pfs_event ev;

	r->perms = perms;
	dec_event(&ev, rec, voice, PFS_PROTECT);
	event_range(&ev, r->start, r->end);
	ev.perms = perms;
	ev.have |= PFS_HAS(PFS_F_PERMS);
	return pfs_emit(&d->sink, &ev);
}

static int rest_is_new(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_voice voice, struct mirror *m,
		       const struct mirror_region *r, uint64_t start, uint64_t end)
{
	struct mirror_region rest = *r;

	rest.off = mirror_off_at(r, start);
	rest.start = start;
	rest.end = end;
	rest.id = d->next_id++;
	rest.vma = 0;
	return dec_emit_map(d, rec, voice, m, &rest, false);
}

int dec_split_off(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_voice voice, struct mirror *m,
		  uint64_t start, uint64_t end, bool lower)
{
	const struct mirror_region *r = mirror_find(m, start);

	if (!r || r->start >= start || r->end <= end)
		return 0;
	return rest_is_new(d, rec, voice, m, r, lower ? r->start : end, lower ? start : r->end);
}

int dec_emit_unmap(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_voice voice, struct mirror *m,
		   uint64_t start, uint64_t end)
{
	unsigned int i = mirror_lower(m, start);
	struct pfs_event ev;
	int err;

	if (start >= end || i == m->nr || m->region[i].start >= end)
		return 0; /* nothing there that anybody knows of */
	err = dec_split_off(d, rec, voice, m, start, end, false);
	if (!err)
		err = mirror_unmap(m, start, end);
	if (err)
		return err;
	dec_event(&ev, rec, voice, PFS_UNMAP);
	event_range(&ev, start, end);
	return pfs_emit(&d->sink, &ev);
}

/* ---- the steps ---- */

/* What one layout is about; the arguments of every step. */
struct diff {
	struct pfs_decoder *d;
	const struct pfs_rec *rec;
	struct dec_voice voice;
	struct mirror *m;
	struct mirror_region *n; /* told */
	unsigned int nr;
	uint64_t lo, hi;
};

/* [start, end) where nothing is told to be: from the mirror's first region in it to the last. */
static int unmap_gap(struct diff *f, uint64_t start, uint64_t end)
{
	unsigned int first = mirror_lower(f->m, start), last = first;

	while (last < f->m->nr && f->m->region[last].start < end)
		last++;
	if (first == last)
		return 0;
	if (f->m->region[first].start > start)
		start = f->m->region[first].start;
	if (f->m->region[last - 1].end < end)
		end = f->m->region[last - 1].end;
	return dec_emit_unmap(f->d, f->rec, f->voice, f->m, start, end);
}

static int unmap_gaps(struct diff *f)
{
	uint64_t at = f->lo;
	int err = 0;

	for (unsigned int i = 0; !err && i < f->nr; i++) {
		if (f->n[i].start > at)
			err = unmap_gap(f, at, f->n[i].start);
		at = f->n[i].end;
	}
	return err || at >= f->hi ? err : unmap_gap(f, at, f->hi);
}

static void take(struct mirror_region *n, struct mirror_region *r)
{
	n->id = r->id;
	r->taken = true;
	if (!n->name && n->ino == r->ino && n->dev == r->dev)
		n->name = r->name;
}

static void match(struct diff *f)
{
	struct mirror *m = f->m;

	for (unsigned int i = mirror_lower(m, f->lo); i < m->nr && m->region[i].start < f->hi; i++)
		m->region[i].taken = false;
	for (unsigned int i = 0; i < f->nr; i++) {
		struct mirror_region *r = mirror_by_vma(m, f->n[i].vma, f->n[i].start, f->n[i].end);

		if (r && !r->taken)
			take(&f->n[i], r);
	}
	for (unsigned int i = 0; i < f->nr; i++) {
		struct mirror_region *n = &f->n[i];

		for (unsigned int k = mirror_lower(m, n->start); !n->id && k < m->nr && m->region[k].start < n->end;
		     k++)
			if (!m->region[k].taken && same_backing(n, &m->region[k]))
				take(n, &m->region[k]);
	}
}

static bool is_piece(const struct mirror_region *n, const struct mirror_region *of)
{
	return of->start <= n->start && of->end >= n->end && !same_range(n, of);
}

/* Does the piece that keeps this identity come behind the i-th? */
static bool keeper_is_behind(const struct diff *f, unsigned int i, uint64_t id)
{
	while (++i < f->nr)
		if (f->n[i].id == id)
			return true;
	return false;
}

/* Whatever was there is another mapping, whose end nobody told. */
static int replace(struct diff *f, struct mirror_region *n)
{
	int err = dec_emit_unmap(f->d, f->rec, f->voice, f->m, n->start, n->end);

	n->id = f->d->next_id++;
	return err ? err : dec_emit_map(f->d, f->rec, f->voice, f->m, n, true);
}

/* The first region under n that maps the same, or NULL. */
static const struct mirror_region *under(const struct diff *f, const struct mirror_region *n)
{
	for (unsigned int k = mirror_lower(f->m, n->start); k < f->m->nr && f->m->region[k].start < n->end; k++)
		if (same_backing(n, &f->m->region[k]))
			return &f->m->region[k];
	return NULL;
}

/*
 * A region of its own, cut out of the one that it was a piece of; if it goes on into the next one
 * (pieces of two regions that became alike are merged), it takes that in a second step.
 */
static int carve(struct diff *f, unsigned int i)
{
	struct mirror_region *n = &f->n[i], piece;
	const struct mirror_region *r = under(f, n);
	int err;

	if (!r)
		return replace(f, n);
	if (!n->name)
		n->name = r->name;
	piece = *n;
	piece.start = r->start > n->start ? r->start : n->start;
	piece.end = r->end < n->end ? r->end : n->end;
	piece.off = mirror_off_at(n, piece.start);
	err = dec_split_off(f->d, f->rec, f->voice, f->m, piece.start, piece.end, keeper_is_behind(f, i, r->id));
	piece.id = n->id = f->d->next_id++;
	if (!err)
		err = dec_emit_map(f->d, f->rec, f->voice, f->m, &piece, true);
	if (err || same_range(&piece, n))
		return err;
	return dec_emit_map(f->d, f->rec, f->voice, f->m, n, false);
}

static int add_new(struct diff *f)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < f->nr; i++) {
		const struct mirror_region *r = mirror_find(f->m, f->n[i].start);

		if (!f->n[i].id && (!r || !is_piece(&f->n[i], r) || keeper_is_behind(f, i, r->id)))
			err = carve(f, i);
	}
	for (unsigned int i = f->nr; !err && i-- > 0;)
		if (!f->n[i].id)
			err = carve(f, i);
	return err;
}

/* Those that became longer take their new parts from others, or from where nothing was. */
static int grow(struct diff *f)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < f->nr; i++) {
		const struct mirror_region *n = &f->n[i], *r = mirror_by_id(f->m, n->id, n->start, n->end);

		if (r && (n->start < r->start || n->end > r->end))
			err = dec_emit_map(f->d, f->rec, f->voice, f->m, n,
					   !same_but_perms(n, r) || n->perms != r->perms);
	}
	return err;
}

/* Everything is in its place now: what is left is what became of it there. */
static int change(struct diff *f)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < f->nr; i++) {
		struct mirror_region *n = &f->n[i], *r = mirror_find(f->m, n->start);

		if (!r || !same_range(n, r))
			err = replace(f, n);
		else if (!same_but_perms(n, r))
			err = dec_emit_map(f->d, f->rec, f->voice, f->m, n, true);
		else if (n->perms != r->perms)
			err = emit_protect(f->d, f->rec, f->voice, r, n->perms);
		r = mirror_find(f->m, n->start);
		if (r)
			r->vma = n->vma;
	}
	return err;
}

int dec_diff(struct pfs_decoder *d, const struct pfs_rec *rec, struct dec_voice voice, struct mirror *m,
	     struct dec_told *told)
{
	struct diff f = { d, rec, voice, m, told->region, told->nr, told->lo, told->hi };
	int err = 0;

	if (f.nr && f.n[0].start < f.lo)
		f.lo = f.n[0].start;
	if (f.nr && f.n[f.nr - 1].end > f.hi)
		f.hi = f.n[f.nr - 1].end;
	if (told->whole)
		err = unmap_gaps(&f);
	if (err)
		return err;
	match(&f);
	err = add_new(&f);
	if (!err)
		err = grow(&f);
	return err ? err : change(&f);
}
