/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of every page of a process: /proc/PID/maps with what /proc/PID/pagemap has of each region below its line.
 * The truth that `pfscope pages --at` is compared with (tests/tools/pagesdiff.c). Taken by pagemap.c of other processes,
 * and by a workload of itself (checkpoint.h).
 *
 *     # t0=81234567890 t1=81234601234 pid=4711 tid=4712 why=exit
 *     55d0c0a00000-55d0c0a05000 r--p 00000000 fe:00 1234     /tmp/layout
 *      55d0c0a01000 2 present,file
 *
 * Such a line has the first page, the number of pages that are alike, and their state. Pages without one are neither
 * present nor swapped. The caller sees to it that nothing runs in the address space meanwhile.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "workload.h"

#include <stdbool.h>
#include <sys/ioctl.h>

/* Bits of an entry of pagemap. */
#define PM_PRESENT (1ull << 63)
#define PM_SWAPPED (1ull << 62)
#define PM_FILE	   (1ull << 61) /* or shared anonymous memory */
#define PM_GUARD   (1ull << 58) /* since 6.15; always together with PM_SWAPPED */
#define PM_PFN	   ((1ull << 55) - 1)
#define PM_ZERO	   1ull /* not the kernel's: the page is the zero page */

#define PM_STATES (PM_PRESENT | PM_SWAPPED | PM_FILE | PM_GUARD)

/* PAGEMAP_SCAN (6.7), which older headers lack. */
struct pm_scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define PM_SCAN		   _IOWR('f', 16, struct pm_scan)
#define PM_SCAN_IS_PRESENT (1 << 3)
#define PM_SCAN_IS_SWAPPED (1 << 4)

#define SNAPSHOT_CHUNK 4096 /* entries read at once */
#define SNAPSHOT_LINE  (4096 + 128)

struct page_run {
	uint64_t start;
	uint64_t state; /* PM_* */
	uint32_t nr;
};

struct snapshot {
	uint64_t t0, t1;
	char *text; /* maps */
	size_t max_text, len_text;
	struct page_run *runs;
	size_t max_runs, nr_runs;
	uint64_t zero_pfn; /* 0: not known (no privilege) */
	uint64_t entries[SNAPSHOT_CHUNK];
	size_t len_out;
	char out[16 * SNAPSHOT_LINE];
};

/* The page frame of the zero page. */
static WL_UNUSED uint64_t snapshot_zero_pfn(void)
{
	static volatile char pages[3 * 4096]; /* one of them is read only */
	uintptr_t page = ((uintptr_t)pages + 2 * WL_PAGE - 1) & -WL_PAGE;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	(void)*(volatile char *)page;
	if (pread(fd, &entry, sizeof(entry), page / WL_PAGE * sizeof(entry)) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry & PM_PRESENT ? entry & PM_PFN : 0;
}

/* All of /proc/PID/maps; the length, or -1. */
static WL_UNUSED ssize_t snapshot_maps(const char *path, char *text, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text + len, max - len)) > 0)
		len += n;
	close(fd);
	return n < 0 || len == max ? -1 : (ssize_t)len;
}

/* The first page in [start, end) that is present or swapped; start where the kernel cannot tell, end if none is. */
static uint64_t snapshot_next(int fd, uint64_t start, uint64_t end)
{
	uint64_t found[3]; /* struct page_region */
	struct pm_scan scan = {
		.size = sizeof(scan),
		.start = start,
		.end = end,
		.vec = (uintptr_t)found,
		.vec_len = 1,
		.max_pages = 1,
		.category_anyof_mask = PM_SCAN_IS_PRESENT | PM_SCAN_IS_SWAPPED,
		.return_mask = PM_SCAN_IS_PRESENT | PM_SCAN_IS_SWAPPED,
	};
	int nr = ioctl(fd, PM_SCAN, &scan);

	return nr < 0 ? start : nr ? found[0] : end;
}

/* `first` is the region's first run. */
static int snapshot_page(struct snapshot *s, size_t first, uint64_t addr, uint64_t entry)
{
	uint64_t state = entry & PM_STATES;
	struct page_run *last = s->nr_runs > first ? &s->runs[s->nr_runs - 1] : NULL;

	if (!(state & (PM_PRESENT | PM_SWAPPED)))
		return 0;
	if (state & PM_PRESENT && s->zero_pfn && (entry & PM_PFN) == s->zero_pfn)
		state |= PM_ZERO;
	if (last && last->state == state && last->start + last->nr * WL_PAGE == addr) {
		last->nr++;
		return 0;
	}
	if (s->nr_runs == s->max_runs)
		return -1;
	s->runs[s->nr_runs++] = (struct page_run){ addr, state, 1 };
	return 0;
}

