/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast allocations and frees are paired, and how much memory that takes, for the benchmark:
 *
 *     pair_speed LIVE [EVENTS]        "events=N ns=N live=N bytes=N"
 *
 * Of 2 x LIVE addresses a random one is allocated or freed by each event, so about LIVE live at any time after the
 * first 4 x LIVE events, which are not timed. They come from 200 call sites, 40 caches and 50 threads. The table is in
 * no cache if LIVE is large: nothing is worse for it. bytes: how much larger the process has become.
 */
#include "objects/objects.h"

#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NR_SITES = 200, NR_CACHES = 40, NR_THREADS = 50, SIZE = 256 };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static uint64_t resident_bytes(void)
{
	unsigned long resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*u %lu", &resident) != 1)
		perror("/proc/self/statm");
	if (file)
		fclose(file);
	return (uint64_t)resident * sysconf(_SC_PAGESIZE);
}

/* The number of an address, and whether it is freed: 2 x number + 1. */
static uint32_t *make_steps(uint32_t nr_addresses, uint64_t nr)
{
	uint32_t *steps = malloc(nr * sizeof(*steps));
	unsigned char *live = calloc(nr_addresses, 1);
	uint64_t seed = 1;

	for (uint64_t i = 0; steps && live && i < nr; i++) {
		uint32_t at = next_random(&seed) % nr_addresses;

		steps[i] = 2 * at + live[at];
		live[at] ^= 1;
	}
	free(live);
	return steps;
}

static int feed(struct pfs_objects *objects, const uint32_t *steps, uint64_t from, uint64_t to)
{
	static char names[NR_CACHES][16];
	struct pfs_sink sink = pfs_objects_sink(objects);
	struct pfs_event ev = { 0 };
	int ret = 0;

	for (int i = 0; i < NR_CACHES; i++)
		snprintf(names[i], sizeof(names[i]), "cache_of_%d", i);
	PFS_SET(&ev, pid, PID, 1);
	PFS_SET(&ev, tid, TID, 1);
	PFS_SET(&ev, ptr, PTR, 0);
	PFS_SET(&ev, site, SITE, 0);
	PFS_SET(&ev, cache, CACHE, names[0]);
	PFS_SET(&ev, size, SIZE, SIZE - 8);
	PFS_SET(&ev, allocated, ALLOCATED, SIZE);
	for (uint64_t i = from; !ret && i < to; i++) {
		uint32_t at = steps[i] / 2;

		ev.kind = steps[i] & 1 ? PFS_FREE : PFS_ALLOC;
		ev.ts_ns = (i + 1) * 100;
		ev.tid = 1 + i / 64 % NR_THREADS;
		ev.ptr = 0xffff888000000000 + (uint64_t)at * SIZE;
		ev.site = 0xffffffff81000000 + i % NR_SITES * 64;
		ev.cache = names[at / 32 % NR_CACHES];
		ret = pfs_emit(&sink, &ev);
	}
	return ret;
}

int main(int argc, char **argv)
{
	uint64_t live = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
		 nr = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000000;
	uint64_t warm = 4 * live, before, start, ns, bytes;
	struct pfs_objects *objects = pfs_objects_new(NULL, &(struct pfs_object_sink){ 0 });
	const struct pfs_objects_stats *stats;
	uint32_t *steps;

	if (!live || live > 1 << 29 || !nr)
		return 2;
	steps = make_steps(2 * live, warm + nr);
	before = resident_bytes();
	if (!objects || !steps || feed(objects, steps, 0, warm))
		return 1;
	start = now_ns();
	if (feed(objects, steps, warm, warm + nr))
		return 1;
	ns = now_ns() - start;
	bytes = resident_bytes() - before;
	stats = pfs_objects_stats(objects);
	printf("events=%llu ns=%llu live=%llu bytes=%llu\n", (unsigned long long)nr, (unsigned long long)ns,
	       (unsigned long long)(stats->allocs - stats->frees), (unsigned long long)bytes);
	pfs_objects_free(objects);
	free(steps);
	return 0;
}
