/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks and moves ranges of pages. A whole subtree takes one step, so a terabyte takes no longer than a megabyte. */
#include "model/pages_priv.h"

#include <errno.h>
#include <string.h>

/* ---- adding the same to each page of a range ---- */

/* Page numbers and keys in what follows are less the tree's base. */
struct adding {
	struct pfs_pages *pages;
	struct span span;
	const struct pfs_page *what;
	uint32_t unless;
	uint64_t nr; /* of pages that it was added to */
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
	new = pages_new_whole(add->pages->pool, &page);
	if (!new)
		return -ENOMEM;
	if (old)
		pages_put_whole(add->pages->pool, old);
	add->nr += nr_pages;
	*slot = new;
	return 0;
}

/* The pages of one leaf, which may not exist yet, in the span. */
static int add_to_leaf(struct adding *add, void **slot, uint64_t key)
{
	uint64_t first = (key + add->pages->base) << FANOUT_SHIFT;

	for (uint64_t bits = span_bits(&add->span, key); bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);
		const struct leaf *leaf = *slot;

		if (leaf && leaf->present >> i & 1 && flags_in(leaf, i) & add->unless)
			continue;
		if (pages_add(add->pages, first + i, add->what))
			return -ENOMEM;
		add->nr++;
	}
	return 0;
}

/* The slots of a node in the span. */
static int add_to_node(struct adding *add, void **slot, unsigned int level, uint64_t key)
{
	uint64_t first = add->span.first >> FANOUT_SHIFT, last = add->span.last >> FANOUT_SHIFT;
	uint64_t step = level_mask(level - 1), end = key | level_mask(level);
	struct node *node;

	if (!*slot)
		*slot = pages_new_node(add->pages->pool);
	node = *slot;
	if (!node)
		return -ENOMEM;
	for (key = first > key ? first & ~step : key;; key += step + 1) {
		unsigned int i = slot_of(key, level);

		node->used |= UINT64_C(1) << i;
		if (add_below(add, &node->slot[i], level - 1, key))
			return -ENOMEM;
		if (key + step >= last || key + step >= end)
			return 0;
	}
}

/* Below that slot, whose first key is `key`. */
static int add_below(struct adding *add, void **slot, unsigned int level, uint64_t key)
{
	uint64_t first = key << FANOUT_SHIFT, last = first + (level_mask(level) * FANOUT + FANOUT - 1);
	bool all = add->span.first <= first && add->span.last >= last;
	struct whole *whole = whole_in(*slot);

	if (whole && whole->page.flags & add->unless)
		return 0;
	if (all && (!*slot || whole))
		return add_whole(add, slot, level);
	if (whole && pages_divide(add->pages->pool, slot, level))
		return -ENOMEM;
	return level ? add_to_node(add, slot, level, key) : add_to_leaf(add, slot, key);
}

/* pfs_pages_mark() for a span. */
static int add_span(struct pfs_pages *pages, const struct span *span, const struct pfs_page *what, uint32_t unless,
		    uint64_t *nr)
{
	uint64_t base = pages->base << FANOUT_SHIFT;
	struct adding add = { pages, { span->first - base, span->last - base }, what, unless, 0 };
	int ret;

	ret = pages_grow(pages, span->last >> FANOUT_SHIFT);
	if (!ret)
		ret = add_below(&add, &pages->root, pages->height, 0);
	*nr = add.nr;
	return ret;
}

int pfs_pages_mark(struct pfs_pages *pages, uint64_t start, uint64_t end, const struct pfs_page *what, uint32_t unless,
		   uint64_t *nr)
{
	struct span span;

	*nr = 0;
	return span_of(pages, start, end, &span) ? add_span(pages, &span, what, unless, nr) : 0;
}

/* ---- moving ---- */

/* Moves a leaf to an empty place in this or another tree of the same pool. */
static int move_leaf(struct pfs_pages *from, uint64_t key, struct leaf *leaf, struct pfs_pages *to, uint64_t to_key)
{
	if (pages_hang_leaf(to, to_key, leaf))
		return -ENOMEM;
	pages_unlink(from, key, 0);
	return 0;
}

/* Moves the pages `bits` of a leaf, one by one. */
static int move_bits(struct pfs_pages *from, uint64_t key, struct leaf *leaf, uint64_t bits, struct pfs_pages *to,
		     uint64_t by)
{
	for (; bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);
		uint64_t number = (key << FANOUT_SHIFT) + i + by;
		struct pfs_page room;

		if (pages_add(to, number & (UINT64_MAX >> to->page_shift), pages_in(leaf, i, &room)))
			return -ENOMEM;
		if (from == to) /* it may have been its own target, and changed its form */
			leaf = pages_at(from, key).leaf;
		leaf->present &= ~(UINT64_C(1) << i);
		leaf->mixed = true;
	}
	if (!leaf->present) {
		pages_unlink(from, key, 0);
		pages_pool_give(from->pool, leaf->form, leaf);
	}
	return 0;
}

/* Whether all pages of the leaves of these keys lie in the span. */
static bool is_inside(const struct span *span, uint64_t first, uint64_t last)
{
	return span->first <= first << FANOUT_SHIFT && span->last >= (last << FANOUT_SHIFT) + FANOUT - 1;
}

