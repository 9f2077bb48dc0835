/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/page_index.h"

#include <errno.h>
#include <stdlib.h>

struct pfs_page_slot {
	int64_t page;
	uint32_t object;
	uint32_t nr_plus_1; /* 0: free */
};

#define FIRST_SLOTS 1024

/* Neighbours shall not be neighbours in the table, for whole mappings would make long runs: Fibonacci hashing. */
static size_t slot_of(const struct pfs_page_index *index, uint32_t object, int64_t page)
{
	uint64_t key = (uint64_t)page ^ (uint64_t)object << 40 ^ (uint64_t)object >> 8;

	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (key ^ key >> 32) & (index->nr_slots - 1);
}

/* The page's slot, or the free one where it belongs. There is always a free one. */
static struct pfs_page_slot *look_up(const struct pfs_page_index *index, uint32_t object, int64_t page)
{
	size_t at = slot_of(index, object, page);

	for (;; at = (at + 1) & (index->nr_slots - 1)) {
		struct pfs_page_slot *slot = &index->slots[at];

		if (!slot->nr_plus_1 || (slot->page == page && slot->object == object))
			return slot;
	}
}

static int grow(struct pfs_page_index *index)
{
	struct pfs_page_index larger = { .nr = index->nr };

	larger.nr_slots = index->nr_slots ? 2 * index->nr_slots : FIRST_SLOTS;
	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < index->nr_slots; i++) {
		const struct pfs_page_slot *slot = &index->slots[i];

		if (slot->nr_plus_1)
			*look_up(&larger, slot->object, slot->page) = *slot;
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

int pfs_page_index_get(struct pfs_page_index *index, uint32_t object, int64_t page, uint32_t *nr, bool *is_new)
{
	struct pfs_page_slot *slot;

	if (index->nr >= index->nr_slots / 4 * 3) {
		int ret = grow(index);

		if (ret)
			return ret;
	}
	slot = look_up(index, object, page);
	*is_new = !slot->nr_plus_1;
	if (*is_new) {
		if (index->nr == UINT32_MAX)
			return -EOVERFLOW;
		*slot = (struct pfs_page_slot){ page, object, ++index->nr };
	}
	*nr = slot->nr_plus_1 - 1;
	return 0;
}

bool pfs_page_index_find(const struct pfs_page_index *index, uint32_t object, int64_t page, uint32_t *nr)
{
	const struct pfs_page_slot *slot;

	if (!index->nr_slots)
		return false;
	slot = look_up(index, object, page);
	if (!slot->nr_plus_1)
		return false;
	*nr = slot->nr_plus_1 - 1;
	return true;
}
