/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches single pages of 4 MiB of memory that may get huge pages, and prints after each touch which of its pages are
 * mapped, by /proc/self/pagemap: the truth about the pages beside a fault.
 *
 *     beside zero              read, then write anonymous memory (MADV_HUGEPAGE): the huge zero page
 *     beside write             write first
 *     beside shared FILE       touch a mapping of the file, which is made as large, and empty
 *     beside private FILE
 *     beside filled FILE       shared, of a file that was written before
 *     beside shifted FILE      shared, by 64 KiB off the file's huge pages
 *     beside memory            shared anonymous memory
 *     beside collapse          write a page, then MADV_COLLAPSE the memory
 *     beside elsewhere FILE    write small pages of anonymous memory, then write(2) the file
 *
 * A line for each step: the time after it, the memory, and a digit for each page, 1 if it is mapped.
 *
 *     step t_ns=81234567890 start=7f0000000000 end=7f0000400000 pages=0000010...
 */
#include "workload.h"

#include <inttypes.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { NR_PAGES = 1024 };

static char *area;
static int pagemap;

static void step(void)
{
	static uint64_t entries[NR_PAGES];
	static char bits[NR_PAGES + 1];
	uint64_t now_ns = wl_now_ns();
	off_t at = (uintptr_t)area / WL_PAGE * sizeof(entries[0]);

	if (pread(pagemap, entries, sizeof(entries), at) != sizeof(entries))
		wl_die("pagemap");
	for (int i = 0; i < NR_PAGES; i++)
		bits[i] = entries[i] >> 63 ? '1' : '0';
	dprintf(STDOUT_FILENO, "step t_ns=%" PRIu64 " start=%" PRIxPTR " end=%" PRIxPTR " pages=%s\n", now_ns,
		(uintptr_t)area, (uintptr_t)area + NR_PAGES * WL_PAGE, bits);
}

/* Which page, and whether it is written. Negative: the end of the list. */
struct touch {
	int page, writes;
};

static void touch(const struct touch *list)
{
	for (; list->page >= 0; list++) {
		volatile char *at = area + list->page * WL_PAGE;

		if (list->writes)
			*at = 1;
		else
			(void)*at;
		step();
	}
}

/* At a multiple of 2 MiB, between pages that cannot be merged with it. */
static void map(int flags, int fd, off_t off, int advice)
{
	const size_t len = NR_PAGES * WL_PAGE;
	char *room = mmap(NULL, len + 2 * WL_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		wl_die("mmap");
	room += WL_HUGE - (uintptr_t)room % WL_HUGE;
	area = mmap(room, len, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, off);
	if (area == MAP_FAILED)
		wl_die("mmap");
	if (madvise(area, len, advice) && errno != EINVAL)
		wl_die("madvise");
}

static void write_file(int fd)
{
	static char data[1 << 18];

	for (int i = 0; i < 16 + 4; i++)
		if (write(fd, data, sizeof(data)) != sizeof(data))
			wl_die("write");
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, NR_PAGES * WL_PAGE + WL_HUGE))
		wl_die("%s", path);
	return fd;
}

int main(int argc, char **argv)
{
	static const struct touch reads[] = { { 5, 0 }, { 6, 0 }, { 7, 1 }, { 600, 0 }, { 601, 1 }, { -1, 0 } };
	static const struct touch writes[] = { { 5, 1 }, { 6, 0 }, { 7, 1 }, { 600, 1 }, { -1, 0 } };
	const char *kind = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : NULL;

	if (!wl_one_of(path ? "shared|private|filled|shifted|elsewhere" : "zero|write|memory|collapse", kind))
		wl_usage("beside zero|write|memory|collapse, or beside shared|private|filled|shifted|elsewhere FILE");
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		wl_die("pagemap");
	if (wl_one_of("zero|write|elsewhere", kind))
		map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, MADV_HUGEPAGE);
	if (wl_one_of("collapse|elsewhere", kind))
		map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, MADV_NOHUGEPAGE);
	else if (!strcmp(kind, "memory"))
		map(MAP_SHARED | MAP_ANONYMOUS, -1, 0, MADV_HUGEPAGE);
	else if (path)
		map(!strcmp(kind, "private") ? MAP_PRIVATE : MAP_SHARED, open_file(path),
		    !strcmp(kind, "shifted") ? 65536 : 0, MADV_HUGEPAGE);
	if (!strcmp(kind, "filled"))
		write_file(open(path, O_RDWR | O_CLOEXEC));
	step();
	touch(wl_one_of("write|collapse|elsewhere", kind) ? writes : reads);
	if (!strcmp(kind, "collapse"))
		madvise(area, NR_PAGES * WL_PAGE, MADV_HUGEPAGE), madvise(area, NR_PAGES * WL_PAGE, MADV_COLLAPSE);
	else if (!strcmp(kind, "elsewhere"))
		write_file(open_file(path));
	step();
	return 0;
}
