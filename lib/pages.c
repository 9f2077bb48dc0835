/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of an address space as a sparse radix tree: leaves of 64 pages under 64-way nodes.
 *
 * The tree is as high as its highest address needs (5 levels of nodes for a user address on x86-64,
 * 8 for one of the kernel's half). A leaf holds at least one page and goes away with its last one,
 * so walking meets no empty leaf. Of most pages all there is to say is one event: a leaf keeps them in
 * 16 bytes each, until something happens to one of its pages that does not fit; then it becomes a long
 * one, with 48 bytes for each page. A few recently used leaves are remembered: getting a page of one
 * of them again is a compare and an index. Reading never writes, so a finished tree can be read
 * from several threads. Regions are not known here; model.c and space.c call this, views read.
 *
 * Ranges are widened to whole pages. In every function end == 0 means: up to the top of memory.
 */
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FANOUT_SHIFT = 6, FANOUT = 1 << FANOUT_SHIFT, NR_RECENT = 8, MAX_PAGE_SHIFT = 40 };
#define NO_KEY UINT64_MAX

/* A page with one fault, or with no fault and one other event; the counts are what the flags say. */
struct brief {
	uint64_t ns;
	uint32_t tid;
	uint32_t flags;
};

/* Its key is the page number without the lowest 6 bits, which are the index into page[] or brief[]. */
struct leaf {
	uint64_t present;	/* one bit a page: something happened */
	bool is_long;
	bool mixed;		/* pages differ in their flags, or the next three no longer hold */
	uint32_t flags;		/* of all its pages */
	uint64_t first_ns, last_ns;	/* the earliest and the latest time in it */
	union {
		struct pfs_page page[0];
		struct brief brief[0];
	};
};

struct node {
	uint64_t used;		/* one bit a slot */
	void *slot[FANOUT];	/* node, or leaf at level 1 */
};

struct pfs_pages {
	unsigned int page_shift;
	unsigned int height;	/* levels of nodes; 0: root is the leaf of key 0, or NULL */
	void *root;
	uint64_t total;
	struct {
		uint64_t key;
		struct leaf *leaf;
	} recent[NR_RECENT];
};

/* A range of page numbers, both inclusive: half-open could not say the top of memory. */
struct span {
	uint64_t first, last;
};

static unsigned int slot_of(uint64_t key, unsigned int level)
{
	return key >> (FANOUT_SHIFT * (level - 1)) & (FANOUT - 1);
}

static bool key_fits(uint64_t key, unsigned int height)
{
	return FANOUT_SHIFT * height >= 64 || !(key >> (FANOUT_SHIFT * height));
}

static void remember(struct pfs_pages *pages, uint64_t key, struct leaf *leaf)
{
	pages->recent[key % NR_RECENT].key = key;
	pages->recent[key % NR_RECENT].leaf = leaf;
}

static void forget(struct pfs_pages *pages, uint64_t key)
{
	if (pages->recent[key % NR_RECENT].key == key)
		pages->recent[key % NR_RECENT].key = NO_KEY;
}

static struct leaf *find_leaf(const struct pfs_pages *pages, uint64_t key)
{
	void *at = pages->root;

	if (pages->recent[key % NR_RECENT].key == key)
		return pages->recent[key % NR_RECENT].leaf;
	if (!key_fits(key, pages->height))
		return NULL;
	for (unsigned int level = pages->height; level && at; level--)
		at = ((struct node *)at)->slot[slot_of(key, level)];
	return at;
}

/* Puts nodes on top until the tree can hold key. */
static int grow(struct pfs_pages *pages, uint64_t key)
{
	while (!key_fits(key, pages->height)) {
		if (pages->root) {
			struct node *node = calloc(1, sizeof(*node));

			if (!node)
				return -ENOMEM;
			node->used = 1;
			node->slot[0] = pages->root;
			pages->root = node;
		}
		pages->height++;
	}
	return 0;
}

