/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Working sets (Denning, 1968): W(t, tau) is the number of pages that were referenced in (t - tau, t].
 *
 * Time is whatever the references are dated by. The mean is over the time from the first reference to the last,
 * and exact: each reference keeps its page in the set for tau, or until the next one to that page. Memory is in
 * proportion to the pages (and to the rows of a series), a reference costs O(windows).
 */
#ifndef PFS_WORKING_SET_H
#define PFS_WORKING_SET_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_working_sets;

/* W at the end of a step; steps are as long as the window. */
struct pfs_working_set_step {
	uint64_t end_ns;
	uint32_t pages;
};

struct pfs_working_set {
	uint64_t window_ns;
	uint32_t max; /* of all moments */
	double mean;  /* over time; of no time at all: max */
	const struct pfs_working_set_step *steps;
	uint32_t nr_steps;
};

/* A series is not made longer than that. */
enum { PFS_WORKING_SET_MAX_STEPS = 1000000 };

/*
 * Windows (tau), none of them 0, are copied. With a series, steps begin at base_ns: those that end before the
 * first reference are left out, the last one holds the last reference. NULL: no memory.
 */
struct pfs_working_sets *pfs_working_sets_new(const uint64_t *windows_ns, unsigned int nr, bool series,
					      uint64_t base_ns);
void pfs_working_sets_free(struct pfs_working_sets *w);

/*
 * The next reference; pages are numbered from 0 with no large holes. A time before that of the last reference,
 * or not behind base_ns, is taken for the next possible one. 0, -ENOMEM, or -EOVERFLOW: a series of too many
 * steps.
 */
int pfs_working_sets_refer(struct pfs_working_sets *w, uint32_t page, uint64_t ts_ns);

/* The last reference was that. 0, -ENOMEM, -EOVERFLOW. */
int pfs_working_sets_end(struct pfs_working_sets *w);

/* Of the nth window, after the end. What it points to is kept by `w`. */
struct pfs_working_set pfs_working_sets_get(const struct pfs_working_sets *w, unsigned int nr);

#endif
