/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults of the everyday form on their way from a reader (merge.c, text.c) to who takes them in runs.
 */
#ifndef PFS_FAULT_BATCH_H
#define PFS_FAULT_BATCH_H

#include "record/raw.h"

enum { FAULT_BATCH = 256 };

struct fault_batch {
	raw_faults_fn fn; /* or NULL */
	unsigned int nr, nr_runs;
	uint64_t ts_ns[FAULT_BATCH], addr[FAULT_BATCH], ip[FAULT_BATCH];
	struct pfs_fault_run runs[FAULT_BATCH]; /* they point into the arrays */
};

/*
 * The run that faults like that one go to, from time ts on: the last one, if it is of such. The caller puts
 * them into the arrays, counts them in nr and in the run, and passes the batch when it is full.
 */
static inline struct pfs_fault_run *fault_batch_run(struct fault_batch *b, const struct pfs_fault_run *like,
						    uint64_t ts)
{
	struct pfs_fault_run *run = &b->runs[b->nr_runs];

	if (b->nr_runs && run[-1].tid == like->tid && run[-1].cpu == like->cpu && run[-1].code == like->code &&
	    run[-1].mode == like->mode && b->ts_ns[b->nr - 1] <= ts)
		return run - 1;
	*run = *like;
	run->ts_ns = b->ts_ns + b->nr;
	run->addr = b->addr + b->nr;
	run->ip = b->ip + b->nr;
	b->nr_runs++;
	return run;
}

/* Hands them on. 0 or what fn returned. */
static inline int fault_batch_pass(struct fault_batch *b, void *ctx)
{
	unsigned int nr = b->nr_runs;

	b->nr_runs = b->nr = 0;
	return nr ? b->fn(ctx, b->runs, nr) : 0;
}

#endif
