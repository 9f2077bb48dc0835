/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans and draws the picture: see plot/draw.h.
 */
#include "plot/draw.h"

#include "base/units.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MARGIN = PFS_PLOT_MARGIN,
	HEAD = 72,
	HEADING = 20,
	LEFT = 206,
	RIGHT = 100,
	NARROW = 700, /* of a narrower picture little is left beside the bands */
	NARROW_LEFT = 130,
	NARROW_RIGHT = 76,
	THUMB = 3 * PFS_PLOT_THUMB,
	BAND = 14,
	LEAST_BAND = 9,
	GOOD_BAND = 12,
	CHART = 64,
	LOW_CHART = 32,
	CHART_GAP = 18,
	AXIS = 34,
	MOST_HEIGHT = 1500,
	DEFAULT_WIDTH = 1200,
	MOST_POINTS = 15000,
	POINT = 4, /* pixels, at least */
	MARK = 9,
	COUNT = 70, /* of the column of counts */
};

/* ---- plan ---- */

static double chart_height(const struct pfs_plot_picture *p)
{
	return p->terse < PFS_PLOT_LOW_CHARTS ? CHART : p->terse < PFS_PLOT_NO_CHARTS ? LOW_CHART : 0;
}

/* Below the bands: two charts, the axis, the legend, remarks. */
static double foot(const struct pfs_plot_picture *p)
{
	double chart = chart_height(p);

	return (chart ? 2 * (chart + CHART_GAP) : 0) + AXIS + pfs_plot_legend_draw(p, pfs_plot_legend_line(p)) + MARGIN;
}

static double wish(const struct pfs_plot_band *band)
{
	return BAND + 9 * log2(1 + band->pages);
}

/* A low picture leaves out more and more, until its bands have a fifth of the height. */
static double room_for_bands(struct pfs_plot_picture *p)
{
	double height = p->style->height ? p->style->height : MOST_HEIGHT;

	for (; height - HEAD - p->foot < height / 5 && p->terse < PFS_PLOT_SHORT_LEGEND; p->foot = foot(p))
		p->terse++;
	return height - HEAD - p->foot;
}

static void place_bands(struct pfs_plot_picture *p, double room, double wishes)
{
	const struct pfs_plot *plot = p->plot;
	double least = LEAST_BAND * plot->nr_bands, scale = (room - least) / (wishes + 1 - least), y = HEAD;

	if (scale < 0) /* not even one has room */
		scale = 0;
	p->first = y;
	for (uint32_t block = 0; block < plot->nr_blocks; block++) {
		p->heading[block] = y;
		y += plot->nr_blocks > 1 ? HEADING : 0;
		for (uint32_t i = plot->nr_bands; i-- > 0;) {
			if (plot->bands[i].block != block)
				continue;
			p->top[i] = y;
			p->height[i] = LEAST_BAND + (wish(&plot->bands[i]) - LEAST_BAND) * scale;
			y += p->height[i];
		}
	}
	p->last = y;
	p->total = p->style->height ? p->style->height : ceil(y + p->foot);
}

/* Gives each band a height, by the logarithm of its pages, so that they fill the room. -ENOSPC: too many bands. */
static int plan_bands(struct pfs_plot_picture *p)
{
	const struct pfs_plot *plot = p->plot;
	double headings = plot->nr_blocks > 1 ? plot->nr_blocks * HEADING : 0;
	double wishes = 0, room = room_for_bands(p);

	if (plot->nr_bands > 1 && room < headings + LEAST_BAND * plot->nr_bands) {
		p->bands_fit = room > 0 ? room / (GOOD_BAND + headings / plot->nr_bands) : 0;
		return -ENOSPC;
	}
	for (uint32_t i = 0; i < plot->nr_bands; i++)
		wishes += wish(&plot->bands[i]);
	room -= headings;
	if (!p->style->height && wishes < room)
		room = wishes > 200 ? wishes : 200;
	place_bands(p, room, wishes);
	return 0;
}

/* A place of the grid is 2 or 3 pixels wide and high, or a page high. */
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

