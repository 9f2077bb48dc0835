/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live objects by address: a table with open addressing, whose size follows the most objects that lived at a time.
 */
#ifndef PFS_PAIRS_H
#define PFS_PAIRS_H

#include "objects/objects.h"

/* What a slot holds beside its key: half a cache line. */
struct pfs_pairs_slot {
	uint64_t alloc_ns;
	uint32_t size, allocated, site, cache, who, stack;
};

struct pfs_pairs {
	uint64_t *keys; /* 0: free */
	struct pfs_pairs_slot *slots;
	size_t nr, max; /* max: a power of 2; 0: nothing yet */
	size_t hand;	/* of pfs_pairs_evict(): the next slot to look at */
	uint32_t most;	/* bytes of the largest object so far */
	unsigned int shift;
};

void pfs_pairs_fini(struct pfs_pairs *pairs);

static inline size_t pfs_pairs_home(const struct pfs_pairs *pairs, uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> pairs->shift;
}

/*
 * To be called some objects before the object is needed: a table of a million is in no cache. Always inlined, since gcc
 * drops the call of a function that does nothing but prefetch.
 */
static inline __attribute__((always_inline)) void pfs_pairs_prefetch(const struct pfs_pairs *pairs, uint64_t key)
{
	size_t home;

	if (!pairs->max)
		return;
	home = pfs_pairs_home(pairs, key);
	__builtin_prefetch(&pairs->keys[home], 1);
	__builtin_prefetch(&pairs->slots[home], 1);
}

static inline struct pfs_object pfs_pairs_object(const struct pfs_pairs *pairs, size_t i)
{
	const struct pfs_pairs_slot *slot = &pairs->slots[i];

	return (struct pfs_object){ pairs->keys[i], slot->alloc_ns, slot->size, slot->allocated,
				    slot->site,	    slot->cache,    slot->who,	slot->stack };
}

/* 0; 1: another object had the address, and is in *old; or -ENOMEM. */
int pfs_pairs_add(struct pfs_pairs *pairs, const struct pfs_object *object, struct pfs_object *old);

/* The object of that key. False: there is none. */
bool pfs_pairs_find(const struct pfs_pairs *pairs, uint64_t key, struct pfs_object *object);

/* The object, which is no pages, that has the address in it. False: there is none. */
bool pfs_pairs_find_around(const struct pfs_pairs *pairs, uint64_t addr, struct pfs_object *object);

/* Of the object with that key, if there is one. */
void pfs_pairs_set_stack(struct pfs_pairs *pairs, uint64_t key, uint32_t stack);

/* Removes the object of that key. False: there is none. */
bool pfs_pairs_take(struct pfs_pairs *pairs, uint64_t key, struct pfs_object *object);

/*
 * Removes an arbitrary object, but for that of the key `keep`: the next one of the table, whose order is that of hashed
 * addresses, so none is preferred by its age or its cache. False: there is none.
 */
bool pfs_pairs_evict(struct pfs_pairs *pairs, uint64_t keep, struct pfs_object *object);

#endif
