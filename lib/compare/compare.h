/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares recordings of two sides, old and new, of one run or several each: which faults, pages and time were gained and
 * lost, by file, region and process, and why. Why is one of:
 *
 *     changed    what one side has and the other has not, whatever the addresses
 *     placement  random addresses explain it: a page of a file that faulted on one side was mapped by fault-around on the
 *                other, whose windows are aligned by address; the stack begins anywhere in two pages; huge pages are aligned
 *     spread     the runs of one side differ as much among themselves
 *     unknown    events were lost, or the recordings lack what decides it
 *
 *     compare/gate.h   conditions on the result, for scripts
 *     compare/print.h  the result as text, CSV and JSON
 *     compare/counterpart.h  what belongs together, by keys that hold in any run
 */
#ifndef PFS_COMPARE_H
#define PFS_COMPARE_H

#include "base/err.h"
#include "model/filter.h"
#include "model/model.h"

enum pfs_side { PFS_OLD, PFS_NEW };

enum pfs_measure {
	PFS_M_FAULTS,
	PFS_M_MAJOR,   /* pages that were read from disk in a fault */
	PFS_M_PAGES,   /* touched by a fault */
	PFS_M_AROUND,  /* mapped by fault-around */
	PFS_M_TIME_NS, /* in faults, where recorded */
	PFS_NR_MEASURES,
};

/* "faults", "major", "pages", "around", "time" */
extern const char *const pfs_measure_names[PFS_NR_MEASURES];

/* In order of precedence: of a sum the greatest of its parts. */
enum pfs_why { PFS_SAME, PFS_SPREAD, PFS_PLACEMENT, PFS_UNKNOWN, PFS_CHANGED };

/* "", "spread", "placement", "unknown", "changed" */
extern const char *const pfs_why_names[];

/* One measure on both sides. */
struct pfs_change {
	uint64_t median[2], least[2], most[2]; /* of the runs of each side */
	uint64_t gained, lost;		       /* changed for sure */
	bool known;			       /* all recordings have it */
	enum pfs_why why;
};

struct pfs_change_line {
	const char *name;    /* of the file, region or process, as it was recorded */
	const char *process; /* of a region, else NULL */
	char perms[5];	     /* of a region; else "" */
	char part[24];	     /* of a file, the offset: "0x26000"; of other memory its size: "52K"; of no region "" */
	size_t place;	     /* in the order in which lines of the same change are printed */
	bool moved;	     /* the file has another path in the new runs */
	bool has[2];	     /* whether any run of the side has it */
	struct pfs_change change[PFS_NR_MEASURES];
};

/* Sorted, largest change first. */
struct pfs_change_lines {
	struct pfs_change_line *line;
	size_t nr, max;
};

struct pfs_compare {
	struct pfs_change_lines files, regions, processes;
	struct pfs_change_line total;
	unsigned int nr_runs[2];
	bool lost[2]; /* events were lost in a run of that side */
	struct pfs_compare_private *priv;
};

struct pfs_compare *pfs_compare_new(void); /* NULL: no memory */
void pfs_compare_free(struct pfs_compare *compare);

/*
 * Before a recording is read: what observes its events for the comparison. Afterwards takes from the model what is needed;
 * then the model can be freed. filter may be NULL. 0 or -ENOMEM with err set.
 */
struct pfs_observer pfs_compare_observer(struct pfs_compare *compare);
int pfs_compare_add(struct pfs_compare *compare, enum pfs_side side, const struct pfs_model *model,
		    const struct pfs_filter *filter, struct pfs_err *err);

/* After the last one, at least one of each side: fills the lines. 0 or -ENOMEM with err set. */
int pfs_compare_end(struct pfs_compare *compare, struct pfs_err *err);

#endif
