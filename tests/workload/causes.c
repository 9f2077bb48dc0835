/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages that the kernel faults in by itself, for two causes in one program: MAP_POPULATE of PAGES cached pages of a file
 * (or of anonymous memory), then process_vm_writev to 60 untouched pages of its own. It prints how many faults the kernel
 * counted for each.
 *
 *     causes 64 file|anon
 */
#include "workload.h"

enum { WRITTEN = 60 };

static char page[4096] __attribute__((aligned(4096)));

static void write_to(char *to, long pages)
{
	for (long i = 0; i < pages; i++) {
		struct iovec local = { page, WL_PAGE }, remote = { to + i * WL_PAGE, WL_PAGE };

		if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) < 0)
			wl_die("process_vm_writev");
	}
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

int main(int argc, char **argv)
{
	long pages, before, populated, written;
	char *to = wl_map_anon(WRITTEN + 1, PROT_READ | PROT_WRITE);
	int fd = -1, flags = MAP_PRIVATE | MAP_POPULATE;

	if (argc != 3 || !wl_one_of("file|anon", argv[2]))
		wl_usage("causes PAGES file|anon");
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	pages = wl_number(argv[1], 1L << 20);
	if (*argv[2] == 'f')
		fd = wl_file(pages, 1, 64);
	else
		flags |= MAP_ANONYMOUS;
	page[0] = 1;
	write_to(to + WRITTEN * WL_PAGE, 1); /* warms the code up */
	faults();
	before = faults();
	if (mmap(NULL, pages * WL_PAGE, PROT_READ | (fd < 0 ? PROT_WRITE : 0), flags, fd, 0) == MAP_FAILED)
		wl_die("mmap");
	populated = faults() - before;
	before = faults();
	write_to(to, WRITTEN);
	written = faults() - before;
	printf("populated=%ld\nwritten=%ld\n", populated, written);
	return 0;
}
