/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/sums.h"

struct name_slot {
	struct {
		uint64_t parent;
		const char *name;
	} key;
	uint32_t call;
	UT_hash_handle hh;
};

uint32_t *viewer_same_names(const struct viewer_calls *calls)
{
	uint32_t *same = calloc(calls->nr_calls, sizeof(*same));
	struct name_slot *slots = NULL, *slot;

	for (uint32_t i = 1; same && i < calls->nr_calls; i++) {
		const struct viewer_call *call = &calls->calls[i];

		slot = PFS_HASH_GET(slots, key,
				    ((typeof(slots->key)){ same[call->parent], calls->places[call->place].name }));
		if (!slot) {
			free(same);
			same = NULL;
			break;
		}
		if (!slot->call)
			slot->call = i;
		same[i] = slot->call;
	}
	PFS_HASH_FREE(slots);
	return same;
}
