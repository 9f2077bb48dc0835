/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two checks share: the words for each line and each cause (check_words.c), and the kernel's counts of processes
 * (check_accounts.c). check.c is for sources that report exceptions, check_all.c for those that report every fault with its
 * class; what both print reads the same way.
 */
#ifndef PFS_CHECK_PRIV_H
#define PFS_CHECK_PRIV_H

#include "view/loss.h"
#include "view/view.h"

struct check {
	FILE *out;
	struct pfs_missing missing;
	unsigned int nr_unexplained;
	unsigned int nr_maybe_lost; /* of these: they may be among the lost events */
	uint64_t unclear;	    /* faults that only the kernel's counters could explain */
	uint64_t unseen;	    /* faults that may be in kernel mode, which was not recorded */
};

/* The lines of the account, from what was recorded to what the kernel counted, each with its causes below it. */
enum check_line {
	CHECK_RECORDED,
	CHECK_RECORDED_OF_COMMAND,
	CHECK_REFUSED,
	CHECK_STARTED,
	CHECK_NO_PAGE,
	CHECK_NO_PAGE_OR_RETRIED,
	CHECK_GOT_PAGE,
	CHECK_UNASKED,
	CHECK_UNSEEN,
	CHECK_LOST,
	CHECK_RUSAGE,
};

enum check_cause {
	CHECK_KERNEL_ADDR,
	CHECK_SIGNALS,
	CHECK_VSYSCALL,
	CHECK_RETRIED,
	CHECK_NO_ACCESS,
	CHECK_REFUSED_OTHERWISE,
	CHECK_GIVEN_UP,
	CHECK_OTHERWISE,
	CHECK_OTHER_UNASKED, /* more of them are those by enum pfs_by, from CHECK_BY on */
	CHECK_BY,
};

void check_line(const struct check *c, uint64_t n, enum check_line line);
/* What the kernel accounts, of that many processes. */
void check_line_of(const struct check *c, uint64_t n, unsigned int nr_procs);
void check_cause(const struct check *c, uint64_t n, enum check_cause cause); /* nothing if n is 0 */
const char *check_cause_text(enum check_cause cause);			     /* NULL: no fault is of that cause */

/* What the recording and the kernel's counts say differs by nr; `less`: the recording has fewer. */
void check_differs(struct check *c, int column, uint64_t nr, bool less, const struct pfs_missing *missing,
		   const char *what);

/* Prints the losses and the verdict. 0 or -ERANGE with err set. */
int check_end(struct check *c, const struct pfs_model *model, struct pfs_err *err);

/* Of the command and of pfscope's own child before it. */
struct pfs_counts check_sum(const struct pfs_model *model);

/* Signals at addresses of the kernel's are refused before they are counted. */
uint64_t check_signals(const struct pfs_counts *n);

/* The kernel's count of a process ("counted"); the process, or NULL if note nr i is none or there is a newer one. */
const struct pfs_proc *check_account(const struct pfs_model *model, unsigned int i, struct pfs_fact *fact);

/* Of all processes together, and their number. False: the count of one of them is missing or not certain. */
bool check_accounts(const struct pfs_model *model, uint64_t *sum, unsigned int *nr);

/* Whether the source reports every fault with its class, those without an exception included. */
bool check_has_all(const struct pfs_model *model);

int pfs_check_all_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);

#endif
