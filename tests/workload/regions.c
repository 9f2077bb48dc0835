/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * N regions of one page each, no two of which can merge, and a child that begins with all of them.
 *
 *     regions 3000 /tmp/x          checkpoints (checkpoint.h): with the regions, in the child as it begins,
 *                                  in the child with half of them gone, at the end with none
 *     regions 3000 /tmp/x wait     with the regions there it says "ready" and goes on at SIGUSR1: to attach to
 *
 * Every second region is written to once: N / 2 exceptions.
 */
#include "checkpoint.h"

#include <signal.h>
#include <sys/wait.h>

#define MAX_REGIONS 8000 /* a checkpoint has room for so many lines */

static struct checkpoints cps;

static char *make(long nr)
{
	char *start = wl_map_anon(nr, PROT_READ);

	for (long i = 0; i < nr; i += 2) {
		if (mprotect(start + i * WL_PAGE, WL_PAGE, PROT_READ | PROT_WRITE))
			wl_die("mprotect");
		wl_touch_write(start + i * WL_PAGE, 1);
	}
	return start;
}

static void as_child(char *start, long nr)
{
	checkpoint(&cps);
	munmap(start, nr / 2 * WL_PAGE);
	checkpoint(&cps);
	_exit(0);
}

static void wait_for_signal(void)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	dprintf(STDOUT_FILENO, "ready pid=%d\n", getpid());
	sigwait(&set, &sig);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	char *start;
	pid_t child;
	long nr;

	if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "wait")))
		wl_usage("regions REGIONS PREFIX [wait]");
	nr = wl_number(argv[1], MAX_REGIONS);
	checkpoints_init(&cps, argv[2], 0);
	wl_init(&wl, "regions");
	wl_begin(&wl);
	start = make(nr);
	if (argc == 4)
		wait_for_signal();
	checkpoint(&cps);
	child = fork();
	if (child < 0)
		wl_die("fork");
	if (!child)
		as_child(start, nr);
	waitpid(child, NULL, 0);
	munmap(start, nr * WL_PAGE);
	checkpoint(&cps);
	wl_end(&wl);
	wl.pages = nr / 2;
	wl_report(&wl);
	return 0;
}
