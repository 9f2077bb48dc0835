// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guest time to host time, by the samples that trace-cmd took of both clocks (option TIME_SHIFT).
 *
 * The arithmetic is trace-cmd's, overflow and rounding with it: the result is to be the time that
 * `trace-cmd report` prints. Called through pfs_ts_convert().
 */
#include "record/ts_conv.h"

static uint64_t correct(const struct pfs_sync *sync, uint64_t ts, const struct pfs_sync_sample *min,
			const struct pfs_sync_sample *max)
{
	uint64_t offset = min->offset;

	int64_t delta = max->time - min->time;

	if (sync->interpolate && delta > 0) {
		uint64_t part = (ts - min->time) * ((uint64_t)max->offset - (uint64_t)min->offset);

		offset += (int64_t)(part + delta / 2) / delta;
	}
	return (ts * min->scaling >> (min->fraction & 63)) + offset;
}

uint64_t pfs_ts_sync(const struct pfs_sync *sync, uint64_t ts)
{
	const struct pfs_sync_sample *s = sync->samples;
	uint32_t low = 0, high = sync->nr_samples;

	if (!high)
		return ts;
	if (high == 1)
		return ts + s[0].offset;
	/* the last sample that is not after ts, and the one that follows it */
	high--;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (s[mid].time <= ts)
			low = mid;
		else
			high = mid;
	}
	return correct(sync, ts, &s[low], &s[low + 1]);
}
