/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/zero_page.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static long faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_minflt;
}

/* Reads with huge pages would be something else; a write to the zero page is a fault. */
bool pfs_has_zero_page(void)
{
	enum { NR_PAGES = 8 };
	size_t size = sysconf(_SC_PAGESIZE);
	volatile char *pages = mmap(NULL, NR_PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	if (pages == MAP_FAILED)
		return true;
	madvise((void *)pages, NR_PAGES * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < NR_PAGES; i++)
		(void)pages[i * size];
	before = faults();
	for (size_t i = 0; i < NR_PAGES; i++)
		pages[i * size] = 1;
	before = faults() - before;
	munmap((void *)pages, NR_PAGES * size);
	return before >= NR_PAGES;
}
