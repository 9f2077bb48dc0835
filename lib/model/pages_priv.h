/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of pages.h share: pages_tree.c (the tree and its leaves), pages.c (one page), pages_range.c (ranges),
 * pages_walk.c (walks).
 *
 * A radix tree: leaves of 64 pages under 64-way nodes. In place of a leaf, or of a node with its subtree, there may be one
 * `whole`: the same happened to each of those pages. So marking a range does not depend on its length. A whole is divided
 * where its pages come to differ.
 */
#ifndef PFS_PAGES_PRIV_H
#define PFS_PAGES_PRIV_H

#include "model/pages.h"

enum { FANOUT_SHIFT = 6, FANOUT = 1 << FANOUT_SHIFT, NR_RECENT = 8, MAX_PAGE_SHIFT = 40 };
#define NO_KEY UINT64_MAX

/*
 * Memory for nodes and leaves (pages_pool.c): small pieces of a few sizes from large blocks, which are freed all at once.
 * The largest blocks are huge pages if possible, for page faults would be most of the cost. Trees that move leaves to one
 * another share a pool.
 */
struct pages_pool;

/* The kinds of pieces: a leaf of each form (enum leaf_form), nodes and wholes. */
enum { POOL_NODE = 3, POOL_WHOLE, POOL_NR_KINDS };

struct pages_pool *pages_pool_new(void); /* with one reference. NULL: no memory */
struct pages_pool *pages_pool_get(struct pages_pool *pool);
void pages_pool_put(struct pages_pool *pool); /* the last reference frees all pieces; pool may be NULL */

/* Frees all pieces now. Afterwards none may be taken, and none need be given back. */
void pages_pool_close(struct pages_pool *pool);

/* Whether pieces need not be given back: they are freed, or will be with the pool. */
bool pages_pool_ends(const struct pages_pool *pool);

/* A piece, not cleared. NULL: no memory. */
void *pages_pool_take(struct pages_pool *pool, unsigned int kind);

/* Gives a piece back for reuse. */
void pages_pool_give(struct pages_pool *pool, unsigned int kind, void *piece);

/* How a leaf stores its pages. The form only ever gets longer. */
enum leaf_form {
	LEAF_ALIKE, /* the same happened to all of them within 4 seconds: 4 bytes a page */
	LEAF_BRIEF, /* one thing happened to each: 16 bytes */
	LEAF_LONG,  /* 48 bytes */
};

/* A page with one event: one fault, or no fault. Its counts follow from the flags. */
struct brief {
	uint64_t ns;
	uint32_t tid;
	uint32_t flags;
};

/* Its key is the page number without the lowest 6 bits, which are the index into the array. */
struct leaf {
	uint64_t present;	    /* one bit a page: something happened */
	uint64_t first_ns, last_ns; /* the earliest and the latest time, or, if mixed, bounds of them */
	uint32_t flags;		    /* of all its pages */
	uint32_t tid;		    /* of all its pages, if they are alike */
	uint8_t form;		    /* enum leaf_form */
	bool mixed;		    /* the pages may differ in their flags */
	union {
		uint32_t since[0]; /* first_ns; ns */
		struct brief brief[0];
		struct pfs_page page[0];
	};
};

/* In `refs` slots, where the lowest bit of the pointer marks it. */
struct whole {
	uint64_t refs;
	struct pfs_page page;
};

struct node {
	uint64_t used;	    /* one bit a slot */
	void *slot[FANOUT]; /* node, leaf at level 1, or whole at any */
};

struct pfs_pages {
	unsigned int page_shift;
	unsigned int height; /* levels of nodes; 0: root is the leaf or whole of key `base`, or NULL */
	uint64_t base;	     /* the lowest key; the height depends on the distance from it */
	void *root;
	struct pages_pool *pool;
	struct {
		uint64_t key;
		struct leaf *leaf;
	} recent[NR_RECENT];
};

/* A range of page numbers, both inclusive, for the sake of the topmost page. */
struct span {
	uint64_t first, last;
};

/* At a key: a leaf, or a whole for the keys [first, last], or neither. */
struct spot {
	struct leaf *leaf;
	struct whole *whole;
	uint64_t first, last;
	unsigned int level; /* of its slot; 0: a leaf's */
};

