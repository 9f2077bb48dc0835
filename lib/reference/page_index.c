/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/page_index.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* Pages of one block share a slot: references to neighbours find it in the CPU's cache, and mostly need no hash. */
enum { BLOCK_SHIFT = 4, BLOCK = 1 << BLOCK_SHIFT };

struct pfs_page_slot {
	int64_t block;
	uint32_t object;
	bool used;
	uint32_t nr_plus_1[BLOCK]; /* 0: the page has no number */
};

#define FIRST_SLOTS 256

/* Neighbours shall not be neighbours in the table, for whole mappings would make long runs: Fibonacci hashing. */
static size_t slot_of(const struct pfs_page_index *index, uint32_t object, int64_t block)
{
	uint64_t key = (uint64_t)block ^ (uint64_t)object << 40 ^ (uint64_t)object >> 8;

	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (key ^ key >> 32) & (index->nr_slots - 1);
}

static bool is_of(const struct pfs_page_slot *slot, uint32_t object, int64_t block)
{
	return slot->block == block && slot->object == object && slot->used;
}

/* The block's slot, or the free one where it belongs. There is always a free one. */
static struct pfs_page_slot *look_up(const struct pfs_page_index *index, uint32_t object, int64_t block)
{
	size_t at = slot_of(index, object, block);

	while (index->slots[at].used && !is_of(&index->slots[at], object, block))
		at = (at + 1) & (index->nr_slots - 1);
	return &index->slots[at];
}

static int grow(struct pfs_page_index *index)
{
	struct pfs_page_index larger = { .nr = index->nr, .nr_blocks = index->nr_blocks };

	larger.nr_slots = index->nr_slots ? 2 * index->nr_slots : FIRST_SLOTS;
	larger.slots = pfs_advise_huge(calloc(larger.nr_slots, sizeof(*larger.slots)),
				       larger.nr_slots * sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->nr_slots; i++) {
		const struct pfs_page_slot *slot = &index->slots[i];

		if (slot->used)
			*look_up(&larger, slot->object, slot->block) = *slot;
	}
	free(index->slots);
	*index = larger;
	return 0;
}

void pfs_page_index_fini(struct pfs_page_index *index)
{
	free(index->slots);
	*index = (struct pfs_page_index){ 0 };
}

/* The block's slot; a new one if it has none. NULL: no memory. */
static struct pfs_page_slot *slot_for(struct pfs_page_index *index, uint32_t object, int64_t block)
{
	struct pfs_page_slot *slot = index->hot;

	if (slot && is_of(slot, object, block))
		return slot;
	if (index->nr_blocks >= index->nr_slots / 4 * 3 && grow(index))
		return NULL;
	slot = index->hot = look_up(index, object, block);
	if (!slot->used) {
		*slot = (struct pfs_page_slot){ .block = block, .object = object, .used = true };
		index->nr_blocks++;
	}
	return slot;
}

int pfs_page_index_get(struct pfs_page_index *index, uint32_t object, int64_t page, uint32_t *nr, bool *is_new)
{
	struct pfs_page_slot *slot = slot_for(index, object, page >> BLOCK_SHIFT);
	uint32_t *nr_plus_1;

	if (!slot)
		return -ENOMEM;
	nr_plus_1 = &slot->nr_plus_1[page & (BLOCK - 1)];
	*is_new = !*nr_plus_1;
	if (*is_new) {
		if (index->nr == UINT32_MAX)
			return -EOVERFLOW;
		*nr_plus_1 = ++index->nr;
	}
	*nr = *nr_plus_1 - 1;
	return 0;
}

bool pfs_page_index_find(const struct pfs_page_index *index, uint32_t object, int64_t page, uint32_t *nr)
{
	uint32_t nr_plus_1;

	if (!index->nr_slots)
		return false;
	/* A free slot holds zeroes. */
	nr_plus_1 = look_up(index, object, page >> BLOCK_SHIFT)->nr_plus_1[page & (BLOCK - 1)];
	if (!nr_plus_1)
		return false;
	*nr = nr_plus_1 - 1;
	return true;
}
