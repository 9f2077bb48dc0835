/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two files of the room share: what is known of spaces and pages, which decides on later faults. */
#ifndef PFS_CLASSES_PRIV_H
#define PFS_CLASSES_PRIV_H

#include "classes/classes.h"

/* What happened to a space. */
struct class_history {
	const struct pfs_space *space;
	UT_hash_handle hh;
	uint64_t forked_ns; /* when it was copied last; 0: never */
	bool paged_out;	    /* some pages were, on demand */
};

/* When a page that had been read was written first. */
struct class_written {
	struct {
		const struct pfs_space *space;
		uint64_t page;
	} key;
	UT_hash_handle hh;
	uint64_t first_ns;
};

struct pfs_classes {
	const struct pfs_model *model;
	const struct pfs_filter *filter;
	struct class_written *written;
	struct pfs_class_sum *sums;
	struct class_last_fault *last;
	struct class_history *histories;
};

/* The key of a page in `written`. */
static inline struct class_written class_written_key(const struct pfs_classes *classes, const struct pfs_space *space,
						     uint64_t addr)
{
	return (struct class_written){ .key = { space, addr >> classes->model->page_shift } };
}

static inline struct pfs_class_sum class_key(enum pfs_fault_class class, int32_t forked)
{
	return (struct pfs_class_sum){ .key = { class, forked } };
}

/* Of the first access to a page of anonymous memory. */
static inline enum pfs_fault_class class_of_anonymous(const struct pfs_classes *classes, bool write)
{
	return write || !pfs_model_has_zero_page(classes->model) ? PFS_CLASS_ANON : PFS_CLASS_ZERO;
}

/* Adds the counts to the sum (sign 1), or takes them away (-1). */
void class_add(struct pfs_class_sum *to, const struct pfs_class_sum *sum, int sign);

/* The key of the class of a fault, of which later events may tell more. */
struct pfs_class_sum class_decide(const struct pfs_classes *classes, const struct pfs_event *ev,
				  const struct pfs_outcome *outcome);

#endif
