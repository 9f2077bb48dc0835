/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints how fast this processor's time stamp counter counts, in kHz. A guest counts with it, and is told so: by
 * itself it finds out by comparing with QEMU's timers, which may be ten times off while the machine is busy.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct moment {
	uint64_t ns, tsc;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Of many readings of both the closest: whoever is interrupted between them takes longer. */
static struct moment now(void)
{
	struct moment best = { 0, 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), after = __rdtsc();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct moment){ ns, before + least / 2 };
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct moment from = now(), to;

	nanosleep(&pause, NULL);
	to = now();
	printf("%.0f\n", (double)(to.tsc - from.tsc) * 1e6 / (double)(to.ns - from.ns));
	return 0;
}
