/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/sums.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static bool is_sum(const void *ctx, uint32_t nr, const void *key)
{
	const struct viewer_sums *sums = ctx;

	return !memcmp(&sums->sums[nr - 1].key, key, sizeof(struct viewer_sum_key));
}

struct viewer_sum *viewer_sum_at(struct viewer_sums *sums, struct viewer_sum_key key)
{
	uint64_t hash = pfs_index_hash(pfs_index_hash(0, key.call ^ key.what << 32), key.more);
	uint32_t *nr = pfs_index_find(&sums->index, pfs_index_hash(hash, key.comm), is_sum, sums, &key);
	struct viewer_sum *added;

	if (!nr)
		return NULL;
	if (!*nr) {
		added = pfs_array_add(sums->sums, sums->nr, sums->max);
		if (!added)
			return NULL;
		*added = (struct viewer_sum){ .key = key };
		*nr = sums->nr;
	}
	return &sums->sums[*nr - 1];
}

void viewer_sums_fini(struct viewer_sums *sums)
{
	free(sums->sums);
	free(sums->index.slots);
}

/* ---- names ---- */

struct same {
	const struct viewer_calls *calls;
	uint32_t *of; /* of each path, the first one of the same names */
};

static bool is_same(const void *ctx, uint32_t nr, const void *key)
{
	const struct same *same = ctx;
	const struct viewer_call *x = &same->calls->calls[nr], *y = key;

	return same->of[x->parent] == same->of[y->parent] &&
	       same->calls->places[x->place].name == same->calls->places[y->place].name;
}

uint32_t *viewer_same_names(const struct viewer_calls *calls)
{
	struct same same = { calls, calloc(calls->nr_calls, sizeof(*same.of)) };
	struct pfs_index index = { 0 };
	bool failed = !same.of;

	for (uint32_t i = 1; !failed && i < calls->nr_calls; i++) {
		const struct viewer_call *call = &calls->calls[i];
		uint64_t name = (uintptr_t)calls->places[call->place].name; /* interned */
		uint64_t hash = pfs_index_hash(pfs_index_hash(0, name), same.of[call->parent]);
		uint32_t *first = pfs_index_find(&index, hash, is_same, &same, call);

		failed = !first;
		if (first && !*first)
			*first = i;
		same.of[i] = first ? *first : 0;
	}
	free(index.slots);
	if (!failed)
		return same.of;
	free(same.of);
	return NULL;
}
