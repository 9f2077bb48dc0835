/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a page from the disk in each of N faults, which read ahead as well, and fills the page cache after each by read()
 * and write(), which makes no fault major.
 *
 *     disk 3
 *
 * The files are sparse: for the kernel that is a read all the same.
 */
#include "workload.h"

#include <fcntl.h>

#define APART (16L << 20) /* more than is read ahead */
#define PIECE (1L << 20)

static int sparse_file(long size)
{
	int fd = wl_file(0, 0, 1);

	if (ftruncate(fd, size))
		wl_die("ftruncate");
	return fd;
}

int main(int argc, char **argv)
{
	static struct wl wl;
	static char buf[PIECE];
	int mapped, read_from, written;
	long nr;

	if (argc != 2)
		wl_usage("disk N");
	wl_init(&wl, "disk");
	nr = wl_number(argv[1], 1000);
	mapped = sparse_file(nr * APART);
	read_from = sparse_file(nr * PIECE);
	written = sparse_file(0);
	memset(buf, 1, sizeof(buf));
	wl.pages = nr * (APART / WL_PAGE);
	wl.start = wl_map(wl.pages, PROT_READ, MAP_SHARED, mapped);
	wl.end = wl.start + nr * APART;
	wl.expect.user = nr;

	wl_begin(&wl);
	for (long i = 0; i < nr; i++) {
		wl_touch_read(wl.start + i * APART + 5 * WL_PAGE, 1);
		if (read(read_from, buf, PIECE) != PIECE || write(written, buf, PIECE) != PIECE)
			wl_die("read and write");
	}
	wl_end(&wl);
	printf("read %ld pages in faults\n", nr);
	wl_report(&wl);
	return 0;
}
