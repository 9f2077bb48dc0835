/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses the same memory in phases: PHASES times PAGES pages are touched once each; then, MS milliseconds a phase, the
 * phase's own PAGES pages are swept again and again, with a moment of rest in between, and no others.
 *
 *     phases 32 4 500 anon               written
 *     phases 32 4 500 shared             memory that is shared, with nobody; written
 *     phases 32 4 500 folios             ... in large folios, if the kernel has them for memory without a file
 *     phases 32 4 500 private-file       a file's pages; read
 *     phases 32 4 500 /a/file            shared memory of that file; written
 *     phases 32 4 500 anon child         a child does all of it
 *     phases 32 4 500 anon spin          without the rest: always in user mode
 *     phases 32 4 500 anon thread        so, too; and a second thread sleeps all the time
 *     phases 32 4 100+2 anon             a phase lasts until each of its pages has faulted twice, however slow that
 *                                        is, but not longer than a minute
 *
 * A line `phase=N FROM_NS TO_NS` for each says when, in CLOCK_MONOTONIC.
 */
#include "workload.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

static void *doze(void *unused)
{
	(void)unused;
	while (1)
		pause();
	return NULL;
}

static void sweep(char *start, long pages, int write)
{
	if (write)
		wl_touch_write(start, pages);
	else
		wl_touch_read(start, pages);
}

/* Of a phase: MS+FAULTS, and how often each page has faulted. */
struct length {
	long ms, faults;
	long *seen; /* NULL: nobody asks */
};

static struct length length_of(char *text, long pages)
{
	char *plus = strchr(text, '+');
	struct length length = { 0 };

	if (plus)
		*plus++ = '\0';
	length.ms = wl_number(text, 1000000);
	length.faults = plus ? wl_number(plus, 1000) : 0;
	length.seen = plus ? calloc(pages, sizeof(long)) : NULL;
	return length;
}

/* Is the page mapped? Asked of the page table: faults of the code that counts them would count as well. */
static bool is_mapped(int pagemap, const char *page)
{
	uint64_t entry = 0;

	if (pread(pagemap, &entry, sizeof(entry), (uintptr_t)page / WL_PAGE * sizeof(entry)) != sizeof(entry))
		wl_die("pagemap");
	return entry >> 63;
}

/* Sweeps page by page. True: all have faulted often enough. */
static bool sweep_counting(const struct length *length, int pagemap, char *start, long pages, int write)
{
	bool enough = true;

	for (long i = 0; i < pages; i++) {
		char *page = start + i * WL_PAGE;

		length->seen[i] += !is_mapped(pagemap, page);
		sweep(page, 1, write);
		enough &= length->seen[i] >= length->faults;
	}
	return enough;
}

static void phase(long nr, char *start, long pages, const struct length *length, int write, int spin)
{
	const struct timespec rest = { .tv_nsec = 500000 };
	uint64_t from = wl_now_ns(), now;
	bool enough = true;
	int pagemap = -1;

	if (length->seen) {
		memset(length->seen, 0, pages * sizeof(long));
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	}
	do {
		if (length->seen)
			enough = sweep_counting(length, pagemap, start, pages, write);
		else
			sweep(start, pages, write);
		if (!spin)
			nanosleep(&rest, NULL);
		now = wl_now_ns();
	} while (now < from + length->ms * UINT64_C(1000000) || (!enough && now < from + UINT64_C(60000000000)));
	if (pagemap >= 0)
		close(pagemap);
	printf("phase=%ld %llu %llu\n", nr, (unsigned long long)from, (unsigned long long)now);
}

static char *map_file(const char *path, long pages)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, pages * WL_PAGE))
		wl_die("%s", path);
	return wl_map(pages, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

static char *map_folios(long pages)
{
	char *start = wl_map_anon(pages, PROT_READ | PROT_WRITE);

	if (prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0) || madvise(start, pages * WL_PAGE, MADV_HUGEPAGE))
		wl_die("no large folios");
	return start;
}

static char *map(long pages, const char *how)
{
	if (!strcmp(how, "folios"))
		return map_folios(pages);
	if (*how == '/')
		return map_file(how, pages);
	if (!strcmp(how, "private-file"))
		return wl_map(pages, PROT_READ, MAP_PRIVATE, wl_file(pages, 1, 1));
	if (!strcmp(how, "shared"))
		return wl_map(pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	return wl_map_anon(pages, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	const char *how = argc > 4 ? argv[4] : "", *mode = argc > 5 ? argv[5] : "";
	int write = strcmp(how, "private-file") != 0;
	static struct wl wl;
	pthread_t thread;
	struct length length;
	long pages, phases;

	if (argc < 5 || argc > 6 || (*how != '/' && !wl_one_of("anon|folios|shared|private-file", how)) ||
	    (argc == 6 && !wl_one_of("child|spin|thread", mode)))
		wl_usage("phases PAGES PHASES MS[+FAULTS] anon|folios|shared|private-file|/FILE [child|spin|thread]");
	wl_init(&wl, "phases");
	pages = wl_number(argv[1], 1L << 20);
	phases = wl_number(argv[2], 1000);
	length = length_of(argv[3], pages);
	wl.pages = pages * phases;
	if (*mode == 'c' && fork()) {
		wait(NULL);
		return 0;
	}
	if (*mode == 't' && pthread_create(&thread, NULL, doze, NULL))
		wl_die("no thread");
	wl.start = map(wl.pages, how);
	wl.end = wl.start + wl.pages * WL_PAGE;
	wl_begin(&wl);
	sweep(wl.start, wl.pages, write);
	for (long i = 0; i < phases; i++)
		phase(i, wl.start + i * pages * WL_PAGE, pages, &length, write, *mode == 's' || *mode == 't');
	wl_end(&wl);
	printf("%ld phases of %ld pages\n", phases, pages);
	wl_report(&wl);
	return 0;
}
