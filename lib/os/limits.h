/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of pfscope's own process that a recording raises, and restores for the programs that it starts.
 */
#ifndef PFS_LIMITS_H
#define PFS_LIMITS_H

#include <sched.h>
#include <stdbool.h>

/* The number of open descriptors: a recording needs some per CPU, and per thread and CPU. restore() is safe after fork(). */
void pfs_fd_limit_raise(void);
void pfs_fd_limit_restore(void);

/*
 * The priority of the calling thread, without its children: on a busy machine a reader of ring buffers would otherwise
 * wait behind the processes that fill them. It needs little time.
 */
struct pfs_sched_priority {
	bool raised; /* false: that is not allowed, and restore() does nothing */
	int policy;  /* before */
	struct sched_param param;
};

void pfs_sched_priority_raise(struct pfs_sched_priority *before);
void pfs_sched_priority_restore(struct pfs_sched_priority *before); /* needs no privilege */

#endif
