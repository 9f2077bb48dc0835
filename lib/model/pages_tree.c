/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of nodes, leaves and wholes (pages_priv.h). It is as high as its highest address needs: 5 levels of nodes for a
 * user address on x86-64, 8 for a kernel address, none for the pages of one small region. A leaf is removed with its last
 * page, so walks meet no empty leaf. Recently used leaves are cached.
 */
#include "model/pages_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In what follows `at` is a key less the tree's base. */
static bool fits(uint64_t at, unsigned int height)
{
	return FANOUT_SHIFT * height >= 64 || !(at >> (FANOUT_SHIFT * height));
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

/* ---- a page of a leaf, in any of its forms ---- */

const struct pfs_page *pages_in(const struct leaf *leaf, unsigned int i, struct pfs_page *room)
{
	struct brief alike = { leaf->first_ns, leaf->tid, leaf->flags };

	switch (leaf->form) {
	case LEAF_ALIKE:
		alike.ns += leaf->since[i];
		from_brief(room, &alike);
		return room;
	case LEAF_BRIEF:
		from_brief(room, &leaf->brief[i]);
		return room;
	default:
		return &leaf->page[i];
	}
}

void pages_write(struct leaf *leaf, unsigned int i, const struct pfs_page *page)
{
	switch (leaf->form) {
	case LEAF_ALIKE:
		leaf->since[i] = page->first_ns - leaf->first_ns;
		break;
	case LEAF_BRIEF:
		leaf->brief[i] = (struct brief){ page->first_ns, page->first_tid, page->flags };
		break;
	default:
		leaf->page[i] = *page;
	}
}

enum leaf_form pages_form_for(const struct leaf *leaf, const struct pfs_page *page)
{
	const struct brief brief = { page->first_ns, page->first_tid, page->flags };
	struct pfs_page back;

	from_brief(&back, &brief);
	if (memcmp(&back, page, sizeof(back))) /* a struct brief would lose something */
		return LEAF_LONG;
	return is_alike(leaf, brief.ns, brief.tid, brief.flags) ? LEAF_ALIKE : LEAF_BRIEF;
}

/* ---- wholes ---- */

void *pages_new_whole(struct pages_pool *pool, const struct pfs_page *page)
{
	struct whole *whole = pages_pool_take(pool, POOL_WHOLE);

	if (!whole)
		return NULL;
	*whole = (struct whole){ 1, *page };
	return (char *)whole + 1;
}

void pages_put_whole(struct pages_pool *pool, struct whole *whole)
{
	if (!--whole->refs)
		pages_pool_give(pool, POOL_WHOLE, whole);
}

static struct leaf *leaf_of_whole(struct pages_pool *pool, const struct whole *whole)
{
	struct leaf like = { .form = LEAF_ALIKE }, *leaf;

	begin_leaf(&like, whole->page.first_ns, whole->page.first_tid, whole->page.flags);
	like.form = pages_form_for(&like, &whole->page);
	leaf = pages_new_leaf(pool, like.form);
	if (!leaf)
		return NULL;
	*leaf = like;
	leaf->present = UINT64_MAX;
	leaf->mixed = leaf->form == LEAF_LONG;
	for (unsigned int i = 0; i < FANOUT; i++)
		pages_write(leaf, i, &whole->page);
	return leaf;
}

int pages_divide(struct pages_pool *pool, void **slot, unsigned int level)
{
	struct whole *whole = whole_in(*slot);
	struct leaf *leaf;
	struct node *node;

	if (!level) {
		leaf = leaf_of_whole(pool, whole);
		if (!leaf)
			return -ENOMEM;
		*slot = leaf;
		pages_put_whole(pool, whole);
		return 0;
	}
	node = pages_pool_take(pool, POOL_NODE);
	if (!node)
		return -ENOMEM;
	node->used = UINT64_MAX;
	for (unsigned int i = 0; i < FANOUT; i++)
		node->slot[i] = *slot;
	whole->refs += FANOUT - 1;
	*slot = node;
	return 0;
}

/* ---- leaves and nodes ---- */

struct leaf *pages_new_leaf(struct pages_pool *pool, enum leaf_form form)
{
	struct leaf *leaf = pages_pool_take(pool, form);

	if (leaf) /* a page of it is written when its bit is set */
		*leaf = (struct leaf){ .form = form };
	return leaf;
}

struct node *pages_new_node(struct pages_pool *pool)
{
	struct node *node = pages_pool_take(pool, POOL_NODE);

	return node ? memset(node, 0, sizeof(*node)) : NULL;
}

/* Puts nodes on top until the tree can hold key. */
int pages_grow(struct pfs_pages *pages, uint64_t key)
{
	while (!fits(key - pages->base, pages->height)) {
		if (pages->root) {
			struct node *node = pages_new_node(pages->pool);

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

/* The slot `above` levels above the leaf of key (0: the leaf's own). Creates the nodes above it. NULL: no memory. */
static void **make_slot(struct pfs_pages *pages, uint64_t key, unsigned int above)
{
	uint64_t at = key - pages->base;
	void **slot = &pages->root;

	if (pages_grow(pages, key))
		return NULL;
	for (unsigned int level = pages->height; level > above; level--) {
		struct node *node;

		if (!*slot)
			*slot = pages_new_node(pages->pool);
		else if (whole_in(*slot) && pages_divide(pages->pool, slot, level))
			return NULL;
		node = *slot;
		if (!node)
			return NULL;
		/* set before the child exists: walks check the pointer, too */
		node->used |= UINT64_C(1) << slot_of(at, level);
		slot = &node->slot[slot_of(at, level)];
	}
	return slot;
}

struct leaf *pages_make_leaf(struct pfs_pages *pages, uint64_t key)
{
	void **slot = make_slot(pages, key, 0);

	if (!slot)
		return NULL;
	if (!*slot)
		*slot = pages_new_leaf(pages->pool, LEAF_ALIKE);
	else if (whole_in(*slot) && pages_divide(pages->pool, slot, 0))
		return NULL;
	if (*slot)
		remember(pages, key, *slot);
	return *slot;
}

int pages_hang_leaf(struct pfs_pages *pages, uint64_t key, struct leaf *leaf)
{
	void **slot = make_slot(pages, key, 0);

	if (!slot)
		return -ENOMEM;
	*slot = leaf;
	remember(pages, key, leaf);
	return 0;
}

void pages_unlink(struct pfs_pages *pages, uint64_t key, unsigned int level)
{
	void **path[64 / FANOUT_SHIFT + 2];
	uint64_t at = key - pages->base;
	void **slot = &pages->root;

	if (!level)
		forget(pages, key);
	for (unsigned int l = pages->height; l > level; l--) {
		path[l] = slot;
		slot = &((struct node *)*slot)->slot[slot_of(at, l)];
	}
	*slot = NULL;
	for (level++; level <= pages->height; level++) {
		struct node *node = *path[level];

		node->used &= ~(UINT64_C(1) << slot_of(at, level));
		if (node->used)
			return;
		pages_pool_give(pages->pool, POOL_NODE, node);
		*path[level] = NULL;
	}
	pages->height = 0;
}

int pages_hang_over(struct pfs_pages *from, struct pfs_pages *to, uint64_t key)
{
	struct node *node = pages_node_of(from, key);
	void **slot;

	if (!node || from->pool != to->pool || (key - from->base) % FANOUT || (key - to->base) % FANOUT)
		return 0;
	if (!to->height && to->root)
		return 0;
	to->height += !to->height;
	slot = make_slot(to, key, 1);
	if (!slot)
		return -ENOMEM;
	if (*slot)
		return 0;
	*slot = node;
	for (unsigned int i = 0; i < NR_RECENT; i++)
		if (from->recent[i].key - key < FANOUT)
			from->recent[i].key = NO_KEY;
	pages_unlink(from, key, 1);
	return 1;
}

/* ---- looking ---- */

static struct spot spot_of(const struct pfs_pages *pages, void *slot, uint64_t at, unsigned int level)
{
	struct whole *whole = whole_in(slot);

	return (struct spot){
		.leaf = whole ? NULL : slot,
		.whole = whole,
		.first = (at & ~level_mask(level)) + pages->base,
		.last = (at | level_mask(level)) + pages->base,
		.level = level,
	};
}

struct spot pages_at(const struct pfs_pages *pages, uint64_t key)
{
	unsigned int level = pages->height;
	uint64_t at = key - pages->base;
	void *slot = pages->root;

	if (pages->recent[key % NR_RECENT].key == key)
		return spot_of(pages, pages->recent[key % NR_RECENT].leaf, at, 0);
	if (!fits(at, level))
		return (struct spot){ 0 };
	for (; level && slot && !whole_in(slot); level--)
		slot = ((struct node *)slot)->slot[slot_of(at, level)];
	return spot_of(pages, slot, at, level);
}

struct node *pages_node_of(const struct pfs_pages *pages, uint64_t key)
{
	uint64_t at = key - pages->base;
	void *slot = pages->root;

	if (!pages->height || !fits(at, pages->height))
		return NULL;
	for (unsigned int level = pages->height; level > 1 && slot && !whole_in(slot); level--)
		slot = ((struct node *)slot)->slot[slot_of(at, level)];
	return whole_in(slot) ? NULL : slot;
}

/* The first one at or after *at below `slot`, which is at `level`; *at becomes its place. */
static struct spot next_below(const struct pfs_pages *pages, void *slot, unsigned int level, uint64_t *at)
{
	struct node *node = slot;
	uint64_t used, prefix;
	unsigned int from, i;

	if (!level || !slot || whole_in(slot))
		return spot_of(pages, slot, *at, level);
	from = slot_of(*at, level);
	prefix = *at >> (FANOUT_SHIFT * (level - 1)) & ~(uint64_t)(FANOUT - 1);
	for (used = node->used >> from << from; used; used &= used - 1) {
		struct spot spot;

		i = __builtin_ctzll(used);
		if (i != from)
			*at = (prefix | i) << (FANOUT_SHIFT * (level - 1));
		spot = next_below(pages, node->slot[i], level - 1, at);
		if (spot.leaf || spot.whole)
			return spot;
	}
	return (struct spot){ 0 };
}

struct spot pages_next(const struct pfs_pages *pages, uint64_t *key)
{
	struct spot spot = pages_at(pages, *key);
	uint64_t at = *key < pages->base ? 0 : *key - pages->base;

	if (spot.leaf || spot.whole || !fits(at, pages->height))
		return spot;
	spot = next_below(pages, pages->root, pages->height, &at);
	*key = at + pages->base;
	return spot;
}

/* ---- the whole tree ---- */

static struct pfs_pages *new_in(struct pages_pool *pool, unsigned int page_shift)
{
	struct pfs_pages *pages = pool ? calloc(1, sizeof(*pages)) : NULL;

	if (!pages) {
		pages_pool_put(pool);
		return NULL;
	}
	pages->pool = pool;
	pages->page_shift = page_shift;
	for (unsigned int i = 0; i < NR_RECENT; i++)
		pages->recent[i].key = NO_KEY;
	return pages;
}

struct pfs_pages *pfs_pages_new(unsigned int page_shift)
{
	if (page_shift > MAX_PAGE_SHIFT) {
		errno = EINVAL;
		return NULL;
	}
	return new_in(pages_pool_new(), page_shift);
}

struct pfs_pages *pfs_pages_new_beside(const struct pfs_pages *pages, uint64_t start, uint64_t end)
{
	struct pfs_pages *beside = new_in(pages_pool_get(pages->pool), pages->page_shift);
	uint64_t first = start >> pages->page_shift >> FANOUT_SHIFT;
	uint64_t last = (end - 1) >> pages->page_shift >> FANOUT_SHIFT;

	/* of a large range, nodes can be moved as a whole */
	if (beside)
		beside->base = last - first < FANOUT ? first : first - first % FANOUT;
	return beside;
}

unsigned int pfs_pages_shift(const struct pfs_pages *pages)
{
	return pages->page_shift;
}

/* Gives back what is below a slot of that level. */
static void give_back(struct pages_pool *pool, void *slot, unsigned int level)
{
	struct node *node = slot;

	if (!slot)
		return;
	if (whole_in(slot)) {
		pages_put_whole(pool, whole_in(slot));
		return;
	}
	if (!level) {
		pages_pool_give(pool, ((struct leaf *)slot)->form, slot);
		return;
	}
	for (uint64_t used = node->used; used; used &= used - 1)
		give_back(pool, node->slot[__builtin_ctzll(used)], level - 1);
	pages_pool_give(pool, POOL_NODE, node);
}

void pfs_pages_free(struct pfs_pages *pages)
{
	if (!pages)
		return;
	if (!pages_pool_ends(pages->pool))
		give_back(pages->pool, pages->root, pages->height);
	pages_pool_put(pages->pool);
	free(pages);
}

void pfs_pages_free_all(struct pfs_pages *pages)
{
	if (pages)
		pages_pool_close(pages->pool);
	pfs_pages_free(pages);
}
