/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams of sub-buffers, one per CPU, merged to raw events in order of time.
 *
 * One pass, no copying of records, flat memory. dat/read.c feeds it from a trace.dat, a live
 * capture from spool files that still grow. At equal times the stream added first comes first.
 */
#ifndef PFS_MERGE_H
#define PFS_MERGE_H

#include "base/err.h"
#include "record/formats.h"
#include "record/page_source.h"
#include "record/raw.h"

/* One measured difference between a guest's clock and its host's. */
struct pfs_sync_sample {
	uint64_t time;
	int64_t offset;
	uint64_t scaling;
	uint8_t fraction; /* scaling is in units of 2^-fraction */
};

/* Of one CPU, in order of time. */
struct pfs_sync {
	struct pfs_sync_sample *samples;
	uint32_t nr_samples;
	bool interpolate;
};

/*
 * Time stamps to the times that `trace-cmd report` prints, in this order: a guest's clock to its host's (per CPU), ticks
 * to nanoseconds, a fixed offset. dat/options.c fills it in; a live capture has none.
 */
struct pfs_ts_conv {
	uint32_t mult;		     /* ticks to ns: * mult >> shift; 0: they are ns */
	uint32_t shift;		     /* at most 63 */
	uint64_t offset_ns;	     /* added last; wraps, so it may stand for a negative one */
	const struct pfs_sync *sync; /* NULL: none */
};

struct pfs_merge;

enum {
	PFS_MERGE_SALVAGE = 1, /* go on behind what is damaged, and count it */
	PFS_MERGE_OTHER = 2,   /* pass RAW_OTHER on too (kind, ts_ns, cpu, tid and record only) */
};

struct pfs_merge_stats {
	uint64_t records; /* data records met */
	uint64_t other;	  /* those that pfscope does not use */
	uint64_t pages;
	uint64_t lost;		     /* events, where sub-buffers hold their number */
	uint64_t lost_unknown;	     /* losses of an unknown number */
	uint64_t damaged;	     /* sub-buffers or rests of streams, not readable */
	struct pfs_err first_damage; /* of those, where damaged is not 0 */
};

/* The formats stay the caller's and must outlive it. NULL: no memory. */
struct pfs_merge *pfs_merge_new(const struct pfs_formats *formats, unsigned int flags);
void pfs_merge_free(struct pfs_merge *m);

/*
 * Adds a stream; m frees src, also on failure (and src may be NULL: -ENOMEM). cpu -1: none.
 * conv is copied; NULL: the times need no conversion.
 */
int pfs_merge_add(struct pfs_merge *m, int cpu, struct pfs_page_source *src, const struct pfs_ts_conv *conv);

/* The end of the stream added last is missing: reported as a RAW_LOST when all streams have ended. */
void pfs_merge_cut(struct pfs_merge *m);

/* From now on plain faults go there, with pfs_merge_run()'s ctx, many at once. */
void pfs_merge_take_faults(struct pfs_merge *m, raw_faults_fn faults);

/* pfs_merge_run() reports its progress to fn from time to time. */
typedef void (*pfs_merge_watch_fn)(void *ctx, const struct pfs_merge_stats *stats);
void pfs_merge_watch(struct pfs_merge *m, pfs_merge_watch_fn fn, void *ctx);

/*
 * Passes every event before until_ns to fn; UINT64_MAX: all events. A live capture calls it repeatedly, with times up
 * to which all its growing sources are complete. Events lost before a sub-buffer become a RAW_LOST of its time, and so
 * does what cannot be read; if fn returns -ECANCELED, it still gets the losses that began before. pfscope's own
 * records have cpu -1, and strings that needed several records are whole again. 0, what fn returned if that is not 0,
 * or -errno with err set.
 */
int pfs_merge_run(struct pfs_merge *m, uint64_t until_ns, raw_event_fn fn, void *ctx, struct pfs_err *err);

const struct pfs_merge_stats *pfs_merge_stats(const struct pfs_merge *m);

#endif
