/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The touched pages of an address space: a sparse tree over the whole 64-bit range, so that an untouched terabyte costs
 * nothing. It knows no regions. Ranges are widened to whole pages; end == 0 is the top of memory.
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
	PFS_PAGE_ACCESS_UNKNOWN = 8, /* faulted by an unknown access */
	PFS_PAGE_USER = 16,	     /* faulted in user mode */
	PFS_PAGE_KERNEL = 32,	     /* faulted in kernel mode, for the process */
	PFS_PAGE_MINOR = 64,	     /* as MAJOR: only where the source reports it */
	PFS_PAGE_MAJOR = 128,
	PFS_PAGE_AROUND = 256,	       /* mapped by fault-around */
	PFS_PAGE_POPULATED = 512,      /* faulted in by the kernel itself */
	PFS_PAGE_HUGE = 1024,	       /* part of a huge page */
	PFS_PAGE_SIGNAL = 2048,	       /* a fault here ended in a signal */
	PFS_PAGE_REFERENCED = 4096,    /* by a sampled access */
	PFS_PAGE_MAYBE = 8192,	       /* it is not known whether a huge page mapped it; counts only where alone */
	PFS_PAGE_MAYBE_AROUND = 16384, /* the same of fault-around; nothing where it is touched, or mapped for sure */
	PFS_PAGE_TOUCHED = 15,	       /* any access: a fault on this page */
	PFS_PAGE_MAPPED = 15 | 256 | 512 | 1024, /* touched, or mapped without a touch */
	PFS_PAGE_LABEL = 1 << 15, /* the first of the labels that a filter gives to faults (model/filter.h) */
	PFS_PAGE_NR_LABELS = 15,
	PFS_PAGE_LABELS = PFS_PAGE_LABEL * ((1 << PFS_PAGE_NR_LABELS) - 1),
	PFS_PAGE_NEWEST = 1 << 30, /* replaces what the page had before, instead of joining it */
};

/* One page. It is stored in 4 or 16 bytes while nothing happened to it twice. */
struct pfs_page {
	uint64_t first_ns; /* time of the first event here */
	uint64_t last_ns;
	uint32_t first_tid;		     /* the thread of the first fault; 0: none yet */
	uint32_t flags;			     /* PFS_PAGE_* */
	uint32_t nr_read, nr_write, nr_exec; /* faults by access, if known */
	uint32_t nr_faults;
	uint32_t nr_kernel; /* those of nr_faults in kernel mode */
	uint32_t nr_signal; /* those of nr_faults that ended in a signal */
};

/* The size of the huge page that is mapped in place of a page of page tables: 2 MiB, where pages have 4 KiB. */
static inline uint64_t pfs_huge_size(unsigned int page_shift)
{
	return UINT64_C(1) << (2 * page_shift - 3);
}

struct pfs_pages;

struct pfs_pages *pfs_pages_new(unsigned int page_shift); /* NULL: no memory */

unsigned int pfs_pages_shift(const struct pfs_pages *pages); /* log2 of the page size */

/* An empty one with the same page size and pool, for pages of [start, end) only (0, 0: any). NULL: no memory. */
struct pfs_pages *pfs_pages_new_beside(const struct pfs_pages *pages, uint64_t start, uint64_t end);

void pfs_pages_free(struct pfs_pages *pages);

/* Frees it and the pages of all trees that share its pool; afterwards those may only be freed. */
void pfs_pages_free_all(struct pfs_pages *pages);

/* Adds an event to the page at addr. 0 or -ENOMEM. */
int pfs_pages_add(struct pfs_pages *pages, uint64_t addr, const struct pfs_page *what);

/*
 * Adds it to each page of [start, end) that has none of the flags in `unless`, and sets *nr to their number. Time and
 * memory do not depend on the length of the range, but on the pages that it has already.
 */
int pfs_pages_mark(struct pfs_pages *pages, uint64_t start, uint64_t end, const struct pfs_page *what, uint32_t unless,
		   uint64_t *nr);

/* Faults in order of time that differ in time and address only. */
struct pfs_faults_on {
	const uint64_t *addr, *ts_ns; /* of each */
	uint32_t nr;
	int32_t tid;
	uint32_t flags; /* PFS_PAGE_* */
};

/* As pfs_pages_add() for each. 0 or -ENOMEM. */
int pfs_pages_faults(struct pfs_pages *pages, const struct pfs_faults_on *faults);

/* Adds flags to the last fault at addr, if there is one, and counts PFS_PAGE_SIGNAL. 0 or -ENOMEM. */
int pfs_pages_came_of(struct pfs_pages *pages, uint64_t addr, uint32_t flags);

/*
 * Of the pages of [start, end) that PFS_PAGE_MAYBE_AROUND marks, as of ts_ns: they were mapped (PFS_PAGE_AROUND instead,
 * unless they were faulted by a read), or not. 0 or -ENOMEM.
 */
int pfs_pages_settle(struct pfs_pages *pages, uint64_t start, uint64_t end, uint64_t ts_ns, bool mapped);

/* The flags of the page at addr; 0: nothing happened to it. */
uint32_t pfs_pages_flags(const struct pfs_pages *pages, uint64_t addr);

/* A walk over the touched pages of [start, end). */
struct pfs_page_walk {
	const struct pfs_pages *pages;
	uint64_t addr;		 /* of the page returned last */
	struct pfs_page page;	 /* that page, unless it is stored in full */
	uint64_t first, last;	 /* numbers of pages, inclusive */
	uint64_t key, bits;	 /* its leaf, and the pages of that which are still to come */
	const void *leaf, *node; /* the leaf and the node above it, or NULL */
	const void *whole;	 /* in place of a leaf, for all keys up to whole_last */
	uint64_t whole_last;
};

void pfs_page_walk_start(struct pfs_page_walk *walk, const struct pfs_pages *pages, uint64_t start, uint64_t end);

/* The next page, valid until the next call; NULL: no more. The pages must not change during a walk. */
const struct pfs_page *pfs_page_walk_next(struct pfs_page_walk *walk);

/*
 * The next *nr pages, from walk->addr on, to which the same happened; not necessarily adjacent ones. first_ns and
 * last_ns are the earliest and latest times of all of them, and first_tid is of any.
 */
const struct pfs_page *pfs_page_walk_alike(struct pfs_page_walk *walk, uint64_t *nr);

/* Only the flags of the next *nr pages, which all lie before limit (0: none) if they are several. */
bool pfs_page_walk_flags(struct pfs_page_walk *walk, uint64_t limit, uint32_t *flags, uint64_t *nr);

/* The next *nr adjacent pages, from walk->addr on, to which exactly the same happened. */
const struct pfs_page *pfs_page_walk_row(struct pfs_page_walk *walk, uint64_t *nr);

/* Whether any page of [start, end) was touched. */
bool pfs_pages_any(const struct pfs_pages *pages, uint64_t start, uint64_t end);

/* Forgets the pages of [start, end). 0 or -ENOMEM. */
int pfs_pages_drop(struct pfs_pages *pages, uint64_t start, uint64_t end);

/* Forgets those pages of [start, end) whose flags are exactly these. 0 or -ENOMEM. */
int pfs_pages_drop_only(struct pfs_pages *pages, uint64_t start, uint64_t end, uint32_t flags);

/*
 * Moves the pages of [start, end) of `from` to `to` (may be the same), `delta` bytes up (modulo 2^64), and merges them
 * into those there. 0, or -ENOMEM: some pages were not moved.
 */
int pfs_pages_move(struct pfs_pages *from, uint64_t start, uint64_t end, struct pfs_pages *to, uint64_t delta);

#endif
