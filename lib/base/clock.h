/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of every recording: the kernel's trace clock "mono"; and the order of the times of files. */
#ifndef PFS_CLOCK_H
#define PFS_CLOCK_H

#include "base/array.h"

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t pfs_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

/* As pfs_order(). */
static inline int pfs_timespec_order(struct timespec a, struct timespec b)
{
	return pfs_order(a.tv_sec, b.tv_sec) ?: pfs_order(a.tv_nsec, b.tv_nsec);
}

#endif
