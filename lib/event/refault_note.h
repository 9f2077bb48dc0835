/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --refault did, as notes of a recording: one says how (key PFS_REFAULT_NOTE), one for each interval what became
 * of it (key PFS_REFAULT_TICK_NOTE). Written and read here.
 */
#ifndef PFS_REFAULT_NOTE_H
#define PFS_REFAULT_NOTE_H

#include "refault/refault.h"

#define PFS_REFAULT_NOTE      "refault"
#define PFS_REFAULT_TICK_NOTE "refault_tick"

/* All ticks of a recording. */
struct pfs_refault_sums {
	uint64_t nr_cycles, skipped;
	uint64_t nr_full; /* cycles in which there was no swap left */
	uint64_t took_ns;
	struct pfs_pageout pages;
	uint64_t nr[PFS_PACE_NR]; /* intervals, by how they began; and what was in them */
	uint64_t wall_ns[PFS_PACE_NR], user_ns[PFS_PACE_NR], faults[PFS_PACE_NR];
};

/* How pages were made to fault again, for those who say it of a trace. */
struct pfs_refault_how {
	enum pfs_refault_method method; /* AUTO: they were not */
	uint64_t interval_ns;		/* as it was asked for; 0: it was not pfscope's to choose */
	uint64_t mean_ns;		/* as it came to be; 0: the same */
	uint64_t nr_cycles, nr_full;	/* in so many of them swap was full */
};

enum { PFS_REFAULT_TEXT_MAX = 1024, PFS_REFAULT_HOW_MAX = 256 };

/* The values of the two notes. `where`: the regions that were chosen, "" for all. */
void pfs_refault_note_write(char buf[PFS_REFAULT_TEXT_MAX], enum pfs_refault_method method, uint64_t interval_ns,
			    const char *where);
void pfs_refault_tick_write(char buf[PFS_REFAULT_TEXT_MAX], const struct pfs_refault_tick *tick);

/* Back again. False: it is none. Of how the first two members; the others are 0. */
bool pfs_refault_note_read(const char *value, struct pfs_refault_how *how);
bool pfs_refault_tick_read(const char *value, struct pfs_refault_tick *tick);

/* What it does: "pages were made to fault again", "accesses were sampled". */
const char *pfs_refault_what(enum pfs_refault_method method);

/* What the ticks say of it: the last three members. */
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

/* What it cost, in a line for people. */
void pfs_refault_cost_text(char buf[PFS_REFAULT_TEXT_MAX], enum pfs_refault_method method,
			   const struct pfs_refault_sums *sums);

#endif
