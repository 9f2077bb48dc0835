/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DAMON, the kernel's monitor of data accesses, used for one thing: to read and clear the accessed bits of
 * single pages at every interval (Documentation/admin-guide/mm/damon/usage.rst). What it finds comes as the
 * tracepoint damon:damon_aggregated, which numbers targets as it is done here.
 *
 * There is one for the whole system, and nothing says whose it is: it is taken only if nobody has it.
 */
#ifndef PFS_DAMON_H
#define PFS_DAMON_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFS_DAMON_DIR "/sys/kernel/mm/damon/admin/kdamonds"

/* A target's pages are among so many from a start on: a page table of x86. */
#define PFS_DAMON_PAGES 512
#define PFS_DAMON_WORDS (PFS_DAMON_PAGES / 64)

/* In memory that outlives whoever is killed; all 0 in the beginning. */
struct pfs_damon {
	bool mine;  /* it has been taken */
	bool asked; /* somebody waits in the kernel for a commit */
	pid_t tid;  /* of the kernel's thread, while it runs */
};

/*
 * Takes it and has it run, with so many targets that have no pages. 0 or -errno with err set, -EBUSY if it is
 * somebody's; pfs_damon_down() is due in any case.
 */
int pfs_damon_up(struct pfs_damon *damon, uint64_t interval_ns, unsigned int nr_targets, struct pfs_err *err);

/* What target nr shall be: pages of a process from `start` on, a bit each. pid 0: none. 0 or -errno. */
int pfs_damon_target(unsigned int nr, pid_t pid, uint64_t start, const uint64_t pages[PFS_DAMON_WORDS]);

/*
 * From the end of the interval under way on they are so. stop() is asked meanwhile. 0, -ECANCELED if it said
 * so, or -errno: -EINVAL if one of the processes is gone, -ESRCH if the kernel's thread is, and it may be tried
 * again.
 */
int pfs_damon_commit(struct pfs_damon *damon, bool (*stop)(void *ctx), void *ctx);

/* Another number of targets: it stops, forgets what they were, and runs after pfs_damon_start(). */
int pfs_damon_stop(struct pfs_damon *damon, unsigned int nr_targets);
int pfs_damon_start(struct pfs_damon *damon);

/* Ends it and gives it back, if it was taken. 0 or -errno with err set. */
int pfs_damon_down(struct pfs_damon *damon, struct pfs_err *err);

#endif
