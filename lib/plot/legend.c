/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands under a drawn plot: the legend, explanations, and remarks on the recording.
 */
#include "plot/draw.h"

#include "view/labels.h"

#include <string.h>

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

/* What is in front of an item; without colour nothing is. */
struct swatch {
	const char *color;
	enum { BOX, POINT, HATCH } what;
	enum pfs_plot_shapes shape;
};

static void draw_swatch(const struct pfs_plot_picture *p, const struct swatch *swatch, double x, double y)
{
	if (!swatch->color)
		return;
	if (swatch->what == BOX)
		pen_box(p, x, y - 9, 11, 11, swatch->color, 1);
	else if (swatch->what == POINT)
		pen_point(p, x + 5.5, y - 4, 9, swatch->shape, swatch->color, 1);
	else
		pen_hatch(p, x, y - 9, 11, 11, swatch->color);
}

static void add_item(struct legend *l, struct swatch swatch, const char *text)
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
	draw_swatch(p, &swatch, l->x, l->y);
	pen_text(p, l->x + (swatch.color ? 15 : 0), l->y, SIZE, PEN_LEFT, right - l->x - (swatch.color ? 15 : 0),
		 p->theme->ink, text);
	l->x += width + 12;
}

/* Sampled accesses have a shape of their own as well. */
static void draw_heat_scale(struct legend *l, const char *text, uint64_t most, const char *const *colors)
{
	bool sampled = colors == l->p->theme->seen;
	char number[32];

	if (!most)
		return;
	add_item(l, (struct swatch){ 0 }, text);
	for (unsigned int level = 0; level < PFS_PLOT_LEVELS; level++) {
		uint64_t from = pfs_plot_level_from(level, most, PFS_PLOT_LEVELS);
		struct swatch swatch = { colors[level], sampled ? POINT : BOX, PFS_PLOT_RING };

		if (from <= most)
			add_item(l, swatch, pfs_grouped_text(number, from));
	}
}

static bool has_lost(const struct pfs_plot_picture *p)
{
	for (uint32_t side = 0; side < p->plot->data->nr_sides; side++)
		if (pfs_plot_lost(p->plot, side, p->plot->from_ns, p->plot->to_ns))
			return true;
	return false;
}

/* Where colours are of something else, the marks of rare faults are explained, too. */
static void draw_marks(struct legend *l)
{
	const struct pfs_plot_picture *p = l->p;
	char text[480], number[32];

	for (enum pfs_plot_mark mark = PFS_PLOT_MAJOR; mark < PFS_PLOT_MARKS; mark++) {
		struct swatch swatch = { p->theme->class[mark], POINT, pfs_plot_shape(PFS_PLOT_BY_CLASS, mark) };

		if (!p->grid.by_mark[mark] || p->grid.by == PFS_PLOT_BY_CLASS)
			continue;
		snprintf(text, sizeof(text), "of them %s: %s", pfs_plot_class_texts[mark],
			 pfs_grouped_text(number, p->grid.by_mark[mark]));
		add_item(l, swatch, text);
	}
	if (has_lost(p))
		add_item(l, (struct swatch){ p->theme->lost, POINT, PFS_PLOT_DOWN }, "events lost");
}

static void draw_items(struct legend *l)
{
	const struct pfs_plot_picture *p = l->p;
	const struct pfs_plot_grid *grid = &p->grid;
	char name[400], text[480], number[32];

	if (p->style->heat) {
		draw_heat_scale(l, "faults in a place, at least:", grid->most, p->theme->hot);
		draw_heat_scale(l, "sampled accesses (not faults), at least:", grid->most_sampled, p->theme->seen);
	}
	if (p->plot->nr_unobserved)
		add_item(l, (struct swatch){ p->theme->hatch, HATCH, 0 }, PFS_PLOT_UNOBSERVED_TEXT);
	for (uint32_t i = 0; i < PFS_PLOT_COLORS && !p->style->heat; i++) {
		if (!pfs_plot_color_text(p->plot, grid, i, name, sizeof(name)))
			continue;
		snprintf(text, sizeof(text), "%s: %s", name, pfs_grouped_text(number, grid->by_color[i]));
		add_item(l,
			 (struct swatch){ pfs_plot_color(p->theme, grid->by, i), POINT, pfs_plot_shape(grid->by, i) },
			 text);
	}
	draw_marks(l);
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
	y = draw_note(p, y, p->theme->dim, text);
	return draw_note(p, y, p->theme->dim, PFS_PLOT_RESIDENT_TEXT ".");
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
		y = draw_note(p, y, p->theme->note, line);
	return y;
}
