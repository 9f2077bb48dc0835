/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture: see plot_draw.h.
 */
#include "plot_draw.h"

#include "labels.h"
#include "plot_pen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MARGIN = 14, HEAD = 58, HEADING = 20, LEFT = 190, RIGHT = 100, BAND = 14, CHART = 64, CHART_GAP = 18,
	AXIS = 34, LINE = 17, MOST_HEIGHT = 1500, DEFAULT_WIDTH = 1200, MOST_POINTS = 20000,
};

/* ---- plan ---- */

static unsigned int nr_lines(const char *text)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

/* Below the bands: two charts, the axis, the legend, remarks. */
static double foot(const struct pfs_plot_picture *p)
{
	char notes[PFS_PLOT_TEXT_MAX];

	return 2 * (CHART + CHART_GAP) + AXIS + 4 * LINE +
	       nr_lines(pfs_plot_notes_text(p->plot, notes)) * LINE + MARGIN;
}

static double wish(const struct pfs_plot_band *band)
{
	return BAND + 9 * log2(1 + band->pages);
}

/*
 * A height for each band so that they fill the room that there is; the logarithm of their pages, for who is
 * small.
 */
static int plan_bands(struct pfs_plot_picture *p, struct pfs_err *err)
{
	const struct pfs_plot *plot = p->plot;
	double headings = plot->nr_blocks > 1 ? plot->nr_blocks * HEADING : 0;
	double wishes = 0, room, scale, y = HEAD;

	for (uint32_t i = 0; i < plot->nr_bands; i++)
		wishes += wish(&plot->bands[i]);
	room = (p->style->height ? p->style->height : MOST_HEIGHT) - HEAD - headings - foot(p);
	if (!p->style->height && wishes < room)
		room = wishes > 200 ? wishes : 200;
	if (room < 9.0 * plot->nr_bands)
		return pfs_err_set(err, -EINVAL, "--size: %u pixels are not high enough for %u bands",
				   p->style->height, plot->nr_bands);
	scale = (room - 9.0 * plot->nr_bands) / (wishes + 1 - 9.0 * plot->nr_bands);
	p->first = y;
	for (uint32_t block = 0; block < plot->nr_blocks; block++) {
		p->heading[block] = y;
		y += plot->nr_blocks > 1 ? HEADING : 0;
		for (uint32_t i = plot->nr_bands; i-- > 0;) {
			if (plot->bands[i].block != block)
				continue;
			p->top[i] = y;
			p->height[i] = 9 + (wish(&plot->bands[i]) - 9) * scale;
			y += p->height[i];
		}
	}
	p->last = y;
	p->total = p->style->height ? p->style->height : ceil(y + foot(p));
	return 0;
}

/* A place of the grid is so many pixels wide and high, or all of a page. */
static int plan_grid(struct pfs_plot_picture *p)
{
	double place = p->style->heat ? 3 : 2;

	for (uint32_t i = 0; i < p->plot->nr_bands; i++) {
		double pages = ceil(p->plot->bands[i].pages), most = floor(p->height[i] / place);

		p->rows[i] = pages < most ? pages : most < 1 ? 1 : most;
	}
	return pfs_plot_grid_make(&p->grid, p->plot, (p->right - p->left) / place, p->rows,
				  p->style->heat ? PFS_PLOT_BY_NOTHING : p->style->by);
}

int pfs_plot_picture_plan(struct pfs_plot_picture *p, struct pfs_err *err)
{
	uint32_t nr = p->plot->nr_bands;
	int ret;

	p->width = p->style->width ? p->style->width : DEFAULT_WIDTH;
	p->left = LEFT;
	p->right = p->width - RIGHT;
	p->rows = calloc(nr + 1, sizeof(*p->rows));
	p->top = calloc(nr + 1, sizeof(*p->top));
	p->height = calloc(nr + 1, sizeof(*p->height));
	p->heading = calloc(p->plot->nr_blocks + 1, sizeof(*p->heading));
	ret = p->rows && p->top && p->height && p->heading ? plan_bands(p, err) : -ENOMEM;
	if (!ret)
		ret = plan_grid(p);
	return ret == -ENOMEM ? pfs_err_set(err, ret, "no memory for the plot") : ret;
}

void pfs_plot_picture_fini(struct pfs_plot_picture *p)
{
	pfs_plot_grid_fini(&p->grid);
	free(p->rows);
	free(p->top);
	free(p->height);
	free(p->heading);
}

/* ---- bands ---- */

