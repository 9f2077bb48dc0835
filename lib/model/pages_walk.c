/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks over touched pages, one by one or as many at once as are equal. */
#include "model/pages_priv.h"

void pfs_page_walk_start(struct pfs_page_walk *walk, const struct pfs_pages *pages, uint64_t start, uint64_t end)
{
	struct span span;

	*walk = (struct pfs_page_walk){ .pages = span_of(pages, start, end, &span) ? pages : NULL };
	walk->first = span.first;
	walk->last = span.last;
	walk->key = span.first >> FANOUT_SHIFT;
}

/* The leaf or whole at or after walk->key, which is advanced to it. Mostly it is the next leaf of the same node. */
static struct spot next_spot(struct pfs_page_walk *walk)
{
	const struct node *node = walk->node;
	unsigned int at = node ? (walk->key - walk->pages->base) % FANOUT : 0;
	uint64_t used = at ? node->used & UINT64_MAX << at : 0; /* 0: a new one begins */
	void *slot = used ? node->slot[__builtin_ctzll(used)] : NULL;
	struct spot spot;

	if (slot && !whole_in(slot)) {
		walk->key += __builtin_ctzll(used) - at;
		return (struct spot){ .leaf = slot };
	}
	spot = pages_next(walk->pages, &walk->key);
	walk->node = spot.leaf ? pages_node_of(walk->pages, walk->key) : NULL;
	return spot;
}

/* Advances to the next leaf with pages in the range, or the next 64 of a whole. False: no more. */
static bool walk_leaf(struct pfs_page_walk *walk)
{
	struct span span = { walk->first, walk->last };

	while (walk->pages && walk->key <= walk->last >> FANOUT_SHIFT) {
		struct spot spot;

		walk->key += walk->leaf || walk->whole; /* never beyond the topmost: pages are not bytes */
		spot = next_spot(walk);
		walk->leaf = spot.leaf;
		walk->whole = spot.whole;
		walk->whole_last = spot.last;
		if ((!spot.leaf && !spot.whole) || walk->key > walk->last >> FANOUT_SHIFT)
			break;
		walk->bits = span_bits(&span, walk->key) & (spot.leaf ? spot.leaf->present : UINT64_MAX);
		if (walk->bits)
			return true;
	}
	walk->pages = NULL;
	return false;
}

static uint64_t address(const struct pfs_page_walk *walk, uint64_t bits)
{
	return ((walk->key << FANOUT_SHIFT) + __builtin_ctzll(bits)) << walk->pages->page_shift;
}

const struct pfs_page *pfs_page_walk_next(struct pfs_page_walk *walk)
{
	const struct whole *whole;
	unsigned int i;

	if (!walk->bits && !walk_leaf(walk))
		return NULL;
	whole = walk->whole;
	i = __builtin_ctzll(walk->bits);
	walk->addr = address(walk, walk->bits);
	walk->bits &= walk->bits - 1;
	return whole ? &whole->page : pages_in(walk->leaf, i, &walk->page);
}

/* The number of the last page before that address, of the topmost one for 0. */
static uint64_t last_before(const struct pfs_page_walk *walk, uint64_t limit)
{
	return (limit - 1) >> walk->pages->page_shift;
}

/* The bits of pages before that address, in the leaf of key. */
static uint64_t bits_below(const struct pfs_page_walk *walk, uint64_t limit)
{
	uint64_t first = walk->key << FANOUT_SHIFT, number = last_before(walk, limit) + 1;

	if (number <= first)
		return 0;
	return number - first >= FANOUT ? UINT64_MAX : (UINT64_C(1) << (number - first)) - 1;
}

/* Takes those pages of a leaf. Returns their number. */
static uint64_t take(struct pfs_page_walk *walk, uint64_t bits)
{
	walk->addr = address(walk, bits);
	walk->bits &= ~bits;
	return __builtin_popcountll(bits);
}

/* Takes the pages of a whole up to that number, at least one. Returns their number. */
static uint64_t take_whole(struct pfs_page_walk *walk, uint64_t last)
{
	uint64_t first = (walk->key << FANOUT_SHIFT) + __builtin_ctzll(walk->bits);
	uint64_t end = (walk->whole_last << FANOUT_SHIFT) + FANOUT - 1;
	struct span rest;

	walk->addr = first << walk->pages->page_shift;
	last = last < first ? first : last;
	last = last < end ? last : end;
	last = last < walk->last ? last : walk->last;
	rest = (struct span){ last + 1, walk->last };
	walk->key = last >> FANOUT_SHIFT;
	walk->bits = last % FANOUT == FANOUT - 1 || last == walk->last ? 0 : span_bits(&rest, walk->key);
	return last - first + 1;
}

bool pfs_page_walk_flags(struct pfs_page_walk *walk, uint64_t limit, uint32_t *flags, uint64_t *nr)
{
	const struct whole *whole;
	const struct leaf *leaf;
	uint64_t bits;

	if (!walk->bits && !walk_leaf(walk))
		return false;
	leaf = walk->leaf;
	whole = walk->whole;
	if (whole) {
		*flags = whole->page.flags;
		*nr = take_whole(walk, last_before(walk, limit));
		return true;
	}
	bits = leaf->mixed ? 0 : walk->bits & bits_below(walk, limit);
	if (!bits)
		bits = walk->bits & -walk->bits;
	*flags = flags_in(leaf, __builtin_ctzll(bits));
	*nr = take(walk, bits);
	return true;
}

const struct pfs_page *pfs_page_walk_alike(struct pfs_page_walk *walk, uint64_t *nr)
{
	const struct leaf *leaf;

	if (!walk->bits && !walk_leaf(walk))
		return NULL;
	leaf = walk->leaf;
	if (!leaf || leaf->mixed || walk->bits != leaf->present)
		return pfs_page_walk_row(walk, nr);
	pages_in(leaf, __builtin_ctzll(walk->bits), &walk->page);
	walk->page.first_ns = leaf->first_ns;
	walk->page.last_ns = leaf->last_ns;
	*nr = take(walk, walk->bits);
	return &walk->page;
}

const struct pfs_page *pfs_page_walk_row(struct pfs_page_walk *walk, uint64_t *nr)
{
	const struct whole *whole;

	*nr = 1;
	if ((!walk->bits && !walk_leaf(walk)) || !walk->whole)
		return pfs_page_walk_next(walk);
	whole = walk->whole;
	*nr = take_whole(walk, UINT64_MAX);
	return &whole->page;
}

bool pfs_pages_any(const struct pfs_pages *pages, uint64_t start, uint64_t end)
{
	struct pfs_page_walk walk;

	pfs_page_walk_start(&walk, pages, start, end);
	return pfs_page_walk_next(&walk);
}
