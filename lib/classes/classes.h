/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes of faults: what the kernel had to do. Where the source reports how it handled a fault (`how`) that is the class;
 * else it is concluded from the access, the error code, the region, and what happened to the page before. What several
 * classes would explain is unknown, with the reason.
 *
 * mapped.h counts by the page that was mapped.
 *
 * An observer adds them up. The model has to track presence (pfs_model_track_presence()).
 */
#ifndef PFS_CLASSES_H
#define PFS_CLASSES_H

#include "base/hash.h"
#include "base/table.h"
#include "model/filter.h"

enum pfs_fault_class {
	PFS_CLASS_ANON,	      /* a new page of private anonymous memory */
	PFS_CLASS_ZERO,	      /* its first read: the zero page */
	PFS_CLASS_COW_ZERO,   /* the first write after that */
	PFS_CLASS_COW_FILE,   /* a write to a private mapping of a file */
	PFS_CLASS_COW_FORK,   /* a write to what a fork has shared */
	PFS_CLASS_FILE_READ,  /* a page of a file, for reading or executing */
	PFS_CLASS_FILE_WRITE, /* the same for writing, in a shared mapping */
	PFS_CLASS_SHARED,     /* shared memory and tmpfs */
	PFS_CLASS_SWAP,
	PFS_CLASS_NUMA,
	PFS_CLASS_HUGE,
	PFS_CLASS_USERFAULTFD,
	PFS_CLASS_HIDDEN,  /* by pfscope itself (--microset, --refault-by=hide) */
	PFS_CLASS_KERNEL,  /* of the kernel's own: [vdso], [vvar] */
	PFS_CLASS_SIGNAL,  /* it ended in a signal, or the call in EFAULT */
	PFS_CLASS_RETRIED, /* the kernel refused it at once, and tried again */
	/* unknown: */
	PFS_CLASS_TAKEN,     /* the page was mapped before: swapped out, hinted, migrated, or reclaimed */
	PFS_CLASS_PROTECTED, /* a write to a mapped page of unknown history */
	PFS_CLASS_SPURIOUS,  /* a read of one: it was mapped meanwhile */
	PFS_CLASS_CODE,	     /* the error code is unknown, or that of another machine */
	PFS_CLASS_REGION,    /* the region, or its permissions or file, are unknown */
	PFS_NR_CLASSES,
};

/* "copy of a file's page" */
extern const char *const pfs_class_names[PFS_NR_CLASSES];

/* A class as a label of the filter (struct pfs_labels). */
static inline uint8_t pfs_class_label(enum pfs_fault_class class)
{
	return class + 1;
}

/*
 * Adds the labels of the classes of a list with commas: names, their beginnings, or globs, in capitals or not. A name may itself
 * contain a comma. False: one of them is none.
 */
bool pfs_classes_parse(const char *list, uint32_t *labels);

static inline bool pfs_class_is_unknown(enum pfs_fault_class class)
{
	return class >= PFS_CLASS_TAKEN;
}

/* Faults of one class. */
struct pfs_class_sum {
	struct {
		int32_t class;	/* enum pfs_fault_class */
		int32_t forked; /* of COW_FORK: the process that was copied; 0: unknown which */
	} key;
	UT_hash_handle hh;
	uint64_t faults;
	uint64_t reported; /* of these, by the source */
	uint64_t major, kernel;
	uint64_t nr_timed, latency_ns;
};

struct pfs_classes;

/*
 * Both are borrowed; of the filter, its regions count, and its labels for what is sorted below. The faults get their labels in
 * its `labelled`, if there is one. NULL: no memory.
 */
struct pfs_classes *pfs_classes_new(const struct pfs_model *model, const struct pfs_filter *filter);
void pfs_classes_free(struct pfs_classes *classes);
struct pfs_observer pfs_classes_observer(struct pfs_classes *classes);

/* Most faults first, unknown ones last; the array of *nr is to be freed, its elements are the classes' own. NULL: no memory. */
const struct pfs_class_sum **pfs_classes_sorted(const struct pfs_classes *classes, size_t *nr);

/*
 * Adds a row for each class, and in text one for the sum, to a table of these columns. each: a row for each process whose
 * pages were copied, however many these are.
 */
extern const struct pfs_column pfs_classes_columns[];
void pfs_classes_table(const struct pfs_classes *classes, struct pfs_table *table, bool text, bool each);

#endif
