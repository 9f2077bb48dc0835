/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording's time stamps to the times that `trace-cmd report` prints.
 *
 * In this order: a guest's clock to its host's (per CPU), ticks to nanoseconds, a fixed
 * offset. dat/options.c fills it from a trace.dat; a live capture has none.
 */
#ifndef PFS_TS_CONV_H
#define PFS_TS_CONV_H

#include <stdbool.h>
#include <stdint.h>

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

struct pfs_ts_conv {
	uint32_t mult;		     /* ticks to ns: * mult >> shift; 0: they are ns */
	uint32_t shift;		     /* at most 63 */
	uint64_t offset_ns;	     /* added last; wraps, so it may stand for a negative one */
	const struct pfs_sync *sync; /* NULL: none */
};

#endif
