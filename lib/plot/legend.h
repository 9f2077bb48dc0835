/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands below a drawn plot: what its colours mean, and what has to be known to read it.
 */
#ifndef PFS_PLOT_LEGEND_H
#define PFS_PLOT_LEGEND_H

#include "plot/draw.h"

enum { PFS_PLOT_MARGIN = 14 };

/* From one line of it to the next. */
double pfs_plot_legend_line(const struct pfs_plot_picture *picture);

/* Its first line stands at y. Returns where one more would: so on any surface it also tells how high it is. */
double pfs_plot_legend_draw(const struct pfs_plot_picture *picture, double y);

#endif
