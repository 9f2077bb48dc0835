/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One bar: the pages of a row in a limited number of columns.
 *
 * A bar that fits has a cell for each page. A longer one is scaled: a cell is 2, 3, 4, 6, 8, 12,
 * 16 ... pages. In large rows, long untouched stretches are folded before anything is scaled, so
 * that few touched pages of a terabyte are still seen one by one.
 */
#ifndef PFS_BAR_H
#define PFS_BAR_H

#include "view/glyph.h"
#include "view/rows.h"

enum pfs_fold {
	PFS_FOLD_NONE,
	PFS_FOLD_NUMBERED, /* "~256M~" */
	PFS_FOLD_PLAIN,	   /* "~" */
};

struct pfs_bar {
	const struct pfs_pages *pages; /* NULL: nothing happened here */
	uint64_t start, nr_pages;
	unsigned int page_shift;
	uint64_t cell_pages; /* pages that a cell stands for */
	enum pfs_fold fold;
};

/* Chooses scale and folding so that the bar and its mark for the scale take at most `columns`. */
struct pfs_bar pfs_bar_plan(const struct pfs_row *row, const struct pfs_model *model, unsigned int columns);

/* Writes the cells. */
void pfs_bar_draw(const struct pfs_bar *bar, struct pfs_pen *pen);

/* The mark behind a scaled bar, "x16"; "" if a cell is a page. */
const char *pfs_bar_scale_text(char buf[8], const struct pfs_bar *bar);

#endif
