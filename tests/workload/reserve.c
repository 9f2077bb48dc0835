/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reserves 1 TiB and touches three pages of it: the first, one in the middle, the last.
 *
 *     reserve          3 exceptions in a region of 268435456 pages
 *     reserve 16       16 GiB instead
 */
#include "workload.h"

static void touch(char *start, size_t len)
{
	wl_touch_write(start, 1);
	wl_touch_write(start + (len / 3 & -WL_PAGE), 1);
	wl_touch_write(start + len - WL_PAGE, 1);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	size_t len;

	if (argc > 2)
		wl_usage("reserve [GIB]");
	wl_init(&wl, "reserve");
	len = (size_t)(argc > 1 ? wl_number(argv[1], 64 << 10) : 1024) << 30;
	wl.pages = 3;
	touch(wl_map_anon(3, PROT_READ | PROT_WRITE), 3 * WL_PAGE);
	wl.start = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (wl.start == MAP_FAILED)
		wl_die("cannot reserve %zu bytes (see vm.overcommit_memory)", len);
	madvise(wl.start, len, MADV_NOHUGEPAGE);
	wl.end = wl.start + len;
	wl.expect = (struct wl_expect){ 3, 0, 3, 3, 3 };

	wl_begin(&wl);
	touch(wl.start, len);
	wl_end(&wl);

	printf("reserved %zu bytes, touched 3 pages\n", len);
	wl_report(&wl);
	return 0;
}
