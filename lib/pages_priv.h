/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pages.c (what happens to pages), pages_tree.c (where they are kept), pages_range.c (many at once) and
 * pages_walk.c (reading them) share. Not for others: their interface is pages.h.
 *
 * A radix tree: leaves of 64 pages under 64-way nodes. In place of a leaf, or of any node with all that is below
 * it, there may be one `whole`: the same happened to each of those pages. So it does not matter how long a range
 * is that is marked. What has to be told apart later is divided then, just there.
 */
#ifndef PFS_PAGES_PRIV_H
#define PFS_PAGES_PRIV_H

#include "pages.h"

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

/* In as many slots as refs says. The lowest bit of the pointer there tells it from a node or leaf. */
struct whole {
	uint64_t refs;
	struct pfs_page page;
};

struct node {
	uint64_t used;		/* one bit a slot */
	void *slot[FANOUT];	/* node, leaf at level 1, or whole at any */
};

struct pfs_pages {
	unsigned int page_shift;
	unsigned int height;	/* levels of nodes; 0: root is the leaf or whole of key 0, or NULL */
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

/* What is at a key: a leaf, or a whole, which is there up to the key `last`; neither: nothing. */
struct spot {
	struct leaf *leaf;
	struct whole *whole;
	uint64_t last;
	unsigned int level;	/* of its slot: 0 is a leaf's */
};

static inline unsigned int slot_of(uint64_t key, unsigned int level)
{
	return key >> (FANOUT_SHIFT * (level - 1)) & (FANOUT - 1);
}

static inline bool key_fits(uint64_t key, unsigned int height)
{
	return FANOUT_SHIFT * height >= 64 || !(key >> (FANOUT_SHIFT * height));
}

/* The keys below a slot of that level differ in these bits. */
static inline uint64_t level_mask(unsigned int level)
{
	return FANOUT_SHIFT * level >= 64 ? UINT64_MAX : (UINT64_C(1) << FANOUT_SHIFT * level) - 1;
}

static inline struct whole *whole_in(const void *slot)
{
	return (uintptr_t)slot & 1 ? (struct whole *)((uintptr_t)slot - 1) : NULL;
}

/* ---- pages_tree.c ---- */

struct spot pages_at(const struct pfs_pages *pages, uint64_t key);

/* The first leaf or whole at or after *key; *key becomes its key, or stays if the whole begins before. */
struct spot pages_next(const struct pfs_pages *pages, uint64_t *key);

/* The leaf of a key, made if there is none: of a whole, if one is there. NULL: no memory. */
struct leaf *pages_make_leaf(struct pfs_pages *pages, uint64_t key);

/* Where the pointer to the leaf of key is, with all nodes above it made. NULL: no memory. */
void **pages_make_slot(struct pfs_pages *pages, uint64_t key);

/* Makes the tree high enough for key. 0 or -ENOMEM. */
int pages_grow(struct pfs_pages *pages, uint64_t key);

/* Divides the whole in a slot, which is of that level: into 64, or a leaf of 64 pages. 0 or -ENOMEM. */
int pages_divide(void **slot, unsigned int level);

/* Takes what is in the slot of key, at that level, out of the tree, and nodes that only led to it. */
void pages_unlink(struct pfs_pages *pages, uint64_t key, unsigned int level);

struct leaf *pages_new_leaf(bool is_long);	/* NULL: no memory */
void *pages_new_whole(const struct pfs_page *page);	/* as it goes into a slot; NULL: no memory */
void pages_put_whole(struct whole *whole);

static inline void pages_remember(struct pfs_pages *pages, uint64_t key, struct leaf *leaf)
{
	pages->recent[key % NR_RECENT].key = key;
	pages->recent[key % NR_RECENT].leaf = leaf;
}

/* ---- pages.c: one page of a leaf ---- */

static inline void from_brief(struct pfs_page *page, const struct brief *brief)
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
bool pages_to_brief(struct brief *brief, const struct pfs_page *page);

static inline const struct pfs_page *page_in(const struct leaf *leaf, unsigned int i, struct pfs_page *room)
{
	if (leaf->is_long)
		return &leaf->page[i];
	from_brief(room, &leaf->brief[i]);
	return room;
}

static inline uint32_t flags_in(const struct leaf *leaf, unsigned int i)
{
	return leaf->is_long ? leaf->page[i].flags : leaf->brief[i].flags;
}

/* Adds what happened to `page` to what happened to `to`. */
void pages_merge(struct pfs_page *to, const struct pfs_page *page);

/* Adds it to the page of that number. 0 or -ENOMEM. */
int pages_add(struct pfs_pages *pages, uint64_t number, const struct pfs_page *what);

/* ---- ranges ---- */

static inline bool span_of(const struct pfs_pages *pages, uint64_t start, uint64_t end, struct span *span)
{
	span->first = start >> pages->page_shift;
	span->last = (end - 1) >> pages->page_shift;
	return !end || start < end;
}

/* The bits of the leaf of key that lie in the span. */
static inline uint64_t span_bits(const struct span *span, uint64_t key)
{
	uint64_t bits = UINT64_MAX;

	if (key == span->first >> FANOUT_SHIFT)
		bits &= UINT64_MAX << span->first % FANOUT;
	if (key == span->last >> FANOUT_SHIFT)
		bits &= UINT64_MAX >> (FANOUT - 1 - span->last % FANOUT);
	return bits;
}

#endif
