/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters: --pid, --tid, --comm, --region, --class, --from, --to, --at. Layout and process life always reach the model, touches
 * only if pid, tid, thread name and time fit. The views ask the filter which rows to show.
 */
#ifndef PFS_FILTER_H
#define PFS_FILTER_H

#include "base/err.h"
#include "model/model.h"

/* Time since the start of the recording, or, with @, of its clock. */
struct pfs_time {
	uint64_t ns;
	bool set;
	bool of_clock;
};

/*
 * What a first reading has decided on each fault, by its number in the order of reading: later events may tell more of a fault,
 * so a filter that goes by that needs a second reading. A label is a bit of the filter's `labels`; 0: none.
 */
struct pfs_labels {
	uint8_t *of;
	uint64_t nr, max;
	uint64_t read; /* faults that were read so far: the last one is read - 1 */
	bool decided;  /* this is the second reading */
	bool marks;    /* it marks pages with the labels of their faults */
};

struct pfs_filter {
	int32_t *pids, *tids;
	const char **comms, **regions; /* globs; borrowed */
	char **files;		       /* globs for the names of mapped files */
	const char *region;	       /* the first --region as it was given, for messages; borrowed */
	unsigned int nr_pids, nr_tids, nr_comms, nr_regions, nr_files;
	struct pfs_time from, to;    /* touches of [from, to) */
	struct pfs_time at;	     /* everything up to and including this moment */
	uint32_t labels;	     /* only faults with one of these; 0: any */
	struct pfs_labels *labelled; /* of all faults; NULL: not wanted; borrowed */
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

/* The last moment before `to` and `at`; UINT64_MAX: no end. filter may be NULL. */
uint64_t pfs_filter_end_ns(const struct pfs_filter *filter, const struct pfs_model *model);

/*
 * Adds the argument of an option; several of one key are ORed, different keys are ANDed. The string is borrowed while
 * the filter lives. 0, -EINVAL or -ENOMEM with err set.
 */
int pfs_filter_add(struct pfs_filter *filter, enum pfs_filter_key key, const char *arg, struct pfs_err *err);

/* Frees what was added. A filter of zeroes is an empty one. */
void pfs_filter_fini(struct pfs_filter *filter);

/*
 * Passes an event to the model, which is muted if the filter hides the touch; outcome may be NULL. 0, -ENOMEM, or
 * -ECANCELED: the event is past `at` or `to` and was not applied. The source may stop then; of a `lost` that follows, the
 * part before that moment is applied.
 */
int pfs_filter_apply(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_event *ev,
		     struct pfs_outcome *outcome);

/* The same for runs of faults; the observer (or NULL) gets those that pass. 0, -ENOMEM, -ECANCELED or the observer's. */
int pfs_filter_apply_faults(const struct pfs_filter *filter, struct pfs_model *model, const struct pfs_fault_run *runs,
			    unsigned int nr, const struct pfs_observer *observer);

/* Labels the fault of that number. 0 or -ENOMEM. */
int pfs_labels_set(struct pfs_labels *labels, uint64_t nr, uint8_t label);

/* The label of the fault that was read last. */
static inline uint8_t pfs_labels_last(const struct pfs_labels *labels)
{
	return labels && labels->decided && labels->read - 1 < labels->nr ? labels->of[labels->read - 1] : 0;
}

/* Whether all touches pass. (Views may still hide regions.) */
bool pfs_filter_is_open(const struct pfs_filter *filter);

/*
 * Whether a region is shown, by globs on its name (or NULL), the last component of that, and its address range as the
 * views print it. filter may be NULL (here and below).
 */
bool pfs_filter_region(const struct pfs_filter *filter, const char *name, uint64_t start, uint64_t end);

/* The same, by its name (NULL: unknown) and its kind (pfs_region_kind()). */
bool pfs_filter_memory(const struct pfs_filter *filter, const struct pfs_region *region, const char *name);

/* Are there any --region? */
bool pfs_filter_has_regions(const struct pfs_filter *filter);

/* Whether the region of that fault is shown; one in no known region is not, if there are any --region. */
bool pfs_filter_outcome(const struct pfs_filter *filter, const struct pfs_outcome *outcome);

/* Whether a process is shown, by pid and tid. */
bool pfs_filter_proc(const struct pfs_filter *filter, const struct pfs_model *model, const struct pfs_proc *proc);

/* Whether a thread name fits; NULL (unknown) fits no glob. */
bool pfs_filter_comm(const struct pfs_filter *filter, const char *comm);

#endif
