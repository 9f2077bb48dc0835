/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same product of matrices in two orders of the loops, C row by row (ij) or column by column (ji): the same pages
 * are touched first in another order, as `pfscope plot` shows.
 *
 *     matmul ij|ji
 *
 * Each row is a page. Nothing is initialised, so each matrix is touched first by the product itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { N = 512, BYTES = N * N * sizeof(double) };

static double *matrix(unsigned long addr)
{
	void *p = mmap((void *)addr, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
		       -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(p, BYTES, MADV_NOHUGEPAGE);
	return p;
}

static double cell(const double *a, const double *b, int i, int j)
{
	double sum = 0;

	for (int k = 0; k < N; k++)
		sum += a[i * N + k] * b[k * N + j];
	return sum;
}

int main(int argc, char **argv)
{
	double *a = matrix(0x100000000), *b = matrix(0x200000000), *c = matrix(0x300000000);
	int rows = argc > 1 && !strcmp(argv[1], "ij");

	for (int outer = 0; outer < N; outer++)
		for (int inner = 0; inner < N; inner++) {
			int i = rows ? outer : inner, j = rows ? inner : outer;

			c[i * N + j] = cell(a, b, i, j);
		}
	return c[N] != 0;
}
