/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets the kernel fault PAGES anonymous pages in by itself, then writes to each of them.
 *
 *     populate 100 map      MAP_POPULATE: no exception, rusage counts 100
 *     populate 100 write    MADV_POPULATE_WRITE: the same
 *     populate 100 read     MADV_POPULATE_READ maps the zero page, if there is one; each write faults once more
 */
#include "workload.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/* "map" maps over what the others use as it is. */
static void populate(const char *mode, char *start, long pages)
{
	int prot = PROT_READ | PROT_WRITE;
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE;
	int advice = *mode == 'r' ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;

	if (*mode == 'm') {
		if (mmap(start, pages * WL_PAGE, prot, flags, -1, 0) == MAP_FAILED)
			wl_die("MAP_POPULATE");
	} else if (madvise(start, pages * WL_PAGE, advice)) {
		wl_die("MADV_POPULATE_%s", mode);
	}
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *mode = argc > 2 ? argv[2] : "map";
	int again;

	wl_check_args(argc, 1, 2, "populate PAGES", "map|read|write", mode);
	wl_init(&wl, "populate");
	wl.pages = wl_number(argv[1], 1L << 24);
	wl.start = wl_map_anon(1, PROT_READ | PROT_WRITE);
	populate(mode, wl.start, 1);
	wl_touch_write(wl.start, 1);
	wl.start = wl_map_anon(wl.pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + wl.pages * WL_PAGE;
	again = *mode == 'r' && wl_has_zero_page() ? wl.pages : 0;
	wl.expect = (struct wl_expect){ again, 0, again, again, wl.pages + again };

	wl_begin(&wl);
	populate(mode, wl.start, wl.pages);
	wl_touch_write(wl.start, wl.pages);
	wl_end(&wl);

	printf("populated %ld pages by %s, then wrote to each\n", wl.pages, mode);
	wl_report(&wl);
	return 0;
}
