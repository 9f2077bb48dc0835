/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes to pages of several sizes, and on each NUMA node: anonymous ones from 100000000 on, transparent huge ones from 200000000
 * on, and those of hugetlbfs from 300000000 on, if the machine has them. Of each write it prints "ADDRESS BYTES NODE", as smaps
 * and move_pages() have it.
 */
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NR_SMALL = 40, NR_HUGE = 3, HUGE_SIZE = 2 << 20 };

static int page_size, nr_nodes;

/* A number of that line of smaps for the region at `start`, in KB. */
static unsigned long smaps_kb(uintptr_t start, const char *name)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	unsigned long from, to, kb = 0;
	size_t len = strlen(name);
	int here = 0;
	char line[4096];

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from == start;
		else if (here && !strncmp(line, name, len) && line[len] == ':')
			kb = strtoul(line + len + 1, NULL, 10);
	}
	if (smaps)
		fclose(smaps);
	return kb;
}

static int node_of(char *page)
{
	void *pages[] = { page };
	int status = -1;

	return syscall(SYS_move_pages, 0, 1UL, pages, NULL, &status, 0) ? -1 : status;
}

static void on_node(char *start, size_t len, int node)
{
	unsigned long nodes = 1UL << node;

	if (nr_nodes > 1 && syscall(SYS_mbind, start, len, MPOL_BIND, &nodes, 8 * sizeof(nodes), 0))
		perror("mbind");
}

static void touch(uintptr_t at, size_t step, int nr, int flags, int advice, const char *huge)
{
	char *start = mmap((void *)at, step * nr, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1, 0);
	unsigned long bytes;

	if (start == MAP_FAILED || (advice && madvise(start, step * nr, advice)))
		return;
	for (int i = 0; i < nr; i++) {
		if (!flags && !advice)
			on_node(start + i * step, step, i % 5 != 0 && nr_nodes > 1);
		start[i * step] = 1;
	}
	bytes = !huge ? (unsigned long)page_size : smaps_kb(at, huge) >= (flags ? 1 : step * nr >> 10) ? step : 0;
	for (int i = 0; i < nr; i++)
		printf("%lx %lu %d\n", (unsigned long)start + i * step, bytes, node_of(start + i * step));
}

int main(void)
{
	page_size = sysconf(_SC_PAGESIZE);
	nr_nodes = access("/sys/devices/system/node/node1", F_OK) ? 1 : 2;
	touch(0x100000000, page_size, NR_SMALL, 0, 0, NULL);
	touch(0x200000000, HUGE_SIZE, NR_HUGE, 0, MADV_HUGEPAGE, "AnonHugePages");
	touch(0x300000000, HUGE_SIZE, NR_HUGE, MAP_HUGETLB, 0, "KernelPageSize");
	return 0;
}