/* The legend's text, and so its height, is known only when all is placed. */
static int plan(struct pfs_plot_picture *p)
{
	double planned, height = foot(p);
	int ret;

	do {
		p->foot = height;
		pfs_plot_grid_fini(&p->grid);
		ret = plan_bands(p);
		if (!ret)
			ret = plan_grid(p);
		planned = p->foot;
		height = foot(p);
	} while (!ret && height > planned);
	return ret;
}

int pfs_plot_picture_plan(struct pfs_plot_picture *p)
{
	uint32_t nr = p->plot->nr_bands;

	p->width = p->style->width ? p->style->width : DEFAULT_WIDTH;
	p->left = p->width < NARROW ? NARROW_LEFT : LEFT;
	p->right = p->width - (p->width < NARROW ? NARROW_RIGHT : RIGHT + THUMB);
	p->rows = calloc(nr + 1, sizeof(*p->rows));
	p->top = calloc(nr + 1, sizeof(*p->top));
	p->height = calloc(nr + 1, sizeof(*p->height));
	p->heading = calloc(p->plot->nr_blocks + 1, sizeof(*p->heading));
	return p->rows && p->top && p->height && p->heading ? plan(p) : -ENOMEM;
}

void pfs_plot_picture_fini(struct pfs_plot_picture *p)
{
	pfs_plot_grid_fini(&p->grid);
	free(p->rows);
	free(p->top);
	free(p->height);
	free(p->heading);
	p->rows = NULL;
	p->top = p->height = p->heading = NULL;
}

/* ---- bands ---- */

/* What is touched of it at any time, as bars from its lowest address on. */
static void draw_thumb(const struct pfs_plot_picture *p, const struct pfs_plot_band *band, double x, double y, double h)
{
	double w = (double)THUMB / PFS_PLOT_THUMB;

	pen_box(p, x, y, THUMB, h, p->theme->odd, 1);
	for (uint32_t i = 0; i < PFS_PLOT_THUMB; i++)
		p->cairo->rectangle(p->on, x + i * w, y + h - h * band->thumb[i] / 8, w, h * band->thumb[i] / 8);
	pen_fill(p, p->theme->rate);
	pen_line(p, x, y + h, x + THUMB, y + h, p->theme->rule);
}

static void draw_band(const struct pfs_plot_picture *p, uint32_t nr)
{
	const struct pfs_plot_band *band = &p->plot->bands[nr];
	double y = p->top[nr], h = p->height[nr], size = h < 12 ? h - 1 : 11;
	double bar = h - 4 < 14 ? h - 4 : 14;
	char number[32];

	pen_box(p, p->left, y, p->right - p->left, h,
		band->unknown ? p->theme->strange
		: nr % 2      ? p->theme->odd
			      : p->theme->ground,
		1);
	pen_line(p, p->left, y, p->right, y, p->theme->line);
	pen_text(p, p->left - 6, y + h / 2 + size * 0.36, size, PEN_RIGHT, p->left - 16, p->theme->ink, band->label);
	pen_text(p, p->right + COUNT, y + h / 2 + size * 0.36, size, PEN_RIGHT, COUNT - 4, p->theme->dim,
		 pfs_grouped_text(number, band->faults + band->sampled));
	if (p->width >= NARROW)
		draw_thumb(p, band, p->right + COUNT + 10, y + (h - bar) / 2, bar);
}

/* What is in the columns beside the bands. */
static void draw_headings(const struct pfs_plot_picture *p)
{
	double y = HEAD - 5;

	pen_text(p, p->left - 6, y, 11, PEN_RIGHT, p->left - 16, p->theme->dim, "region");
	pen_text(p, p->right + COUNT, y, 11, PEN_RIGHT, COUNT, p->theme->dim, pfs_plot_unit_text(p->plot));
	if (p->width >= NARROW)
		pen_text(p, p->right + COUNT + 10, y, 11, PEN_LEFT, THUMB + 8, p->theme->dim, "touched pages");
}

/* A dashed line across the band for each fold. */
static void draw_folds(const struct pfs_plot_picture *p)
{
	for (uint32_t i = 0; i < p->plot->nr_segments; i++) {
		const struct pfs_plot_segment *segment = &p->plot->segments[i];
		const struct pfs_plot_band *band = &p->plot->bands[segment->band];
		double h = p->height[segment->band], y = p->top[segment->band] + h * (1 - segment->at);

		if (band->nr_folds && band->nr_folds < h / 12 && segment->at > 0)
			pen_dashes(p, p->left, y, p->right, y, p->theme->fold);
	}
}

