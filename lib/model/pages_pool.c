/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first block is small, for most recordings touch few pages; each further one is twice as large, up to a huge page. */
#include "model/pages_priv.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { FIRST_BLOCK = 4096, HUGE_BLOCK = 2 << 20 };

struct block {
	struct block *next;
};

/* A piece that was given back. */
struct spare {
	struct spare *next;
};

struct pages_pool {
	unsigned int refs;
	bool closed;
	struct block *blocks;
	size_t block_size; /* of the next one */
	char *free, *end;  /* of the newest one */
	struct spare *spare[POOL_NR_KINDS];
};

static const size_t sizes[POOL_NR_KINDS] = {
	[LEAF_ALIKE] = sizeof(struct leaf) + FANOUT * sizeof(uint32_t),
	[LEAF_BRIEF] = sizeof(struct leaf) + FANOUT * sizeof(struct brief),
	[LEAF_LONG] = sizeof(struct leaf) + FANOUT * sizeof(struct pfs_page),
	[POOL_NODE] = sizeof(struct node),
	[POOL_WHOLE] = sizeof(struct whole),
};

struct pages_pool *pages_pool_new(void)
{
	struct pages_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	pool->refs = 1;
	pool->block_size = FIRST_BLOCK;
	return pool;
}

struct pages_pool *pages_pool_get(struct pages_pool *pool)
{
	pool->refs++;
	return pool;
}

void pages_pool_close(struct pages_pool *pool)
{
	struct block *block, *next;

	for (block = pool->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	pool->blocks = NULL;
	pool->closed = true;
}

void pages_pool_put(struct pages_pool *pool)
{
	if (!pool || --pool->refs)
		return;
	pages_pool_close(pool);
	free(pool);
}

bool pages_pool_ends(const struct pages_pool *pool)
{
	return pool->closed || pool->refs == 1;
}

static bool add_block(struct pages_pool *pool)
{
	bool huge = pool->block_size == HUGE_BLOCK;
	struct block *block = huge ? aligned_alloc(HUGE_BLOCK, HUGE_BLOCK) : malloc(pool->block_size);

	if (!block)
		return false;
	if (huge) /* only for speed */
		madvise(block, HUGE_BLOCK, MADV_HUGEPAGE);
	block->next = pool->blocks;
	pool->blocks = block;
	pool->free = (char *)(block + 1);
	pool->end = (char *)block + pool->block_size;
	if (!huge)
		pool->block_size *= 2;
	return true;
}

void *pages_pool_take(struct pages_pool *pool, unsigned int kind)
{
	struct spare *spare = pool->spare[kind];
	char *piece;

	if (spare) {
		pool->spare[kind] = spare->next;
		return spare;
	}
	if ((size_t)(pool->end - pool->free) < sizes[kind] && !add_block(pool))
		return NULL;
	piece = pool->free;
	pool->free += sizes[kind];
	return piece;
}

void pages_pool_give(struct pages_pool *pool, unsigned int kind, void *piece)
{
	struct spare *spare = piece;

	spare->next = pool->spare[kind];
	pool->spare[kind] = spare;
}
