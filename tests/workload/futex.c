/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Futex calls on PAGES untouched pages, one a page, none of which waits.
 *
 *     futex 100 private    read with page faults off, which fails, then again with faults on:
 *                          2 exceptions a page, one of which perf does not count
 *     futex 100 shared     a shared futex needs the page itself: get_user_pages faults it in first
 *     futex 100 wake-op    an atomic change fails, then the kernel faults the page in by itself:
 *                          1 exception a page that perf does not count, 1 fault for rusage alone
 */
#include "workload.h"

#include <linux/futex.h>

static void one(const char *mode, uint32_t *word, uint32_t *other)
{
	int op = FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 1);

	if (*mode == 'w')
		syscall(SYS_futex, other, FUTEX_WAKE_OP_PRIVATE, 0, 0L, word, op);
	else
		syscall(SYS_futex, word, *mode == 's' ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void each(const char *mode, char *start, long pages)
{
	static uint32_t other;

	other = 0;
	for (long i = 0; i < pages; i++)
		one(mode, (uint32_t *)(start + i * WL_PAGE), &other);
}

static void expect(struct wl *wl, const char *mode)
{
	long n = wl->pages;

	if (*mode == 'p')
		wl->expect = (struct wl_expect){ 0, 2 * n, n, n, n };
	else if (*mode == 's')
		wl->expect = (struct wl_expect){ 0, 0, 0, 0, n };
	else
		wl->expect = (struct wl_expect){ 0, n, 0, 0, n };
}

int main(int argc, char **argv)
{
	static struct wl wl;
	const char *mode = argc > 2 ? argv[2] : "private";

	wl_check_args(argc, 1, 2, "futex PAGES", "private|shared|wake-op", mode);
	wl_init(&wl, "futex");
	wl.pages = wl_number(argv[1], 1L << 20);
	each(mode, wl_map_anon(1, PROT_READ | PROT_WRITE), 1);
	wl.start = wl_map_anon(wl.pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + wl.pages * WL_PAGE;
	expect(&wl, mode);

	wl_begin(&wl);
	each(mode, wl.start, wl.pages);
	wl_end(&wl);

	printf("called futex on %ld pages, %s\n", wl.pages, mode);
	wl_report(&wl);
	return 0;
}
