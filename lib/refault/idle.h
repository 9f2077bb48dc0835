/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of some processes are in memory, and that DAMON (damon.h) looks at the accessed bit of each of
 * them at every interval. Nothing is taken away from the processes.
 *
 * A target of DAMON's is what a page table covers, so that little has to be told anew when a page comes. A
 * number that was a target of one process is given to another only when the kernel knows that it is no longer
 * the first one's.
 */
#ifndef PFS_IDLE_H
#define PFS_IDLE_H

#include "event/notes.h"
#include "refault/damon.h"
#include "refault/pageout.h"

struct pfs_idle;

/* Who receives it. The note has to be in the recording when say() returns. -errno: it is not. */
struct pfs_idle_to {
	int (*say)(void *ctx, const struct pfs_fact *fact); /* without strings */
	int (*add_tid)(void *ctx, pid_t tid);		    /* has a thread's events recorded, from now on */
	void *ctx;
};

/* The pages to be watched: `want` as for pageout. damon is up, with no targets but those that have no pages. */
struct pfs_idle *pfs_idle_new(struct pfs_damon *damon, unsigned int nr_targets);
void pfs_idle_free(struct pfs_idle *idle);

/* Looks which of its pages are in memory, and adds to *sums those to be watched, and (fixed) those not. */
int pfs_idle_see(struct pfs_idle *idle, pid_t pid, const struct pfs_pageout_want *want, struct pfs_pageout *sums);

/*
 * All of them were seen: has them watched. 0 (also if want->stop() said so, or a process ended: then they are
 * as before), or -errno: no more of it.
 */
int pfs_idle_watch(struct pfs_idle *idle, const struct pfs_pageout_want *want, const struct pfs_idle_to *to);

#endif
