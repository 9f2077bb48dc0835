/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --refault did, as the notes `refault` and `refault_tick` record it (event/notes.h): sums, costs and their texts.
 */
#ifndef PFS_REFAULT_NOTE_H
#define PFS_REFAULT_NOTE_H

#include <stdbool.h>
#include <stdint.h>

enum pfs_refault_method {
	PFS_REFAULT_AUTO,
	PFS_REFAULT_PAGEOUT,	/* pages go to swap, or back to their files (pageout.h) */
	PFS_REFAULT_NUMA,	/* the kernel's own hinting faults, at its own pace: nothing to be done here */
	PFS_REFAULT_IDLE,	/* nothing faults: DAMON looks at accessed bits (idle.h) */
	PFS_REFAULT_HIDE,	/* the source hides pages: the kernel's handler makes them accessible again */
	PFS_REFAULT_SOFT_DIRTY, /* clear_refs: the next write to each page faults */
	PFS_REFAULT_NR_METHODS,
};

/* As the user writes them and a recording has them; NULL ends them. */
extern const char *const pfs_refault_methods[PFS_REFAULT_NR_METHODS + 1];

/* What became of the regions that were wanted, in pages. */
struct pfs_pageout {
	uint64_t pages;	 /* were in memory before */
	uint64_t away;	 /* of these, were not right after: what was used at once is back already */
	uint64_t shared; /* of what was there, so many were other processes' as well, at most */
	uint64_t fixed;	 /* were left alone: locked, a device's, of hugetlbfs */
	uint32_t nr_processes;
	bool full; /* at some moment there was no swap left: what found no room stayed */
};

/*
 * How the interval before a tick began: with a cycle; or left alone, first to get over the cycle before (REST), then
 * to be compared with (QUIET).
 */
enum pfs_refault_pace { PFS_PACE_START, PFS_PACE_CYCLED, PFS_PACE_REST, PFS_PACE_QUIET, PFS_PACE_NR };

/* What the helper reports at the end of each interval. */
struct pfs_refault_tick {
	bool cycle;	   /* pages were taken away now, or are watched; otherwise they are left alone */
	uint64_t began_ns; /* when that began, on the recording's clock; 0: not known */
	uint64_t took_ns;  /* for that */
	struct pfs_pageout pages;
	enum pfs_refault_pace before;
	uint64_t wall_ns; /* of the interval that is over */
	uint64_t user_ns; /* in which the processes ran so long in user mode, all together ... */
	uint64_t faults;  /* ... and faulted so often, as the kernel counts */
	uint32_t skipped; /* intervals that went by while this one's cycle was under way */
	int error;	  /* 0, or -errno: no more cycles */
};

/* All ticks of a recording. */
struct pfs_refault_sums {
	uint64_t nr_cycles, skipped;
	uint64_t nr_full; /* cycles in which there was no swap left */
	uint64_t took_ns;
	struct pfs_pageout pages;
	uint64_t nr[PFS_PACE_NR]; /* intervals, by how they began; and what was in them */
	uint64_t wall_ns[PFS_PACE_NR], user_ns[PFS_PACE_NR], faults[PFS_PACE_NR];
};

/* How pages were made to fault again. */
struct pfs_refault_how {
	enum pfs_refault_method method;	 /* AUTO: none */
	uint64_t interval_ns;		 /* as requested; 0: the kernel's own pace */
	uint64_t mean_ns;		 /* the real mean; 0: the same */
	uint64_t nr_cycles, nr_full;	 /* in so many of them swap was full */
	uint64_t nr_intervals, nr_quiet; /* in so many of them no pages were taken away */
};

enum { PFS_REFAULT_TEXT_MAX = 1024, PFS_REFAULT_HOW_MAX = 256 };

/* What it does: "pages were made to fault again", "accesses were sampled". */
const char *pfs_refault_what(enum pfs_refault_method method);

/* Computes the last three members from the ticks. */
void pfs_refault_how(struct pfs_refault_how *how, const struct pfs_refault_sums *sums);

/* "every 50 ms (pageout)", "at the kernel's own pace (numa)". */
void pfs_refault_how_text(char buf[PFS_REFAULT_HOW_MAX], const struct pfs_refault_how *how);

void pfs_refault_sum(struct pfs_refault_sums *sums, const struct pfs_refault_tick *tick);

/*
 * By which factor the processes were slower than in intervals that were left alone: their time in user mode per time
 * that went by, compared. At least, for what was away came back in these, too. 0: not known, as there were no such
 * intervals, or too little ran in them.
 */
double pfs_refault_slowdown(const struct pfs_refault_sums *sums);

/* The cost of re-reference sampling: a few lines, each a word and what it was. */
void pfs_refault_cost_text(char buf[PFS_REFAULT_TEXT_MAX], enum pfs_refault_method method,
			   const struct pfs_refault_sums *sums);

#endif
