/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views draw or print the model. Output depends on the model and the options only, never on the time of day, the
 * locale or the environment. A new one is a file with a draw function and a row in the table of view.c. This header
 * opens the room; what views share:
 *
 *	rows.h		the epochs and rows that a filter leaves
 *	labels.h	names, numbers, times, lists that wrap
 *	loss.h		which lost events may concern what
 *	report.h	the lines of the report's tables
 *	mrc.h		miss ratio curves, which are made of references
 */
#ifndef PFS_VIEW_H
#define PFS_VIEW_H

#include <stdio.h>

#include "base/err.h"
#include "base/table.h"
#include "model/filter.h"
#include "model/model.h"

enum pfs_view_format { PFS_VIEW_TEXT, PFS_VIEW_CSV, PFS_VIEW_JSON };

/* The order of rows: most faults first, most touched pages, the first touched, by address. */
enum pfs_sort { PFS_SORT_FAULTS, PFS_SORT_TOUCHED, PFS_SORT_TIME, PFS_SORT_ADDRESS };

struct pfs_view_options {
	FILE *out;
	unsigned int width; /* columns; 0: 80 */
	bool color;
	bool terminal;		     /* out is one: nothing that it would act on is written */
	unsigned int height;	     /* lines that the default form may take; 0: any number */
	enum pfs_sort sort;	     /* its rows */
	unsigned int top;	     /* at most that many of them, or of each table; 0: what fits */
	bool wide;		     /* report: all columns, however wide */
	bool names;		     /* classic: names of regions behind the bars */
	unsigned int by;	     /* report: bits, the tables of pfs_report_tables; 0: all */
	bool all;		     /* all rows: also regions that were mapped and unmapped without being touched */
	enum pfs_view_format format; /* report only */
	const char *file;	     /* the recording, as a shell reads it; NULL: none that can be read again */
	const struct pfs_filter *filter;	  /* NULL: everything */
	const struct pfs_report_threads *threads; /* of a report by thread; NULL: none */
	const struct pfs_classes *classes;	  /* of a report by class; NULL: none */
	const struct pfs_mapped *mapped;	  /* of a report by page size or node; NULL: none */
	const struct pfs_report_more *more;	  /* further tables of a report; NULL: none */
	const struct pfs_model *whole;		  /* without the filter; NULL: the same model, or it is not known */
};

/* Tables of a report that another room makes: in front of those of `by` or, if that has none, instead of all others. */
struct pfs_report_more {
	/* In JSON as members of the object that was begun. 0 or -ENOMEM. */
	int (*put)(void *ctx, const struct pfs_model *model, const struct pfs_view_options *options,
		   struct pfs_json *json);
	void *ctx;
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

/* The words of --by of a report. The last ones need observers. */
enum {
	PFS_NR_REPORT_TABLES = 7,
	PFS_REPORT_BY_THREAD = 1 << 3,
	PFS_REPORT_BY_CLASS = 1 << 4,
	PFS_REPORT_BY_MAPPED = 1 << 5 | 1 << 6,
};
extern const char *const pfs_report_tables[PFS_NR_REPORT_TABLES];

/*
 * Faults by thread, which the model does not keep: a report by thread observes the events. The filter is borrowed. new()
 * returns NULL if there is no memory.
 */
struct pfs_report_threads;
struct pfs_report_threads *pfs_report_threads_new(const struct pfs_filter *filter);
void pfs_report_threads_free(struct pfs_report_threads *threads);
struct pfs_observer pfs_report_threads_observer(struct pfs_report_threads *threads);

/* The views themselves, each in the file of its name. */
int pfs_bars_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_bars_by_address_draw(const struct pfs_model *model, const struct pfs_view_options *options,
			     struct pfs_err *err);
int pfs_bars_full_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_bars_classic_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_report_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_check_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_pages_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);
int pfs_view_maps_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err);

/*
 * How many pages the kernel faulted in without an exception, as far as the recording does not show which, by the kernel's
 * own counts. False: they are not known.
 */
bool pfs_check_unasked(const struct pfs_model *model, uint64_t *nr);

/* ---- how views print tables (view/output.c), and how every view ends ---- */

/*
 * Both print a table, and free it: as CSV with `key` in the first column, or as the next member `key` of a JSON object.
 * pfs_output_table() has an array of the rows on a line of its own, and the text form below its title; pfs_output_row()
 * has one row and no text form. A table that is NULL or incomplete is not printed. 0 or -ENOMEM.
 */
int pfs_output_table(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		     const char *key, const char *title);
int pfs_output_row(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		   const char *key);

/* Flushes. 0, or -EIO with err set: "writing WHAT: why". */
int pfs_output_end(FILE *out, const char *what, struct pfs_err *err);

#endif
