/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints miss ratio curves and working sets as text, CSV or JSON, each with what the reference string consists of and
 * what it lacks. Not in the table of views: references are gathered while the recording is read.
 */
#ifndef PFS_VIEW_MRC_H
#define PFS_VIEW_MRC_H

#include "simulate/curves.h"
#include "view/view.h"

/* A size of memory as the user gave it. */
struct pfs_mrc_size {
	uint64_t nr;
	bool in_bytes; /* else in pages */
};

struct pfs_mrc_view {
	const struct pfs_mrc *mrc; /* after its end */
	const struct pfs_refs_stats *stats;
	const struct pfs_mrc_size *sizes; /* NULL: a ladder of pfs_mrc's own */
	unsigned int nr_sizes;
	bool no_code; /* references to executable regions are left out */
};

/* As a pfs_draw_fn. -EINVAL: a size that is less than a page. */
int pfs_view_mrc_draw(const struct pfs_mrc_view *view, const struct pfs_view_options *options, struct pfs_err *err);

/* ---- the sentences that stand with each curve (view/mrc_words.c) ---- */

enum { PFS_MRC_WORDS_MAX = 1536 };

/* "exact", "sampled", "exact and sampled"; "exact where observed" and so on if some pages (then) were not. */
const char *pfs_mrc_kind(const struct pfs_mrc_curve *curve, uint64_t unobserved);

/* What there is of references, and what there cannot be. Both return buf. */
const char *pfs_mrc_seen(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve);
const char *pfs_mrc_unseen(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve,
			   const struct pfs_refs_stats *stats, const struct pfs_model *model);

/* Which pages could not be observed; "" if there are none. Returns buf. */
const char *pfs_mrc_unobserved(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve);

/* All as text, above a curve's tables; behind another one's: with an empty line between. */
void pfs_mrc_put_words(const struct pfs_view_options *options, const struct pfs_mrc_curve *curve,
		       const struct pfs_refs_stats *stats, const struct pfs_model *model, bool behind);

/* Events that are no references, and lost ones. In JSON it opens the object. 0 or -ENOMEM. */
int pfs_mrc_put_left_out(const struct pfs_view_options *options, struct pfs_json *json, const struct pfs_model *model,
			 const struct pfs_refs_stats *stats);

#endif
