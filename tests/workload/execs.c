/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chain: the process becomes this program N times over, each image writing PAGES pages.
 *
 *     execs 5          one process, 6 images, 3 pages each
 *     execs 5 3 4000   with 4000 bytes more of arguments, which exec copies into the new stack by
 *                      get_user_pages: rusage counts those, no exception does
 *     execs 5 3 0 thread    each exec is called by a thread that is not the first one
 *     execs 5 3 0 race      four threads call exec at once, the first one too: one of them gets through
 *
 * Each image prints its counts so far: rusage belongs to the process and survives exec.
 */
#include "workload.h"

#include <pthread.h>

#define MAX_BYTES (128 * 1024 - 1) /* the longest argument that Linux takes */

struct next {
	char left[24], pages[24], bytes[24], *padding, *mode;
};

/* Argument 5 is only there for its length. */
static void *exec_next(void *arg)
{
	struct next *next = arg;
	char *argv[] = { "execs", next->left, next->pages, next->bytes, next->mode, next->padding, NULL };

	execv("/proc/self/exe", argv);
	wl_die("exec");
	return NULL;
}

static void go_on(long left, long pages, long bytes, char *mode)
{
	static char padding[MAX_BYTES + 1];
	static struct next next;
	int others = !strcmp(mode, "thread") ? 1 : !strcmp(mode, "race") ? 3 : 0;
	pthread_t thread;

	snprintf(next.left, sizeof(next.left), "%ld", left);
	snprintf(next.pages, sizeof(next.pages), "%ld", pages);
	snprintf(next.bytes, sizeof(next.bytes), "%ld", bytes);
	memset(padding, 'x', bytes);
	next.padding = padding;
	next.mode = mode;
	fflush(stdout);
	for (int i = 0; i < others; i++)
		if (pthread_create(&thread, NULL, exec_next, &next)) {
			if (others > 1 && i) /* EAGAIN: an exec has got through already */
				break;
			wl_die("pthread_create");
		}
	if (others == 1)
		pthread_join(thread, NULL);
	exec_next(&next);
}

int main(int argc, char **argv)
{
	static struct wl wl;
	long left, pages, bytes;

	wl_check_args(argc, 1, 5, "execs N [PAGES] [BYTES]", "first|thread|race", argc > 4 ? argv[4] : "first");
	left = wl_number(argv[1], 10000);
	pages = argc > 2 ? wl_number(argv[2], 1L << 20) : 3;
	bytes = argc > 3 ? wl_number(argv[3], MAX_BYTES) : 0;
	wl_init(&wl, "execs");
	wl.pages = pages;
	wl_touch_write(wl_map_anon(1, PROT_READ | PROT_WRITE), 1);
	wl.start = wl_map_anon(pages, PROT_READ | PROT_WRITE);
	wl.end = wl.start + pages * WL_PAGE;
	wl.expect = (struct wl_expect){ pages, 0, pages, pages, pages };

	wl_begin(&wl);
	wl_touch_write(wl.start, pages);
	wl_end(&wl);

	printf("wrote %ld pages, %ld images to come\n", pages, left);
	wl_report(&wl);
	printf("left=%ld\ntotal_minflt=%ld\n", left, wl.after.minflt);
	if (left)
		go_on(left - 1, pages, bytes, argc > 4 ? argv[4] : "first");
	return 0;
}
