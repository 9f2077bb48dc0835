/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * N threads at once, each writing PAGES pages of its own.
 *
 *     threads 4 100    400 exceptions in [start, end); thread i owns the i-th hundred
 *
 * The threads' stacks and their start cost more faults outside of [start, end).
 */
#include "workload.h"

#include <pthread.h>

#define MAX_THREADS 1024

struct job {
	pthread_t thread;
	pthread_barrier_t *gate;
	char *start;
	long pages;
	int tid;
};

static void *run(void *arg)
{
	struct job *job = arg;

	job->tid = syscall(SYS_gettid);
	pthread_barrier_wait(job->gate);
	wl_touch_write(job->start, job->pages);
	return NULL;
}

static void run_all(struct job *jobs, long nr, char *start, long pages)
{
	pthread_barrier_t gate;

	pthread_barrier_init(&gate, NULL, nr);
	for (long i = 0; i < nr; i++) {
		jobs[i].gate = &gate;
		jobs[i].start = start + i * pages * WL_PAGE;
		jobs[i].pages = pages;
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			wl_die("cannot create thread %ld", i);
	}
	for (long i = 0; i < nr; i++)
		pthread_join(jobs[i].thread, NULL);
	pthread_barrier_destroy(&gate);
}

int main(int argc, char **argv)
{
	static struct job jobs[MAX_THREADS];
	static struct wl wl;
	long nr, pages;

	if (argc != 3)
		wl_usage("threads N PAGES");
	wl_init(&wl, "threads");
	nr = wl_number(argv[1], MAX_THREADS);
	pages = wl_number(argv[2], 1L << 20);
	wl.pages = nr * pages;
	wl.start = wl_map_anon(wl.pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + wl.pages * WL_PAGE;
	wl.expect = (struct wl_expect){ wl.pages, 0, WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN };

	wl_begin(&wl);
	if (nr)
		run_all(jobs, nr, wl.start, pages);
	wl_end(&wl);

	printf("%ld threads wrote %ld pages each\n", nr, pages);
	wl_report(&wl);
	for (long i = 0; i < nr; i++)
		printf("tid%ld=%d\n", i, jobs[i].tid);
	return 0;
}
