/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of an address space: what happened to one of them. Ranges are pages_range.c's, reading many
 * pages_walk.c's, the tree underneath pages_tree.c's.
 *
 * Of most pages all there is to say is one event: a leaf keeps them in 16 bytes each, until something happens to
 * one of its pages that does not fit; then it becomes a long one, with 48 bytes for each page. Reading never
 * writes, so a finished tree can be read from several threads. Regions are not known here; model.c and space.c
 * call this, views read.
 *
 * Ranges are widened to whole pages. In every function end == 0 means: up to the top of memory.
 */
#include "pages_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The leaf of a key that may have to be made. NULL: no memory. */
static struct leaf *leaf_of(struct pfs_pages *pages, uint64_t key)
{
	if (pages->recent[key % NR_RECENT].key == key)
		return pages->recent[key % NR_RECENT].leaf;
	return pages_make_leaf(pages, key);
}

bool pages_to_brief(struct brief *brief, const struct pfs_page *page)
{
	struct pfs_page back;

	*brief = (struct brief){ page->first_ns, page->first_tid, page->flags };
	from_brief(&back, brief);
	return !memcmp(&back, page, sizeof(back));
}

/* The same leaf with room for all of each page. NULL: no memory. */
static struct leaf *lengthen(struct pfs_pages *pages, uint64_t key, struct leaf *leaf)
{
	struct leaf *longer = pages_new_leaf(true);
	void **slot = longer ? pages_make_slot(pages, key) : NULL;

	if (!slot) {
		free(longer);
		return NULL;
	}
	longer->present = leaf->present;
	longer->mixed = true;
	for (uint64_t bits = leaf->present; bits; bits &= bits - 1)
		from_brief(&longer->page[__builtin_ctzll(bits)], &leaf->brief[__builtin_ctzll(bits)]);
	*slot = longer;
	pages_remember(pages, key, longer);
	free(leaf);
	return longer;
}

/* A page comes into the leaf, in brief. */
static void put_brief(struct pfs_pages *pages, struct leaf *leaf, unsigned int i, const struct brief *brief)
{
	if (!leaf->present) {
		leaf->mixed = false;
		leaf->flags = brief->flags;
		leaf->first_ns = leaf->last_ns = brief->ns;
	}
	leaf->mixed |= brief->flags != leaf->flags;
	if (brief->ns < leaf->first_ns)
		leaf->first_ns = brief->ns;
	if (brief->ns > leaf->last_ns)
		leaf->last_ns = brief->ns;
	leaf->brief[i] = *brief;
	leaf->present |= UINT64_C(1) << i;
	pages->total++;
}

/* Puts down all there is to say of that page. 0 or -ENOMEM. */
static int put_page(struct pfs_pages *pages, uint64_t number, struct leaf *leaf, const struct pfs_page *page)
{
	unsigned int i = number % FANOUT;
	struct brief brief;

	if (!leaf->is_long && !pages_to_brief(&brief, page)) {
		leaf = lengthen(pages, number >> FANOUT_SHIFT, leaf);
		if (!leaf)
			return -ENOMEM;
	}
	if (!leaf->is_long && !(leaf->present >> i & 1)) {
		put_brief(pages, leaf, i, &brief);
		return 0;
	}
	leaf->mixed = true;
	if (leaf->is_long)
		leaf->page[i] = *page;
	else
		leaf->brief[i] = brief;
	pages->total += !(leaf->present >> i & 1);
	leaf->present |= UINT64_C(1) << i;
	return 0;
}

static uint32_t add_saturating(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

void pages_merge(struct pfs_page *to, const struct pfs_page *page)
{
	if (!to->flags) {
		*to = *page;
		return;
	}
	if (!page->flags)
		return;
	if (page->first_tid && (!to->first_tid || page->first_ns < to->first_ns))
		to->first_tid = page->first_tid;
	if (page->first_ns < to->first_ns)
		to->first_ns = page->first_ns;
	if (page->last_ns > to->last_ns)
		to->last_ns = page->last_ns;
	to->flags |= page->flags;
	to->nr_read = add_saturating(to->nr_read, page->nr_read);
	to->nr_write = add_saturating(to->nr_write, page->nr_write);
	to->nr_exec = add_saturating(to->nr_exec, page->nr_exec);
	to->nr_faults = add_saturating(to->nr_faults, page->nr_faults);
	to->nr_kernel = add_saturating(to->nr_kernel, page->nr_kernel);
	to->nr_signal = add_saturating(to->nr_signal, page->nr_signal);
}

int pages_add(struct pfs_pages *pages, uint64_t number, const struct pfs_page *what)
{
	struct leaf *leaf = leaf_of(pages, number >> FANOUT_SHIFT);
	unsigned int i = number % FANOUT;
	struct pfs_page room = { 0 };

	if (!leaf)
		return -ENOMEM;
	if (!(leaf->present >> i & 1))
		return put_page(pages, number, leaf, what);
	if (leaf->is_long) {
		pages_merge(&leaf->page[i], what);
		return 0;
	}
	from_brief(&room, &leaf->brief[i]);
	pages_merge(&room, what);
	return put_page(pages, number, leaf, &room);
}

int pfs_pages_add(struct pfs_pages *pages, uint64_t addr, const struct pfs_page *what)
{
	return pages_add(pages, addr >> pages->page_shift, what);
}

int pfs_pages_fault(struct pfs_pages *pages, uint64_t addr, uint64_t now_ns, int32_t tid, uint32_t flags)
{
	uint64_t number = addr >> pages->page_shift;
	struct leaf *leaf = leaf_of(pages, number >> FANOUT_SHIFT);
	uint64_t bit = UINT64_C(1) << number % FANOUT;
	struct brief brief = { now_ns, tid, flags };
	struct pfs_page page;

	if (!leaf)
		return -ENOMEM;
	if (leaf->is_long || leaf->present & bit) {
		from_brief(&page, &brief);
		return pages_add(pages, number, &page);
	}
	put_brief(pages, leaf, number % FANOUT, &brief);
	return 0;
}

/* The page of that number if something happened to it, which may be put together in *room; or NULL. */
static const struct pfs_page *find_page(const struct pfs_pages *pages, uint64_t number, struct pfs_page *room)
{
	struct spot spot = pages_at(pages, number >> FANOUT_SHIFT);

	if (spot.whole)
		return &spot.whole->page;
	return spot.leaf && spot.leaf->present >> number % FANOUT & 1 ? page_in(spot.leaf, number % FANOUT, room) :
									NULL;
}

int pfs_pages_came_of(struct pfs_pages *pages, uint64_t addr, uint32_t flags)
{
	uint64_t number = addr >> pages->page_shift;
	struct pfs_page page;
	const struct pfs_page *found = find_page(pages, number, &page);
	struct leaf *leaf;

	if (!found)
		return 0;
	page = *found;
	page.flags |= flags;
	page.nr_signal = add_saturating(page.nr_signal, !!(flags & PFS_PAGE_SIGNAL));
	leaf = leaf_of(pages, number >> FANOUT_SHIFT);
	return leaf ? put_page(pages, number, leaf, &page) : -ENOMEM;
}

bool pfs_pages_find(const struct pfs_pages *pages, uint64_t addr, struct pfs_page *page)
{
	const struct pfs_page *found = find_page(pages, addr >> pages->page_shift, page);

	if (found && found != page)
		*page = *found;
	return found;
}

bool pfs_pages_has(const struct pfs_pages *pages, uint64_t addr, uint32_t flags)
{
	struct pfs_page room;
	const struct pfs_page *found = find_page(pages, addr >> pages->page_shift, &room);

	return found && found->flags & flags;
}
