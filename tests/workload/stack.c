/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A deep stack: recursion over at least PAGES pages that nothing touched before.
 *
 *     stack 500           the first thread's stack: its region grows as it is touched
 *     stack 500 thread    another thread's: a mapping of its full size from the start
 *
 * `pages` says how many new pages it came to; [start, end) is exactly those.
 */
#include "workload.h"

#include <pthread.h>

#define WARM 32 /* pages deeper than any call before, so that what follows is untouched */

struct job {
	struct wl *wl;
	long pages;
};

/* One page of stack and a little a call; the address of the deepest byte written. */
static __attribute__((noinline)) char *descend(long calls)
{
	volatile char frame[4096];
	char *deepest = (char *)frame;

	frame[0] = 1;
	if (calls > 0)
		deepest = descend(calls - 1);
	asm volatile("" : : "r"(frame) : "memory");
	return deepest;
}

/* The warm-up touches all above `end`; the calls in between stay far above it. */
static void *run(void *arg)
{
	struct job *job = arg;
	struct wl *wl = job->wl;
	char *deepest;
	long n;

	wl_begin(wl);
	wl_end(wl);
	wl->end = (char *)((uintptr_t)descend(WARM) & -WL_PAGE);

	wl_begin(wl);
	deepest = descend(WARM + job->pages);
	wl_end(wl);

	wl->start = (char *)((uintptr_t)deepest & -WL_PAGE);
	wl->pages = n = (wl->end - wl->start) / WL_PAGE;
	wl->expect = (struct wl_expect){ n, 0, n, n, n };
	return NULL;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	struct job job = { .wl = &wl };
	int in_thread = argc == 3 && !strcmp(argv[2], "thread");
	struct rlimit limit;
	pthread_t thread;

	if (argc < 2 || argc != 2 + in_thread)
		wl_usage("stack PAGES [thread]");
	getrlimit(RLIMIT_STACK, &limit);
	job.pages = wl_number(argv[1], (long)(limit.rlim_cur / (WL_PAGE + 64)) - 2 * WARM - 64);
	wl_init(&wl, "stack");
	if (!in_thread)
		run(&job);
	else if (pthread_create(&thread, NULL, run, &job))
		wl_die("pthread_create");
	else
		pthread_join(thread, NULL);
	printf("went %ld pages deeper into the stack\n", wl.pages);
	wl_report(&wl);
	return 0;
}