/* On top of all, at least as wide as a point, with a mark above. */
static void draw_loss(const struct pfs_plot_picture *p, uint32_t side, uint32_t first, uint32_t end)
{
	double w = (p->right - p->left) / p->grid.columns, x = p->left + first * w;
	double wide = (end - first) * w;

	if (wide < POINT) {
		x = fmin(x, p->right - POINT);
		wide = POINT;
	}
	for (uint32_t i = 0; i < p->plot->nr_bands; i++)
		if (p->plot->bands[i].side == side)
			pen_box(p, x, p->top[i], wide, p->height[i], p->theme->lost, 0.35);
	pen_box(p, x, p->first, wide, 3, p->theme->lost, 1);
	pen_point(p, x + wide / 2, p->first - 1, MARK, PFS_PLOT_DOWN, p->theme->lost, 1);
}

static void draw_losses(const struct pfs_plot_picture *p)
{
	uint32_t first = 0, columns = p->grid.columns, all = columns * p->plot->data->nr_sides;
	bool before = false;

	for (uint32_t at = 0; at <= all; at++) { /* side by side */
		uint32_t side = at / columns, i = at % columns;
		uint64_t from = p->plot->from_ns + i * p->grid.column_ns;
		bool lost = at < all && pfs_plot_lost(p->plot, side, from, from + p->grid.column_ns);

		if (before && !i) {
			draw_loss(p, side - 1, first, columns);
			before = false;
		}
		if (lost && !before)
			first = i;
		else if (before && !lost)
			draw_loss(p, side, first, i);
		before = lost;
	}
}

static void draw_unobserved(const struct pfs_plot_picture *p)
{
	double w = (p->right - p->left) / p->grid.columns;
	uint32_t first, end;

	for (uint32_t i = 0; i < p->plot->nr_unobserved; i++) {
		const struct pfs_plot_unobserved *area = &p->plot->unobserved[i];
		double h = p->height[area->band], y = p->top[area->band] + h * (1 - area->at - area->len);

		if (pfs_plot_unobserved_columns(p->plot, &p->grid, area, &first, &end))
			pen_hatch(p, p->left + first * w, y, (end - first) * w, h * area->len, p->theme->hatch);
	}
}

static void draw_blocks(const struct pfs_plot_picture *p)
{
	const struct pfs_plot *plot = p->plot;
	char text[PFS_PLOT_TEXT_MAX], count[96];

	for (uint32_t i = 0; i < plot->nr_bands; i++)
		draw_band(p, i);
	for (uint32_t i = 0; i < plot->nr_blocks && plot->nr_blocks > 1; i++) {
		pen_box(p, MARGIN, p->heading[i], p->right - MARGIN, HEADING, p->theme->head, 1);
		snprintf(text, sizeof(text), "%.400s: %s", plot->blocks[i].label,
			 pfs_plot_block_text(count, plot, &plot->blocks[i]));
		pen_text(p, MARGIN + 6, p->heading[i] + 14, 12, PEN_BOLD, p->right - MARGIN, p->theme->ink, text);
	}
	pen_line(p, p->left, p->last, p->right, p->last, p->theme->rule);
}

/* ---- spots ---- */

static void draw_spot(const struct pfs_plot_picture *p, const struct pfs_plot_spot *spot)
{
	double w = (p->right - p->left) / p->grid.columns, h = p->height[spot->band] / p->rows[spot->band];
	double x = p->left + w * spot->column, y = p->top[spot->band] + p->height[spot->band] - h * (spot->row + 1);
	bool sampled = spot->color == PFS_PLOT_SAMPLED;
	unsigned int level =
		pfs_plot_level(spot->count, sampled ? p->grid.most_sampled : p->grid.most, PFS_PLOT_LEVELS);

	if (!p->style->heat)
		pen_point(p, x + w / 2, y + h / 2, sampled ? POINT + 2 : POINT + 1,
			  pfs_plot_shape(p->grid.by, spot->color), pfs_plot_color(p->theme, p->grid.by, spot->color),
			  0.76 + 0.03 * level);
	else if (sampled)
		pen_point(p, x + w / 2, y + h / 2, POINT + 1, PFS_PLOT_RING, p->theme->seen[level], 1);
	else
		pen_box(p, x, y, w, h, p->theme->hot[level], 1);
}

