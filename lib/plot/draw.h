/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The drawing of a plot: where things are in the picture, and the strokes that put them there. On which
 * surface, and what becomes of that, is plot/file.c's.
 */
#ifndef PFS_PLOT_DRAW_H
#define PFS_PLOT_DRAW_H

#include "plot/cairo.h"
#include "plot/plot.h"

/* What a picture goes without when it is not high, one after another. */
enum pfs_plot_terse {
	PFS_PLOT_AMPLE,
	PFS_PLOT_LOW_CHARTS,
	PFS_PLOT_NO_EXPLANATIONS, /* remarks on the recording stay */
	PFS_PLOT_NO_CHARTS,
	PFS_PLOT_SHORT_LEGEND,
};

struct pfs_plot_picture {
	const struct pfs_plot *plot;
	const struct pfs_plot_style *style;
	const struct pfs_cairo *cairo;
	cairo_t *on;
	struct pfs_plot_grid grid;
	uint32_t *rows;	      /* of each band */
	double *top, *height; /* of each band */
	double *heading;      /* of each block: its upper end */
	double width, total;  /* of the whole picture */
	double left, right;   /* of the plot within it */
	double first, last;   /* upper and lower end of all bands */
	double foot;	      /* height of what is below them */
	unsigned int terse;   /* enum pfs_plot_terse */
	uint32_t bands_fit;   /* where there are too many */
};

enum { PFS_PLOT_LEAST_WIDTH = 400, PFS_PLOT_LEAST_HEIGHT = 300, PFS_PLOT_MOST_PIXELS = 4000 };

/*
 * Where everything goes; `on` is to measure by. 0, -ENOMEM, or -ENOSPC: the wanted height has room for about
 * bands_fit bands.
 */
int pfs_plot_picture_plan(struct pfs_plot_picture *picture);

/* Draws on picture->on. 0 or -errno with err set. */
int pfs_plot_picture_draw(const struct pfs_plot_picture *picture, struct pfs_err *err);

void pfs_plot_picture_fini(struct pfs_plot_picture *picture);

/* "#d1352b", of that colour where faults are told apart so. */
const char *pfs_plot_color(enum pfs_plot_by by, uint32_t color);

enum { PFS_PLOT_LEVELS = 9 };

/* Of a heat map, from cold to hot; of sampled accesses. */
extern const char *const pfs_plot_hot[PFS_PLOT_LEVELS], *const pfs_plot_seen[PFS_PLOT_LEVELS];

#endif
