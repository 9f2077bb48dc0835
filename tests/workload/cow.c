/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copy on write: writes PAGES pages, forks, then child and parent both write all of them.
 *
 *     cow 100             the child writes first and ends: 100 exceptions each
 *     cow 100 parent      the parent writes first, while the child waits
 *
 * A fork leaves more to copy than these pages (stacks, libc's data): the whole process counts a few
 * more faults than 2 * PAGES, [start, end) counts exactly as many.
 */
#include "workload.h"

static void wait_for(int fd)
{
	char byte;

	if (read(fd, &byte, 1) < 0)
		_exit(1);
}

/* The child waits for the parent's side of the pipe to close. */
static pid_t start_child(char *start, long pages, const int go[2])
{
	pid_t child = fork();

	if (child < 0)
		wl_die("fork");
	if (!child) {
		close(go[1]);
		wait_for(go[0]);
		wl_touch_write(start, pages);
		_exit(0);
	}
	close(go[0]);
	return child;
}

static void end_child(pid_t child, int go)
{
	int status;

	close(go);
	if (waitpid(child, &status, 0) < 0 || status)
		wl_die("the child failed");
}

static pid_t copy(int parent_first, char *start, long pages)
{
	int go[2];
	pid_t child;

	if (pipe2(go, O_CLOEXEC))
		wl_die("pipe");
	child = start_child(start, pages, go);
	if (!parent_first)
		end_child(child, go[1]);
	wl_touch_write(start, pages);
	if (parent_first)
		end_child(child, go[1]);
	return child;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	int parent_first = argc == 3 && !strcmp(argv[2], "parent");
	pid_t child;
	long n;

	if (argc < 2 || argc != 2 + parent_first)
		wl_usage("cow PAGES [parent]");
	wl_init(&wl, "cow");
	wl.pages = n = wl_number(argv[1], 1L << 20);
	wl.start = wl_map_anon(n, PROT_READ | PROT_WRITE);
	wl.end = wl.start + n * WL_PAGE;
	wl_touch_write(wl.start, n);
	wl.expect = (struct wl_expect){ 2 * n, 0, WL_UNKNOWN, WL_UNKNOWN, WL_UNKNOWN };

	wl_begin(&wl);
	child = copy(parent_first, wl.start, n);
	wl_end(&wl);

	printf("%ld pages written by child %d and parent, %s first\n", n, child, parent_first ? "parent" : "child");
	wl_report(&wl);
	printf("child=%d\n", child);
	return 0;
}
