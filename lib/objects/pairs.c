/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live objects by address. Linear probing; a removal moves up what it would cut off, so there are no tombstones. */
#include "objects/pairs.h"

#include "base/array.h"

#include <errno.h>

enum { FIRST_BITS = 10, CACHE_LINE = 64 };

void pfs_pairs_fini(struct pfs_pairs *p)
{
	free(p->keys);
	free(p->slots);
	*p = (struct pfs_pairs){ 0 };
}

/* The slot of that key, or the free one where it would be. */
static size_t slot_of(const struct pfs_pairs *p, uint64_t key)
{
	size_t i = pfs_pairs_home(p, key);

	while (p->keys[i] && p->keys[i] != key)
		i = (i + 1) & (p->max - 1);
	return i;
}

static void *table(size_t nr, size_t size)
{
	return pfs_advise_huge(aligned_alloc(CACHE_LINE, nr * size), nr * size);
}

static int grow(struct pfs_pairs *p)
{
	struct pfs_pairs larger = { .nr = p->nr, .most = p->most, .shift = p->max ? p->shift - 1 : 64 - FIRST_BITS };

	larger.max = (size_t)1 << (64 - larger.shift);
	larger.keys = table(larger.max, sizeof(*larger.keys));
	larger.slots = table(larger.max, sizeof(*larger.slots));
	if (!larger.keys || !larger.slots) {
		pfs_pairs_fini(&larger);
		return -ENOMEM;
	}
	memset(larger.keys, 0, larger.max * sizeof(*larger.keys));
	for (size_t i = 0; i < p->max; i++) {
		size_t to = p->keys[i] ? slot_of(&larger, p->keys[i]) : 0;

		if (!p->keys[i])
			continue;
		larger.keys[to] = p->keys[i];
		larger.slots[to] = p->slots[i];
	}
	pfs_pairs_fini(p);
	*p = larger;
	return 0;
}

int pfs_pairs_add(struct pfs_pairs *p, const struct pfs_object *o, struct pfs_object *old)
{
	size_t i;
	bool had;

	if (p->nr >= p->max / 2 && grow(p))
		return -ENOMEM;
	i = slot_of(p, o->key);
	had = p->keys[i];
	if (had)
		*old = pfs_pairs_object(p, i);
	p->keys[i] = o->key;
	p->slots[i] =
		(struct pfs_pairs_slot){ o->alloc_ns, o->size, o->allocated, o->site, o->cache, o->who, o->stack };
	p->nr += !had;
	p->most = o->allocated > p->most ? o->allocated : p->most;
	return had;
}

bool pfs_pairs_find(const struct pfs_pairs *p, uint64_t key, struct pfs_object *object)
{
	size_t i = p->max ? slot_of(p, key) : 0;

	if (!p->max || !p->keys[i])
		return false;
	*object = pfs_pairs_object(p, i);
	return true;
}

/* The first one that begins before it: objects are at multiples of 8, and do not overlap. */
bool pfs_pairs_find_around(const struct pfs_pairs *p, uint64_t addr, struct pfs_object *object)
{
	for (uint64_t key = addr & ~UINT64_C(7); addr - key < p->most; key -= 8)
		if (pfs_pairs_find(p, key, object))
			return addr - key < object->allocated;
	return false;
}

void pfs_pairs_set_stack(struct pfs_pairs *p, uint64_t key, uint32_t stack)
{
	size_t i = p->max ? slot_of(p, key) : 0;

	if (p->max && p->keys[i])
		p->slots[i].stack = stack;
}

bool pfs_pairs_take(struct pfs_pairs *p, uint64_t key, struct pfs_object *object)
{
	size_t hole, mask = p->max - 1;

	if (!p->max)
		return false;
	hole = slot_of(p, key);
	if (!p->keys[hole])
		return false;
	*object = pfs_pairs_object(p, hole);
	for (size_t i = (hole + 1) & mask; p->keys[i]; i = (i + 1) & mask) {
		size_t home = pfs_pairs_home(p, p->keys[i]);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue; /* its home is behind the hole */
		p->keys[hole] = p->keys[i];
		p->slots[hole] = p->slots[i];
		hole = i;
	}
	p->keys[hole] = 0;
	p->nr--;
	return true;
}

bool pfs_pairs_evict(struct pfs_pairs *p, uint64_t keep, struct pfs_object *object)
{
	for (size_t i = 0; i < p->max; i++, p->hand++) {
		uint64_t key = p->keys[p->hand & (p->max - 1)];

		if (key && key != keep)
			return pfs_pairs_take(p, key, object);
	}
	return false;
}
