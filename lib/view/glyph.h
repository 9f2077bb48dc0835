/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The characters and colours of the bars: what a page, or a cell of several pages, is drawn as.
 *
 * One table (glyph.c) gives each kind its character, colour and line in the legend, in the order of
 * strength: a cell shows the strongest kind in it, in upper case if more than half of its pages
 * were touched (of the kinds that did not fault: were of that kind).
 */
#ifndef PFS_GLYPH_H
#define PFS_GLYPH_H

#include <stdio.h>

#include "model/pages.h"
#include "view/labels.h"

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
	PFS_GLYPH_NONE,
	PFS_NR_GLYPHS,
};

/* What a page with these flags (PFS_PAGE_*) is drawn as. */
enum pfs_glyph pfs_glyph_of(uint32_t flags);

/* Some pages that one character stands for. Starts as zeroes. */
struct pfs_cell {
	uint64_t count[PFS_NR_GLYPHS];
};

/* nr pages with those flags. */
static inline void pfs_cell_add(struct pfs_cell *cell, uint32_t flags, uint64_t nr)
{
	cell->count[pfs_glyph_of(flags)] += nr;
}

/* Writes glyphs, with colours if asked for, and remembers which ones for the legend. */
struct pfs_pen {
	FILE *out;
	bool color;
	const char *current; /* colour switched on, or NULL */
	uint32_t used;	     /* one bit a glyph */
	bool sparse_used, fold_used, scale_used;
};

/* One character for a cell that stands for nr_pages pages. */
void pfs_pen_cell(struct pfs_pen *pen, const struct pfs_cell *cell, uint64_t nr_pages);

/* nr characters for cells in which nothing happened. */
void pfs_pen_untouched(struct pfs_pen *pen, uint64_t nr);

/* A folded stretch of untouched pages: "~256M~", or "~" if nr_pages is 0. */
void pfs_pen_fold(struct pfs_pen *pen, uint64_t nr_pages);

/* Switches colours off again, as before writing anything else. */
void pfs_pen_lift(struct pfs_pen *pen);

/* Colours of everything but glyphs; each "" without colour. */
const char *pfs_color_on(bool color, const char *sgr);
const char *pfs_color_off(bool color);

/* One legend of the glyphs and forms that were used. */
void pfs_pen_legend(const struct pfs_pen *pen, struct pfs_list *list);

#endif
