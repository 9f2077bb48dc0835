/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/lanes.h"

#include "base/array.h"

void viewer_lanes_fini(struct viewer_lanes *lanes)
{
	free(lanes->heap);
}

static void swap(struct viewer_lane *a, struct viewer_lane *b)
{
	struct viewer_lane moved = *a;

	*a = *b;
	*b = moved;
}

/* Both return where that lane is then. */
static uint32_t sift_down(struct viewer_lanes *lanes, uint32_t i)
{
	for (uint32_t child; (child = 2 * i + 1) < lanes->nr; i = child) {
		child += child + 1 < lanes->nr && lanes->heap[child + 1].free_ns < lanes->heap[child].free_ns;
		if (lanes->heap[i].free_ns <= lanes->heap[child].free_ns)
			break;
		swap(&lanes->heap[i], &lanes->heap[child]);
	}
	return i;
}

static uint32_t sift_up(struct viewer_lanes *lanes, uint32_t i)
{
	for (; i && lanes->heap[i].free_ns < lanes->heap[(i - 1) / 2].free_ns; i = (i - 1) / 2)
		swap(&lanes->heap[i], &lanes->heap[(i - 1) / 2]);
	return i;
}

struct viewer_lane *viewer_lanes_find(struct viewer_lanes *lanes, uint64_t from_ns, uint64_t to_ns, bool *added)
{
	struct viewer_lane *last;

	*added = !lanes->nr || lanes->heap[0].free_ns > from_ns;
	if (!*added) {
		lanes->heap[0].free_ns = to_ns;
		return &lanes->heap[sift_down(lanes, 0)];
	}
	last = pfs_array_add(lanes->heap, lanes->nr, lanes->max);
	if (!last)
		return NULL;
	*last = (struct viewer_lane){ .free_ns = to_ns };
	return &lanes->heap[sift_up(lanes, lanes->nr - 1)];
}
