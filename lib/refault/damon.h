/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DAMON, the kernel's monitor of data accesses, used to read and clear the accessed bits of single pages at every
 * interval (Documentation/admin-guide/mm/damon/usage.rst). The tracepoint damon:damon_aggregated reports the results,
 * with the numbers of targets that are used here.
 *
 * The system has one DAMON, and no file names its user: pfscope uses it only while there are no kdamonds.
 */
#ifndef PFS_DAMON_H
#define PFS_DAMON_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFS_DAMON_DIR "/sys/kernel/mm/damon/admin/kdamonds"

/* A target covers so many pages from its start on, as a page table of x86 does. */
#define PFS_DAMON_PAGES 512
#define PFS_DAMON_WORDS (PFS_DAMON_PAGES / 64)

/* In memory shared with a successor of the helper; all 0 at first. */
struct pfs_damon {
	bool mine;  /* pfscope uses it */
	bool asked; /* a process waits in the kernel for a commit */
	pid_t tid;  /* of the kernel's thread, while it runs */
};

/*
 * Starts it with nr_targets targets without pages. 0 or -errno with err set, -EBUSY if another program uses it.
 * pfs_damon_down() has to follow in any case.
 */
int pfs_damon_up(struct pfs_damon *damon, uint64_t interval_ns, unsigned int nr_targets, struct pfs_err *err);

/* Sets target nr: pages of a process from `start` on, a bit each. pid 0: no pages. 0 or -errno. */
int pfs_damon_target(unsigned int nr, pid_t pid, uint64_t start, const uint64_t pages[PFS_DAMON_WORDS]);

/*
 * Applies the targets at the end of the current interval. stop() is called meanwhile. 0, -ECANCELED if it returned true,
 * or -errno: -EINVAL if a process has ended, -ESRCH if the kernel's thread has, and a retry may succeed.
 */
int pfs_damon_commit(struct pfs_damon *damon, bool (*stop)(void *ctx), void *ctx);

/* Stops it, with another number of empty targets; pfs_damon_start() starts it again. */
int pfs_damon_stop(struct pfs_damon *damon, unsigned int nr_targets);
int pfs_damon_start(struct pfs_damon *damon);

/* Ends it if pfscope uses it. 0 or -errno with err set. */
int pfs_damon_down(struct pfs_damon *damon, struct pfs_err *err);

#endif