/* Where the pointer to the leaf of key is, with all nodes above it made. NULL: no memory. */
static void **make_slot(struct pfs_pages *pages, uint64_t key)
{
	void **at = &pages->root;

	if (grow(pages, key))
		return NULL;
	for (unsigned int level = pages->height; level; level--) {
		struct node *node = *at;

		if (!node) {
			node = *at = calloc(1, sizeof(*node));
			if (!node)
				return NULL;
		}
		/* set before the child exists: walks look at the pointer too */
		node->used |= UINT64_C(1) << slot_of(key, level);
		at = &node->slot[slot_of(key, level)];
	}
	return at;
}

static struct leaf *leaf_new(bool is_long)
{
	size_t size = is_long ? sizeof(struct pfs_page) : sizeof(struct brief);
	struct leaf *leaf = calloc(1, sizeof(*leaf) + FANOUT * size);

	if (leaf)
		leaf->is_long = is_long;
	return leaf;
}

static struct leaf *make_leaf(struct pfs_pages *pages, uint64_t key)
{
	void **slot = make_slot(pages, key);

	if (!slot)
		return NULL;
	if (!*slot)
		*slot = leaf_new(false);
	if (*slot)
		remember(pages, key, *slot);
	return *slot;
}

/* The leaf of a key that may have to be made. NULL: no memory. */
static struct leaf *leaf_of(struct pfs_pages *pages, uint64_t key)
{
	if (pages->recent[key % NR_RECENT].key == key)
		return pages->recent[key % NR_RECENT].leaf;
	return make_leaf(pages, key);
}

/* ---- one page of a leaf ---- */

static void from_brief(struct pfs_page *page, const struct brief *brief)
{
	uint32_t flags = brief->flags;

	page->first_ns = page->last_ns = brief->ns;
	page->first_tid = brief->tid;
	page->flags = flags;
	page->nr_faults = !!(flags & PFS_PAGE_TOUCHED);
	page->nr_read = !!(flags & PFS_PAGE_READ);
	page->nr_write = !!(flags & PFS_PAGE_WRITE);
	page->nr_exec = !!(flags & PFS_PAGE_EXEC);
	page->nr_kernel = !!(flags & PFS_PAGE_KERNEL);
	page->nr_signal = !!(flags & PFS_PAGE_SIGNAL);
}

/* Says the brief form all there is to say of the page? */
static bool to_brief(struct brief *brief, const struct pfs_page *page)
{
	struct pfs_page back;

	*brief = (struct brief){ page->first_ns, page->first_tid, page->flags };
	from_brief(&back, brief);
	return !memcmp(&back, page, sizeof(back));
}

static const struct pfs_page *page_in(const struct leaf *leaf, unsigned int i, struct pfs_page *room)
{
	if (leaf->is_long)
		return &leaf->page[i];
	from_brief(room, &leaf->brief[i]);
	return room;
}

static uint32_t flags_in(const struct leaf *leaf, unsigned int i)
{
	return leaf->is_long ? leaf->page[i].flags : leaf->brief[i].flags;
}

/* The same leaf with room for all of each page. NULL: no memory. */
static struct leaf *lengthen(struct pfs_pages *pages, uint64_t key, struct leaf *leaf)
{
	struct leaf *longer = leaf_new(true);
	void **slot = longer ? make_slot(pages, key) : NULL;

	if (!slot) {
		free(longer);
		return NULL;
	}
	longer->present = leaf->present;
	longer->mixed = true;
	for (uint64_t bits = leaf->present; bits; bits &= bits - 1)
		from_brief(&longer->page[__builtin_ctzll(bits)], &leaf->brief[__builtin_ctzll(bits)]);
	*slot = longer;
	remember(pages, key, longer);
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

