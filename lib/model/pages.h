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
	PFS_PAGE_READ = 1, /* faulted by a read */
	PFS_PAGE_WRITE = 2,
	PFS_PAGE_EXEC = 4,
	PFS_PAGE_ACCESS_UNKNOWN = 8, /* faulted; the source does not say how */
	PFS_PAGE_USER = 16,	     /* faulted in user mode */
	PFS_PAGE_KERNEL = 32,	     /* faulted in kernel mode, on the process's behalf */
	PFS_PAGE_MINOR = 64,	     /* only where the source says so */
	PFS_PAGE_MAJOR = 128,
	PFS_PAGE_AROUND = 256,	    /* mapped by fault-around */
	PFS_PAGE_POPULATED = 512,   /* faulted in by the kernel itself */
	PFS_PAGE_HUGE = 1024,	    /* part of a huge page */
	PFS_PAGE_SIGNAL = 2048,	    /* a fault here ended in a signal */
	PFS_PAGE_REFERENCED = 4096, /* seen by a sampling source */
	PFS_PAGE_TOUCHED = 15,	    /* any of the four: a fault that asked for this page */
};

/* One page; counts are of fault events on this page. Kept in 4 or 16 bytes while nothing happened twice. */
struct pfs_page {
	uint64_t first_ns; /* time of the first event here */
	uint64_t last_ns;
	uint32_t first_tid;		     /* who faulted first; 0: nobody did yet */
	uint32_t flags;			     /* PFS_PAGE_* */
	uint32_t nr_read, nr_write, nr_exec; /* faults by access; of unknown access: nr_faults less these */
	uint32_t nr_faults;
	uint32_t nr_kernel; /* those of nr_faults in kernel mode */
	uint32_t nr_signal; /* those of nr_faults that ended in a signal */
};

struct pfs_pages;

struct pfs_pages *pfs_pages_new(unsigned int page_shift); /* NULL: no memory */

/*
 * An empty one, of the same page size and with memory in common, for pages of [start, end) only (0, 0: for
 * any). NULL: no memory.
 */
struct pfs_pages *pfs_pages_new_beside(const struct pfs_pages *pages, uint64_t start, uint64_t end);

void pfs_pages_free(struct pfs_pages *pages);

/* Frees it, and all pages of all trees beside it at once; those can only be freed any more. */
void pfs_pages_free_all(struct pfs_pages *pages);

/* Something happened at addr: adds it to what did before. 0 or -ENOMEM. */
int pfs_pages_add(struct pfs_pages *pages, uint64_t addr, const struct pfs_page *what);

/*
 * The same for each page of [start, end) that has none of the flags in `unless`. *nr says how many those were.
 * However long the range, it takes little time and memory, unless much has happened in it before.
 */
int pfs_pages_mark(struct pfs_pages *pages, uint64_t start, uint64_t end, const struct pfs_page *what, uint32_t unless,
		   uint64_t *nr);

/* Faults in order of time, alike but for time and address; flags say how they were. */
struct pfs_faults_on {
	const uint64_t *addr, *ts_ns; /* of each */
	uint32_t nr;
	int32_t tid;
	uint32_t flags;
};

/* As pfs_pages_add(), for one after the other. 0 or -ENOMEM. */
int pfs_pages_faults(struct pfs_pages *pages, const struct pfs_faults_on *faults);

/* What came of the last fault at addr: flags, counted if PFS_PAGE_SIGNAL is one. 0 (also if none was) or -ENOMEM. */
int pfs_pages_came_of(struct pfs_pages *pages, uint64_t addr, uint32_t flags);

/* A walk over the pages of [start, end) that anything happened to; end == 0: no end (here, and in any and move). */
struct pfs_page_walk {
	const struct pfs_pages *pages;
	uint64_t addr;		 /* of the page returned last */
	struct pfs_page page;	 /* that page, if it had to be put together */
	uint64_t first, last;	 /* numbers of pages, inclusive */
	uint64_t key, bits;	 /* the leaf it is in, and which of its pages are still to come */
	const void *leaf, *node; /* what the leaf hangs in, if that is a node; or whole */
	const void *whole;	 /* which goes on to the key whole_last */
	uint64_t whole_last;
};

void pfs_page_walk_start(struct pfs_page_walk *walk, const struct pfs_pages *pages, uint64_t start, uint64_t end);

/* The next one, valid until the next call; NULL: no more. The pages must not change meanwhile. */
const struct pfs_page *pfs_page_walk_next(struct pfs_page_walk *walk);

/*
 * The same for who does not need each: several pages at once, if the same happened to all of them. walk->addr is
 * that of the first, *nr says how many. Of the page, first_ns and last_ns are the earliest and the latest time of
 * all of them, and first_tid is of any.
 */
const struct pfs_page *pfs_page_walk_alike(struct pfs_page_walk *walk, uint64_t *nr);

/* Only what the flags of the next page are; of several, if they are the same and all of them lie before limit (0: none). */
bool pfs_page_walk_flags(struct pfs_page_walk *walk, uint64_t limit, uint32_t *flags, uint64_t *nr);

/* The same for pages in a row: walk->addr, and the *nr - 1 pages behind it. */
const struct pfs_page *pfs_page_walk_row(struct pfs_page_walk *walk, uint64_t *nr);

/* Did anything happen in [start, end)? */
bool pfs_pages_any(const struct pfs_pages *pages, uint64_t start, uint64_t end);

/*
 * Moves all pages of [start, end) of `from` to `to` (may be the same), `delta` bytes further on
 * (wraps; so a negative delta is its two's complement). Whatever was there is merged into.
 * 0 or -ENOMEM: some pages were not moved.
 */
int pfs_pages_move(struct pfs_pages *from, uint64_t start, uint64_t end, struct pfs_pages *to, uint64_t delta);

#endif
