/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain faults, which fill most of a recording, gathered by a reader (merge.c, text/quick.c) and passed on in runs.
 *
 * The one place that decides which faults are plain. Readers batch only those; the assembler adds whether the state of
 * the thread allows to pass a run on as such (asm_fault_run()), or takes its faults out one by one.
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

static inline enum pfs_mode fault_mode(enum raw_kind kind)
{
	return kind == RAW_FAULT_USER ? PFS_USER : kind == RAW_FAULT_KERNEL ? PFS_KERNEL : 0;
}

/* Can a run hold this fault? Its CPU, error code and instruction have to be known. */
static inline bool fault_is_plain(const struct pfs_fault_run *like, uint64_t ip)
{
	return like->cpu >= 0 && like->code != RAW_ABSENT && ip != RAW_ABSENT;
}

/*
 * The run for plain faults like that one from time ts on: the last one if it holds such faults, else a new one. The
 * caller puts them into the arrays, counts them in nr and in the run, and passes the batch on when it is full.
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

/* Takes the first fault out of a run, as a raw event. */
static inline void fault_run_shift(struct pfs_fault_run *run, struct raw_event *raw)
{
	*raw = (struct raw_event){
		.ts_ns = *run->ts_ns++,
		.cpu = run->cpu,
		.tid = run->tid,
		.tgid = -1,
		.kind = run->mode == PFS_USER ? RAW_FAULT_USER : RAW_FAULT_KERNEL,
		.arg = { *run->addr++, *run->ip++, run->code, RAW_ABSENT, RAW_ABSENT, RAW_ABSENT, RAW_ABSENT,
			 RAW_ABSENT },
	};
	run->nr--;
}

/* Passes the runs on. 0 or what fn returned. */
static inline int fault_batch_pass(struct fault_batch *b, void *ctx)
{
	unsigned int nr = b->nr_runs;

	b->nr_runs = b->nr = 0;
	return nr ? b->fn(ctx, b->runs, nr) : 0;
}

#endif