/* The most frequent colour of a place comes last, and so on top; in a heat map faults do. */
static void draw_spots(const struct pfs_plot_picture *p)
{
	for (int faults = 0; faults < 2; faults++)
		for (uint32_t i = 0; i < p->grid.nr_spots; i++)
			if ((p->grid.spots[i].color != PFS_PLOT_SAMPLED) == faults)
				draw_spot(p, &p->grid.spots[i]);
}

/* Rare faults above all others, with some ground around them. */
static void draw_marks(const struct pfs_plot_picture *p)
{
	for (enum pfs_plot_mark mark = PFS_PLOT_MAJOR; mark < PFS_PLOT_MARKS; mark++)
		for (uint32_t i = 0; i < p->grid.nr_spots; i++) {
			const struct pfs_plot_spot *spot = &p->grid.spots[i];
			double w = (p->right - p->left) / p->grid.columns, x = p->left + w * (spot->column + 0.5);
			double h = p->height[spot->band] / p->rows[spot->band];
			double y = p->top[spot->band] + p->height[spot->band] - h * (spot->row + 0.5);

			if (spot->mark != mark)
				continue;
			pen_point(p, x, y, MARK + 3, PFS_PLOT_DISC, p->theme->ground, 1);
			pen_point(p, x, y, MARK, pfs_plot_shape(PFS_PLOT_BY_CLASS, mark), p->theme->class[mark], 1);
		}
}

/*
 * Many spots, and those of a heat map, which leave no gaps, become one image in the picture. It covers the bands only:
 * compressing it takes most of the time.
 */