/* The slot in a node of that level for a key less the tree's base. */
static inline unsigned int slot_of(uint64_t at, unsigned int level)
{
	return at >> (FANOUT_SHIFT * (level - 1)) & (FANOUT - 1);
}

/* The keys below a slot of that level differ in these bits, less the tree's base. */
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

/* The first leaf or whole at or after *key. Advances *key to it, unless the whole begins before. */
struct spot pages_next(const struct pfs_pages *pages, uint64_t *key);

/* The node above the leaf of key; NULL: no such leaf, or it is the root. */
struct node *pages_node_of(const struct pfs_pages *pages, uint64_t key);

/* The leaf of a key, created if there is none, or from a whole. NULL: no memory. */
struct leaf *pages_make_leaf(struct pfs_pages *pages, uint64_t key);

/* The same, faster if it was used recently. */
static inline struct leaf *pages_leaf_of(struct pfs_pages *pages, uint64_t key)
{
	if (pages->recent[key % NR_RECENT].key == key)
		return pages->recent[key % NR_RECENT].leaf;
	return pages_make_leaf(pages, key);
}

/* Inserts a leaf at key, in place of the leaf there, if any. 0 or -ENOMEM. */
int pages_hang_leaf(struct pfs_pages *pages, uint64_t key, struct leaf *leaf);

/*
 * Moves the node above the leaves of key .. key + 63 from one tree to the same place in another of the same pool. 1; 0:
 * there is no such node, or the place is not empty; or -ENOMEM.
 */
int pages_hang_over(struct pfs_pages *from, struct pfs_pages *to, uint64_t key);

/* Makes the tree high enough for key. 0 or -ENOMEM. */
int pages_grow(struct pfs_pages *pages, uint64_t key);

/* Divides the whole in a slot of that level into 64, or into a leaf of 64 pages. 0 or -ENOMEM. */
int pages_divide(struct pages_pool *pool, void **slot, unsigned int level);

/* Removes the content of the slot of key, at that level, and the nodes that only led to it. */
void pages_unlink(struct pfs_pages *pages, uint64_t key, unsigned int level);

/* Empty ones, and a whole as it goes into a slot. NULL: no memory. */
struct leaf *pages_new_leaf(struct pages_pool *pool, enum leaf_form form);
struct node *pages_new_node(struct pages_pool *pool);
void *pages_new_whole(struct pages_pool *pool, const struct pfs_page *page);
void pages_put_whole(struct pages_pool *pool, struct whole *whole);

/* ---- one page of a leaf ---- */

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

/* Are the leaf's pages alike, and such a page as well? */
static inline bool is_alike(const struct leaf *leaf, uint64_t ns, uint32_t tid, uint32_t flags)
{
	return leaf->form == LEAF_ALIKE && leaf->tid == tid && leaf->flags == flags &&
	       ns - leaf->first_ns <= UINT32_MAX;
}

/* Before the first page is stored in the leaf. */
static inline void begin_leaf(struct leaf *leaf, uint64_t ns, uint32_t tid, uint32_t flags)
{
	leaf->first_ns = leaf->last_ns = ns;
	leaf->tid = tid;
	leaf->flags = flags;
	leaf->mixed = false;
}

/* The form in which the leaf can store this page, too. */
enum leaf_form pages_form_for(const struct leaf *leaf, const struct pfs_page *page);

/* Stores page i, in a leaf whose form has room for it. */
void pages_write(struct leaf *leaf, unsigned int i, const struct pfs_page *page);

/* Page i, in place or in *room. */
const struct pfs_page *pages_in(const struct leaf *leaf, unsigned int i, struct pfs_page *room);

/* Its flags alone. */
static inline uint32_t flags_in(const struct leaf *leaf, unsigned int i)
{
	switch (leaf->form) {
	case LEAF_ALIKE:
		return leaf->flags;
	case LEAF_BRIEF:
		return leaf->brief[i].flags;
	default:
		return leaf->page[i].flags;
	}
}

/* ---- pages.c: one page of a tree ---- */

/* Merges `page` into `to`. */
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
