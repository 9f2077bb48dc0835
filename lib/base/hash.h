/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash tables: uthash, but a table that cannot grow reports an error instead of ending the program; a far smaller one, of
 * numbers, for what there are millions of; and a hash of bytes.
 */
#ifndef PFS_HASH_H
#define PFS_HASH_H

#define HASH_NONFATAL_OOM 1
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <uthash.h>

/* Whether the element just added is not in the table, for want of memory. */
#define HASH_ADD_FAILED(element) (!(element)->hh.tbl)

/* The element whose member `key` has that value; if there is none, a new one, zeroed. NULL: no memory. */
#define PFS_HASH_GET(table, key, value)                                   \
	({                                                                \
		typeof((table)->key) value_ = (value);                    \
		typeof(table) found_;                                     \
		HASH_FIND(hh, table, &value_, sizeof(value_), found_);    \
		if (!found_ && (found_ = calloc(1, sizeof(*found_)))) {   \
			found_->key = value_;                             \
			HASH_ADD(hh, table, key, sizeof(value_), found_); \
			if (HASH_ADD_FAILED(found_)) {                    \
				free(found_);                             \
				found_ = NULL;                            \
			}                                                 \
		}                                                         \
		found_;                                                   \
	})

/* 64 bits of FNV-1a, of the bytes after those of `hash`; it begins with PFS_HASH_START. */
#define PFS_HASH_START UINT64_C(0xcbf29ce484222325)
static inline uint64_t pfs_hash(uint64_t hash, const void *bytes, size_t len)
{
	for (const unsigned char *p = bytes; len--; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

/*
 * Numbers from 1, where the hash of what they stand for is: an open table, of which at least half is free. It begins zeroed, and
 * its slots are freed by the owner.
 */
struct pfs_index {
	struct pfs_index_slot {
		uint32_t hash, nr;
	} * slots;
	size_t nr, room; /* room: a power of two */
};

/* Of a key, member by member; it begins with 0. */
static inline uint64_t pfs_index_hash(uint64_t hash, uint64_t member)
{
	hash = (hash ^ member) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* 0, or -1: no memory. */
static inline int pfs_index_grow(struct pfs_index *index)
{
	size_t room = index->room ? 2 * index->room : 1024;
	struct pfs_index_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < index->room; i++) {
		size_t at = index->slots[i].hash & (room - 1);

		if (!index->slots[i].nr)
			continue;
		while (slots[at].nr)
			at = (at + 1) & (room - 1);
		slots[at] = index->slots[i];
	}
	free(index->slots);
	index->slots = slots;
	index->room = room;
	return 0;
}

/*
 * Where the number is for which is(ctx, number, key), or 0, which the caller changes to the one of a new element. NULL: no
 * memory.
 */
static inline uint32_t *pfs_index_find(struct pfs_index *index, uint64_t hash,
				       bool (*is)(const void *ctx, uint32_t nr, const void *key), const void *ctx,
				       const void *key)
{
	struct pfs_index_slot *slot;

	if (2 * (index->nr + 1) > index->room && pfs_index_grow(index))
		return NULL;
	for (size_t at = (uint32_t)hash;; at++) {
		slot = &index->slots[at & (index->room - 1)];
		if (!slot->nr || (slot->hash == (uint32_t)hash && is(ctx, slot->nr, key)))
			break;
	}
	if (!slot->nr) {
		index->nr++;
		slot->hash = hash;
	}
	return &slot->nr;
}

/* Frees all elements, each of which is one allocation. */
#define PFS_HASH_FREE(table)                             \
	({                                               \
		typeof(table) element_, next_;           \
		HASH_ITER (hh, table, element_, next_) { \
			HASH_DEL(table, element_);       \
			free(element_);                  \
		}                                        \
	})

#endif