static int snapshot_region(struct snapshot *s, int fd, uint64_t start, uint64_t end)
{
	size_t first = s->nr_runs;

	for (uint64_t at = snapshot_next(fd, start, end); at < end; at = snapshot_next(fd, at, end)) {
		uint64_t nr = (end - at) / WL_PAGE;
		ssize_t len;

		nr = nr < SNAPSHOT_CHUNK ? nr : SNAPSHOT_CHUNK;
		len = pread(fd, s->entries, nr * sizeof(uint64_t), at / WL_PAGE * sizeof(uint64_t));
		if (len < 0)
			return -1;
		if (!len) /* beyond user addresses: [vsyscall] */
			return 0;
		nr = len / sizeof(uint64_t);
		for (uint64_t i = 0; i < nr; i++, at += WL_PAGE)
			if (snapshot_page(s, first, at, s->entries[i]))
				return -1;
	}
	return 0;
}

/* 55d0c0a00000-55d0c0a05000 r--p ...; false at the end of the text. */
static bool snapshot_range(const char *line, uint64_t *start, uint64_t *end)
{
	char *dash;

	*start = strtoull(line, &dash, 16);
	*end = *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
	return *start < *end;
}

static const char *snapshot_next_line(const char *line)
{
	return line + strcspn(line, "\n") + 1;
}

static int snapshot_read(struct snapshot *s, const char *maps, const char *pagemap)
{
	int fd = open(pagemap, O_RDONLY | O_CLOEXEC), err = 0;
	uint64_t start, end;
	ssize_t len;

	if (fd < 0)
		return -1;
	s->t0 = wl_now_ns();
	len = snapshot_maps(maps, s->text, s->max_text - 1);
	s->len_text = len < 0 ? 0 : len;
	s->text[s->len_text] = '\0';
	s->nr_runs = 0;
	for (const char *line = s->text; !err && *line && snapshot_range(line, &start, &end);
	     line = snapshot_next_line(line))
		err = snapshot_region(s, fd, start, end);
	s->t1 = wl_now_ns();
	close(fd);
	return len < 0 ? -1 : err;
}

/*
 * Reads a process: 0, or -1 with errno set (0 if a buffer is too small). Of the calling process it is the state at t0:
 * the first time touches what the second time uses.
 */
static WL_UNUSED int snapshot_take(struct snapshot *s, int pid)
{
	char maps[32], pagemap[32];

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	snprintf(pagemap, sizeof(pagemap), "/proc/%d/pagemap", pid);
	errno = 0;
	if (pid == syscall(SYS_getpid) && snapshot_read(s, maps, pagemap))
		return -1;
	return snapshot_read(s, maps, pagemap);
}

/* Writes what is in `out` if it is full, or to the end. */
static int snapshot_flush(struct snapshot *s, int fd, size_t room)
{
	size_t len = s->len_out;

	if (len + room <= sizeof(s->out))
		return 0;
	s->len_out = 0;
	return write(fd, s->out, len) == (ssize_t)len ? 0 : -1;
}

static void snapshot_put(struct snapshot *s, const char *text, size_t len)
{
	memcpy(s->out + s->len_out, text, len);
	s->len_out += len;
}

static void snapshot_put_run(struct snapshot *s, const struct page_run *run)
{
	const char *state = run->state & PM_PRESENT ? "present" : run->state & PM_GUARD ? "guard" : "swapped";
	char line[96];

	snapshot_put(s, line,
		     snprintf(line, sizeof(line), " %llx %u %s%s%s\n", (unsigned long long)run->start, run->nr, state,
			      run->state & PM_FILE ? ",file" : "", run->state & PM_ZERO ? ",zero" : ""));
}

/* The file, headed by "# t0=... t1=... " and `head`. 0 or -1. Calls no malloc(). */
static WL_UNUSED int snapshot_write(struct snapshot *s, const char *path, const char *head)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), err = 0;
	uint64_t start, end;
	size_t i = 0;

	if (fd < 0)
		return -1;
	s->len_out = snprintf(s->out, sizeof(s->out), "# t0=%llu t1=%llu %s\n", (unsigned long long)s->t0,
			      (unsigned long long)s->t1, head);
	for (const char *line = s->text; *line && snapshot_range(line, &start, &end); line = snapshot_next_line(line)) {
		err |= snapshot_flush(s, fd, SNAPSHOT_LINE);
		snapshot_put(s, line, snapshot_next_line(line) - line);
		for (; i < s->nr_runs && s->runs[i].start < end; i++) {
			err |= snapshot_flush(s, fd, SNAPSHOT_LINE);
			snapshot_put_run(s, &s->runs[i]);
		}
	}
	err |= snapshot_flush(s, fd, sizeof(s->out));
	return close(fd) || err ? -1 : 0;
}

#endif
