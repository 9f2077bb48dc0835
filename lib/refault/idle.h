/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the pages of some processes that are in memory, and has DAMON (damon.h) check the accessed bit of each at every
 * interval. The processes keep all their pages.
 *
 * A target of DAMON is what a page table covers, so that a new page changes little. The number of a target goes to
 * another process only after the kernel has dropped it from the first.
 */
#ifndef PFS_IDLE_H
#define PFS_IDLE_H

#include "event/notes.h"
#include "refault/damon.h"
#include "refault/pageout.h"

struct pfs_idle;

/* The caller's functions. The note has to be in the recording when note() returns 0. */
struct pfs_idle_to {
	int (*note)(void *ctx, const struct pfs_fact *fact); /* without strings */
	int (*add_tid)(void *ctx, pid_t tid);		     /* records a thread's events from now on */
	void *ctx;
};

/* damon runs, with nr_targets empty targets. The caller calls free(). NULL: no memory. */
struct pfs_idle *pfs_idle_new(struct pfs_damon *damon, unsigned int nr_targets);

/* Finds the wanted pages of a process that are in memory. Adds to *sums those to be watched, and as fixed the others. */
int pfs_idle_see(struct pfs_idle *idle, pid_t pid, const struct pfs_pageout_want *want, struct pfs_pageout *sums);

/*
 * After all processes were seen: has their pages watched. 0 (also if want->stop() returned true or a process ended: then
 * the targets are as before), or -errno: it cannot go on.
 */
int pfs_idle_watch(struct pfs_idle *idle, const struct pfs_pageout_want *want, const struct pfs_idle_to *to);

#endif
