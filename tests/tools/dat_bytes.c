/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the bytes of a trace.dat of version 6 are: its size, its header up to the first sub-buffer, its sub-buffers,
 * and of those what the records take, the kernel's and pfscope's, with their 4 bytes of header each. The rest of
 * the sub-buffers is their own headers, time stamps, and room left at their ends.
 *
 *     $ dat_bytes FILE
 *     size=36446208 head=81920 pages=36364288 events=1000313 bytes=36037412
 */
#include "base/bytes.h"
#include "dat/dat.h"
#include "record/ringpage.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct sums {
	uint64_t pages, events, bytes;
};

static void add_page(struct sums *sums, const struct pfs_ring_layout *ring, const uint8_t *bytes, uint32_t size)
{
	struct pfs_ring_page page;
	const uint8_t *payload;
	uint32_t len;

	sums->pages += size;
	if (pfs_ring_page_load(&page, ring, bytes, size))
		return;
	while (pfs_ring_page_next(&page, &payload, &len) > 0) {
		sums->events++;
		sums->bytes += 4 + len + (len > 28 * 4 ? 4 : 0);
	}
}

int main(int argc, char **argv)
{
	struct pfs_err err = { "" };
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct pfs_dat *dat = fd < 0 ? NULL : pfs_dat_open(fd, argv[1], 0, &err);
	struct sums all = { 0 };
	const uint8_t *file, *table;
	uint64_t head = 0;
	uint32_t page_size, nr;
	struct stat st;

	if (!dat || pfs_dat_info(dat)->version != 6 || fstat(fd, &st)) {
		fprintf(stderr, "dat_bytes FILE, a trace.dat of version 6 %s\n", err.msg);
		return 2;
	}
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	table = file == MAP_FAILED ? NULL : memmem(file, st.st_size, "flyrecord", 10);
	if (!table)
		return 1;
	page_size = pfs_dat_info(dat)->page_size;
	/* A processor's entry is its offset and its size; that of the first begins where the head ends. */
	head = pfs_load64(table + 10, false);
	nr = (head - (table + 10 - file)) / 16;
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start = pfs_load64(table + 10 + 16 * i, false), size = pfs_load64(table + 18 + 16 * i, false);

		if (start < head || start % page_size || start + size > (uint64_t)st.st_size)
			break; /* behind the table is the clock */
		for (uint64_t at = 0; at < size; at += page_size)
			add_page(&all, &pfs_dat_info(dat)->formats->ring, file + start + at, page_size);
	}
	printf("size=%lld head=%llu pages=%llu events=%llu bytes=%llu\n", (long long)st.st_size,
	       (unsigned long long)head, (unsigned long long)all.pages, (unsigned long long)all.events,
	       (unsigned long long)all.bytes);
	pfs_dat_close(dat);
	return 0;
}
