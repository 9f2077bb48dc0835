/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two large forms of bars (bars.c, bars_full.c) have around their rows: a header for each
 * exec epoch, the choice of rows to draw, the legend and the summary.
 */
#ifndef PFS_BARS_FRAME_H
#define PFS_BARS_FRAME_H

#include "view/glyph.h"
#include "view/loss.h"
#include "view/view.h"

/* The state of a drawing, and sums of what it has drawn so far. */
struct pfs_bars {
	const struct pfs_model *model;
	const struct pfs_view_options *options;
	unsigned int width;
	struct pfs_pen pen;
	struct pfs_tally shown;
	uint64_t nr_regions, nr_gone;
	unsigned int nr_procs, nr_epochs;
	const struct pfs_proc *last_proc;
	struct pfs_gaps gaps; /* of the time that is drawn */
	/* of the current epoch: which rows are marked, those that gaps may concern or those that they do not */
	enum { ROWS_ALIKE, ROWS_CONCERNED, ROWS_SPARED } marked;
	struct pfs_gaps epoch_gaps;
};

/* Draws the rows of one epoch below its header. */
typedef void (*pfs_bars_rows_fn)(struct pfs_bars *bars, const struct pfs_rows *rows);

/* Below a row: whether gaps may concern it, if that is not the same for all rows. */
void pfs_bars_row_lost(struct pfs_bars *bars, const struct pfs_row *row);

/* All of it: each epoch's header and rows, then legend and summary. A pfs_draw_fn but for fn. */
int pfs_bars_frame(const struct pfs_model *model, const struct pfs_view_options *options, pfs_bars_rows_fn fn,
		   struct pfs_err *err);

#endif
