/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Miss ratio curves and working sets of references (reference/refs.h), of all processes together or of each.
 * view/mrc.h prints them. This header opens the room:
 *
 *	stack_distance.h	LRU at all sizes in one pass
 *	cache_sim.h		CLOCK and OPT, one size a pass
 *	working_set.h		working sets, and their course over time
 */
#ifndef PFS_MRC_CURVES_H
#define PFS_MRC_CURVES_H

#include "base/err.h"
#include "reference/page_index.h"
#include "reference/refs.h"
#include "simulate/cache_sim.h"
#include "simulate/stack_distance.h"
#include "simulate/working_set.h"

enum pfs_mrc_policy {
	PFS_MRC_LRU,
	PFS_MRC_CLOCK,	/* a page comes in with its bit set */
	PFS_MRC_CLOCK0, /* with its bit clear */
	PFS_MRC_OPT,
	PFS_NR_MRC_POLICIES,
};

extern const char *const pfs_mrc_policy_names[PFS_NR_MRC_POLICIES];

struct pfs_mrc_options {
	uint32_t policies;	    /* one bit each; LRU is always there */
	const uint64_t *windows_ns; /* of working sets */
	unsigned int nr_windows;
	bool series; /* working sets step by step as well */
	bool each_process;
};

/* One string. */
struct pfs_mrc_curve {
	uint32_t nr;	  /* in curves */
	uint32_t process; /* of the recording, from 1; 0: all together */
	int32_t pid;
	const char *comm; /* the last thread's that referenced; NULL: not known */
	uint64_t refs;
	uint64_t sampled;     /* of these: not exact */
	uint64_t interval_ns; /* the longest of these; 0: not known of any */
	uint64_t by_address;  /* of refs: in no known region, where a page is an address */
	uint64_t
		unobserved; /* pages that --refault could not take away: their use was not observed; most at once ... */
	uint64_t in_memory; /* ... of so many; */
	uint64_t unobserved_ns[2]; /* from when to when there were any. These are set by who draws */
	struct pfs_stack_distance *distances;
	struct pfs_string string;      /* if a policy needs it */
	struct pfs_working_sets *sets; /* NULL: no windows */
	struct pfs_page_index pages;   /* numbers for its own pages, of several strings */
};

struct pfs_mrc {
	const struct pfs_model *model;
	struct pfs_mrc_options options;
	uint64_t base_ns;	       /* where steps of series begin */
	struct pfs_mrc_curve **curves; /* in the order of their first references */
	uint32_t nr_curves, max_curves;
	struct pfs_err err; /* why a reference could not be taken, if that needs words */
};

/* The model and the windows are borrowed. Never fails; what it holds is freed by fini. */
void pfs_mrc_init(struct pfs_mrc *mrc, const struct pfs_model *model, const struct pfs_mrc_options *options);
void pfs_mrc_fini(struct pfs_mrc *mrc);

/* A pfs_ref_fn; ctx is the struct pfs_mrc. 0, -ENOMEM, -EOVERFLOW. */
int pfs_mrc_refer(void *ctx, const struct pfs_ref *ref);

/* The last reference was that. 0, or -errno with err set. */
int pfs_mrc_end(struct pfs_mrc *mrc, struct pfs_err *err);

/*
 * Sizes, in pages, between which a curve is drawn: powers of two, those at which a straight line between the
 * others would be the most wrong (its cliffs and knees), and `enough`; with all_pages also as many as there are
 * pages, which is enough under any policy. The caller frees them. 0 or -ENOMEM.
 */
int pfs_mrc_ladder(const struct pfs_lru_curve *curve, bool all_pages, uint64_t **sizes, unsigned int *nr);

#endif
