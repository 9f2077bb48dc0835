/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plot in characters: a heat map with two places in each character (half blocks) where there are colours and UTF-8,
 * shades of ASCII where not; under it faults per second and resident pages.
 */
#include "plot/plot.h"

#include "view/labels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEVELS = PFS_PLOT_LEVELS,
	CHART_LINES = 3,
	COUNT_COLUMNS = 12,
	FULL_WIDTH = 80, /* from which names have room for address and size */
	NAMES = 24,
	SHORT_NAMES = 20,
	WIDE = 100, /* from which there are thumbnails, and room for all of a name */
	WIDE_NAMES = 31,
	THUMB = PFS_PLOT_THUMB / 2,
};

static const char shades[] = ".:-=+*#%@", digits[] = "123456789";
static const char *const eighths[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

/* What is in a place: nothing, or a level of faults or of sampled accesses. */
struct heat {
	bool any, sampled, unobserved;
	uint8_t level;
	uint8_t mark; /* enum pfs_plot_mark: of any of its faults */
};

/* Half blocks are faults, quarters sampled accesses: by what is in the upper half and in the lower. */
enum { NOTHING, FAULT, SAMPLED };
static const char *const halves[3][3] = {
	[NOTHING] = { " ", "▄", "▖" },
	[FAULT] = { "▀", "█", "▛" },
	[SAMPLED] = { "▘", "▙", "▌" },
};

static const char mark_letters[PFS_PLOT_MARKS] = { [PFS_PLOT_MAJOR] = 'M', [PFS_PLOT_SIGNAL] = 'S' };

struct canvas {
	const struct pfs_plot *plot;
	const struct pfs_plot_style *style;
	struct pfs_plot_grid grid;
	FILE *out;
	uint32_t *rows, *lines; /* of each band */
	uint32_t *first;	/* its first row in `heat` */
	struct heat *heat;
	uint32_t names, thumb; /* columns */
	bool any_sampled, any_unobserved;
};

/* ---- places ---- */

static uint32_t lines_of(const struct pfs_plot_band *band)
{
	return 1 + (band->pages >= 24) + (band->pages >= 400) + (band->pages >= 6000);
}

static int measure(struct canvas *c)
{
	uint32_t nr = c->plot->nr_bands;

	c->rows = calloc(nr + 1, sizeof(*c->rows));
	c->lines = calloc(nr + 1, sizeof(*c->lines));
	c->first = calloc(nr + 1, sizeof(*c->first));
	if (!c->rows || !c->lines || !c->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct pfs_plot_band *band = &c->plot->bands[i];
		uint32_t room;

		c->lines[i] = lines_of(band);
		room = c->style->blocks ? 2 * c->lines[i] : c->lines[i];
		c->rows[i] = band->pages < room ? (uint32_t)band->pages + (band->pages > (uint32_t)band->pages) : room;
		c->first[i + 1] = c->first[i] + c->rows[i];
	}
	return 0;
}

/* All faults of a place together; sampled accesses show where there are none. */
static int heat_up(struct canvas *c)
{
	const struct pfs_plot_grid *grid = &c->grid;
	uint64_t sum = 0;

	c->heat = calloc((size_t)c->first[c->plot->nr_bands] * grid->columns + 1, sizeof(*c->heat));
	if (!c->heat)
		return -ENOMEM;
	for (uint32_t i = 0; i < grid->nr_spots; i++) {
		const struct pfs_plot_spot *spot = &grid->spots[i];
		struct heat *heat = &c->heat[(size_t)(c->first[spot->band] + spot->row) * grid->columns + spot->column];

		if (spot->color == PFS_PLOT_SAMPLED) {
			c->any_sampled = true;
			if (!heat->any)
				*heat = (struct heat){
					.any = true,
					.sampled = true,
					.level = pfs_plot_level(spot->count, grid->most_sampled, LEVELS),
				};
			continue;
		}
		sum = heat->any && !heat->sampled ? sum + spot->count : spot->count;
		*heat = (struct heat){
			.any = true,
			.level = pfs_plot_level(sum, grid->most, LEVELS),
			.mark = spot->mark > heat->mark ? spot->mark : heat->mark,
		};
	}
	return 0;
}

static void mark_unobserved(struct canvas *c)
{
	uint32_t column, end;

	for (uint32_t i = 0; i < c->plot->nr_unobserved; i++) {
		const struct pfs_plot_unobserved *area = &c->plot->unobserved[i];
		uint32_t rows = c->rows[area->band], top = ceil((area->at + area->len) * rows - 1e-9);

		if (!pfs_plot_unobserved_columns(c->plot, &c->grid, area, &column, &end))
			continue;
		for (; column < end; column++)
			for (uint32_t row = area->at * rows; row < top && row < rows; row++)
				c->heat[(size_t)(c->first[area->band] + row) * c->grid.columns + column].unobserved =
					true;
		c->any_unobserved = true;
	}
}

static struct heat heat_at(const struct canvas *c, uint32_t band, uint32_t place, uint32_t places, uint32_t column)
{
	uint32_t row = place * c->rows[band] / places;

	return c->heat[(size_t)(c->first[band] + row) * c->grid.columns + column];
}

static unsigned int color_of(struct heat heat)
{
	return (heat.sampled ? pfs_plot_terminal_seen : pfs_plot_terminal_hot)[heat.level];
}

/* ---- lines ---- */

static void put_name(const struct canvas *c, const char *name)
{
	pfs_put_fitted(c->out, name, c->names - 2, false);
	fputs(" |", c->out);
}

static unsigned int kind_of(struct heat heat)
{
	return !heat.any ? NOTHING : heat.sampled ? SAMPLED : FAULT;
}

/* Rare faults are a letter, whatever else is in the place. */
static void put_mark(const struct canvas *c, unsigned int mark)
{
	fprintf(c->out, "%s%c%s", pfs_color_on(c->style->color, "\033[1m"), mark_letters[mark],
		pfs_color_off(c->style->color));
}

static void put_half_blocks(const struct canvas *c, struct heat upper, struct heat lower)
{
	unsigned int up = kind_of(upper), low = kind_of(lower);

	if (upper.mark || lower.mark)
		put_mark(c, upper.mark > lower.mark ? upper.mark : lower.mark);
	else if (!up && !low)
		fputc(upper.unobserved || lower.unobserved ? '?' : ' ', c->out);
	else if (up == FAULT && low == FAULT)
		fprintf(c->out, "\033[38;5;%u;48;5;%um▀\033[0m", color_of(upper), color_of(lower));
	else
		fprintf(c->out, "\033[38;5;%um%s\033[0m", color_of(up == FAULT || !low ? upper : lower),
			halves[up][low]);
}

static char shade_of(struct heat heat)
{
	return !heat.any ? (heat.unobserved ? '?' : ' ') : heat.sampled ? digits[heat.level] : shades[heat.level];
}

static void put_shade(const struct canvas *c, struct heat heat)
{
	if (heat.mark)
		put_mark(c, heat.mark);
	else if (heat.any && c->style->color)
		fprintf(c->out, "\033[38;5;%um%c\033[0m", color_of(heat), shade_of(heat));
	else
		fputc(shade_of(heat), c->out);
}

/* A part of a column, in eighths. */
static void put_eighths(const struct canvas *c, int eighths_of)
{
	if (c->style->blocks)
		fputs(eighths[eighths_of], c->out);
	else
		fputc(eighths_of > 5 ? '#' : eighths_of > 2 ? ':' : eighths_of ? '.' : ' ', c->out);
}

static void put_thumb(const struct canvas *c, const struct pfs_plot_band *band)
{
	enum { PARTS = PFS_PLOT_THUMB / THUMB };

	fputc(' ', c->out);
	for (unsigned int i = 0; i < THUMB; i++) {
		unsigned int sum = 0;

		for (unsigned int k = 0; k < PARTS; k++)
			sum += band->thumb[i * PARTS + k];
		put_eighths(c, (sum + PARTS - 1) / PARTS);
	}
}

/* What is in the columns beside the bands. */
static void put_headings(const struct canvas *c)
{
	pfs_put_fitted(c->out, "region", c->names + c->grid.columns, false);
	fprintf(c->out, "%*s%s\n", COUNT_COLUMNS, pfs_plot_unit_text(c->plot), c->thumb ? " touched pages" : "");
}

/* Lines from top to bottom, so from the highest pages to the lowest. */
static void put_band(const struct canvas *c, uint32_t nr)
{
	const struct pfs_plot_band *band = &c->plot->bands[nr];
	uint32_t lines = c->lines[nr], places = c->style->blocks ? 2 * lines : lines;
	char count[32];

	for (uint32_t line = lines; line-- > 0;) {
		bool named = line == lines - 1;

		put_name(c, named ? band->label : "");
		for (uint32_t column = 0; column < c->grid.columns; column++) {
			if (c->style->blocks)
				put_half_blocks(c, heat_at(c, nr, 2 * line + 1, places, column),
						heat_at(c, nr, 2 * line, places, column));
			else
				put_shade(c, heat_at(c, nr, line, places, column));
		}
		fputc('|', c->out);
		if (named)
			fprintf(c->out, "%*s", COUNT_COLUMNS - 1,
				pfs_grouped_text(count, band->faults + band->sampled));
		if (named && c->thumb)
			put_thumb(c, band);
		fputc('\n', c->out);
	}
}

static void put_bands(const struct canvas *c)
{
	const struct pfs_plot *plot = c->plot;
	char count[96];

	for (uint32_t block = 0; block < plot->nr_blocks; block++) {
		const struct pfs_plot_block *b = &plot->blocks[block];

		if (plot->nr_blocks > 1)
			fprintf(c->out, "%s%s%s: %s\n", pfs_color_on(c->style->color, "\033[1m"), b->label,
				pfs_color_off(c->style->color), pfs_plot_block_text(count, plot, b));
		for (uint32_t i = plot->nr_bands; i-- > 0;)
			if (plot->bands[i].block == block)
				put_band(c, i);
	}
}

/* A chart of the values, `most` of which is its full height. */
static void put_chart(const struct canvas *c, const char *name, const char *scale, const uint64_t *values,
		      uint64_t most)
{
	for (int line = CHART_LINES - 1; line >= 0; line--) {
		put_name(c, line == CHART_LINES - 1 ? name : "");
		for (uint32_t i = 0; i < c->grid.columns; i++) {
			int full = most ? (double)values[i] / most * CHART_LINES * 8 + 0.5 : 0;
			int here = (values[i] && !full ? 1 : full) - 8 * line;

			put_eighths(c, here < 0 ? 0 : here > 8 ? 8 : here);
		}
		fprintf(c->out, "|%s%s\n", line == CHART_LINES - 1 ? " " : "", line == CHART_LINES - 1 ? scale : "");
	}
}

static void put_charts(const struct canvas *c)
{
	const struct pfs_plot_grid *grid = &c->grid;
	char name[32], scale[48], number[32];

	pfs_plot_rate_text(scale, c->plot, grid->most_faults, grid->column_ns);
	for (uint32_t side = 0; side < c->plot->data->nr_sides; side++) {
		snprintf(name, sizeof(name), "%sfaults/s", pfs_plot_side_text(c->plot->data, side));
		put_chart(c, name, scale, grid->faults[side], grid->most_faults);
	}
	snprintf(scale, sizeof(scale), "%s page%s", pfs_decimal_text(number, grid->most_resident),
		 grid->most_resident == 1 ? "" : "s");
	for (uint32_t side = 0; side < c->plot->data->nr_sides; side++) {
		snprintf(name, sizeof(name), "%sresident (est.)", pfs_plot_side_text(c->plot->data, side));
		put_chart(c, name, scale, grid->resident[side], grid->most_resident);
	}
}

static bool is_lost(const struct canvas *c, uint64_t from_ns)
{
	for (uint32_t side = 0; side < c->plot->data->nr_sides; side++)
		if (pfs_plot_lost(c->plot, side, from_ns, from_ns + c->grid.column_ns))
			return true;
	return false;
}

/* "|    |    |" with the times below; where events may be missing "!". */
static void put_axis(const struct canvas *c)
{
	const struct pfs_plot *plot = c->plot;
	const struct pfs_plot_grid *grid = &c->grid;
	uint64_t tick = pfs_plot_tick(plot->to_ns - plot->from_ns, grid->columns / 14 + 2);
	uint32_t done = 0;
	const struct pfs_plot_unit *unit = pfs_plot_axis_unit(plot, tick);
	char text[32];

	fprintf(c->out, "%*s", (int)c->names - 1, "");
	fputc('+', c->out);
	for (uint32_t i = 0; i < grid->columns; i++) {
		uint64_t from = plot->from_ns + i * grid->column_ns;

		fputc(is_lost(c, from)						       ? '!'
		      : pfs_plot_tick_after(plot, from, tick) < from + grid->column_ns ? '+'
										       : '-',
		      c->out);
	}
	fprintf(c->out, "+\n%*s", (int)c->names, "");
	for (uint64_t at = plot->from_ns; (at = pfs_plot_tick_after(plot, at, tick)) < plot->to_ns; at++) {
		uint32_t column = (at - plot->from_ns) / grid->column_ns;

		pfs_plot_tick_text(text, plot, at, tick, unit);
		if (column < done || column + strlen(text) > grid->columns + COUNT_COLUMNS - 2)
			continue;
		fprintf(c->out, "%*s%s", (int)(column - done), "", text);
		done = column + strlen(text) + 1;
		fputc(' ', c->out);
	}
	fprintf(c->out, "%s\n", unit->name);
}

/* The numbers in the terminal's own colour: in that of their level not all could be read. */
static void put_scale(const struct canvas *c, struct pfs_list *list, uint64_t most, bool sampled)
{
	char number[32], color[32], shade[2] = "";

	list->first_word = true;
	for (unsigned int level = 0; level < LEVELS; level++) {
		struct heat heat = { .any = true, .sampled = sampled, .level = level };
		uint64_t from = pfs_plot_level_from(level, most, LEVELS);

		if (from > most)
			break;
		snprintf(color, sizeof(color), "\033[38;5;%um", color_of(heat));
		list->start = pfs_color_on(c->style->color, color);
		list->end = pfs_color_off(c->style->color);
		shade[0] = shade_of(heat);
		pfs_list_add(list, "%s %s", c->style->blocks ? sampled ? "▌" : "█" : shade,
			     pfs_grouped_text(number, from));
	}
	list->start = list->end = NULL;
}

static void put_legend(const struct canvas *c)
{
	const struct pfs_plot_grid *grid = &c->grid;
	struct pfs_list list = { .out = c->out, .width = c->style->width, .indent = 2, .separator = "  " };
	char text[PFS_PLOT_TEXT_MAX];

	if (grid->most) {
		pfs_list_add(&list, "faults in a place, at least:");
		put_scale(c, &list, grid->most, false);
		pfs_list_end(&list);
	}
	if (c->any_sampled) {
		pfs_list_add(&list, "sampled accesses (not faults), at least:");
		put_scale(c, &list, grid->most_sampled, true);
		pfs_list_end(&list);
	}
	for (enum pfs_plot_mark mark = PFS_PLOT_MAJOR; mark < PFS_PLOT_MARKS; mark++)
		if (grid->by_mark[mark])
			pfs_list_add(&list, "%c %s", mark_letters[mark], pfs_plot_class_texts[mark]);
	if (list.nr)
		pfs_list_end(&list);
	if (c->any_unobserved)
		fputs("? " PFS_PLOT_UNOBSERVED_TEXT "\n", c->out);
	fprintf(c->out, "%s.\n", pfs_plot_scale_text(c->plot, grid, text));
	fputs(pfs_plot_notes_text(c->plot, text), c->out);
}

static int draw(struct canvas *c)
{
	uint32_t columns;
	int ret = measure(c);

	c->names = c->style->width < FULL_WIDTH ? SHORT_NAMES : c->style->width < WIDE ? NAMES : WIDE_NAMES;
	c->thumb = c->style->width < WIDE ? 0 : THUMB + 1;
	columns = c->style->width - c->names - COUNT_COLUMNS - c->thumb;
	if (!ret)
		ret = pfs_plot_grid_make(&c->grid, c->plot, columns, c->rows, PFS_PLOT_BY_NOTHING);
	if (!ret)
		ret = heat_up(c);
	if (ret)
		return ret;
	mark_unobserved(c);
	put_headings(c);
	put_bands(c);
	put_charts(c);
	put_axis(c);
	put_legend(c);
	return 0;
}

int pfs_plot_write_text(const struct pfs_plot *plot, const struct pfs_plot_style *style, FILE *out, struct pfs_err *err)
{
	struct canvas c = { .plot = plot, .style = style, .out = out };
	char text[PFS_PLOT_TEXT_MAX];
	int ret = 0;

	if (*pfs_plot_title(plot, style, text))
		fprintf(out, "%s%s%s\n", pfs_color_on(style->color, "\033[1m"), text, pfs_color_off(style->color));
	fprintf(out, "%s\n", pfs_plot_sum_text(plot, text));
	if (plot->nr_bands)
		ret = draw(&c);
	pfs_plot_grid_fini(&c.grid);
	free(c.rows);
	free(c.lines);
	free(c.first);
	free(c.heat);
	if (ret)
		return pfs_err_set(err, ret, "no memory for the plot");
	return ferror(out) ? pfs_err_set(err, -EIO, "the plot cannot be written") : 0;
}
