/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user asked to see: --pid, --tid, --comm, --region, --from, --to, --at.
 *
 * A filter stands between the source and the model: the layout and process life are always taken in,
 * touches only where pid, tid, thread name and time fit. Which rows are drawn, the views ask it.
 */
#ifndef PFS_FILTER_H
#define PFS_FILTER_H

#include "base/err.h"
#include "model/model.h"

/* A moment as the user writes it: seconds since the recording's start, or @seconds of its clock. */
struct pfs_time {
	uint64_t ns;
	bool set;
	bool of_clock;
};

struct pfs_filter {
	int32_t *pids, *tids;
	const char **comms, **regions; /* globs; the strings stay the caller's */
	char **files;		       /* globs for regions that are a file's */
	unsigned int nr_pids, nr_tids, nr_comms, nr_regions, nr_files;
	struct pfs_time from, to; /* touches of [from, to) */
	struct pfs_time at;	  /* everything up to and including at */
};

enum pfs_filter_key {
	PFS_FILTER_PID,
	PFS_FILTER_TID,	   /* a number, or several with commas */
	PFS_FILTER_COMM,   /* a glob (fnmatch) */
	PFS_FILTER_REGION, /* a glob, or kinds with commas: heap, stack, anon, file:GLOB */
	PFS_FILTER_FROM,
	PFS_FILTER_TO,
	PFS_FILTER_AT,
};

/* Reads "12.000000001" or "@1234.5", exact to the nanosecond. 0 or -EINVAL with err set. */
int pfs_time_parse(const char *s, struct pfs_time *time, struct pfs_err *err);

/* The same moment of the recording's clock; never less than 0. */
uint64_t pfs_time_ns(const struct pfs_time *time, const struct pfs_model *model);

/* The last moment that `to` and `at` leave; UINT64_MAX: no end. filter may be NULL. */
uint64_t pfs_filter_end_ns(const struct pfs_filter *filter, const struct pfs_model *model);

/*
 * Adds what an option says; numbers and globs of one option are alternatives, options must all fit.
 * The string is borrowed while the filter lives. 0, -EINVAL or -ENOMEM with err set.
 */
int pfs_filter_add(struct pfs_filter *filter, enum pfs_filter_key key, const char *arg, struct pfs_err *err);

/* Frees what was added. A filter of zeroes is an empty one. */
void pfs_filter_fini(struct pfs_filter *filter);

/*
 * Hands an event to the model, muted if its touch is not wanted; outcome may be NULL. 0, -ENOMEM, or -ECANCELED: this
 * event is past `at` or `to` and was not applied; the source may stop, but a `lost` of what was before may follow:
 * of that what was before is applied.
 */
int pfs_filter_apply(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_event *ev,
		     struct pfs_outcome *outcome);

/* The same for runs of faults; the observer (or NULL) gets those that pass. 0, -ENOMEM, -ECANCELED or the observer's. */
int pfs_filter_apply_faults(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_fault_run *runs,
			    unsigned int nr, const struct pfs_observer *observer);

/* Does it let everything through to the model? (Views may still leave out regions.) */
bool pfs_filter_is_open(const struct pfs_filter *filter);

/*
 * Is a region of that name wanted? Globs are tried on the name, on its last component, and on the
 * address range as the views write it. name may be NULL. filter may be NULL (here and below).
 */
bool pfs_filter_region(const struct pfs_filter *filter, const char *name, uint64_t start, uint64_t end);

/* The same of a region, by its name (NULL: not known) and its kind. */
bool pfs_filter_memory(const struct pfs_filter *filter, const struct pfs_region *region, const char *name);

/* Is the process wanted, as far as pid and tid say? */
bool pfs_filter_proc(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_proc *proc);

/* Does the name fit? comm may be NULL: unknown fits no glob. */
bool pfs_filter_comm(const struct pfs_filter *filter, const char *comm);

#endif