static void draw_band(const struct pfs_plot_picture *p, uint32_t nr)
{
	const struct pfs_plot_band *band = &p->plot->bands[nr];
	double y = p->top[nr], h = p->height[nr], size = h < 12 ? h - 1 : 11;
	char number[32];

	pen_box(p, p->left, y, p->right - p->left, h,
		band->unknown ? "#fff1f0" : nr % 2 ? "#f4f5f8" : "#ffffff", 1);
	pen_line(p, p->left, y, p->right, y, "#d9dce3");
	pen_text(p, p->left - 6, y + h / 2 + size * 0.36, size, PEN_RIGHT, LEFT - 16, "#1f2430", band->label);
	pen_text(p, p->right + 6, y + h / 2 + size * 0.36, size, PEN_LEFT, RIGHT - 10, "#5b6270",
		 pfs_plot_number(number, band->faults + band->sampled));
}

/* Where a fold is, across the band: nothing was touched there. */
static void draw_folds(const struct pfs_plot_picture *p)
{
	for (uint32_t i = 0; i < p->plot->nr_segments; i++) {
		const struct pfs_plot_segment *segment = &p->plot->segments[i];
		const struct pfs_plot_band *band = &p->plot->bands[segment->band];
		double h = p->height[segment->band], y = p->top[segment->band] + h * (1 - segment->at);

		if (band->nr_folds && band->nr_folds < h / 12 && segment->at > 0)
			pen_dashes(p, p->left, y, p->right, y, "#c4c8d2");
	}
}

static void draw_losses(const struct pfs_plot_picture *p)
{
	double w = (p->right - p->left) / p->grid.columns;

	for (uint32_t i = 0; i < p->grid.columns; i++) {
		uint64_t from = p->plot->from_ns + i * p->grid.column_ns;

		if (pfs_plot_lost(p->plot, from, from + p->grid.column_ns))
			pen_box(p, p->left + i * w, p->first, w, p->last - p->first, "#b0b4bd", 0.35);
	}
}

static void draw_blocks(const struct pfs_plot_picture *p)
{
	const struct pfs_plot *plot = p->plot;
	char text[PFS_PLOT_TEXT_MAX], number[32];

	for (uint32_t i = 0; i < plot->nr_bands; i++)
		draw_band(p, i);
	for (uint32_t i = 0; i < plot->nr_blocks && plot->nr_blocks > 1; i++) {
		pen_box(p, MARGIN, p->heading[i], p->right - MARGIN, HEADING, "#e6e9f0", 1);
		snprintf(text, sizeof(text), "%.400s: %s", plot->blocks[i].label,
			 pfs_plot_number(number, plot->blocks[i].faults + plot->blocks[i].sampled));
		pen_text(p, MARGIN + 6, p->heading[i] + 14, 12, PEN_BOLD, p->right - MARGIN, "#1f2430", text);
	}
	pen_line(p, p->left, p->last, p->right, p->last, "#9aa0ad");
}

/* ---- spots ---- */

static void draw_spot(const struct pfs_plot_picture *p, const struct pfs_plot_spot *spot, uint64_t sum)
{
	double w = (p->right - p->left) / p->grid.columns, h = p->height[spot->band] / p->rows[spot->band];
	double x = p->left + w * spot->column,
	       y = p->top[spot->band] + p->height[spot->band] - h * (spot->row + 1);
	bool sampled = spot->color == PFS_PLOT_SAMPLED;
	unsigned int level =
		pfs_plot_level(sum, sampled ? p->grid.most_sampled : p->grid.most, PFS_PLOT_LEVELS);

	if (p->style->heat) {
		pen_box(p, x, y, w, h, sampled ? pfs_plot_seen[level] : pfs_plot_hot[level], 1);
		return;
	}
	y += h / 2;
	h = h < 2.6 ? 2.6 : h > 4 ? 4 : h;
	w = w < 2.6 ? 2.6 : w > 4 ? 4 : w;
	pen_box(p, x, y - h / 2, w, h, pfs_plot_color(p->grid.by, spot->color), 0.55 + 0.05 * level);
}

/* The most frequent colour of a place comes last, and so on top; in a heat map faults do. */
static void draw_spots(const struct pfs_plot_picture *p)
{
	for (int faults = 0; faults < 2; faults++)
		for (uint32_t i = 0; i < p->grid.nr_spots; i++)
			if ((p->grid.spots[i].color != PFS_PLOT_SAMPLED) == faults)
				draw_spot(p, &p->grid.spots[i], p->grid.spots[i].count);
}

