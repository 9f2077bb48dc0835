/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One page at a time, and faults. Most pages have one event, mostly the same as the pages around them: their leaf stores
 * only the times. It changes to a longer form (enum leaf_form) when one of its pages does not fit. Reading never writes,
 * so several threads can read a finished tree.
 */
#include "model/pages_priv.h"

#include <errno.h>
#include <string.h>

/* The same leaf in a longer form. NULL: no memory. */
static struct leaf *lengthen(struct pfs_pages *pages, uint64_t key, struct leaf *leaf, enum leaf_form form)
{
	struct leaf *longer = pages_new_leaf(pages->pool, form);

	if (!longer)
		return NULL;
	*longer = *leaf;
	longer->form = form;
	for (uint64_t bits = leaf->present; bits; bits &= bits - 1) {
		unsigned int i = __builtin_ctzll(bits);
		struct pfs_page room;

		pages_write(longer, i, pages_in(leaf, i, &room));
	}
	if (pages_hang_leaf(pages, key, longer))
		return NULL;
	pages_pool_give(pages->pool, leaf->form, leaf);
	return longer;
}

/* Stores that page. 0 or -ENOMEM. */
static int put_page(struct pfs_pages *pages, uint64_t number, struct leaf *leaf, const struct pfs_page *page)
{
	uint64_t bit = UINT64_C(1) << number % FANOUT;
	enum leaf_form form;

	if (!leaf->present)
		begin_leaf(leaf, page->first_ns, page->first_tid, page->flags);
	form = pages_form_for(leaf, page);
	if (form > leaf->form)
		leaf = lengthen(pages, number >> FANOUT_SHIFT, leaf, form);
	if (!leaf)
		return -ENOMEM;
	leaf->mixed |= leaf->form == LEAF_LONG || leaf->present & bit || page->flags != leaf->flags;
	if (page->first_ns < leaf->first_ns)
		leaf->first_ns = page->first_ns;
	if (page->last_ns > leaf->last_ns)
		leaf->last_ns = page->last_ns;
	pages_write(leaf, number % FANOUT, page);
	leaf->present |= bit;
	return 0;
}

