/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who drains a ring buffer comes before those who fill it: else, on a machine with more to do than processors, it
 * waits behind them until the buffer is full. It needs little time, so they hardly notice.
 */
#ifndef PFS_SCHED_PRIORITY_H
#define PFS_SCHED_PRIORITY_H

#include <sched.h>
#include <stdbool.h>

struct pfs_sched_priority {
	bool raised;
	int policy; /* what it was */
	struct sched_param param;
};

/* The calling thread, without its children; where that is not allowed it stays what it is. */
void pfs_sched_priority_raise(struct pfs_sched_priority *before);

/* Back to what it was, also without the privilege that it was raised with. Does nothing if it was not. */
void pfs_sched_priority_restore(struct pfs_sched_priority *before);

#endif
