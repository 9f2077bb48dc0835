/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/PID/maps, in any pieces, as raw events: a RAW_PFS_MAP a line.
 *
 * Where the text comes from, and when it was read, is the caller's business (snapshot.c). File names in it
 * are anybody's bytes.
 */
#ifndef PFS_MAPS_TEXT_H
#define PFS_MAPS_TEXT_H

#include "record/raw.h"

#include <stddef.h>

/* A line is longer than any path, so a text that fills this without a newline is none of the kernel's. */
#define PFS_MAPS_TEXT_MAX (1 << 16)

struct pfs_maps_text {
	struct raw_event ev; /* of the process, dated: what the lines do not have */
	raw_event_fn fn;
	void *ctx;
	uint64_t heap_end; /* of [heap], 0 if there was none yet */
	char text[PFS_MAPS_TEXT_MAX];
	size_t len; /* of a line that is not whole yet */
};

/* Where the next bytes go, and (*room) how many may: 0 if a line is too long. Add what came to len. */
static inline char *pfs_maps_text_room(struct pfs_maps_text *maps, size_t *room)
{
	*room = sizeof(maps->text) - 1 - maps->len;
	return maps->text + maps->len;
}

/*
 * Passes on the whole lines of the text, and keeps the rest. What is no line of a region, and [vsyscall], which
 * is in no process's region tree, is passed over. 0 or what fn returned.
 */
int pfs_maps_text_lines(struct pfs_maps_text *maps);

#endif
