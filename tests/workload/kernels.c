/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small programs whose page references are well known, for simulators: their data is spread over pages.
 *
 *     kernels ijk         multiplies two matrices, a row of each in a page; the inner loop goes through a column
 *     kernels ikj         ... the inner loop goes through a row
 *     kernels sort        sorts a heap of 64 pages
 *     kernels hash        counts numbers in a hash table of 64 pages
 */
#include "workload.h"

#define N     20
#define WORDS 512 /* of a page */

static double a[N][WORDS] __attribute__((aligned(4096))), b[N][WORDS], c[N][WORDS];
static uint64_t table[64 * WORDS] __attribute__((aligned(4096)));
static uint32_t state = 1;

static uint32_t next_number(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 10;
}

static void multiply(int by_row)
{
	for (int i = 0; i < N; i++)
		for (int x = 0; x < N; x++)
			for (int y = 0; y < N; y++) {
				int j = by_row ? y : x, k = by_row ? x : y;

				c[i][j] += a[i][k] * b[k][j];
			}
}

/* Elements are 128 bytes apart. */
static uint64_t *at(long i)
{
	return &table[i * 16];
}

static void sink(long i, long nr)
{
	for (long child; (child = 2 * i + 1) < nr; i = child) {
		uint64_t value = *at(i);

		child += child + 1 < nr && *at(child + 1) > *at(child);
		if (value >= *at(child))
			return;
		*at(i) = *at(child);
		*at(child) = value;
	}
}

static void sort(void)
{
	long nr = 64 * 32;

	for (long i = 0; i < nr; i++)
		*at(i) = next_number();
	for (long i = nr / 2; i-- > 0;)
		sink(i, nr);
	while (nr-- > 1) {
		uint64_t most = *at(0);

		*at(0) = *at(nr);
		*at(nr) = most;
		sink(0, nr);
	}
}

static void count(void)
{
	for (int i = 0; i < 20000; i++) {
		uint64_t key = next_number() % 5000 + 1;
		size_t slot = key * 2654435761u % (sizeof(table) / 16);

		while (table[2 * slot] && table[2 * slot] != key)
			slot = (slot + 1) % (sizeof(table) / 16);
		table[2 * slot] = key;
		table[2 * slot + 1]++;
	}
}

int main(int argc, char **argv)
{
	wl_check_args(argc, 1, 1, "kernels", "ijk|ikj|sort|hash", argc > 1 ? argv[1] : "");
	switch (argv[1][1]) {
	case 'o':
		sort();
		break;
	case 'a':
		count();
		break;
	default:
		multiply(argv[1][1] == 'k');
	}
	return 0;
}
