/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of every recording: the kernel's trace clock "mono". */
#ifndef PFS_CLOCK_H
#define PFS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t pfs_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

#endif
