/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views draw or print the model. Output depends on the model and the options only, never on the time of day, the
 * locale or the environment. A new one is a file with a draw function and a row in the table of view.c. This header
 * opens the room; what views share:
 *
 *	rows.h		the epochs and rows that a filter leaves
 *	labels.h	names, numbers, times, lists that wrap
 *	glyph.h, bar.h	what a page is drawn as, and what becomes of a region that is wider than its bar
 *	bars_frame.h	header, summary and legend of the bars
 *	loss.h		which lost events may concern what
 *	output.h	tables as text, CSV or JSON
 *	mrc.h		miss ratio curves, which are made of references
 */
#ifndef PFS_VIEW_H
#define PFS_VIEW_H

#include <stdio.h>

#include "base/err.h"
#include "model/filter.h"
#include "model/model.h"

enum pfs_view_format { PFS_VIEW_TEXT, PFS_VIEW_CSV, PFS_VIEW_JSON };

struct pfs_view_options {
	FILE *out;
	unsigned int width; /* columns; 0: 80 */
	bool color;
	bool terminal;			 /* out is one: nothing that it would act on is written */
	bool all;			 /* also regions that were mapped and unmapped without being touched */
	enum pfs_view_format format;	 /* report only */
	const struct pfs_filter *filter; /* NULL: everything */
};

/*
 * Draws. 0, or with err set -EIO, -ENOMEM, or -ENOENT: the recording does not contain what the options select.
 */
typedef int (*pfs_draw_fn)(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);

struct pfs_view {
	const char *name;
	const char *what; /* one line for --help */
	pfs_draw_fn draw;
};

/* The table; an entry without a name ends it. */
extern const struct pfs_view pfs_views[];

/* The view of that name, or NULL. */
const struct pfs_view *pfs_view_find(const char *name);

/* The views themselves, each in the file of its name; the check hands sources that report every fault to check_all. */
int pfs_bars_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_bars_full_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_bars_classic_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_report_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_check_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_check_all_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_maps_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);

#endif