/* Many spots, and those of a heat map, which leave no gaps, become one image in the picture. */
static int draw_image(const struct pfs_plot_picture *p)
{
	const struct pfs_cairo *c = p->cairo;
	struct pfs_plot_picture part = *p;
	cairo_surface_t *image;
	int ret;

	image = c->image_surface_create(CAIRO_FORMAT_ARGB32, ceil(2 * p->width), ceil(2 * p->last));
	part.on = c->create(image);
	c->scale(part.on, 2, 2);
	if (p->style->heat)
		c->set_antialias(part.on, CAIRO_ANTIALIAS_NONE);
	draw_spots(&part);
	ret = c->status(part.on) ? -ENOMEM : 0;
	c->destroy(part.on);
	if (!ret) {
		c->save(p->on);
		c->scale(p->on, 0.5, 0.5);
		c->set_source_surface(p->on, image, 0, 0);
		c->paint(p->on);
		c->restore(p->on);
	}
	c->surface_destroy(image);
	return ret;
}

/* ---- below ---- */

static void draw_chart(const struct pfs_plot_picture *p, double y, const char *name, const char *scale,
		       const uint64_t *values, const char *color)
{
	double w = (p->right - p->left) / p->grid.columns;
	uint64_t most = 0;

	for (uint32_t i = 0; i < p->grid.columns; i++)
		most = values[i] > most ? values[i] : most;
	pen_box(p, p->left, y, p->right - p->left, CHART, "#fafbfc", 1);
	for (uint32_t i = 0; i < p->grid.columns; i++)	/* one shape: there are no seams in it */
		if (values[i])
			p->cairo->rectangle(p->on, p->left + i * w, y + CHART * (1 - (double)values[i] / most),
					    w, CHART * (double)values[i] / most);
	pen_fill(p, color);
	pen_line(p, p->left, y, p->right, y, "#d9dce3");
	pen_line(p, p->left, y + CHART, p->right, y + CHART, "#9aa0ad");
	pen_text(p, p->left - 6, y + CHART / 2, 11, PEN_RIGHT, LEFT - 16, "#1f2430", name);
	pen_text(p, p->right + 6, y + 9, 11, PEN_LEFT, RIGHT - 10, "#5b6270", scale);
	pen_text(p, p->right + 6, y + CHART, 11, PEN_LEFT, RIGHT - 10, "#5b6270", "0");
}

static double draw_charts(const struct pfs_plot_picture *p, double y)
{
	const struct pfs_plot_grid *grid = &p->grid;
	uint64_t faults = 0, pages = 0;
	char scale[48], number[32];

	for (uint32_t i = 0; i < grid->columns; i++) {
		faults = grid->faults[i] > faults ? grid->faults[i] : faults;
		pages = grid->resident[i] > pages ? grid->resident[i] : pages;
	}
	snprintf(scale, sizeof(scale), "%s/s", pfs_plot_number(number, (double)faults * 1e9 / grid->column_ns));
	draw_chart(p, y, "faults a second", scale, grid->faults, "#7c8db5");
	y += CHART + CHART_GAP;
	snprintf(scale, sizeof(scale), "%s pages", pfs_plot_number(number, pages));
	draw_chart(p, y, "resident (estimate)", scale, grid->resident, "#b59a7c");
	return y + CHART;
}

static void draw_axis(const struct pfs_plot_picture *p, double y)
{
	const struct pfs_plot *plot = p->plot;
	uint64_t tick = pfs_plot_tick(plot->to_ns - plot->from_ns, (p->right - p->left) / 110 + 2);
	double scale = (p->right - p->left) / ((double)p->grid.column_ns * p->grid.columns);
	char text[32];

	for (uint64_t at = plot->from_ns; (at = pfs_plot_tick_after(plot, at, tick)) < plot->to_ns; at++) {
		double x = p->left + scale * (at - plot->from_ns);

		pen_line(p, x, y, x, y + 5, "#5b6270");
		pen_text(p, x, y + 17, 11, PEN_CENTER, 200, "#1f2430",
			 pfs_plot_tick_text(text, plot, at, tick));
	}
	pen_text(p, p->left - 24, y + 17, 11, PEN_RIGHT, LEFT, "#1f2430", "time (s)");
}

static double legend_item(const struct pfs_plot_picture *p, double *x, double y, const char *color,
			  const char *text)
{
	double width = 20 + pen_width(p, 11, text);

	if (*x + width > p->width - MARGIN && *x > MARGIN) {
		*x = MARGIN;
		y += LINE;
	}
	if (color)
		pen_box(p, *x, y - 9, 11, 11, color, 1);
	pen_text(p, *x + (color ? 15 : 0), y, 11, PEN_LEFT, p->width, "#1f2430", text);
	*x += width + 12;
	return y;
}

