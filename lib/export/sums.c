/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/sums.h"

#include <stdlib.h>

static bool is_same(const struct viewer_calls *calls, const uint32_t *same, uint32_t a, uint32_t b)
{
	const struct viewer_call *x = &calls->calls[a], *y = &calls->calls[b];

	return same[x->parent] == same[y->parent] && calls->places[x->place].name == calls->places[y->place].name;
}

/* An open table of the first paths, of which at least half is free: strings are interned. */
uint32_t *viewer_same_names(const struct viewer_calls *calls)
{
	uint32_t *same = calloc(calls->nr_calls, sizeof(*same)), *table;
	size_t size = 1024;

	while (size < 2 * (size_t)calls->nr_calls)
		size *= 2;
	table = same ? calloc(size, sizeof(*table)) : NULL;
	if (!table) {
		free(same);
		return NULL;
	}
	for (uint32_t i = 1; i < calls->nr_calls; i++) {
		const struct viewer_call *call = &calls->calls[i];
		uint64_t key = (uintptr_t)calls->places[call->place].name ^ (uint64_t)same[call->parent] << 36;
		size_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (size - 1);

		while (table[at] && !is_same(calls, same, table[at], i))
			at = (at + 1) & (size - 1);
		if (!table[at])
			table[at] = i;
		same[i] = table[at];
	}
	free(table);
	return same;
}
