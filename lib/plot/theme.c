/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plot/theme.h"

/*
 * Okabe and Ito (2008): blue 0072b2, sky blue 56b4e9, vermillion d55e00, bluish green 009e73, reddish purple cc79a7,
 * yellow f0e442, orange e69f00 and black. A theme uses those that are seen on its ground; areas have lines between them.
 * Of viridis each has the part that is.
 */
const struct pfs_plot_theme pfs_plot_themes[PFS_PLOT_THEMES] = {
	[PFS_PLOT_LIGHT] = {
		.name = "light",
		.ground = "#ffffff",
		.ink = "#1f2430",
		.dim = "#5b6270",
		.line = "#d9dce3",
		.rule = "#9aa0ad",
		.odd = "#f4f5f8",
		.head = "#e6e9f0",
		.strange = "#fff1f0",
		.fold = "#c4c8d2",
		.hatch = "#9aa0ad",
		.lost = "#6b7280",
		.note = "#a02020",
		.chart = "#fafbfc",
		.rate = "#5f7fb0",
		.resident = "#a5835d",
		.access = { "#6b6b6b", "#0072b2", "#d55e00", "#000000" },
		.class = { "#6b6b6b", "#0072b2", "#d55e00", "#000000" },
		.thread = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#0072b2", "#d55e00", "#009e73",
			    "#cc79a7", "#000000", "#6b6b6b" },
		.sampled = "#cc79a7",
		.area = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#606060" },
		.hot = { "#25a484", "#21938b", "#27818d", "#2e6f8e", "#365c8c", "#3e4887", "#45337e", "#461b6b",
			 "#440154" },
		.seen = { "#c8701c", "#b76518", "#a55a15", "#945012", "#82450e", "#713a0a", "#603007", "#4e2504",
			  "#3d1a00" },
	},
	[PFS_PLOT_DARK] = {
		.name = "dark",
		.ground = "#15181e",
		.ink = "#e4e7ee",
		.dim = "#9aa3b2",
		.line = "#353b47",
		.rule = "#596274",
		.odd = "#1b1f27",
		.head = "#272d38",
		.strange = "#33211f",
		.fold = "#444b59",
		.hatch = "#596274",
		.lost = "#9aa3b2",
		.note = "#ff8f85",
		.chart = "#1b1f27",
		.rate = "#7c9bd0",
		.resident = "#c2a078",
		.access = { "#8f8f8f", "#56b4e9", "#d55e00", "#f2f2f2" },
		.class = { "#8f8f8f", "#56b4e9", "#d55e00", "#f2f2f2" },
		.thread = { "#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#f0e442", "#56b4e9", "#d55e00", "#009e73",
			    "#cc79a7", "#f0e442", "#f2f2f2" },
		.sampled = "#cc79a7",
		.area = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#f0e442", "#606060" },
		.hot = { "#2d718e", "#26848d", "#239789", "#27aa82", "#42bb72", "#67cb5d", "#98d73d", "#cbe02c",
			 "#fde725" },
		.seen = { "#a8642a", "#b3743c", "#be834e", "#c9925f", "#d4a271", "#deb283", "#e9c194", "#f4d0a6",
			  "#ffe0b8" },
	},
};

const uint8_t pfs_plot_terminal_hot[PFS_PLOT_LEVELS] = { 24, 60, 30, 67, 35, 72, 143, 41, 113 };
const uint8_t pfs_plot_terminal_seen[PFS_PLOT_LEVELS] = { 58, 94, 130, 166, 137, 173, 208, 179, 215 };

const char *pfs_plot_color(const struct pfs_plot_theme *theme, enum pfs_plot_by by, uint32_t color)
{
	const char *const *const rows[] = {
		[PFS_PLOT_BY_ACCESS] = theme->access,
		[PFS_PLOT_BY_CLASS] = theme->class,
		[PFS_PLOT_BY_THREAD] = theme->thread,
		[PFS_PLOT_BY_FAULT_CLASS] = theme->thread,
	};

	if (color == PFS_PLOT_SAMPLED)
		return theme->sampled;
	return by == PFS_PLOT_BY_NOTHING ? theme->hot[PFS_PLOT_LEVELS / 2] : rows[by][color];
}

/* ---- shapes ---- */

/* clang-format off */
const struct pfs_plot_shape pfs_plot_shapes[PFS_PLOT_SHAPES] = {
	[PFS_PLOT_DISC] = { false, 8, { 100, 41, 41, 100, -41, 100, -100, 41, -100, -41, -41, -100, 41, -100, 100, -41 } },
	[PFS_PLOT_SQUARE] = { false, 4, { 90, 90, -90, 90, -90, -90, 90, -90 } },
	[PFS_PLOT_UP] = { false, 3, { 0, -110, 110, 90, -110, 90 } },
	[PFS_PLOT_DIAMOND] = { false, 4, { 0, -120, 120, 0, 0, 120, -120, 0 } },
	[PFS_PLOT_DOWN] = { false, 3, { 0, 110, 110, -90, -110, -90 } },
	[PFS_PLOT_PLUS] = { false, 12, { 33, 33, 33, 110, -33, 110, -33, 33, -110, 33, -110, -33,
					 -33, -33, -33, -110, 33, -110, 33, -33, 110, -33, 110, 33 } },
	[PFS_PLOT_CROSS] = { false, 12, { 0, -50, 60, -110, 110, -60, 50, 0, 110, 60, 60, 110,
					  0, 50, -60, 110, -110, 60, -50, 0, -110, -60, -60, -110 } },
	[PFS_PLOT_FRAME] = { true, 4, { 80, 80, -80, 80, -80, -80, 80, -80 } },
	[PFS_PLOT_BAR] = { false, 4, { 45, 120, -45, 120, -45, -120, 45, -120 } },
	[PFS_PLOT_DASH] = { false, 4, { 120, 45, -120, 45, -120, -45, 120, -45 } },
	[PFS_PLOT_GLASS] = { false, 4, { -80, -90, 80, -90, -80, 90, 80, 90 } },
	[PFS_PLOT_RING] = { true, 8, { 90, 37, 37, 90, -37, 90, -90, 37, -90, -37, -37, -90, 37, -90, 90, -37 } },
};
/* clang-format on */

enum pfs_plot_shapes pfs_plot_shape(enum pfs_plot_by by, uint32_t color)
{
	static const uint8_t access[] = { PFS_PLOT_GLASS, PFS_PLOT_DISC, PFS_PLOT_SQUARE, PFS_PLOT_UP };
	static const uint8_t class[] = { PFS_PLOT_GLASS, PFS_PLOT_DISC, PFS_PLOT_DIAMOND, PFS_PLOT_CROSS };

	if (color == PFS_PLOT_SAMPLED)
		return PFS_PLOT_RING;
	switch (by) {
	case PFS_PLOT_BY_ACCESS:
		return access[color];
	case PFS_PLOT_BY_CLASS:
		return class[color];
	case PFS_PLOT_BY_THREAD:
	case PFS_PLOT_BY_FAULT_CLASS:
		return color; /* the first ones, and an hourglass for the others */
	default:
		return PFS_PLOT_SQUARE;
	}
}