	if (!leaf->is_long && !to_brief(&brief, page)) {
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

/* Takes the leaf of key out of the tree, and nodes that only led to it. The caller has the leaf. */
static void unlink_leaf(struct pfs_pages *pages, uint64_t key)
{
	void **path[64 / FANOUT_SHIFT + 2];
	void **at = &pages->root;
	unsigned int level;

	forget(pages, key);
	for (level = pages->height; level; level--) {
		path[level] = at;
		at = &((struct node *)*at)->slot[slot_of(key, level)];
	}
	*at = NULL;
	for (level = 1; level <= pages->height; level++) {
		struct node *node = *path[level];

		node->used &= ~(UINT64_C(1) << slot_of(key, level));
		if (node->used)
			return;
		free(node);
		*path[level] = NULL;
	}
	pages->height = 0;
}

/* The first leaf at or after *key below `at`, which is at `level`; *key becomes its key. */
static struct leaf *next_below(void *at, unsigned int level, uint64_t *key)
{
	struct node *node = at;
	uint64_t used, prefix;
	unsigned int from, i;

	if (!level || !at)
		return at;
	from = slot_of(*key, level);
	prefix = *key >> (FANOUT_SHIFT * (level - 1)) & ~(uint64_t)(FANOUT - 1);
	for (used = node->used >> from << from; used; used &= used - 1) {
		struct leaf *leaf;

		i = __builtin_ctzll(used);
		if (i != from)
			*key = (prefix | i) << (FANOUT_SHIFT * (level - 1));
		leaf = next_below(node->slot[i], level - 1, key);
		if (leaf)
			return leaf;
	}
	return NULL;
}

/* The first leaf at or after *key; *key becomes its key. */
static struct leaf *next_leaf(const struct pfs_pages *pages, uint64_t *key)
{
	struct leaf *leaf = find_leaf(pages, *key);

	if (leaf || !key_fits(*key, pages->height))
		return leaf;
	return next_below(pages->root, pages->height, key);
}

static bool span_of(const struct pfs_pages *pages, uint64_t start, uint64_t end, struct span *span)
{
	span->first = start >> pages->page_shift;
	span->last = (end - 1) >> pages->page_shift;
	return !end || start < end;
}

/* The bits of the leaf of key that lie in the span. */
static uint64_t span_bits(const struct span *span, uint64_t key)
{
	uint64_t bits = UINT64_MAX;

	if (key == span->first >> FANOUT_SHIFT)
		bits &= UINT64_MAX << span->first % FANOUT;
	if (key == span->last >> FANOUT_SHIFT)
		bits &= UINT64_MAX >> (FANOUT - 1 - span->last % FANOUT);
	return bits;
}

static uint32_t add_saturating(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

/* Adds what happened to `page` to what happened to `to`. */
static void merge_page(struct pfs_page *to, const struct pfs_page *page)
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

static int add_page(struct pfs_pages *pages, uint64_t number, const struct pfs_page *what)
{
	struct leaf *leaf = leaf_of(pages, number >> FANOUT_SHIFT);
	unsigned int i = number % FANOUT;
	struct pfs_page room = { 0 };

	if (!leaf)
		return -ENOMEM;
	if (!(leaf->present >> i & 1))
		return put_page(pages, number, leaf, what);
	if (leaf->is_long) {
		merge_page(&leaf->page[i], what);
		return 0;
	}
	from_brief(&room, &leaf->brief[i]);
	merge_page(&room, what);
	return put_page(pages, number, leaf, &room);
}

/* Hangs a leaf over from one tree to a place in another where there is none. */
static int move_leaf(struct pfs_pages *from, uint64_t key, struct leaf *leaf,
		     struct pfs_pages *to, uint64_t to_key)
{
	void **slot = make_slot(to, to_key);
	int nr = __builtin_popcountll(leaf->present);

	if (!slot)
		return -ENOMEM;
	*slot = leaf;
	remember(to, to_key, leaf);
	unlink_leaf(from, key);
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

		if (add_page(to, number & (UINT64_MAX >> to->page_shift), page_in(leaf, i, &room)))
			return -ENOMEM;
		if (from == to)	/* it may have been its own target, and grown */
			leaf = find_leaf(from, key);
		leaf->present &= ~(UINT64_C(1) << i);
		leaf->mixed = true;
		from->total--;
	}
	if (!leaf->present) {
		unlink_leaf(from, key);
		free(leaf);
	}
	return 0;
}

/* pfs_pages_move() by `by` pages, where no page lands in the span that it still has to move. */
static int move_span(struct pfs_pages *from, const struct span *span, struct pfs_pages *to,
		     uint64_t by)
{
	uint64_t max_key = UINT64_MAX >> to->page_shift >> FANOUT_SHIFT;
	uint64_t key = span->first >> FANOUT_SHIFT, last = span->last >> FANOUT_SHIFT;
	struct leaf *leaf;
	int ret = 0;

	for (; !ret && key <= last && (leaf = next_leaf(from, &key)) && key <= last; key++) {
		uint64_t bits = leaf->present & span_bits(span, key);
		uint64_t to_key = (key + (by >> FANOUT_SHIFT)) & max_key;

		if (!bits)
			continue;
		if (bits == leaf->present && !(by % FANOUT) && !find_leaf(to, to_key))
			ret = move_leaf(from, key, leaf, to, to_key);
		else
			ret = move_bits(from, key, leaf, bits, to, by);
	}
	return ret;
}

static void free_below(void *at, unsigned int level)
{
	struct node *node = at;

	if (level && at)
		for (uint64_t used = node->used; used; used &= used - 1)
			free_below(node->slot[__builtin_ctzll(used)], level - 1);
	free(at);
}

struct pfs_pages *pfs_pages_new(unsigned int page_shift)
{
	struct pfs_pages *pages;

	if (page_shift > MAX_PAGE_SHIFT) {
		errno = EINVAL;
		return NULL;
	}
	pages = calloc(1, sizeof(*pages));
	if (!pages)
		return NULL;
	pages->page_shift = page_shift;
	for (unsigned int i = 0; i < NR_RECENT; i++)
		pages->recent[i].key = NO_KEY;
	return pages;
}

void pfs_pages_free(struct pfs_pages *pages)
{
	if (!pages)
		return;
	free_below(pages->root, pages->height);
	free(pages);
}

unsigned int pfs_pages_shift(const struct pfs_pages *pages)
{
	return pages->page_shift;
}

int pfs_pages_add(struct pfs_pages *pages, uint64_t addr, const struct pfs_page *what)
{
	return add_page(pages, addr >> pages->page_shift, what);
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
		return add_page(pages, number, &page);
	}
	put_brief(pages, leaf, number % FANOUT, &brief);
	return 0;
}

/* The leaf of a page that something happened to, or NULL. */
static struct leaf *find_page(const struct pfs_pages *pages, uint64_t number)
{
	struct leaf *leaf = find_leaf(pages, number >> FANOUT_SHIFT);

