/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a JIT compiler made: /tmp/perf-PID.map, as node, Java agents and Python's perf trampoline write it.
 *
 *     7f1c40001000 40 py::main:/srv/app.py
 */
#ifndef PFS_PERF_MAP_H
#define PFS_PERF_MAP_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct pfs_perf_map {
	struct pfs_jit_function *functions; /* by address */
	size_t nr, max;
};

/*
 * Opens /tmp/perf-PID.map (dir NULL: /tmp), if it was written to last between these times (until 0: any time): else it may be
 * another process' of that number. -1: there is none.
 */
int pfs_perf_map_open(const char *dir, int32_t pid, struct timespec since, struct timespec until);

/*
 * Reads the lines that are within the first `max` bytes of that file; the descriptor is closed. 0 or -ENOMEM. Names are
 * interned. pfs_perf_map_fini() follows in any case.
 */
int pfs_perf_map_read(struct pfs_perf_map *map, int fd, uint64_t max, struct pfs_intern **strings);
void pfs_perf_map_fini(struct pfs_perf_map *map);

/* NULL: none is there. */
const char *pfs_perf_map_find(const struct pfs_perf_map *map, uint64_t addr, uint64_t *behind);

#endif
