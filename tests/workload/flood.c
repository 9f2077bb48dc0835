/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PROCS processes at once that do nothing but touch memory for the first time: each maps PAGES pages, writes to
 * each, unmaps them, and begins anew, ROUNDS times or for so many seconds.
 *
 *     flood 1 10000 100       a million exceptions
 *     flood 2 10000 60s       as many as two processors make in a minute
 *
 * `pages` of the report is how many pages were touched by all. With one process there is no fork.
 */
#include "workload.h"

#define MAX_PROCS 256

struct limit {
	long rounds;
	uint64_t end_ns;
};

/* Not counted: each of the kernel's counters costs a few per cent of a fault, traced or not. */
static void without_counters(struct wl *wl)
{
	for (int i = 0; i < WL_NR_PERF; i++)
		if (wl->perf_fd[i] >= 0)
			close(wl->perf_fd[i]);
	memset(wl->perf_fd, -1, sizeof(wl->perf_fd));
	wl->perf = "none";
}

/* How many pages were touched. */
static long flood(long pages, struct limit limit)
{
	size_t len = pages * WL_PAGE;
	long done = 0;

	while (limit.end_ns ? wl_now_ns() < limit.end_ns : done < limit.rounds) {
		char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			wl_die("mmap");
		wl_touch_write(p, pages);
		munmap(p, len);
		done++;
	}
	return done * pages;
}

static long flood_all(long procs, long pages, struct limit limit)
{
	volatile long *done =
		mmap(NULL, procs * sizeof(*done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long sum = 0;

	if (done == MAP_FAILED)
		wl_die("mmap");
	if (procs == 1)
		return flood(pages, limit);
	for (long i = 0; i < procs; i++) {
		pid_t pid = fork();

		if (pid < 0)
			wl_die("fork");
		if (!pid) {
			done[i] = flood(pages, limit);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	for (long i = 0; i < procs; i++)
		sum += done[i];
	return sum;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	long procs, pages;
	char *unit;

	if (argc != 4)
		wl_usage("flood PROCS PAGES ROUNDS|SECONDSs");
	wl_init(&wl, "flood");
	without_counters(&wl);
	procs = wl_number(argv[1], MAX_PROCS);
	pages = wl_number(argv[2], 1L << 24);
	unit = strchr(argv[3], 's');
	if (unit)
		*unit = '\0';
	flood(pages, (struct limit){ .rounds = 1 });

	wl_begin(&wl);
	wl.pages = flood_all(
		procs, pages,
		unit ? (struct limit){ .end_ns = wl_now_ns() + wl_number(argv[3], 86400) * UINT64_C(1000000000) }
		     : (struct limit){ .rounds = wl_number(argv[3], 1L << 30) });
	wl_end(&wl);

	printf("%ld processes touched %ld pages\n", procs, wl.pages);
	wl_report(&wl);
	return 0;
}
