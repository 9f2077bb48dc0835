// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the raw events of a trace.dat, one a line: as pfscope reads it, with -o as libtracecmd
 * does, with -n only how many (and how fast). For comparing the two by hand on large recordings.
 *
 *     dat_dump FILE > a; dat_dump -o FILE > b; cmp a b
 */
#include "support/dat_oracle.h"

#include <fcntl.h>
#include <time.h>

static int count(void *ctx, const struct raw_event *ev)
{
	uint64_t *sums = ctx;

	sums[0]++;
	sums[1] += ev->arg[0];
	return 0;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static int count_only(int fd, const char *name)
{
	uint64_t sums[2] = { 0 };
	struct pfs_err err = { "" };
	double start = now();
	struct pfs_dat *dat = pfs_dat_open(fd, name, 0, &err);
	double opened = now();
	int ret = dat ? pfs_dat_read(dat, 0, count, sums, &err) : -errno;
	double end = now();

	if (ret < 0)
		fprintf(stderr, "%s\n", err.msg);
	else
		printf("%llu events, open %.1f ms, read %.1f ms, %.1f million a second\n", (unsigned long long)sums[0],
		       (opened - start) * 1e3, (end - opened) * 1e3, sums[0] / (end - opened) / 1e6);
	pfs_dat_close(dat);
	return ret < 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[argc - 1] : "";
	bool oracle = argc == 3 && !strcmp(argv[1], "-o");
	struct ev_list list = { 0 };
	struct pfs_err err = { "" };
	int fd = open(name, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0) {
		fprintf(stderr, "dat_dump [-o|-n] FILE: %s\n", strerror(errno));
		return 2;
	}
	if (argc == 3 && !strcmp(argv[1], "-n"))
		return count_only(fd, name);
	ret = oracle ? ev_list_oracle(&list, fd) : ev_list_pfs(&list, fd, PFS_DAT_OTHER, &err);
	if (ret)
		fprintf(stderr, "%s\n", oracle ? "libtracecmd cannot read it" : err.msg);
	for (size_t i = 0; i < list.nr; i++)
		ev_print(stdout, &list.ev[i]);
	ev_list_fini(&list);
	return ret != 0;
}
