/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forks TIMES children one after another, each of which sleeps MS milliseconds, writes to PAGES pages and ends. With
 * "same" all of them have the same number (clone3 with set_tid, which requires privileges).
 *
 *     reused 20 10 20 same
 */
#include "workload.h"

#include <linux/sched.h>

static pid_t fork_as(pid_t number)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	if (number) {
		args.set_tid = (uintptr_t)&number;
		args.set_tid_size = 1;
	}
	return syscall(SYS_clone3, &args, sizeof(args));
}

static void live(char *start, long pages, long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
	wl_touch_write(start, pages);
	_exit(0);
}

int main(int argc, char **argv)
{
	long times, pages, ms;
	pid_t number = 0;
	char *start;

	if (argc != 5 || !wl_one_of("same|any", argv[4]))
		wl_usage("reused TIMES PAGES MS same|any");
	times = wl_number(argv[1], 100000);
	pages = wl_number(argv[2], 1L << 20);
	ms = wl_number(argv[3], 10000);
	start = wl_map_anon(pages, PROT_READ | PROT_WRITE);
	for (long i = 0; i < times; i++) {
		pid_t pid = fork_as(number);

		if (pid < 0 && errno == EPERM)
			wl_skip("only root may choose numbers of processes");
		if (pid < 0)
			wl_die("clone3");
		if (!pid)
			live(start, pages, ms);
		waitpid(pid, NULL, 0);
		if (*argv[4] == 's')
			number = pid;
	}
	printf("start=%lx\nend=%lx\n", (unsigned long)start, (unsigned long)(start + pages * WL_PAGE));
	return 0;
}
