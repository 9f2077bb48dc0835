/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes use the same pages of a shared mapping all the time, so that none of them can be taken away from one of
 * them alone (--refault).
 *
 *     shared PAGES MS FILE     both read each of the first PAGES pages of FILE, which is made, again and again
 *
 * Prints "pid=" of the first process, "start=" and "end=" of its mapping and "ready" when both run; and its "rounds=" at
 * the end.
 */
#include "workload.h"

#include <inttypes.h>
#include <poll.h>

static char *map(const char *path, long pages)
{
	static char page[4096];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	for (long i = 0; i < pages; i++)
		if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
			wl_die("%s", path);
	fsync(fd); /* what is not written back yet stays for that reason */
	return wl_map(pages, PROT_READ, MAP_SHARED, fd);
}

static long use(const char *start, long pages, uint64_t until_ns)
{
	long rounds = 0;

	for (; wl_now_ns() < until_ns; rounds++) {
		wl_touch_read((char *)start, pages);
		poll(NULL, 0, 5);
	}
	return rounds;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	uint64_t until_ns;
	long pages, rounds;
	char *start;
	pid_t child;

	if (argc != 4)
		wl_usage("shared PAGES MS FILE");
	wl_init(&wl, "shared");
	pages = wl_number(argv[1], 1L << 20);
	until_ns = wl_now_ns() + wl_number(argv[2], 1000000) * 1000000;
	start = map(argv[3], pages);
	wl_touch_read(start, pages);
	child = fork();
	if (child < 0)
		wl_die("fork");
	if (!child) {
		use(start, pages, until_ns + UINT64_C(500000000));
		return 0;
	}
	poll(NULL, 0, 50);
	printf("pid=%d\nstart=%" PRIxPTR "\nend=%" PRIxPTR "\nready\n", getpid(), (uintptr_t)start,
	       (uintptr_t)start + pages * WL_PAGE);
	fflush(stdout);
	rounds = use(start, pages, until_ns);
	printf("rounds=%ld\n", rounds);
	fflush(stdout);
	waitpid(child, NULL, 0);
	return 0;
}