static int draw_image(const struct pfs_plot_picture *p)
{
	const struct pfs_cairo *c = p->cairo;
	/* a point is around its place */
	double left = floor(p->left) - POINT, top = floor(p->first) - POINT;
	struct pfs_plot_picture part = *p;
	cairo_surface_t *image;
	int ret;

	image = c->image_surface_create(CAIRO_FORMAT_ARGB32, ceil(2 * (p->right + POINT - left)),
					ceil(2 * (p->last + POINT - top)));
	part.on = c->create(image);
	c->surface_set_device_offset(image, -2 * left, -2 * top);
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

/* One shape: there are no seams in it. */
static void draw_area(const struct pfs_plot_picture *p, double y, const uint64_t *values, uint64_t most,
		      const char *color)
{
	double w = (p->right - p->left) / p->grid.columns, h = chart_height(p);

	for (uint32_t i = 0; i < p->grid.columns; i++)
		if (values[i])
			p->cairo->rectangle(p->on, p->left + i * w, y + h * (1 - (double)values[i] / most), w,
					    h * (double)values[i] / most);
	pen_fill(p, color);
}

/* The second recording's, over the area of the first. */
static void draw_steps(const struct pfs_plot_picture *p, double y, const uint64_t *values, uint64_t most)
{
	double w = (p->right - p->left) / p->grid.columns, h = chart_height(p);

	for (uint32_t i = 0; i < p->grid.columns; i++) {
		double at = most ? y + h * (1 - (double)values[i] / most) : y + h;

		(i ? p->cairo->line_to : p->cairo->move_to)(p->on, p->left + i * w, at);
		p->cairo->line_to(p->on, p->left + (i + 1) * w, at);
	}
	pen_stroke(p, 1.5, p->theme->ink);
}

static void draw_chart(const struct pfs_plot_picture *p, double y, const char *name, const char *scale,
		       uint64_t *const values[2], uint64_t most, const char *color)
{
	double h = chart_height(p);

	pen_box(p, p->left, y, p->right - p->left, h, p->theme->chart, 1);
	draw_area(p, y, values[0], most, color);
	if (p->plot->data->nr_sides > 1)
		draw_steps(p, y, values[1], most);
	pen_line(p, p->left, y, p->right, y, p->theme->line);
	pen_line(p, p->left, y + h, p->right, y + h, p->theme->rule);
	pen_text(p, p->left - 6, y + h / 2, 11, PEN_RIGHT, p->left - 16, p->theme->ink, name);
	if (p->plot->data->nr_sides > 1)
		pen_text(p, p->left - 6, y + h / 2 + 14, 11, PEN_RIGHT, p->left - 16, p->theme->dim, "A area, B line");
	pen_text(p, p->right + 6, y + 9, 11, PEN_LEFT, p->width - p->right - 10, p->theme->dim, scale);
	pen_text(p, p->right + 6, y + h, 11, PEN_LEFT, p->width - p->right - 10, p->theme->dim, "0");
}

/* Below y. Returns their lower end. */
static double draw_charts(const struct pfs_plot_picture *p, double y)
{
	const struct pfs_plot_grid *grid = &p->grid;
	char scale[48], number[32];

	pfs_plot_rate_text(scale, p->plot, grid->most_faults, grid->column_ns);
	draw_chart(p, y, "faults per second", scale, grid->faults, grid->most_faults, p->theme->rate);
	y += chart_height(p) + CHART_GAP;
	snprintf(scale, sizeof(scale), "%s page%s", pfs_grouped_text(number, grid->most_resident),
		 grid->most_resident == 1 ? "" : "s");
	draw_chart(p, y, "resident (estimate)", scale, grid->resident, grid->most_resident, p->theme->resident);
	return y + chart_height(p);
}

static void draw_axis(const struct pfs_plot_picture *p, double y)
{
	const struct pfs_plot *plot = p->plot;
	uint64_t tick = pfs_plot_tick(plot->to_ns - plot->from_ns, (p->right - p->left) / 110 + 2);
	double scale = (p->right - p->left) / ((double)p->grid.column_ns * p->grid.columns);
	double name = p->left - 24; /* its right end */
	const struct pfs_plot_unit *unit = pfs_plot_axis_unit(plot, tick);
	char text[32];

	for (uint64_t at = plot->from_ns; (at = pfs_plot_tick_after(plot, at, tick)) < plot->to_ns; at++) {
		double x = p->left + scale * (at - plot->from_ns);

		pen_line(p, x, y, x, y + 5, p->theme->dim);
		pfs_plot_tick_text(text, plot, at, tick, unit);
		pen_text(p, x, y + 17, 11, PEN_CENTER, 200, p->theme->ink, text);
		x -= pen_width(p, 11, text) / 2 + 8;
		name = x < name ? x : name;
	}
	snprintf(text, sizeof(text), "time (%s)", unit->name);
	pen_text(p, name, y + 17, 11, PEN_RIGHT, LEFT, p->theme->ink, text);
}

int pfs_plot_picture_draw(const struct pfs_plot_picture *p, struct pfs_err *err)
{
	char text[PFS_PLOT_TEXT_MAX];
	double y = p->last;
	int ret = 0;

	pen_box(p, 0, 0, p->width, p->total, p->theme->ground, 1);
	pen_text(p, MARGIN, 26, 16, PEN_BOLD, p->width - 2 * MARGIN, p->theme->ink,
		 pfs_plot_title(p->plot, p->style, text));
	pen_text(p, MARGIN, 46, 12, PEN_LEFT, p->width - 2 * MARGIN, p->theme->ink, pfs_plot_sum_text(p->plot, text));
	draw_blocks(p);
	draw_headings(p);
	draw_folds(p);
	draw_unobserved(p);
	if (p->style->heat || p->grid.nr_spots > MOST_POINTS)
		ret = draw_image(p);
	else
		draw_spots(p);
	draw_marks(p);
	draw_losses(p);
	if (chart_height(p))
		y = draw_charts(p, y + CHART_GAP);
	draw_axis(p, y);
	pfs_plot_legend_draw(p, y + AXIS + pfs_plot_legend_line(p));
	if (!ret && p->cairo->status(p->on))
		ret = p->cairo->status(p->on) == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO;
	return ret ? pfs_err_set(err, ret, "cairo cannot draw: %s",
				 ret == -ENOMEM ? "no memory" : p->cairo->status_to_string(p->cairo->status(p->on)))
		   : 0;
}
