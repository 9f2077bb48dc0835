/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Losses as the views print them: when they happened, on which CPU, and what they may affect.
 *
 * The recording does not contain which thread ran on a CPU, so lost events may belong to any thread: a gap may affect
 * every region of every process that existed at that time. What was unmapped before or mapped later is not affected.
 */
#ifndef PFS_LOSS_H
#define PFS_LOSS_H

#include <stdio.h>

#include "view/rows.h"

/* Which gaps: all that are within a time, or those of them that may concern something. */
struct pfs_gaps {
	const struct pfs_model *model;
	uint64_t from_ns, to_ns;     /* both included */
	const struct pfs_epochs *at; /* faults of this epoch may be missing; NULL: whatever is missing */
	const struct pfs_row *row;   /* of this row in it; NULL: whatever is missing of it */
};

/* Those of the time that a filter leaves of the recording. filter may be NULL. */
struct pfs_gaps pfs_gaps_shown(const struct pfs_model *model, const struct pfs_filter *filter);

/* Those of them that may concern an epoch, or with a row, that row of it. */
struct pfs_gaps pfs_gaps_of(struct pfs_gaps gaps, const struct pfs_epochs *at, const struct pfs_row *row);

/*
 * Those that may have hidden changes of an epoch's regions before the end of what the gaps' time is: also such as
 * were before its beginning.
 */
struct pfs_gaps pfs_gaps_before(struct pfs_gaps gaps, const struct pfs_epochs *at);

/* All of a process's life, as if it were one epoch. */
struct pfs_epochs pfs_whole_life(const struct pfs_model *model, const struct pfs_proc *proc);

bool pfs_gaps_have(struct pfs_gaps gaps, const struct pfs_loss *loss);

/* What is missing in them together. */
struct pfs_missing {
	uint64_t nr;		 /* gaps */
	uint64_t count, unknown; /* as of struct pfs_loss */
	uint64_t from_ns, to_ns; /* of the first one's beginning, of the last one's end */
};
struct pfs_missing pfs_gaps_sum(struct pfs_gaps gaps);

/* May that many events be among them? */
bool pfs_missing_may_be(const struct pfs_missing *missing, uint64_t nr);

/* Room for any text of pfs_lost_text(). */
enum { PFS_LOST_TEXT_MAX = 1024 };

/*
 * "lost 12 events on CPU 1 between 0.001000 and 0.001204 s, an unknown number of events on CPU 3 before 0.002000 s";
 * of no process in particular also "8 processes ended before they could be recorded". False if there are none.
 */
bool pfs_lost_text(char buf[PFS_LOST_TEXT_MAX], struct pfs_gaps gaps);

/* The same as one sum: "lost 55,178 events in 12 gaps". */
bool pfs_lost_sum_text(char buf[PFS_LOST_TEXT_MAX], struct pfs_gaps gaps);

/* Prints one line if anything was lost in the recording. */
void pfs_put_losses(const struct pfs_model *model, FILE *out);

#endif
