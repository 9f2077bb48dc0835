/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts pages of a file into the page cache, or takes them out, maps the file and touches it, in the order given:
 *
 *     cached FILE make 64 drop page 20 page 21 map touch 16       fault-around finds pages 20 and 21 only
 *     cached FILE drop ahead 0 pause 300 map touch 5              ... what readahead has left, but its marked page
 *
 *     make N     writes a file of N pages, and leaves it in the page cache
 *     drop       takes all its pages out of the page cache
 *     page N     reads page N, without readahead
 *     ahead N    reads page N, with readahead
 *     map        maps the whole file, privately, for reading
 *     touch N    reads a byte of page N of the mapping
 *     pause MS
 *
 * At the end it prints which pages of the mapping are present, as in /proc/self/pagemap: a 1 or 0 for each.
 */
#include "workload.h"

#include <sys/stat.h>

static const char usage[] = "cached FILE [make N|drop|page N|ahead N|map|touch N|pause MS]...";

static char *start;
static long nr_pages;

static void make(int fd, long n)
{
	char page[4096];

	memset(page, 'x', sizeof(page));
	for (long i = 0; i < n; i++)
		if (pwrite(fd, page, sizeof(page), i * WL_PAGE) != WL_PAGE)
			wl_die("write: %m");
	if (fsync(fd))
		wl_die("fsync: %m");
}

static void read_page(int fd, long n, int advice)
{
	char page[4096];

	if (posix_fadvise(fd, 0, 0, advice) || pread(fd, page, sizeof(page), n * WL_PAGE) != WL_PAGE)
		wl_die("read: %m");
}

static void map(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		wl_die("fstat: %m");
	nr_pages = st.st_size / WL_PAGE;
	start = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (start == MAP_FAILED)
		wl_die("mmap: %m");
}

static void print_present(void)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;

	for (long i = 0; i < nr_pages; i++) {
		if (pread(fd, &entry, sizeof(entry), ((uintptr_t)start / WL_PAGE + i) * sizeof(entry)) != sizeof(entry))
			wl_die("pagemap: %m");
		putchar('0' + (int)(entry >> 63));
	}
	putchar('\n');
	close(fd);
}

static void perform(int fd, const char *what, long n)
{
	if (!strcmp(what, "make"))
		make(fd, n);
	else if (!strcmp(what, "page"))
		read_page(fd, n, POSIX_FADV_RANDOM);
	else if (!strcmp(what, "ahead"))
		read_page(fd, n, POSIX_FADV_NORMAL);
	else if (!strcmp(what, "touch") && n < nr_pages)
		wl_touch_read(start + n * WL_PAGE, 1);
	else if (!strcmp(what, "pause"))
		usleep(n * 1000);
	else
		wl_usage(usage);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (argc < 2)
		wl_usage(usage);
	if (fd < 0)
		wl_die("%s: %m", argv[1]);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "drop") && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			wl_die("fadvise: %m");
		else if (!strcmp(argv[i], "map"))
			map(fd);
		else if (strcmp(argv[i], "drop") && i + 1 < argc)
			perform(fd, argv[i], wl_number(argv[i + 1], 1L << 24)), i++;
		else if (strcmp(argv[i], "drop"))
			wl_usage(usage);
	}
	print_present();
	return 0;
}
