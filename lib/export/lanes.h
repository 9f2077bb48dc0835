/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lanes for spans of time that may overlap: those of one lane do not, and there are as few lanes as there can be. Spans come in
 * the order of their beginnings. All of zeroes has no lanes.
 */
#ifndef PFS_EXPORT_LANES_H
#define PFS_EXPORT_LANES_H

#include <stdbool.h>
#include <stdint.h>

struct viewer_lane {
	uint64_t free_ns; /* its last span ends before that */
	uint64_t track;	  /* the caller's */
};

struct viewer_lanes {
	struct viewer_lane *heap; /* the one that is free first on top */
	uint32_t nr, max;
};

void viewer_lanes_fini(struct viewer_lanes *lanes);

/* The lane of the span [from_ns, to_ns): valid until the next call. *added: it is new, with track 0. NULL: no memory. */
struct viewer_lane *viewer_lanes_find(struct viewer_lanes *lanes, uint64_t from_ns, uint64_t to_ns, bool *added);

#endif
