/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many pages at once: marking a range, moving a range. What of it is a whole subtree takes one step, so a
 * terabyte takes no more than a megabyte does.
 */
#include "pages_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- adding the same to each page of a range ---- */

struct adding {
	struct pfs_pages *pages;
	struct span span;
	const struct pfs_page *what;
	uint32_t unless;
	uint64_t nr;		/* of pages it was added to */
};

static int add_below(struct adding *add, void **slot, unsigned int level, uint64_t key);

/* All pages below the slot, which is empty or a whole. */
static int add_whole(struct adding *add, void **slot, unsigned int level)
{
	uint64_t nr_pages = level_mask(level) * FANOUT + FANOUT;
	struct pfs_page page = { 0 };
	struct whole *old = whole_in(*slot);
	void *new;

	if (old && old->page.flags & add->unless)
		return 0;
	if (old)
		page = old->page;
	pages_merge(&page, add->what);
	new = pages_new_whole(&page);
	if (!new)
		return -ENOMEM;
	if (old)
		pages_put_whole(old);
	else
		add->pages->total += nr_pages;
	add->nr += nr_pages;
	*slot = new;
	return 0;
}

/* Of one leaf (which may not be there) the pages in the span. */
static int add_to_leaf(struct adding *add, void **slot, uint64_t key)
{
	for (uint64_t bits = span_bits(&add->span, key); bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);
		const struct leaf *leaf = *slot;

		if (leaf && leaf->present >> i & 1 && flags_in(leaf, i) & add->unless)
			continue;
		if (pages_add(add->pages, (key << FANOUT_SHIFT) + i, add->what))
			return -ENOMEM;
		add->nr++;
	}
	return 0;
}

/* Of a node the slots that lie in the span. */
static int add_to_node(struct adding *add, void **slot, unsigned int level, uint64_t key)
{
	uint64_t first = add->span.first >> FANOUT_SHIFT, last = add->span.last >> FANOUT_SHIFT;
	uint64_t step = level_mask(level - 1), end = key | level_mask(level);
	struct node *node;

	if (!*slot)
		*slot = calloc(1, sizeof(*node));
	node = *slot;
	if (!node)
		return -ENOMEM;
	for (key = first > key ? first & ~step : key; ; key += step + 1) {
		unsigned int i = slot_of(key, level);

		node->used |= UINT64_C(1) << i;
		if (add_below(add, &node->slot[i], level - 1, key))
			return -ENOMEM;
		if (key + step >= last || key + step >= end)
			return 0;
	}
}

/* What lies below that slot, from key on: the key of the first leaf there may be. */
static int add_below(struct adding *add, void **slot, unsigned int level, uint64_t key)
{
	uint64_t first = key << FANOUT_SHIFT, last = first + (level_mask(level) * FANOUT + FANOUT - 1);
	bool all = add->span.first <= first && add->span.last >= last;
	struct whole *whole = whole_in(*slot);

	if (whole && whole->page.flags & add->unless)
		return 0;
	if (all && (!*slot || whole))
		return add_whole(add, slot, level);
	if (whole && pages_divide(slot, level))
		return -ENOMEM;
	return level ? add_to_node(add, slot, level, key) : add_to_leaf(add, slot, key);
}

/* Adds it to each page of the span that has none of the flags in `unless`. *nr: how many that were. */
static int add_span(struct pfs_pages *pages, const struct span *span, const struct pfs_page *what,
		    uint32_t unless, uint64_t *nr)
{
	struct adding add = { pages, *span, what, unless, 0 };
	int ret;

	ret = pages_grow(pages, span->last >> FANOUT_SHIFT);
	if (!ret)
		ret = add_below(&add, &pages->root, pages->height, 0);
	*nr = add.nr;
	return ret;
}

int pfs_pages_mark(struct pfs_pages *pages, uint64_t start, uint64_t end, const struct pfs_page *what,
		   uint32_t unless, uint64_t *nr)
{
	struct span span;

	*nr = 0;
	return span_of(pages, start, end, &span) ? add_span(pages, &span, what, unless, nr) : 0;
}

/* ---- moving ---- */

/* Hangs a leaf over from one tree to a place in another where there is nothing. */
static int move_leaf(struct pfs_pages *from, uint64_t key, struct leaf *leaf,
		     struct pfs_pages *to, uint64_t to_key)
{
	void **slot = pages_make_slot(to, to_key);
	int nr = __builtin_popcountll(leaf->present);

	if (!slot)
		return -ENOMEM;
	*slot = leaf;
	pages_remember(to, to_key, leaf);
	pages_unlink(from, key, 0);
	from->total -= nr;
	to->total += nr;
	return 0;
}

/* Moves the pages `bits` of a leaf, one by one. */
static int move_bits(struct pfs_pages *from, uint64_t key, struct leaf *leaf, uint64_t bits,
		     struct pfs_pages *to, uint64_t by)
{
	for (; bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);
		uint64_t number = (key << FANOUT_SHIFT) + i + by;
		struct pfs_page room;

