/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions that live for a moment, some 64 ms, and are touched all the time: whenever somebody comes to look, some of
 * what is touched next is gone before it has been looked at.
 *
 *     fleeting		until a signal ends it
 *     fleeting UID	becomes that user after 200 ms
 *
 * Each ms writes the next page of each of 32 regions; one whose 64 pages are written is unmapped, and another one
 * takes its place in the row. Says "ready" when all are there.
 */
#include "workload.h"

#define REGIONS 32
#define PAGES	64

struct row {
	char *regions[REGIONS];
	int next[REGIONS];
};

/* None of them is where another one was: that would be taken for it. */
static char *map_one(void)
{
	static uintptr_t at = 0x500000000000;
	const size_t len = (PAGES + 1) * WL_PAGE;
	char *p = mmap((void *)(at -= len), len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		wl_die("mmap");
	madvise(p, len, MADV_NOHUGEPAGE);
	mprotect(p + PAGES * WL_PAGE, WL_PAGE, PROT_NONE); /* or neighbours would be one region */
	return p;
}

static void touch_each(struct row *row)
{
	for (int i = 0; i < REGIONS; i++) {
		if (row->next[i] == PAGES) {
			munmap(row->regions[i], (PAGES + 1) * WL_PAGE);
			row->regions[i] = map_one();
			row->next[i] = 0;
		}
		row->regions[i][row->next[i]++ * WL_PAGE] = 1;
	}
}

int main(int argc, char **argv)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	long uid = argc > 1 ? wl_number(argv[1], 1 << 30) : 0;
	struct row row;

	for (int i = 0; i < REGIONS; i++) {
		row.regions[i] = map_one();
		row.next[i] = i * PAGES / REGIONS; /* their ends are spread */
	}
	puts("ready");
	fflush(stdout);
	for (int round = 1;; round++) {
		if (uid && round == 200 && setuid(uid))
			wl_die("setuid");
		touch_each(&row);
		nanosleep(&ms, NULL);
	}
}
