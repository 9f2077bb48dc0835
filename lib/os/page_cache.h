/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of a file fault-around would map now, and the folios that they are in. mincore() alone does not tell: pages
 * that are locked or marked for readahead are in the page cache, too, but fault-around does not map them.
 *
 * The probe maps the file and reads one page of each group of cached pages. The kernel maps other pages beside that one;
 * the probe's own pagemap shows which, kpageflags why the rest was not mapped and which page frames form a folio. With
 * MADV_RANDOM the kernel starts no readahead and keeps the marks. Needs root.
 */
#ifndef PFS_PAGE_CACHE_H
#define PFS_PAGE_CACHE_H

#include <stdint.h>

enum pfs_page_state {
	PFS_PAGE_STATE_UNKNOWN, /* it was locked, or was being written */
	PFS_PAGE_STATE_READY,	/* is mapped by fault-around */
	PFS_PAGE_STATE_HELD,	/* marked for readahead: is not */
	PFS_PAGE_STATE_ABSENT,
};

/* A run of pages in one state and in folios of one size, in bytes of the file. Folios are aligned by their size. */
struct pfs_page_run {
	uint64_t off, end_off;
	enum pfs_page_state state;
	int order; /* the folios have 2^order pages; -1: unknown */
};

/* Returns 0, or what ends the probe. */
typedef int pfs_page_run_fn(void *ctx, const struct pfs_page_run *run);

/*
 * Probes the pages of [off, end_off), which ends at the file's end at the latest, and passes on their runs in order. The
 * file may shrink meanwhile: SIGBUS is handled. Not for several threads at once. 0, what fn returned, or -errno.
 */
int pfs_page_cache_probe(int fd, uint64_t off, uint64_t end_off, pfs_page_run_fn *fn, void *ctx);

#endif
