/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a stream's sub-buffers come from, one after the other: a range of a file, a file that is
 * still growing, or (dat/unzip.c) compressed chunks.
 *
 * merge.c takes them, ringpage.c walks their records.
 */
#ifndef PFS_PAGE_SOURCE_H
#define PFS_PAGE_SOURCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pfs_page_source {
	/*
	 * The next sub-buffer; it stays valid until the next call. 1 with *page and *size set, 0 if
	 * there is none now (a growing file may have one later), or -errno; asked again after that,
	 * it goes on behind what cannot be read.
	 */
	int (*next)(struct pfs_page_source *src, const uint8_t **page, uint32_t *size, struct pfs_err *err);
	void (*free)(struct pfs_page_source *src);
	uint64_t where;			   /* offset in the file of the sub-buffer given last, for messages */
	uint8_t *block;			   /* the bytes read last */
	uint32_t page_size, given, filled; /* in the block */
};

/* The next sub-buffer of the block, if it has one: the last one may be shorter. */
bool pfs_page_source_take(struct pfs_page_source *src, const uint8_t **page, uint32_t *size);

/* [start, start + len) of a file in sub-buffers of page_size; a shorter rest is given as it is. */
struct pfs_page_source *pfs_page_source_file(int fd, uint64_t start, uint64_t len, uint32_t page_size);

/* A file that others append whole sub-buffers to. A shorter rest is not given: it is not done. */
struct pfs_page_source *pfs_page_source_growing(int fd, uint32_t page_size);

void pfs_page_source_free(struct pfs_page_source *src);

#endif
