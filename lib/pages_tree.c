/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree that pages are kept in: nodes, leaves and wholes, see pages_priv.h. What is in a page is pages.c's.
 *
 * It is as high as its highest address needs (5 levels of nodes for a user address on x86-64, 8 for one of the
 * kernel's half). A leaf holds at least one page and goes away with its last one, so walking meets no empty leaf.
 * A few recently used leaves are remembered: getting a page of one of them again is a compare and an index.
 */
#include "pages_priv.h"

#include <errno.h>
#include <stdlib.h>

static void forget(struct pfs_pages *pages, uint64_t key)
{
	if (pages->recent[key % NR_RECENT].key == key)
		pages->recent[key % NR_RECENT].key = NO_KEY;
}

/* ---- wholes ---- */

void *pages_new_whole(const struct pfs_page *page)
{
	struct whole *whole = malloc(sizeof(*whole));

	if (!whole)
		return NULL;
	*whole = (struct whole){ 1, *page };
	return (char *)whole + 1;
}

void pages_put_whole(struct whole *whole)
{
	if (!--whole->refs)
		free(whole);
}

static struct leaf *leaf_of_whole(const struct whole *whole)
{
	struct brief brief;
	struct leaf *leaf = pages_new_leaf(!pages_to_brief(&brief, &whole->page));

	if (!leaf)
		return NULL;
	leaf->present = UINT64_MAX;
	leaf->mixed = leaf->is_long;
	leaf->flags = whole->page.flags;
	leaf->first_ns = leaf->last_ns = whole->page.first_ns;
	for (unsigned int i = 0; i < FANOUT; i++) {
		if (leaf->is_long)
			leaf->page[i] = whole->page;
		else
			leaf->brief[i] = brief;
	}
	return leaf;
}

int pages_divide(void **slot, unsigned int level)
{
	struct whole *whole = whole_in(*slot);
	struct node *node;

	if (!level) {
		*slot = leaf_of_whole(whole);
		if (!*slot) {
			*slot = (char *)whole + 1;
			return -ENOMEM;
		}
		pages_put_whole(whole);
		return 0;
	}
	node = malloc(sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->used = UINT64_MAX;
	for (unsigned int i = 0; i < FANOUT; i++)
		node->slot[i] = *slot;
	whole->refs += FANOUT - 1;
	*slot = node;
	return 0;
}

/* ---- leaves ---- */

struct leaf *pages_new_leaf(bool is_long)
{
	size_t size = is_long ? sizeof(struct pfs_page) : sizeof(struct brief);
	struct leaf *leaf = calloc(1, sizeof(*leaf) + FANOUT * size);

	if (leaf)
		leaf->is_long = is_long;
	return leaf;
}

/* Puts nodes on top until the tree can hold key. */
int pages_grow(struct pfs_pages *pages, uint64_t key)
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

void **pages_make_slot(struct pfs_pages *pages, uint64_t key)
{
	void **at = &pages->root;

	if (pages_grow(pages, key))
		return NULL;
	for (unsigned int level = pages->height; level; level--) {
		struct node *node;

		if (!*at)
			*at = calloc(1, sizeof(*node));
		else if (whole_in(*at) && pages_divide(at, level))
			return NULL;
		node = *at;
		if (!node)
			return NULL;
		/* set before the child exists: walks look at the pointer too */
		node->used |= UINT64_C(1) << slot_of(key, level);
		at = &node->slot[slot_of(key, level)];
	}
	return at;
}

struct leaf *pages_make_leaf(struct pfs_pages *pages, uint64_t key)
{
	void **slot = pages_make_slot(pages, key);

	if (!slot)
		return NULL;
	if (!*slot)
		*slot = pages_new_leaf(false);
	else if (whole_in(*slot) && pages_divide(slot, 0))
		return NULL;
	if (*slot)
		pages_remember(pages, key, *slot);
	return *slot;
}

void pages_unlink(struct pfs_pages *pages, uint64_t key, unsigned int level)
{
	void **path[64 / FANOUT_SHIFT + 2];
	void **at = &pages->root;

	if (!level)
		forget(pages, key);
	for (unsigned int l = pages->height; l > level; l--) {
		path[l] = at;
		at = &((struct node *)*at)->slot[slot_of(key, l)];
	}
	*at = NULL;
	for (level++; level <= pages->height; level++) {
		struct node *node = *path[level];

		node->used &= ~(UINT64_C(1) << slot_of(key, level));
		if (node->used)
			return;
		free(node);
		*path[level] = NULL;
	}
	pages->height = 0;
}

/* ---- looking ---- */

static struct spot spot_of(void *slot, uint64_t key, unsigned int level)
{
	struct whole *whole = whole_in(slot);

	return (struct spot){ .leaf = whole ? NULL : slot, .whole = whole, .last = key | level_mask(level),
			      .level = level };
}

struct spot pages_at(const struct pfs_pages *pages, uint64_t key)
{
	unsigned int level = pages->height;
	void *at = pages->root;

	if (pages->recent[key % NR_RECENT].key == key)
		return spot_of(pages->recent[key % NR_RECENT].leaf, key, 0);
	if (!key_fits(key, level))
		return (struct spot){ 0 };
	for (; level && at && !whole_in(at); level--)
		at = ((struct node *)at)->slot[slot_of(key, level)];
	return spot_of(at, key, level);
}

/* The first one at or after *key below `at`, which is at `level`; *key becomes its key. */
static struct spot next_below(void *at, unsigned int level, uint64_t *key)
{
	struct node *node = at;
	uint64_t used, prefix;
	unsigned int from, i;

	if (!level || !at || whole_in(at))
		return spot_of(at, *key, level);
	from = slot_of(*key, level);
	prefix = *key >> (FANOUT_SHIFT * (level - 1)) & ~(uint64_t)(FANOUT - 1);
	for (used = node->used >> from << from; used; used &= used - 1) {
		struct spot spot;

		i = __builtin_ctzll(used);
		if (i != from)
			*key = (prefix | i) << (FANOUT_SHIFT * (level - 1));
		spot = next_below(node->slot[i], level - 1, key);
		if (spot.leaf || spot.whole)
			return spot;
	}
	return (struct spot){ 0 };
}

struct spot pages_next(const struct pfs_pages *pages, uint64_t *key)
{
	struct spot spot = pages_at(pages, *key);

	if (spot.leaf || spot.whole || !key_fits(*key, pages->height))
		return spot;
	return next_below(pages->root, pages->height, key);
}

/* ---- the whole tree ---- */

static void free_below(void *at, unsigned int level)
{
	struct node *node = at;

	if (whole_in(at)) {
		pages_put_whole(whole_in(at));
		return;
	}
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

uint64_t pfs_pages_total(const struct pfs_pages *pages)
{
	return pages->total;
}
