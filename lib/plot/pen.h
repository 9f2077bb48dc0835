/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The strokes of plot/draw.c. Colours are "#rrggbb".
 */
#ifndef PFS_PLOT_PEN_H
#define PFS_PLOT_PEN_H

#include "plot/draw.h"

enum pen_align { PEN_LEFT, PEN_RIGHT, PEN_CENTER, PEN_BOLD }; /* bold: from the left */

void pen_box(const struct pfs_plot_picture *p, double x, double y, double w, double h, const char *color, double alpha);
/* What has been outlined. */
void pen_fill(const struct pfs_plot_picture *p, const char *color);
void pen_line(const struct pfs_plot_picture *p, double x0, double y0, double x1, double y1, const char *color);
void pen_dashes(const struct pfs_plot_picture *p, double x0, double y0, double x1, double y1, const char *color);

/* As much of the text as fits into so many pixels. */
void pen_text(const struct pfs_plot_picture *p, double x, double y, double size, enum pen_align align, double room,
	      const char *color, const char *text);

/* In as many lines, so far apart, as it needs. Returns where one more would stand. */
double pen_lines(const struct pfs_plot_picture *p, double x, double y, double line, double size, double room,
		 const char *color, const char *text);
double pen_width(const struct pfs_plot_picture *p, double size, const char *text);

#endif