/* Adds it to the pages of the keys [first, last], moved up by `by` pages, which may wrap around. */
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

/* Moves equal wholes from *key on, as far as they lie in the span, as one range. Advances *key behind them. */
static int move_wholes(struct pfs_pages *from, uint64_t *key, const struct span *span, struct pfs_pages *to,
		       uint64_t by)
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
	} while (spot.whole && is_inside(span, spot.first, spot.last) &&
		 !memcmp(&spot.whole->page, &page, sizeof(page)));
	ret = add_moved(to, *key, last, by, &page);
	while (!ret && *key <= last) {
		spot = pages_at(from, *key);
		pages_unlink(from, *key, spot.level);
		pages_put_whole(from->pool, spot.whole);
		*key = spot.last + 1;
	}
	return ret;
}

/* Moves the pages `bits` of the leaf of key. */
static int move_of_leaf(struct pfs_pages *from, uint64_t key, struct leaf *leaf, uint64_t bits, struct pfs_pages *to,
			uint64_t by)
{
	uint64_t max_key = UINT64_MAX >> to->page_shift >> FANOUT_SHIFT;
	uint64_t to_key = (key + (by >> FANOUT_SHIFT)) & max_key;
	struct spot there = pages_at(to, to_key);

	if (!bits)
		return 0;
	if (bits == leaf->present && !(by % FANOUT) && from->pool == to->pool && !there.leaf && !there.whole)
		return move_leaf(from, key, leaf, to, to_key);
	return move_bits(from, key, leaf, bits, to, by);
}

/* Moves the node above the leaf of *key, if it can be moved as a whole. 1: *key is behind it; 0: no; or -ENOMEM. */
static int move_node(struct pfs_pages *from, uint64_t *key, const struct span *span, struct pfs_pages *to, uint64_t by)
{
	uint64_t first = *key - *key % FANOUT;
	int ret;

	if (by || !is_inside(span, first, first + FANOUT - 1))
		return 0;
	ret = pages_hang_over(from, to, first);
	if (ret > 0)
		*key = first + FANOUT;
	return ret;
}

/* pfs_pages_move() by `by` pages, if no page arrives in the part of the span that is still to be moved. */
static int move_span(struct pfs_pages *from, const struct span *span, struct pfs_pages *to, uint64_t by)
{
	uint64_t key = span->first >> FANOUT_SHIFT, last = span->last >> FANOUT_SHIFT;
	int ret = 0;

	while (ret >= 0 && key <= last) {
		struct spot spot = pages_next(from, &key);

		if ((!spot.leaf && !spot.whole) || key > last)
			break;
		if (spot.whole && !is_inside(span, spot.first, spot.last)) {
			/* a part of it stays */
			ret = pages_make_leaf(from, key) ? 0 : -ENOMEM;
			continue;
		}
		if (spot.whole) {
			ret = move_wholes(from, &key, span, to, by);
			continue;
		}
		ret = move_node(from, &key, span, to, by);
		if (ret)
			continue;
		ret = move_of_leaf(from, key, spot.leaf, spot.leaf->present & span_bits(span, key), to, by);
		key++;
	}
	return ret < 0 ? ret : 0;
}

int pfs_pages_move(struct pfs_pages *from, uint64_t start, uint64_t end, struct pfs_pages *to, uint64_t delta)
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
	aside = pfs_pages_new_beside(from, start, end);
	if (!aside)
		return -ENOMEM;
	ret = move_span(from, &span, aside, 0);
	if (!ret)
		ret = move_span(aside, &all, to, by);
	pfs_pages_free(aside);
	return ret;
}

int pfs_pages_drop(struct pfs_pages *pages, uint64_t start, uint64_t end)
{
	struct pfs_pages *aside;
	struct span span;
	int ret;

	if (!span_of(pages, start, end, &span) || !pfs_pages_any(pages, start, end))
		return 0;
	aside = pfs_pages_new_beside(pages, start, end);
	if (!aside)
		return -ENOMEM;
	ret = move_span(pages, &span, aside, 0);
	pfs_pages_free(aside);
	return ret;
}

/* The first run of adjacent pages with exactly these flags, from *start on. False: there is none. */
static bool find_only(const struct pfs_pages *pages, uint64_t *start, uint64_t *end, uint32_t flags)
{
	const struct pfs_page *page;
	struct pfs_page_walk walk;
	bool found = false;
	uint64_t nr;

	pfs_page_walk_start(&walk, pages, *start, *end);
	while ((page = pfs_page_walk_row(&walk, &nr))) {
		bool such = page->flags == flags;

		if (found && (!such || walk.addr != *end))
			break;
		if (such && !found)
			*start = walk.addr;
		if (such)
			*end = walk.addr + (nr << pages->page_shift);
		found |= such;
	}
	return found;
}

int pfs_pages_drop_only(struct pfs_pages *pages, uint64_t start, uint64_t end, uint32_t flags)
{
	uint64_t at = start, run_end = end;
	int ret = 0;

	/* A tree must not change during a walk: one run at a time. */
	while (!ret && at < end && find_only(pages, &at, &run_end, flags)) {
		ret = pfs_pages_drop(pages, at, run_end);
		at = run_end;
		run_end = end;
	}
	return ret;
}
