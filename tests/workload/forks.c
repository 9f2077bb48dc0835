/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * N short-lived children, one after the other or all at once, each writing PAGES pages.
 *
 *     forks 20             20 children write 3 pages each of what they share with the parent
 *     forks 20 3 exec      each becomes this program again (forks --child 3)
 *     forks 20 3 spawn     vfork and exec: the child starts in the parent's own address space
 *     forks 20 3 crowd     all at once
 */
#include "workload.h"

static int as_child(const char *pages)
{
	long n = wl_number(pages, 1L << 20);

	wl_touch_write(wl_map_anon(n, PROT_READ | PROT_WRITE), n);
	return 0;
}

static void exec_self(const char *pages)
{
	execl("/proc/self/exe", "forks", "--child", pages, NULL);
	_exit(127);
}

/* On its own: a vfork child shares the stack frame that it returns from. */
static __attribute__((noinline)) pid_t spawn(const char *text)
{
	pid_t child = vfork();

	if (!child)
		exec_self(text);
	return child;
}

static void start(const char *mode, char *area, long pages, const char *text)
{
	pid_t child = !strcmp(mode, "spawn") ? spawn(text) : fork();

	if (child < 0)
		wl_die("fork");
	if (child)
		return;
	if (!strcmp(mode, "exec"))
		exec_self(text);
	wl_touch_write(area, pages);
	_exit(0);
}

/* The number of children that failed. */
static long wait_for(long nr)
{
	long failed = 0;
	int status;

	while (nr-- > 0)
		if (waitpid(-1, &status, 0) < 0 || status)
			failed++;
	return failed;
}

static long run(const char *mode, long nr, char *area, long pages, const char *text)
{
	int crowd = !strcmp(mode, "crowd");
	long failed = 0;

	for (long i = 0; i < nr; i++) {
		start(mode, area, pages, text);
		if (!crowd)
			failed += wait_for(1);
	}
	return failed + (crowd ? wait_for(nr) : 0);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *mode = argc > 3 ? argv[3] : "fork";
	const char *text = argc > 2 ? argv[2] : "3";
	long nr, failed, own;

	if (argc == 3 && !strcmp(argv[1], "--child"))
		return as_child(argv[2]);
	wl_check_args(argc, 1, 3, "forks N [PAGES]", "fork|exec|spawn|crowd", mode);
	wl_init(&wl, "forks");
	nr = wl_number(argv[1], 10000);
	wl.pages = wl_number(text, 1L << 20);
	wl.start = wl_map_anon(wl.pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + wl.pages * WL_PAGE;
	own = !strcmp(mode, "fork") || !strcmp(mode, "crowd") ? nr * wl.pages : 0;
	wl.expect = (struct wl_expect){ own, 0, WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN };

	wl_begin(&wl);
	failed = run(mode, nr, wl.start, wl.pages, text);
	wl_end(&wl);

	printf("%ld children (%s) wrote %ld pages each, %ld failed\n", nr, mode, wl.pages, failed);
	wl_report(&wl);
	printf("children=%ld\n", nr);
	return failed != 0;
}
