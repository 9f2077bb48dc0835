/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches every page of AREAS times 2 MiB of memory that asks for huge pages (MADV_HUGEPAGE), and
 * says by /proc/self/smaps how much of it became huge.
 *
 *     thp 4         1 exception an area if it got a huge page, 512 if it did not
 *     thp 4 read    the huge zero page: the same, though smaps does not call it huge
 */
#include "workload.h"

#define AREA_PAGES ((long)(WL_HUGE / WL_PAGE))

/*
 * AnonHugePages of the region at addr, in kB. The two lines that matter:
 *     7f0000200000-7f0000a00000 rw-p 00000000 00:00 0
 *     AnonHugePages:      8192 kB
 */
static long huge_kb(const char *addr)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	char line[4096];
	unsigned long start, end;
	long kb = -1, value;
	int inside = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = start <= (uintptr_t)addr && (uintptr_t)addr < end;
		else if (inside && sscanf(line, "AnonHugePages: %ld kB", &value) == 1)
			kb = value;
	}
	if (f)
		fclose(f);
	return kb;
}

static void touch(int writes, char *start, long pages)
{
	if (writes)
		wl_touch_write(start, pages);
	else
		wl_touch_read(start, pages);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	int writes = argc < 3 || !strcmp(argv[2], "write");
	long areas, faults;

	if (argc < 2 || argc > 3 || (!writes && strcmp(argv[2], "read")))
		wl_usage("thp AREAS [write|read]");
	wl_init(&wl, "thp");
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	areas = wl_number(argv[1], 1L << 12);
	wl.pages = areas * AREA_PAGES;
	touch(writes, wl_map_anon(1, PROT_READ | PROT_WRITE), 1);
	wl.start = wl_map_anon(wl.pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + wl.pages * WL_PAGE;
	if (madvise(wl.start, wl.pages * WL_PAGE, MADV_HUGEPAGE))
		wl_die("MADV_HUGEPAGE");

	wl_begin(&wl);
	touch(writes, wl.start, wl.pages);
	wl_end(&wl);

	faults = wl.after.minflt - wl.before.minflt;
	wl.expect = (struct wl_expect){ faults, 0, faults, faults, faults };
	printf("touched %ld areas of 2 MiB, %ld kB are huge\n", areas, huge_kb(wl.start));
	wl_report(&wl);
	printf("areas=%ld\nhuge_kb=%ld\nhuge=%s\n", areas, huge_kb(wl.start),
	       faults == areas	    ? "all"
	       : faults == wl.pages ? "none"
				    : "some");
	return 0;
}
