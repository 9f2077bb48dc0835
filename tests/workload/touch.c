/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches PAGES pages once each, in order: the plainest fault there is.
 *
 *     touch 100 write anon        100 exceptions, user mode, write
 *     touch 256 read file         16: a read of a cached file maps 16 pages around it
 *     touch 64 read file cold     major faults, one a page (no read-ahead)
 *     touch 64 write file large   in large folios: since 6.18 one fault maps a whole folio
 *     touch 9000 write anon timed     at the end a line a page, "at ADDRESS NS NS": between which times
 *     touch 9000 write anon paused    at the end a pause of 0.15 s before each 113 pages: full sub-buffers
 *
 * Of page faults a sub-buffer of 4 KB holds 113. With one that came over 134 ms after the one before it, which
 * the kernel puts down at greater length, it is full but for 4 bytes.
 *
 * `exec` executes a byte of each page: files are full of `ret`, anonymous pages of zeros, which on
 * x86 is `add %al,(%rax)` and runs on into the next page until the last one, which returns.
 */
#include "workload.h"

#define RET 0xc3

enum how { READ, WRITE, EXEC, NR_HOWS };
enum what { ANON, FILE_SHARED, SHARED, PRIVATE_FILE, NR_WHATS };

static const char usage[] = "touch PAGES [read|write|exec] [anon|file|shared|private-file] [cold|large|paused|timed]";
static const char *const hows[] = { "read", "write", "exec" };
static const char *const whats[] = { "anon", "file", "shared", "private-file" };

static int find(const char *name, const char *const *names, int nr)
{
	for (int i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			return i;
	wl_usage(usage);
	return -1;
}

/* Files are mapped without the right to write unless that is asked: exec is r-x. */
static char *map(enum what what, enum how how, long pages, int fd)
{
	static const int flags[NR_WHATS] = {
		MAP_PRIVATE | MAP_ANONYMOUS,
		MAP_SHARED,
		MAP_SHARED | MAP_ANONYMOUS,
		MAP_PRIVATE,
	};
	int prot = PROT_READ | (how == WRITE ? PROT_WRITE : 0) | (how == EXEC ? PROT_EXEC : 0);

	return wl_map(pages, prot, flags[what], fd);
}

/* rax points at the scratch byte that the zeros of untouched pages add to. */
static void call(char *p)
{
#ifdef __x86_64__
	static char scratch;
	void *rax = &scratch;

	asm volatile("call *%[p]" : "+a"(rax) : [p] "r"(p) : "memory", "cc");
#else
	(void)p;
	wl_die("exec is written for x86-64 only");
#endif
}

/* Makes the page behind the last one return; it is touched here and not counted. */
static void put_ret(char *p)
{
	mprotect(p, WL_PAGE, PROT_READ | PROT_WRITE);
	*p = (char)RET;
	mprotect(p, WL_PAGE, PROT_READ | PROT_EXEC);
}

static void touch(enum how how, enum what what, char *start, long pages)
{
	if (how == READ)
		wl_touch_read(start, pages);
	else if (how == WRITE)
		wl_touch_write(start, pages);
	else if (what == ANON || what == SHARED)
		call(start);
	else
		for (long i = 0; i < pages; i++)
			call(start + i * WL_PAGE);
}

static void touch_paused(enum how how, enum what what, char *start, long pages)
{
	const long full = 113, paused = pages < 4 * full ? 0 : 4 * full;

	touch(how, what, start, pages - paused);
	for (long i = pages - paused; i < pages; i += full) {
		usleep(150000);
		touch(how, what, start + i * WL_PAGE, full);
	}
}

/* CLOCK_MONOTONIC: page i is touched between times[i] and times[i + 1]. */
static void touch_timed(enum how how, enum what what, char *start, long pages, uint64_t *times)
{
	times[0] = wl_now_ns();
	for (long i = 0; i < pages; i++) {
		touch(how, what, start + i * WL_PAGE, 1);
		times[i + 1] = wl_now_ns();
	}
}

/* One more page than asked for: the one that returns. */
static char *prepare(enum how how, enum what what, long pages, const char *state)
{
	int file = what == FILE_SHARED || what == PRIVATE_FILE;
	int fd = file ? wl_file(pages + 1, RET, *state == 'l' ? 64 : 1) : -1;
	char *start = map(what, how, pages + 1, fd);

	if (how == EXEC && fd < 0)
		put_ret(start + pages * WL_PAGE);
	if (*state == 'c' && file) {
		madvise(start, (pages + 1) * WL_PAGE, MADV_RANDOM);
		if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			wl_die("cannot drop the file from the page cache");
	}
	return start;
}

/* Only what the number of pages decides alone; fault-around and the file system decide the rest. */
static void expect(struct wl *wl, enum how how, enum what what, const char *state)
{
	int file = what == FILE_SHARED || what == PRIVATE_FILE;
	long n = wl->pages;

	wl->expect.kernel = 0;
	if (file && (how != WRITE || *state))
		return;
	wl->expect = (struct wl_expect){ n, 0, n, n, n };
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *state = argc > 4 ? argv[4] : "";
	uint64_t *times = NULL;
	enum how how;
	enum what what;

	if (argc < 2 || argc > 5 || (*state && !wl_one_of("cold|large|paused|timed", state)))
		wl_usage(usage);
	how = find(argc > 2 ? argv[2] : "write", hows, NR_HOWS);
	what = find(argc > 3 ? argv[3] : "anon", whats, NR_WHATS);
	wl_init(&wl, "touch");
	wl.pages = wl_number(argv[1], 1L << 24);
	touch(how, what, prepare(how, what, 1, ""), 1);
	wl.start = prepare(how, what, wl.pages, state);
	wl.end = wl.start + wl.pages * WL_PAGE;
	expect(&wl, how, what, state);
	if (*state == 't') /* its pages are there already: it adds no faults of its own */
		times = mmap(NULL, (wl.pages + 1) * sizeof(*times), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (times == MAP_FAILED)
		wl_die("mmap");

	wl_begin(&wl);
	if (times)
		touch_timed(how, what, wl.start, wl.pages, times);
	else
		(*state == 'p' ? touch_paused : touch)(how, what, wl.start, wl.pages);
	wl_end(&wl);

	printf("touched %ld pages by %s: %s %s\n", wl.pages, hows[how], whats[what], state);
	wl_report(&wl);
	for (long i = 0; times && i < wl.pages; i++)
		printf("at %lx %llu %llu\n", (unsigned long)wl.start + i * WL_PAGE, (unsigned long long)times[i],
		       (unsigned long long)times[i + 1]);
	return 0;
}