static double draw_heat_scale(const struct pfs_plot_picture *p, double *x, double y, uint64_t most,
			      const char *const *colors)
{
	char number[32];

	for (unsigned int level = 0; level < PFS_PLOT_LEVELS; level++) {
		uint64_t from = pfs_plot_level_from(level, most, PFS_PLOT_LEVELS);

		if (from <= most)
			y = legend_item(p, x, y, colors[level], pfs_plot_number(number, from));
	}
	return y;
}

static double draw_legend(const struct pfs_plot_picture *p, double y)
{
	const struct pfs_plot_grid *grid = &p->grid;
	char name[400], text[480], number[32];
	double x = MARGIN;

	if (p->style->heat && grid->most) {
		y = legend_item(p, &x, y, NULL, "faults in a place, at least:");
		y = draw_heat_scale(p, &x, y, grid->most, pfs_plot_hot);
	}
	if (p->style->heat && grid->most_sampled) {
		y = legend_item(p, &x, y, NULL, "seen by sampling (no faults), at least:");
		y = draw_heat_scale(p, &x, y, grid->most_sampled, pfs_plot_seen);
	}
	for (uint32_t i = 0; i < PFS_PLOT_COLORS && !p->style->heat; i++) {
		if (!pfs_plot_color_text(p->plot, grid, i, name, sizeof(name)))
			continue;
		snprintf(text, sizeof(text), "%s: %s", name, pfs_plot_number(number, grid->by_color[i]));
		y = legend_item(p, &x, y, pfs_plot_color(grid->by, i), text);
	}
	return y + LINE;
}

static void draw_notes(const struct pfs_plot_picture *p, double y)
{
	char span[32], size[8], text[PFS_PLOT_TEXT_MAX], *line, *rest;
	size_t len;

	len = snprintf(text, sizeof(text), "A column is %s; ", pfs_plot_span(span, p->grid.column_ns));
	if (p->plot->unit_shift > p->plot->data->model->page_shift)
		len += snprintf(text + len, sizeof(text) - len, "places are of %s bytes or more; ",
				pfs_short_number(size, UINT64_C(1) << p->plot->unit_shift));
	snprintf(text + len, sizeof(text) - len, "addresses upwards, gaps folded%s.",
		 p->grid.most > 1 && !p->style->heat ? "; a point is one fault or more, stronger with more"
						     : "");
	pen_text(p, MARGIN, y, 11, PEN_LEFT, p->width - 2 * MARGIN, "#5b6270", text);
	pen_text(p, MARGIN, y += LINE, 11, PEN_LEFT, p->width - 2 * MARGIN, "#5b6270",
		 PFS_PLOT_RESIDENT_SAYS ".");
	rest = (char *)pfs_plot_notes_text(p->plot, text);
	while ((line = strsep(&rest, "\n")) && *line)
		pen_text(p, MARGIN, y += LINE, 11, PEN_LEFT, p->width - 2 * MARGIN, "#a02020", line);
}

int pfs_plot_picture_draw(const struct pfs_plot_picture *p, struct pfs_err *err)
{
	char text[PFS_PLOT_TEXT_MAX];
	double y = p->last + CHART_GAP;
	int ret = 0;

	pen_box(p, 0, 0, p->width, p->total, "#ffffff", 1);
	pen_text(p, MARGIN, 26, 16, PEN_BOLD, p->width - 2 * MARGIN, "#1f2430",
		 pfs_plot_title(p->plot, p->style, text));
	pen_text(p, MARGIN, 46, 12, PEN_LEFT, p->width - 2 * MARGIN, "#1f2430",
		 pfs_plot_sum_text(p->plot, text));
	draw_blocks(p);
	draw_folds(p);
	draw_losses(p);
	if (p->style->heat || p->grid.nr_spots > MOST_POINTS)
		ret = draw_image(p);
	else
		draw_spots(p);
	y = draw_charts(p, y);
	draw_axis(p, y);
	draw_notes(p, draw_legend(p, y + AXIS + LINE));
	if (!ret && p->cairo->status(p->on))
		ret = p->cairo->status(p->on) == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO;
	return ret ? pfs_err_set(err, ret, "cairo cannot draw: %s", ret == -ENOMEM ? "no memory" :
				 p->cairo->status_to_string(p->cairo->status(p->on))) : 0;
}
