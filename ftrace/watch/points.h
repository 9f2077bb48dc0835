/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watchpoints on a few words, on all CPUs at once, and the accesses that they have seen. */
#ifndef PFS_WATCH_POINTS_PRIV_H
#define PFS_WATCH_POINTS_PRIV_H

#include "base/err.h"
#include "os/perf_event.h"

#include <stdbool.h>

#define PFS_NR_POINTS 2

/* An access of 1 to 8 of the word's bytes. */
struct pfs_point_hit {
	uint64_t ts_ns;
	uint64_t ip; /* of the next instruction where watchpoints trap afterwards (x86) */
	int32_t pid, tid, cpu;
	uint8_t point; /* which */
	bool is_write; /* it has written, and may have read, too */
};

typedef int (*pfs_point_fn)(void *ctx, const struct pfs_point_hit *hit);

struct pfs_points;

/* NULL with err set. */
struct pfs_points *pfs_points_new(struct pfs_err *err);
void pfs_points_free(struct pfs_points *points);

/* Prepares point nr for the word at addr; nothing is seen yet. 0 or -errno: -ENOSPC: others use the CPU's watchpoints. */
int pfs_points_set(struct pfs_points *points, unsigned int nr, uint64_t addr);

/* All that are set see accesses from now on. 0 or -errno. */
int pfs_points_enable(struct pfs_points *points);

/* Passes on what they have seen so far, those of each CPU in order. 0 or what fn returned. */
int pfs_points_drain(struct pfs_points *points, pfs_point_fn fn, void *ctx);

/*
 * No point sees anything any more; passes on the rest. lost[nr]: accesses of that point that are missing among all. 0, -errno or
 * what fn returned.
 */
int pfs_points_end(struct pfs_points *points, uint64_t lost[PFS_NR_POINTS], pfs_point_fn fn, void *ctx);

#endif
