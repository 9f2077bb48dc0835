/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The colours of drawn plots, on white and on dark; the legend, and the remarks under it. Colours of threads differ also
 * for the colour-blind; the colour of sampled accesses is in no other row.
 */
#include "plot/draw.h"

#include "view/labels.h"

#include <string.h>

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

/* ---- the legend ---- */

enum { LINE = 17, LOW_LINE = 14, SIZE = 11, SHORT_LINES = 2 };

/* Items one after another, in as many lines as they need. */
struct legend {
	const struct pfs_plot_picture *p;
	double x, y; /* of the next */
	unsigned int lines;
};

double pfs_plot_legend_line(const struct pfs_plot_picture *p)
{
	return p->terse < PFS_PLOT_LOW_CHARTS ? LINE : LOW_LINE;
}

/* color: of the box in front of it; NULL: none; PFS_PLOT_HATCH: hatched. */
static void add_item(struct legend *l, const char *color, const char *text)
{
	const struct pfs_plot_picture *p = l->p;
	double width = 20 + pen_width(p, SIZE, text), right = p->width - PFS_PLOT_MARGIN;
	bool wraps = l->x + width > right && l->x > PFS_PLOT_MARGIN;

	if (l->lines == SHORT_LINES && wraps && p->terse >= PFS_PLOT_SHORT_LEGEND)
		return;
	if (wraps) {
		l->x = PFS_PLOT_MARGIN;
		l->y += pfs_plot_legend_line(p);
		l->lines++;
	}
	if (color && !strcmp(color, PFS_PLOT_HATCH))
		pen_hatch(p, l->x, l->y - 9, 11, 11, color);
	else if (color)
		pen_box(p, l->x, l->y - 9, 11, 11, color, 1);
	pen_text(p, l->x + (color ? 15 : 0), l->y, SIZE, PEN_LEFT, right - l->x - (color ? 15 : 0), "#1f2430", text);
	l->x += width + 12;
}

static void draw_heat_scale(struct legend *l, uint64_t most, const char *const *colors)
{
	char number[32];

	for (unsigned int level = 0; level < PFS_PLOT_LEVELS; level++) {
		uint64_t from = pfs_plot_level_from(level, most, PFS_PLOT_LEVELS);

		if (from <= most)
			add_item(l, colors[level], pfs_grouped_text(number, from));
	}
}

static void draw_items(struct legend *l)
{
	const struct pfs_plot_picture *p = l->p;
	const struct pfs_plot_grid *grid = &p->grid;
	char name[400], text[480], number[32];

	if (p->style->heat && grid->most) {
		add_item(l, NULL, "faults in a place, at least:");
		draw_heat_scale(l, grid->most, pfs_plot_hot);
	}
	if (p->style->heat && grid->most_sampled) {
		add_item(l, NULL, "sampled accesses (not faults), at least:");
		draw_heat_scale(l, grid->most_sampled, pfs_plot_seen);
	}
	if (p->plot->nr_unobserved)
		add_item(l, PFS_PLOT_HATCH, PFS_PLOT_UNOBSERVED_TEXT);
	for (uint32_t i = 0; i < PFS_PLOT_COLORS && !p->style->heat; i++) {
		if (!pfs_plot_color_text(p->plot, grid, i, name, sizeof(name)))
			continue;
		snprintf(text, sizeof(text), "%s: %s", name, pfs_grouped_text(number, grid->by_color[i]));
		add_item(l, pfs_plot_color(grid->by, i), text);
	}
}

static double draw_note(const struct pfs_plot_picture *p, double y, const char *color, const char *text)
{
	return pen_lines(p, PFS_PLOT_MARGIN, y, pfs_plot_legend_line(p), SIZE, p->width - 2 * PFS_PLOT_MARGIN, color,
			 text);
}

static double draw_explanations(const struct pfs_plot_picture *p, double y)
{
	char scale[PFS_PLOT_TEXT_MAX], text[PFS_PLOT_TEXT_MAX + 64];

	snprintf(text, sizeof(text), "%s%s.", pfs_plot_scale_text(p->plot, &p->grid, scale),
		 p->grid.most > 1 && !p->style->heat ? "; a point is one fault or more, darker with more" : "");
	y = draw_note(p, y, "#5b6270", text);
	return draw_note(p, y, "#5b6270", PFS_PLOT_RESIDENT_TEXT ".");
}

double pfs_plot_legend_draw(const struct pfs_plot_picture *p, double y)
{
	struct legend l = { .p = p, .x = PFS_PLOT_MARGIN, .y = y, .lines = 1 };
	char text[PFS_PLOT_TEXT_MAX], *line, *rest;

	draw_items(&l);
	y = l.y + pfs_plot_legend_line(p);
	if (p->terse < PFS_PLOT_NO_EXPLANATIONS)
		y = draw_explanations(p, y);
	rest = (char *)pfs_plot_notes_text(p->plot, text);
	while ((line = strsep(&rest, "\n")) && *line)
		y = draw_note(p, y, "#a02020", line);
	return y;
}
