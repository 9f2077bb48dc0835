/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours of drawn plots, on white and on dark. Those of threads are far apart also for who confuses red
 * with green; the colour of sampled accesses is in no other row.
 */
#include "plot_draw.h"

static const char *const by_access[] = { "#6b7280", "#2a9d3a", "#d1352b", "#2f6fd0" };
static const char *const by_class[] = { "#5b7a99", "#2a9d3a", "#e08a00", "#c11fb0" };
static const char *const by_thread[] = {
	"#2f6fd0", "#e08a00", "#d1352b", "#2a9d3a", "#8c564b", "#c11fb0",
	"#7a7d1f", "#f28ba8", "#3a3f8f", "#a07cd8", "#8a8f98",
};

const char *const pfs_plot_hot[PFS_PLOT_LEVELS] = {
	"#fde5a0", "#fdd06f", "#fdb14a", "#fb8d3c", "#f4642d", "#e03a20", "#bd1a26", "#8c0d27", "#560720",
};
const char *const pfs_plot_seen[PFS_PLOT_LEVELS] = {
	"#c5eeee", "#9fe0e0", "#78d1d1", "#4fc0c0", "#2aacac", "#149292", "#0b7676", "#075858", "#033a3a",
};

const char *pfs_plot_color(enum pfs_plot_by by, uint32_t color)
{
	if (color == PFS_PLOT_SAMPLED)
		return "#00a5a5";
	switch (by) {
	case PFS_PLOT_BY_ACCESS: return by_access[color];
	case PFS_PLOT_BY_CLASS: return by_class[color];
	case PFS_PLOT_BY_THREAD: return by_thread[color];
	default: return pfs_plot_hot[PFS_PLOT_LEVELS / 2];
	}
}