	return leaf && leaf->present >> number % FANOUT & 1 ? leaf : NULL;
}

int pfs_pages_came_of(struct pfs_pages *pages, uint64_t addr, uint32_t flags)
{
	uint64_t number = addr >> pages->page_shift;
	struct leaf *leaf = find_page(pages, number);
	struct pfs_page page;

	if (!leaf)
		return 0;
	page = *page_in(leaf, number % FANOUT, &page);
	page.flags |= flags;
	page.nr_signal = add_saturating(page.nr_signal, !!(flags & PFS_PAGE_SIGNAL));
	return put_page(pages, number, leaf, &page);
}

bool pfs_pages_find(const struct pfs_pages *pages, uint64_t addr, struct pfs_page *page)
{
	uint64_t number = addr >> pages->page_shift;
	const struct leaf *leaf = find_page(pages, number);

	if (leaf)
		*page = *page_in(leaf, number % FANOUT, page);
	return leaf;
}

bool pfs_pages_has(const struct pfs_pages *pages, uint64_t addr, uint32_t flags)
{
	uint64_t number = addr >> pages->page_shift;
	const struct leaf *leaf = find_page(pages, number);

	return leaf && flags_in(leaf, number % FANOUT) & flags;
}

/* ---- walking ---- */

void pfs_page_walk_start(struct pfs_page_walk *walk, const struct pfs_pages *pages, uint64_t start,
			 uint64_t end)
{
	struct span span;

	*walk = (struct pfs_page_walk){ .pages = span_of(pages, start, end, &span) ? pages : NULL };
	walk->first = span.first;
	walk->last = span.last;
	walk->key = span.first >> FANOUT_SHIFT;
}

/* To the next leaf that has pages in the range. False: there is none. */
static bool walk_leaf(struct pfs_page_walk *walk)
{
	struct span span = { walk->first, walk->last };

	while (walk->pages && walk->key <= walk->last >> FANOUT_SHIFT) {
		const struct leaf *leaf;

		walk->key += !!walk->leaf;	/* the topmost key is never UINT64_MAX: pages are not bytes */
		leaf = walk->leaf = next_leaf(walk->pages, &walk->key);
		if (!leaf || walk->key > walk->last >> FANOUT_SHIFT)
			break;
		walk->bits = leaf->present & span_bits(&span, walk->key);
		if (walk->bits)
			return true;
	}
	walk->pages = NULL;
	return false;
}

const struct pfs_page *pfs_page_walk_next(struct pfs_page_walk *walk)
{
	unsigned int i;

	if (!walk->bits && !walk_leaf(walk))
		return NULL;
	i = __builtin_ctzll(walk->bits);
	walk->bits &= walk->bits - 1;
	walk->addr = ((walk->key << FANOUT_SHIFT) + i) << walk->pages->page_shift;
	return page_in(walk->leaf, i, &walk->page);
}

/* The bits of pages at and below that address, in the leaf of key. */
static uint64_t bits_below(const struct pfs_page_walk *walk, uint64_t limit)
{
	unsigned int shift = walk->pages->page_shift;
	uint64_t first = walk->key << FANOUT_SHIFT, number = limit >> shift;

	if (number <= first)
		return 0;
	return number - first >= FANOUT ? UINT64_MAX : (UINT64_C(1) << (number - first)) - 1;
}

static void take(struct pfs_page_walk *walk, uint64_t bits)
{
	walk->addr = ((walk->key << FANOUT_SHIFT) + __builtin_ctzll(bits)) << walk->pages->page_shift;
	walk->bits &= ~bits;
}

bool pfs_page_walk_flags(struct pfs_page_walk *walk, uint64_t limit, uint32_t *flags, unsigned int *nr)
{
	const struct leaf *leaf;
	uint64_t bits;

	if (!walk->bits && !walk_leaf(walk))
		return false;
	leaf = walk->leaf;
	bits = leaf->mixed ? 0 : walk->bits & bits_below(walk, limit);
	if (!bits)
		bits = walk->bits & -walk->bits;
	*flags = flags_in(leaf, __builtin_ctzll(bits));
	*nr = __builtin_popcountll(bits);
	take(walk, bits);
	return true;
}

const struct pfs_page *pfs_page_walk_alike(struct pfs_page_walk *walk, unsigned int *nr)
{
	const struct leaf *leaf;
	struct brief brief;

	*nr = 1;
	if (!walk->bits && !walk_leaf(walk))
		return NULL;
	leaf = walk->leaf;
	if (leaf->mixed || walk->bits != leaf->present)
		return pfs_page_walk_next(walk);
	*nr = __builtin_popcountll(walk->bits);
	brief = leaf->brief[__builtin_ctzll(walk->bits)];
	from_brief(&walk->page, &brief);
	walk->page.first_ns = leaf->first_ns;
	walk->page.last_ns = leaf->last_ns;
	take(walk, walk->bits);
	return &walk->page;
}

bool pfs_pages_any(const struct pfs_pages *pages, uint64_t start, uint64_t end)
{
	struct pfs_page_walk walk;

	pfs_page_walk_start(&walk, pages, start, end);
	return pfs_page_walk_next(&walk);
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

uint64_t pfs_pages_total(const struct pfs_pages *pages)
{
	return pages->total;
}
