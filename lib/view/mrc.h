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
};

/* As a pfs_draw_fn. -EINVAL: a size that is less than a page. */
int pfs_view_mrc_draw(const struct pfs_mrc_view *view, const struct pfs_view_options *options, struct pfs_err *err);

#endif
