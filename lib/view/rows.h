/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What views draw, picked out of the model: the epochs that a filter leaves, and an epoch's rows.
 *
 * A row is a region, live or gone, or a cluster of touched pages that lie in no known region. Every
 * page that the model holds is in exactly one row of one space, so rows add up to the recording.
 */
#ifndef PFS_VIEW_ROWS_H
#define PFS_VIEW_ROWS_H

#include "model/filter.h"
#include "model/model.h"

/*
 * Walks the epochs to draw, in order of appearance. Zeroed but for model and filter:
 *	for (walk = (struct pfs_epochs){ .model = m, .filter = f }; pfs_epochs_next(&walk);)
 */
struct pfs_epochs {
	const struct pfs_model *model;
	const struct pfs_filter *filter; /* NULL: everything */
	/* the one that was reached */
	const struct pfs_proc *proc;
	const struct pfs_epoch *epoch;
	unsigned int number, of; /* among the images of its own: no launcher, no vfork */
	uint64_t end_ns;	 /* UINT64_MAX: it is not over */
	unsigned int index;
};

bool pfs_epochs_next(struct pfs_epochs *walk);

/* The same, but of each process the newest image only, and one that processes share (vfork) with its owner. */
bool pfs_layouts_next(struct pfs_epochs *walk);

/* The regions of a space, or those that it had last, by address. *at begins with 0. NULL: no more. */
const struct pfs_region *pfs_layout_next(const struct pfs_space *space, unsigned int *at);

/* -ENOENT, with err set: why the filter leaves no layout. */
int pfs_no_layout(const struct pfs_model *model, const struct pfs_filter *filter, struct pfs_err *err);

/* Whether --region leaves nothing; then text is what to say of it, with the region whose name is nearest. */
bool pfs_no_region(const struct pfs_model *model, const struct pfs_filter *filter, char *text, size_t size);

/* The name that the process had in it, or NULL. */
const char *pfs_epoch_comm(const struct pfs_epochs *walk);

/*
 * Its command line, without the directory of the program, in buf: what tells it from another process of its name. NULL:
 * unknown, or there is no other such process.
 */
const char *pfs_epoch_role(const struct pfs_epochs *walk, char *buf, size_t size);

/* Sums over pages. Faults are counted as often as they happened, the rest is pages. Numbers only: pfs_tally_add(). */
struct pfs_tally {
	uint64_t faults;
	uint64_t read, write, exec, access_unknown; /* of faults */
	uint64_t user, kernel, signal;		    /* of faults */
	uint64_t outside;			    /* of faults: in no known region */
	uint64_t touched;			    /* pages that faulted */
	uint64_t major, around, populated, huge, maybe, unobserved, in_memory, referenced; /* pages marked so */
	uint64_t maybe_around;	    /* pages that may have been mapped by fault-around */
	uint64_t seen;		    /* pages that anything happened to */
	uint64_t first_ns, last_ns; /* of what happened; only if seen */
};

struct pfs_row {
	uint64_t start, end;
	const struct pfs_region *region; /* NULL: pages in no known region */
	const struct pfs_pages *pages;	 /* where its pages are; NULL: it has none */
	const char *name;		 /* as /proc/PID/maps has it; NULL: unknown */
	struct pfs_pages *packed;	 /* of a group: its own copy of the pages, or NULL */
	const char *group;		 /* what its regions are, "thread stacks"; NULL: it is one region */
	unsigned int nr_regions;	 /* 1, or those of the group */
	bool gone;			 /* unmapped before the space's end */
	bool unobserved; /* pages to which nothing happened may have been used: older ones that stayed in memory, or that userfaultfd filled */
	uint64_t unobserved_ns; /* how long there were any such pages */
	struct pfs_tally tally;
};

struct pfs_rows {
	struct pfs_row *row; /* sorted by start, then by birth */
	unsigned int nr, max;
};

/*
 * All rows of the epoch that was reached which the filter's globs leave; of a space that is another
 * process's (vfork) the touched ones. 0 or -ENOMEM.
 */
int pfs_rows_collect(struct pfs_rows *rows, const struct pfs_epochs *at);
void pfs_rows_free(struct pfs_rows *rows);

/*
 * Thread stacks become one row, and arenas of malloc() another: the pages of their regions behind one another, from the
 * first one's address on. Only regions that something happened to. 0 or -ENOMEM.
 */
int pfs_rows_group(struct pfs_rows *rows, const struct pfs_model *model);

/*
 * Pages whose use --refault did not observe, because they stayed in memory: as many as at the worst moment of each region,
 * and the pages that were in memory then; and the course of it.
 */
struct pfs_unobserved {
	uint64_t pages, of;
	struct pfs_unobserved_moment {
		uint64_t ts_ns, pages; /* so many from then on, of all regions together */
	} * moments;		       /* in order */
	size_t nr, max;
};

/* Of process pid (0: all) and what the filter leaves; no_code: without executable regions. 0 or -ENOMEM. */
int pfs_unobserved_find(struct pfs_unobserved *u, const struct pfs_model *model, const struct pfs_filter *filter,
			int32_t pid, bool no_code);
void pfs_unobserved_fini(struct pfs_unobserved *u);

/* The most of them at any time of [from_ns, to_ns). */
uint64_t pfs_unobserved_most(const struct pfs_unobserved *u, uint64_t from_ns, uint64_t to_ns);

void pfs_tally_add(struct pfs_tally *sum, const struct pfs_tally *tally);

/* Pages of a row, touched or not. */
uint64_t pfs_row_pages(const struct pfs_row *row, const struct pfs_model *model);

#endif
