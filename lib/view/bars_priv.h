/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the forms of bars are made of: glyphs (glyph.c), bars (bar.c), and what stands around the rows of the two large
 * forms (bars_frame.c): a header for each exec epoch, the choice of rows to draw, the legend and the summary.
 */
#ifndef PFS_BARS_PRIV_H
#define PFS_BARS_PRIV_H

#include "model/pages.h"
#include "view/labels.h"
#include "view/loss.h"
#include "view/view.h"

/*
 * The characters and colours of the bars: what a page, or a cell of several pages, is drawn as. One table (glyph.c) gives
 * each kind its character, colour and line in the legend, in the order of strength: a cell shows the strongest kind in
 * it, in upper case if more than half of its pages were touched (of the kinds that did not fault: were of that kind). Of
 * classes it shows the one of most of its pages, in upper case if there is no other.
 */
enum pfs_glyph {
	PFS_GLYPH_SIGNAL,
	PFS_GLYPH_MAJOR,
	PFS_GLYPH_BOTH,
	PFS_GLYPH_WRITE,
	PFS_GLYPH_EXEC,
	PFS_GLYPH_READ,
	PFS_GLYPH_TOUCHED,
	PFS_GLYPH_KERNEL,
	PFS_GLYPH_HUGE,
	PFS_GLYPH_POPULATED,
	PFS_GLYPH_REFERENCED,
	PFS_GLYPH_AROUND,
	PFS_GLYPH_MAYBE_AROUND,
	PFS_GLYPH_MAYBE,
	PFS_GLYPH_NONE,
	PFS_GLYPH_CLASS, /* the first of those of pages that are marked with the classes of their faults */
	PFS_NR_GLYPHS = PFS_GLYPH_CLASS + PFS_PAGE_NR_LABELS,
};

/* What a page with these flags (PFS_PAGE_*) is drawn as, unless it is marked. */
enum pfs_glyph pfs_glyph_of(uint32_t flags);

/* Some pages that one character stands for. Starts as zeroes. */
struct pfs_cell {
	uint64_t count[PFS_NR_GLYPHS];
};

/* nr pages with those flags. */
static inline void pfs_cell_add(struct pfs_cell *cell, uint32_t flags, uint64_t nr)
{
	uint32_t labels = flags & PFS_PAGE_SIGNAL ? 0 : (flags & PFS_PAGE_LABELS) / PFS_PAGE_LABEL;

	if (!labels)
		cell->count[pfs_glyph_of(flags)] += nr;
	for (; labels; labels &= labels - 1)
		cell->count[PFS_GLYPH_CLASS + __builtin_ctz(labels)] += nr;
}

/* Writes glyphs, with colours if asked for, and remembers which ones for the legend. */
struct pfs_pen {
	FILE *out;
	bool color;
	const char *current; /* colour switched on, or NULL */
	uint32_t used;	     /* one bit a glyph */
	bool sparse_used, fold_used, scale_used, mixed_used;
	bool unobserved; /* what nothing happened to may have been used: it was not observed */
};

/* One character for a cell that stands for nr_pages pages. */
void pfs_pen_cell(struct pfs_pen *pen, const struct pfs_cell *cell, uint64_t nr_pages);

/* nr characters for cells in which nothing happened. */
void pfs_pen_untouched(struct pfs_pen *pen, uint64_t nr);

/* A folded stretch of untouched pages: "~256M~", or "~" if nr_pages is 0. */
void pfs_pen_fold(struct pfs_pen *pen, uint64_t nr_pages);

/* Switches colours off again, as before writing anything else. */
void pfs_pen_lift(struct pfs_pen *pen);

/* One legend of the glyphs and forms that were used. */
void pfs_pen_legend(const struct pfs_pen *pen, struct pfs_list *list);

/*
 * One bar: the pages of a row in a limited number of columns. A bar that fits has a cell for each page. A longer one is
 * scaled: a cell is 2, 3, 4, 6, 8, 12, 16 ... pages. In large rows, long untouched stretches are folded before anything
 * is scaled, so that few touched pages of a terabyte are still seen one by one.
 */
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

/* The state of a drawing, and sums of what it has drawn so far. */
struct pfs_bars {
	const struct pfs_model *model;
	const struct pfs_view_options *options;
	unsigned int width;
	bool ranges; /* rows have their address ranges */
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

/* Nothing is drawn yet. model and options must last as long. */
struct pfs_bars pfs_bars_new(const struct pfs_model *model, const struct pfs_view_options *options);

/* Draws the rows of one epoch below its header. */
typedef void (*pfs_bars_rows_fn)(struct pfs_bars *bars, const struct pfs_rows *rows);

/* Below a row: whether gaps may concern it, if that is not the same for all rows. */
void pfs_bars_row_lost(struct pfs_bars *bars, const struct pfs_row *row);

/* A table of rows, in their order. */
void pfs_bars_table(struct pfs_bars *bars, const struct pfs_rows *rows);

/* The header of an epoch's rows. */
void pfs_bars_header(struct pfs_bars *bars, const struct pfs_epochs *at);

/* What part of the recording is drawn, if not all of it: as items of a list. */
void pfs_bars_moment(const struct pfs_bars *bars, struct pfs_list *list);

/* The legend of what was drawn, below an empty line. */
void pfs_bars_legend(struct pfs_bars *bars);

/* One line about what the recording's kernel did not report, if there is something. */
void pfs_bars_lacks(const struct pfs_bars *bars);

/* One line in the colour of alarm, wrapped. Returns how many lines that took. */
unsigned int pfs_bars_alarm(const struct pfs_bars *bars, const char *text);

/* A list as wide as the bars. */
struct pfs_list pfs_bars_list(const struct pfs_bars *bars, const char *separator, unsigned int indent);

/* The same with commas, whose first line is begun and indented like the others. */
struct pfs_list pfs_bars_indented(const struct pfs_bars *bars);

/* Adds "4,016 read", or nothing if the number is 0. */
void pfs_bars_count(struct pfs_list *list, uint64_t number, const char *what);

/* All of it: each epoch's header and rows, then legend and summary. A pfs_draw_fn but for fn. */
int pfs_bars_frame(const struct pfs_model *model, const struct pfs_view_options *options, pfs_bars_rows_fn fn,
		   struct pfs_err *err);

/* ---- the default form ---- */

/* An epoch, and its rows: those that are drawn first. */
struct pfs_image {
	struct pfs_epochs at;
	struct pfs_rows rows;
	struct pfs_tally tally;
	unsigned int nr_seen; /* rows in which anything happened, or may have unobserved, before the others */
	unsigned int nr_drawn;
};

struct pfs_images {
	struct pfs_image *image;
	unsigned int nr, max;
	unsigned int nr_procs, nr_threads;
	struct pfs_tally tally;
};

/* What happened, in at most eight lines, and the files and regions with the most faults. 0 or -ENOMEM. */
int pfs_headline(struct pfs_bars *bars, const struct pfs_images *images);

#endif
