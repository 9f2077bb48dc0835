/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own counts of page faults for a process and its descendants, by perf's software events.
 *
 * Counted, not sampled: what `report --check` holds a recording against. capture.c owns one.
 */
#ifndef PFS_COUNTERS_H
#define PFS_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

struct pfs_counters {
	int fds[3];
};

struct pfs_counts_read {
	uint64_t faults;       /* exceptions that the kernel set out to handle */
	uint64_t minor, major; /* those it handled, outside of get_user_pages */
};

/* Counts from now on, for pid and all that it starts. 0 or -errno; then there is nothing to close. */
int pfs_counters_open(struct pfs_counters *counters, pid_t pid);

/* 0 or -errno. Complete once all counted processes have ended. */
int pfs_counters_read(const struct pfs_counters *counters, struct pfs_counts_read *counts);

void pfs_counters_close(struct pfs_counters *counters);

#endif