static uint32_t add_saturating(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

void pages_merge(struct pfs_page *to, const struct pfs_page *page)
{
	if (!to->flags || page->flags & PFS_PAGE_NEWEST) {
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
	struct leaf *leaf = pages_leaf_of(pages, number >> FANOUT_SHIFT);
	unsigned int i = number % FANOUT;
	struct pfs_page room;

	if (!leaf)
		return -ENOMEM;
	if (!(leaf->present >> i & 1))
		return put_page(pages, number, leaf, what);
	if (leaf->form == LEAF_LONG) {
		pages_merge(&leaf->page[i], what);
		return 0;
	}
	room = *pages_in(leaf, i, &room);
	pages_merge(&room, what);
	return put_page(pages, number, leaf, &room);
}

int pfs_pages_add(struct pfs_pages *pages, uint64_t addr, const struct pfs_page *what)
{
	return pages_add(pages, addr >> pages->page_shift, what);
}

/* ---- faults, many at a time ---- */

/* One for each form of leaf: stores the faults from `at` on, as far as they fit into this leaf. Returns their number. */
static uint32_t put_alike(const struct pfs_pages *pages, uint64_t key, struct leaf *leaf, const struct pfs_faults_on *f,
			  uint32_t at)
{
	uint64_t present = leaf->present, first_ns;
	uint32_t i;

	if (!present)
		begin_leaf(leaf, f->ts_ns[at], f->tid, f->flags);
	if (!is_alike(leaf, f->ts_ns[at], f->tid, f->flags))
		return 0;
	first_ns = leaf->first_ns;
	for (i = at; i < f->nr; i++) {
		uint64_t number = f->addr[i] >> pages->page_shift, since = f->ts_ns[i] - first_ns;
		uint64_t bit = UINT64_C(1) << number % FANOUT;

		if (number >> FANOUT_SHIFT != key || present & bit || since > UINT32_MAX)
			break;
		leaf->since[number % FANOUT] = since;
		present |= bit;
	}
	if (i > at && f->ts_ns[i - 1] > leaf->last_ns)
		leaf->last_ns = f->ts_ns[i - 1];
	leaf->present = present;
	return i - at;
}

static uint32_t put_brief(const struct pfs_pages *pages, uint64_t key, struct leaf *leaf, const struct pfs_faults_on *f,
			  uint32_t at)
{
	uint64_t present = leaf->present;
	uint32_t i;

	for (i = at; i < f->nr; i++) {
		uint64_t number = f->addr[i] >> pages->page_shift, bit = UINT64_C(1) << number % FANOUT;

		if (number >> FANOUT_SHIFT != key || present & bit)
			break;
		leaf->brief[number % FANOUT] = (struct brief){ f->ts_ns[i], f->tid, f->flags };
		present |= bit;
	}
	if (i == at)
		return 0;
	leaf->mixed |= f->flags != leaf->flags;
	if (f->ts_ns[at] < leaf->first_ns)
		leaf->first_ns = f->ts_ns[at];
	if (f->ts_ns[i - 1] > leaf->last_ns)
		leaf->last_ns = f->ts_ns[i - 1];
	leaf->present = present;
	return i - at;
}

static struct pfs_page fault_page(const struct pfs_faults_on *f, uint32_t i)
{
	struct pfs_page page;

	from_brief(&page, &(struct brief){ f->ts_ns[i], f->tid, f->flags });
	return page;
}

static uint32_t put_long(const struct pfs_pages *pages, uint64_t key, struct leaf *leaf, const struct pfs_faults_on *f,
			 uint32_t at)
{
	struct pfs_page what = fault_page(f, at);
	uint32_t i;

	for (i = at; i < f->nr; i++) {
		uint64_t number = f->addr[i] >> pages->page_shift, bit = UINT64_C(1) << number % FANOUT;

		if (number >> FANOUT_SHIFT != key)
			break;
		what.first_ns = what.last_ns = f->ts_ns[i];
		if (leaf->present & bit)
			pages_merge(&leaf->page[number % FANOUT], &what);
		else
			leaf->page[number % FANOUT] = what;
		leaf->present |= bit;
	}
	return i - at;
}

/* A fault that does not fit into its leaf in this form. */
static int add_fault(struct pfs_pages *pages, const struct pfs_faults_on *f, uint32_t i)
{
	struct pfs_page what = fault_page(f, i);

	return pages_add(pages, f->addr[i] >> pages->page_shift, &what);
}

int pfs_pages_faults(struct pfs_pages *pages, const struct pfs_faults_on *f)
{
	for (uint32_t i = 0, nr; i < f->nr; i += nr) {
		uint64_t key = f->addr[i] >> pages->page_shift >> FANOUT_SHIFT;
		struct leaf *leaf = pages_leaf_of(pages, key);

		if (!leaf)
			return -ENOMEM;
		switch (leaf->form) {
		case LEAF_ALIKE:
			nr = put_alike(pages, key, leaf, f, i);
			break;
		case LEAF_BRIEF:
			nr = put_brief(pages, key, leaf, f, i);
			break;
		default:
			nr = put_long(pages, key, leaf, f, i);
		}
		if (!nr && add_fault(pages, f, i))
			return -ENOMEM;
		nr += !nr;
	}
	return 0;
}

/* The page of that number, in place or in *room; NULL: it was not touched. */
static const struct pfs_page *find_page(const struct pfs_pages *pages, uint64_t number, struct pfs_page *room)
{
	struct spot spot = pages_at(pages, number >> FANOUT_SHIFT);

	if (spot.whole)
		return &spot.whole->page;
	if (!spot.leaf || !(spot.leaf->present >> number % FANOUT & 1))
		return NULL;
	return pages_in(spot.leaf, number % FANOUT, room);
}

uint32_t pfs_pages_flags(const struct pfs_pages *pages, uint64_t addr)
{
	struct pfs_page room;
	const struct pfs_page *page = find_page(pages, addr >> pages->page_shift, &room);

	return page ? page->flags : 0;
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
	leaf = pages_leaf_of(pages, number >> FANOUT_SHIFT);
	return leaf ? put_page(pages, number, leaf, &page) : -ENOMEM;
}

/* ---- what was only possible ---- */

static void remove_page(struct pfs_pages *pages, uint64_t number, struct leaf *leaf)
{
	leaf->present &= ~(UINT64_C(1) << number % FANOUT);
	leaf->mixed = true;
	if (leaf->present)
		return;
	pages_unlink(pages, number >> FANOUT_SHIFT, 0);
	pages_pool_give(pages->pool, leaf->form, leaf);
}

static int settle(struct pfs_pages *pages, uint64_t number, uint64_t ts_ns, bool mapped)
{
	struct pfs_page page;
	const struct pfs_page *found = find_page(pages, number, &page);
	struct leaf *leaf;

	if (!found || !(found->flags & PFS_PAGE_MAYBE_AROUND) || found->first_ns != ts_ns)
		return 0;
	page = *found;
	page.flags &= ~PFS_PAGE_MAYBE_AROUND;
	if (mapped && !(page.flags & (PFS_PAGE_READ | PFS_PAGE_EXEC)))
		page.flags |= PFS_PAGE_AROUND;
	leaf = pages_leaf_of(pages, number >> FANOUT_SHIFT);
	if (!leaf)
		return -ENOMEM;
	if (page.flags)
		return put_page(pages, number, leaf, &page);
	remove_page(pages, number, leaf);
	return 0;
}

int pfs_pages_settle(struct pfs_pages *pages, uint64_t start, uint64_t end, uint64_t ts_ns, bool mapped)
{
	int err = 0;

	for (uint64_t addr = start; !err && addr < end; addr += UINT64_C(1) << pages->page_shift)
		err = settle(pages, addr >> pages->page_shift, ts_ns, mapped);
	return err;
}
