/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sentences that stand with each curve of view/mrc.c: what its reference string consists of and what it lacks.
 */
#ifndef PFS_VIEW_MRC_WORDS_H
#define PFS_VIEW_MRC_WORDS_H

#include "base/json.h"
#include "simulate/curves.h"
#include "view/view.h"

enum { PFS_MRC_WORDS_MAX = 1024 };

/* "exact", "sampled", "exact and sampled". */
const char *pfs_mrc_kind(const struct pfs_mrc_curve *curve);

/* What there is of references, and what there cannot be. Both return buf. */
const char *pfs_mrc_seen(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve);
const char *pfs_mrc_unseen(char buf[PFS_MRC_WORDS_MAX], const struct pfs_mrc_curve *curve,
			   const struct pfs_refs_stats *stats);

/* Both as text, above a curve's tables; behind another one's: with an empty line between. */
void pfs_mrc_put_words(const struct pfs_view_options *options, const struct pfs_mrc_curve *curve,
		       const struct pfs_refs_stats *stats, bool behind);

/* Events that are no references, and lost ones. In JSON it opens the object. 0 or -ENOMEM. */
int pfs_mrc_put_left_out(const struct pfs_view_options *options, struct pfs_json *json, const struct pfs_model *model,
			 const struct pfs_refs_stats *stats);

#endif
