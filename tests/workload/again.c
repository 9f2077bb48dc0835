/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches PAGES pages TIMES times each, and gives them up in between: the same page faults again
 * and again.
 *
 *     again 10 100 drop           1000 exceptions on 10 pages (MADV_DONTNEED), and 10 before
 *     again 10 100 hole           the same by fallocate(), which changes no layout
 *     again 64 3 swap             as often from swap (MADV_PAGEOUT; 77 where nothing goes)
 *
 * The first time, which finds no page yet, is not counted.
 */
#include "workload.h"

static int fd = -1;

static void give_up(char *start, size_t len, const char *how)
{
	if (*how == 'h')
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, len);
	else
		madvise(start, len, *how == 's' ? MADV_PAGEOUT : MADV_DONTNEED);
}

static void touch(char *start, long pages, long times, const char *how)
{
	while (times--) {
		wl_touch_write(start, pages);
		give_up(start, pages * WL_PAGE, how);
	}
}

/* `hole` is about shared memory, for only a file can have one. */
static char *map(long pages, const char *how)
{
	if (*how != 'h')
		return wl_map_anon(pages, PROT_READ | PROT_WRITE);
	fd = memfd_create("again", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, pages * WL_PAGE))
		wl_die("cannot make a file in memory");
	return wl_map(pages, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

/* Is anything of it still in memory? */
static int resident(char *start, long pages)
{
	unsigned char vec[64];

	if (mincore(start, (pages < 64 ? pages : 64) * WL_PAGE, vec))
		wl_die("mincore");
	for (long i = 0; i < pages && i < 64; i++)
		if (vec[i] & 1)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *how = argc > 3 ? argv[3] : "";
	long times;

	if (argc != 4 || !wl_one_of("drop|hole|swap", how))
		wl_usage("again PAGES TIMES drop|hole|swap");
	wl_init(&wl, "again");
	wl.pages = wl_number(argv[1], 1L << 20);
	times = wl_number(argv[2], 1L << 20);
	wl.start = map(wl.pages, how);
	wl.end = wl.start + wl.pages * WL_PAGE;
	touch(wl.start, wl.pages, 1, how);
	if (*how == 's' && resident(wl.start, wl.pages))
		wl_skip("nothing is paged out here: no swap?");
	if (*how == 'd') {
		long n = wl.pages * times;

		wl.expect = (struct wl_expect){ n, 0, n, n, n };
	}

	wl_begin(&wl);
	touch(wl.start, wl.pages, times, how);
	wl_end(&wl);

	printf("touched %ld pages %ld times\n", wl.pages, times + 1);
	wl_report(&wl);
	return 0;
}
