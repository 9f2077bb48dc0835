/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks PAGES anonymous pages into memory, then writes to each of them.
 *
 *     lock 100 mlock      the kernel faults them in: no exception, rusage counts 100
 *     lock 100 onfault    mlock2(MLOCK_ONFAULT): faulted in by the writes, 100 exceptions
 *     lock 100 current    mlockall(MCL_CURRENT), once before the pages were there and once after
 *     lock 100 future     mlockall(MCL_FUTURE), then the mmap that populates them
 *     lock 100 brk        the same with pages of the heap, by brk()
 */
#include "workload.h"

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

#define RW (PROT_READ | PROT_WRITE)

static void lock(const char *mode, char *start, long pages)
{
	size_t len = pages * WL_PAGE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	int err = 0;

	if (!strcmp(mode, "mlock"))
		err = mlock(start, len);
	else if (!strcmp(mode, "onfault"))
		err = syscall(SYS_mlock2, start, len, MLOCK_ONFAULT);
	else if (!strcmp(mode, "current"))
		err = mlockall(MCL_CURRENT);
	else if (!strcmp(mode, "future"))
		err = mmap(start, len, RW, flags, -1, 0) == MAP_FAILED;
	else
		err = brk(start + len);
	if (err)
		wl_die("%s of %ld pages (see ulimit -l)", mode, pages);
}

/* Where the pages will be: the next whole page of the heap, or anywhere. */
static char *place(const char *mode, long pages)
{
	if (strcmp(mode, "brk"))
		return wl_map_anon(pages, RW);
	if (brk((void *)(((uintptr_t)sbrk(0) + WL_PAGE - 1) & -WL_PAGE)))
		wl_die("brk");
	return sbrk(0);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *mode = argc > 2 ? argv[2] : "mlock";
	long touched;

	wl_check_args(argc, 1, 2, "lock PAGES", "mlock|onfault|current|future|brk", mode);
	wl_init(&wl, "lock");
	wl.pages = wl_number(argv[1], 1L << 24);
	if (!strcmp(mode, "future") || !strcmp(mode, "brk"))
		if (mlockall(MCL_FUTURE))
			wl_die("mlockall (see ulimit -l)");
	wl.start = place(mode, 1);
	lock(mode, wl.start, 1);
	wl_touch_write(wl.start, 1);
	wl.start = place(mode, wl.pages);
	wl.end = wl.start + wl.pages * WL_PAGE;
	if (!strcmp(mode, "future"))
		munmap(wl.start, wl.pages * WL_PAGE);
	touched = strcmp(mode, "onfault") ? 0 : wl.pages;
	wl.expect = (struct wl_expect){ touched, 0, touched, touched, wl.pages };

	wl_begin(&wl);
	lock(mode, wl.start, wl.pages);
	wl_touch_write(wl.start, wl.pages);
	wl_end(&wl);

	printf("locked %ld pages by %s, then wrote to each\n", wl.pages, mode);
	wl_report(&wl);
	return 0;
}