		if (pages_add(to, number & (UINT64_MAX >> to->page_shift), page_in(leaf, i, &room)))
			return -ENOMEM;
		if (from == to)	/* it may have been its own target, and grown */
			leaf = pages_at(from, key).leaf;
		leaf->present &= ~(UINT64_C(1) << i);
		leaf->mixed = true;
		from->total--;
	}
	if (!leaf->present) {
		pages_unlink(from, key, 0);
		free(leaf);
	}
	return 0;
}

/* Is the whole that key lies in inside of the span, with all of its pages? */
static bool is_inside(const struct span *span, uint64_t key, const struct spot *spot)
{
	uint64_t first = key & ~level_mask(spot->level);

	return span->first <= first << FANOUT_SHIFT && span->last >= (spot->last << FANOUT_SHIFT) + FANOUT - 1;
}

/* Adds it to the pages of [first, last], by keys, but `by` pages further on: that may go over the top of memory. */
static int add_moved(struct pfs_pages *to, uint64_t first, uint64_t last, uint64_t by, const struct pfs_page *page)
{
	uint64_t mask = UINT64_MAX >> to->page_shift, nr;
	struct span span = { ((first << FANOUT_SHIFT) + by) & mask, ((last << FANOUT_SHIFT) + FANOUT - 1 + by) & mask };
	struct span low = { 0, span.last };
	int ret;

	if (span.first <= span.last)
		return add_span(to, &span, page, 0, &nr);
	span.last = mask;
	ret = add_span(to, &span, page, 0, &nr);
	return ret ? ret : add_span(to, &low, page, 0, &nr);
}

/*
 * Wholes from key on that lie in the span and are alike, as one range: what is put together here need not be
 * divided again at every move. *key becomes the one behind them.
 */
static int move_wholes(struct pfs_pages *from, uint64_t *key, const struct span *span,
		       struct pfs_pages *to, uint64_t by)
{
	struct spot spot = pages_at(from, *key);
	struct pfs_page page = spot.whole->page;
	uint64_t last;
	int ret;

	do {
		last = spot.last;
		if (last == span->last >> FANOUT_SHIFT)
			break;
		spot = pages_at(from, last + 1);
	} while (spot.whole && is_inside(span, last + 1, &spot) && !memcmp(&spot.whole->page, &page, sizeof(page)));
	ret = add_moved(to, *key, last, by, &page);
	while (!ret && *key <= last) {
		spot = pages_at(from, *key);
		from->total -= level_mask(spot.level) * FANOUT + FANOUT;
		pages_unlink(from, *key, spot.level);
		pages_put_whole(spot.whole);
		*key = spot.last + 1;
	}
	return ret;
}

/* pfs_pages_move() by `by` pages, where no page lands in the span that it still has to move. */
static int move_span(struct pfs_pages *from, const struct span *span, struct pfs_pages *to,
		     uint64_t by)
{
	uint64_t max_key = UINT64_MAX >> to->page_shift >> FANOUT_SHIFT;
	uint64_t key = span->first >> FANOUT_SHIFT, last = span->last >> FANOUT_SHIFT;
	int ret = 0;

	while (!ret && key <= last) {
		struct spot spot = pages_next(from, &key), there;
		uint64_t bits, to_key = (key + (by >> FANOUT_SHIFT)) & max_key;

		if ((!spot.leaf && !spot.whole) || key > last)
			break;
		if (spot.whole && !is_inside(span, key, &spot)) {
			/* what is not moved has to be told from it */
			ret = pages_make_leaf(from, key) ? 0 : -ENOMEM;
			continue;
		}
		if (spot.whole) {
			ret = move_wholes(from, &key, span, to, by);
			continue;
		}
		bits = spot.leaf->present & span_bits(span, key);
		there = pages_at(to, to_key);
		if (bits == spot.leaf->present && !(by % FANOUT) && !there.leaf && !there.whole)
			ret = move_leaf(from, key, spot.leaf, to, to_key);
		else if (bits)
			ret = move_bits(from, key, spot.leaf, bits, to, by);
		key++;
	}
	return ret;
}

int pfs_pages_move(struct pfs_pages *from, uint64_t start, uint64_t end,
		   struct pfs_pages *to, uint64_t delta)
{
	uint64_t by = delta >> to->page_shift, len = end - start;
	struct pfs_pages *aside;
	struct span span, all = { 0, UINT64_MAX >> from->page_shift };
	int ret;

	if (!span_of(from, start, end, &span) || (from == to && !by))
		return 0;
	if (from != to || (len && delta >= len && -delta >= len))
		return move_span(from, &span, to, by);
	/* source and target overlap: lay the pages aside first, so that none is moved twice */
	aside = pfs_pages_new(from->page_shift);
	if (!aside)
		return -ENOMEM;
	ret = move_span(from, &span, aside, 0);
	if (!ret)
		ret = move_span(aside, &all, to, by);
	pfs_pages_free(aside);
	return ret;
}
