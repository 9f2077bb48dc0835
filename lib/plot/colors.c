/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours of drawn plots, on white and on dark. Colours of threads differ also for the colour-blind; the colour of
 * sampled accesses is in no other row.
 */
#include "plot/plot.h"

static const char *const by_access[] = { "#6b7280", "#2a9d3a", "#d1352b", "#2f6fd0" };
static const char *const by_class[] = { "#5b7a99", "#2a9d3a", "#e08a00", "#c11fb0" };
static const char *const by_thread[] = {
	"#2f6fd0", "#e08a00", "#d1352b", "#2a9d3a", "#8c564b", "#c11fb0",
	"#7a7d1f", "#f28ba8", "#3a3f8f", "#a07cd8", "#8a8f98",
};

/* The first must be visible on white: most places of a plot have one touch. */
const char *const pfs_plot_hot[PFS_PLOT_LEVELS] = {
	"#f5b942", "#f5a02f", "#f2862a", "#ea6a27", "#dd4b23", "#c62f22", "#a41a26", "#7c0f28", "#4d0820",
};
const char *const pfs_plot_seen[PFS_PLOT_LEVELS] = {
	"#86d0d0", "#68c3c3", "#4cb5b5", "#33a6a6", "#1d9595", "#0e8181", "#0a6a6a", "#075050", "#033636",
};

const char *pfs_plot_color(enum pfs_plot_by by, uint32_t color)
{
	static const char *const *const rows[] = {
		[PFS_PLOT_BY_ACCESS] = by_access,
		[PFS_PLOT_BY_CLASS] = by_class,
		[PFS_PLOT_BY_THREAD] = by_thread,
	};

	if (color == PFS_PLOT_SAMPLED)
		return "#00a5a5";
	return by == PFS_PLOT_BY_NOTHING ? pfs_plot_hot[PFS_PLOT_LEVELS / 2] : rows[by][color];
}
