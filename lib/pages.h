/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pages of an address space: what happened to each page that anything happened to.
 *
 * A sparse tree over the whole 64-bit range, so that a terabyte reservation costs nothing until it
 * is touched. It knows nothing of regions: space.c cuts and moves ranges of it along with them.
 */
#ifndef PFS_PAGES_H
#define PFS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PFS_PAGE_READ = 1,		/* faulted by a read */
	PFS_PAGE_WRITE = 2,
	PFS_PAGE_EXEC = 4,
	PFS_PAGE_ACCESS_UNKNOWN = 8,	/* faulted; the source does not say how */
	PFS_PAGE_USER = 16,		/* faulted in user mode */
	PFS_PAGE_KERNEL = 32,		/* faulted in kernel mode, on the process's behalf */
	PFS_PAGE_MINOR = 64,		/* only where the source says so */
	PFS_PAGE_MAJOR = 128,
	PFS_PAGE_AROUND = 256,		/* mapped unasked beside a fault */
	PFS_PAGE_POPULATED = 512,	/* faulted in by the kernel itself */
	PFS_PAGE_HUGE = 1024,		/* part of a huge page */
	PFS_PAGE_SIGNAL = 2048,		/* a fault here ended in a signal */
	PFS_PAGE_REFERENCED = 4096,	/* seen by a sampling source */
	PFS_PAGE_TOUCHED = 15,		/* any of the four: a fault that asked for this page */
};

/* One page. 48 bytes; counts are of fault events on this page. */
struct pfs_page {
	uint64_t first_ns;	/* time of the first event here */
	uint64_t last_ns;
	uint32_t first_tid;	/* who faulted first; 0: nobody did yet */
	uint32_t flags;		/* PFS_PAGE_* */
	uint32_t nr_read, nr_write, nr_exec;	/* faults by access; of unknown access: nr_faults less these */
	uint32_t nr_faults;
	uint32_t nr_kernel;	/* those of nr_faults in kernel mode */
	uint32_t nr_signal;	/* those of nr_faults that ended in a signal */
};

struct pfs_pages;

struct pfs_pages *pfs_pages_new(unsigned int page_shift);	/* NULL: no memory */
void pfs_pages_free(struct pfs_pages *pages);
unsigned int pfs_pages_shift(const struct pfs_pages *pages);

/* The page at addr, made (all zero) if need be. NULL: no memory. Valid until the page is taken. */
struct pfs_page *pfs_pages_get(struct pfs_pages *pages, uint64_t addr);

/* The page at addr, or NULL if nothing ever happened there. */
struct pfs_page *pfs_pages_find(const struct pfs_pages *pages, uint64_t addr);

/*
 * The first page at or after *addr and before end; *addr becomes its address. NULL: none.
 * end == 0: no end (here and in count and move).
 */
struct pfs_page *pfs_pages_next(const struct pfs_pages *pages, uint64_t *addr, uint64_t end);

/* Walks them. Plain `addr += page_size` would run for ever once the topmost page was touched. */
#define pfs_pages_for_each(page, pages, addr, start, end, page_size)			\
	for ((addr) = (start), (page) = pfs_pages_next(pages, &(addr), end); (page);	\
	     (page) = ((addr) += (page_size)) ? pfs_pages_next(pages, &(addr), end) : NULL)

/* Number of pages in [start, end) that have any of `flags`. */
uint64_t pfs_pages_count(const struct pfs_pages *pages, uint64_t start, uint64_t end,
			 uint32_t flags);

/*
 * Moves all pages of [start, end) of `from` to `to` (may be the same), `delta` bytes further on
 * (wraps; so a negative delta is its two's complement). Whatever was there is merged into.
 * 0 or -ENOMEM: some pages were not moved.
 */
int pfs_pages_move(struct pfs_pages *from, uint64_t start, uint64_t end,
		   struct pfs_pages *to, uint64_t delta);

/* Number of pages held. */
uint64_t pfs_pages_total(const struct pfs_pages *pages);

#endif
