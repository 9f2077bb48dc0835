/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws the live bytes of kernel objects over time: an area for each of the call sites with the most bytes, one upon the
 * other, and one for all others; beside them the numbers. A column of objects/series.h is one moment, so that the areas add
 * up, and the highest one is the peak of `pfscope kmap --stats`.
 */
#include "plot/draw.h"

#include "base/escape.h"
#include "base/units.h"
#include "objects/series.h"
#include "objects/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MARGIN = PFS_PLOT_MARGIN,
	WIDTH = 1000,
	HEAD = 78,
	LEFT = 64,
	BESIDE = 366, /* the table */
	AREAS = 320,
	AXIS = 32,
	LINE = 20,
	NOTE_LINE = 17,
	COLUMN = 62, /* of numbers */
	TICKS = 6,
	LABEL = 14, /* the number on an area */
	OTHERS = PFS_PLOT_AREAS,
};

struct alive {
	struct pfs_plot_picture picture; /* the first member, by which strokes and files know it */
	const struct pfs_series *series;
	const struct pfs_tally *tally;
	const struct pfs_objects_stats *stats;
	uint32_t sites[PFS_PLOT_AREAS];
	uint32_t nr; /* of sites with an area of their own */
	uint32_t nr_others;
	bool leaks[PFS_PLOT_AREAS]; /* may, for its live objects only grew */
	uint32_t others_leak;
	uint64_t span_ns, most; /* of the axes */
	uint64_t tick;		/* bytes */
	double bottom;
	char title[PFS_PLOT_TEXT_MAX], summary[PFS_PLOT_TEXT_MAX], notes[PFS_PLOT_TEXT_MAX];
};

static const struct alive *alive_of(const struct pfs_plot_picture *p)
{
	return (const struct alive *)p;
}

/* Bytes in the column of the area, the last of which is that of all others. */
static uint64_t bytes_of(const struct alive *a, const struct pfs_series_column *column, uint32_t area)
{
	uint64_t others = column->bytes;

	if (area < a->nr)
		return pfs_series_bytes(column, a->sites[area]);
	for (uint32_t i = 0; i < a->nr; i++)
		others -= pfs_series_bytes(column, a->sites[i]);
	return others;
}

static uint64_t bytes_at_end(const struct alive *a, uint32_t area)
{
	uint64_t others = a->series->bytes;

	if (area < a->nr)
		return pfs_series_alive(a->series, a->sites[area]);
	for (uint32_t i = 0; i < a->nr; i++)
		others -= pfs_series_alive(a->series, a->sites[i]);
	return others;
}

static uint32_t nr_areas(const struct alive *a)
{
	return a->nr + (a->nr_others > 0);
}

static const char *color_of(const struct alive *a, uint32_t area)
{
	return a->picture.theme->area[area < a->nr ? area : OTHERS];
}

/* ---- texts ---- */

static const char *size_text(char buf[8], uint64_t bytes)
{
	return bytes < 1024 ? pfs_short_number(buf, bytes) : pfs_size_text(buf, bytes);
}

static const char *name_of(const struct alive *a, uint32_t area, char *buf, size_t size)
{
	const struct pfs_object_site *site;

	if (area >= a->nr) {
		snprintf(buf, size, "%" PRIu32 " other%s", a->nr_others, a->nr_others == 1 ? "" : "s");
		return buf;
	}
	site = pfs_objects_site(a->series->objects, a->sites[area]);
	if (site->func)
		return pfs_plot_escape(buf, size, site->func);
	snprintf(buf, size, site->addr ? "0x%" PRIx64 : "not known", site->addr);
	return buf;
}

/* Without the folder of the program. */
static const char *short_command(const char *command)
{
	size_t len = strcspn(command, " ");

	while (len && command[len - 1] != '/')
		len--;
	return command + len;
}

static void write_title(struct alive *a)
{
	const struct pfs_plot_style *style = a->picture.style;
	const char *command = pfs_objects_command(a->series->objects);
	char name[PFS_PLOT_TEXT_MAX], fit[80], bytes[32], time[32];

	if (style->title) {
		pfs_plot_escape(a->title, sizeof(a->title), style->title);
		return;
	}
	pfs_plot_escape(name, sizeof(name), command ? short_command(command) : style->file ? style->file : "");
	pfs_fit_head(fit, sizeof(fit), name, 36, "…");
	snprintf(a->title, sizeof(a->title), "%s%slive kernel objects, peak %s byte%s after %s", fit, *fit ? ": " : "",
		 pfs_grouped_text(bytes, a->series->peak), a->series->peak == 1 ? "" : "s",
		 pfs_duration_text(time, a->series->peak_ns - a->stats->first_ns, 3));
}

static void write_summary(struct alive *a)
{
	char objects[64], processes[64], time[32], alive[32], bytes[32];

	snprintf(a->summary, sizeof(a->summary),
		 "%s allocated by %s in %s; %s alive at the end, %s byte%s as the allocator gave them",
		 pfs_plural(objects, sizeof(objects), a->stats->allocs, "object"),
		 pfs_plural(processes, sizeof(processes), a->stats->nr_processes, "process"),
		 pfs_duration_text(time, a->stats->last_ns - a->stats->first_ns, 3),
		 pfs_grouped_text(alive, a->series->nr_alive), pfs_grouped_text(bytes, a->series->bytes),
		 a->series->bytes == 1 ? "" : "s");
}

/* "f+0x1, g+0x2, 1 other": those that may leak, or "". Returns buf. */
static const char *leaks_text(const struct alive *a, char buf[PFS_PLOT_TEXT_MAX / 2])
{
	char name[PFS_PLOT_TEXT_MAX], fit[80];
	size_t size = PFS_PLOT_TEXT_MAX / 2, len = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < a->nr; i++) {
		if (!a->leaks[i])
			continue;
		pfs_fit_head(fit, sizeof(fit), name_of(a, i, name, sizeof(name)), 40, "…");
		len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "", fit);
	}
	if (a->others_leak)
		snprintf(buf + len, size - len, "%s%" PRIu32 " other%s", len ? ", " : "", a->others_leak,
			 a->others_leak == 1 ? "" : "s");
	return buf;
}

static void write_notes(struct alive *a)
{
	char count[32], lost[32], leaks[PFS_PLOT_TEXT_MAX / 2];
	int len = 0;

	if (*leaks_text(a, leaks))
		len = snprintf(a->notes, sizeof(a->notes), "live objects only grew (a leak?) at %s\n", leaks);
	if (a->stats->unseen)
		len += snprintf(
			a->notes + len, sizeof(a->notes) - len,
			"%s freed without an event: counted as alive until their addresses were allocated again\n",
			pfs_grouped_text(count, a->stats->unseen));
	pfs_grouped_text(lost, a->stats->lost);
	if (a->stats->lost || a->stats->lost_unknown)
		snprintf(a->notes + len, sizeof(a->notes) - len,
			 "%s%s events lost: objects may be missing, or freed but counted as alive\n",
			 a->stats->lost && a->stats->lost_unknown ? "at least " : "", a->stats->lost ? lost : "some");
}

/* ---- plan ---- */

/* A power of two, so that there are about TICKS of them. */
static void plan_axis(struct alive *a)
{
	uint64_t peak = a->series->peak;

	for (a->tick = 1; a->tick < peak / TICKS + (peak % TICKS > 0) && a->tick < UINT64_C(1) << 60;)
		a->tick *= 2;
	a->most = (peak / a->tick + (peak % a->tick > 0)) * a->tick;
}

static void mark_leaks(struct alive *a)
{
	const struct pfs_tally_table *sites = &a->tally->by[PFS_TALLY_SITE];

	for (size_t row = 0; row < sites->nr; row++) {
		bool leaks = pfs_tally_leaks(&sites->rows[row]), drawn = false;

		for (uint32_t i = 0; leaks && i < a->nr; i++)
			if (sites->rows[row].nr == a->sites[i])
				drawn = a->leaks[i] = true;
		a->others_leak += leaks && !drawn;
	}
}

static int plan_sites(struct alive *a)
{
	const struct pfs_series *s = a->series;
	uint32_t *sites = calloc(s->nr_sites + 1, sizeof(*sites));
	int nr = sites ? pfs_series_top(s, sites, s->nr_sites) : -ENOMEM;

	if (nr >= 0) {
		a->nr = nr < PFS_PLOT_AREAS ? nr : PFS_PLOT_AREAS;
		a->nr_others = nr - a->nr;
		memcpy(a->sites, sites, a->nr * sizeof(*sites));
		mark_leaks(a);
	}
	free(sites);
	return nr < 0 ? nr : 0;
}

static double draw_notes(const struct alive *a, double y)
{
	const struct pfs_plot_picture *p = &a->picture;
	char copy[PFS_PLOT_TEXT_MAX], *rest = copy, *line;

	snprintf(copy, sizeof(copy), "%s", a->notes);
	while ((line = strsep(&rest, "\n")) && *line)
		y = pen_lines(p, MARGIN, y, NOTE_LINE, 11, p->width - 2 * MARGIN, p->theme->note, line);
	return y;
}

static int plan(struct pfs_plot_picture *p)
{
	struct alive *a = (struct alive *)p;

	p->width = WIDTH;
	p->left = LEFT;
	p->right = WIDTH - BESIDE;
	p->first = HEAD;
	p->last = HEAD + AREAS;
	a->bottom = p->last + AXIS + NOTE_LINE;
	p->total = ceil(draw_notes(a, a->bottom)) - NOTE_LINE + MARGIN;
	a->span_ns = a->stats->last_ns > a->series->start_ns ? a->stats->last_ns - a->series->start_ns : 1;
	plan_axis(a);
	return 0;
}

/* ---- the areas ---- */

static double x_of(const struct alive *a, uint64_t ts_ns)
{
	const struct pfs_plot_picture *p = &a->picture;
	double at = (double)(ts_ns - a->series->start_ns) / a->span_ns;

	return p->left + (p->right - p->left) * (at < 1 ? at : 1);
}

static double y_of(const struct alive *a, uint64_t bytes)
{
	return a->picture.last - AREAS * (double)bytes / a->most;
}

static double column_x(const struct alive *a, unsigned int column)
{
	return x_of(a, a->series->start_ns + column * a->series->column_ns);
}

/* Of the column, up to the upper edge of the area. */
static uint64_t bytes_below(const struct alive *a, const struct pfs_series_column *column, uint32_t area)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i <= area; i++)
		bytes += bytes_of(a, column, i);
	return bytes;
}

/* The upper edge of the area, from left to right. */
static void edge(const struct alive *a, uint32_t area)
{
	const struct pfs_plot_picture *p = &a->picture;
	double last = p->last;

	for (unsigned int i = 0; i < a->series->nr; i++) {
		double y = y_of(a, bytes_below(a, &a->series->columns[i], area));

		if (!i || y != last)
			(i ? p->cairo->line_to : p->cairo->move_to)(p->on, column_x(a, i), y);
		p->cairo->line_to(p->on, column_x(a, i + 1), y);
		last = y;
	}
}

/* Each hides the lower part of the one above. */
static void draw_areas(const struct alive *a)
{
	const struct pfs_plot_picture *p = &a->picture;

	for (uint32_t area = nr_areas(a); area-- > 0;) {
		edge(a, area);
		p->cairo->line_to(p->on, p->right, p->last);
		p->cairo->line_to(p->on, p->left, p->last);
		pen_fill(p, color_of(a, area));
		edge(a, area);
		pen_stroke(p, 1, p->theme->chart);
	}
}

/* How high the area is at the lowest within the width of a label around the column; -1: it would stick out. */
static double room_for_label(const struct alive *a, uint32_t area, unsigned int column, double *low, double *high)
{
	double left = column_x(a, column) - LABEL / 2.0, right = left + LABEL;

	*low = a->picture.last;
	*high = a->picture.first;
	if (left < a->picture.left || right > a->picture.right)
		return -1;
	for (unsigned int i = column; i > 0 && column_x(a, i) > left; i--)
		column = i - 1;
	for (; column < a->series->nr && column_x(a, column) < right; column++) {
		uint64_t below = bytes_below(a, &a->series->columns[column], area);

		*high = fmax(*high, y_of(a, below));
		*low = fmin(*low, y_of(a, below - bytes_of(a, &a->series->columns[column], area)));
	}
	return *low - *high;
}

/* The number that the area has in the table, where it is highest. */
static void draw_label(const struct alive *a, uint32_t area)
{
	const struct pfs_plot_picture *p = &a->picture;
	double most = LABEL - 2, low, high, x = 0, y = 0;
	char number[16];

	for (unsigned int i = 0; i < a->series->nr; i++) {
		double room = room_for_label(a, area, i, &low, &high);

		if (room > most) {
			most = room;
			x = column_x(a, i);
			y = (low + high) / 2;
		}
	}
	if (!x)
		return;
	snprintf(number, sizeof(number), "%" PRIu32, area + 1);
	pen_point(p, x, y, LABEL, PFS_PLOT_DISC, p->theme->ground, 1);
	pen_text(p, x, y + 3.5, 10, PEN_CENTER, LABEL, p->theme->ink, number);
}

static void draw_peak(const struct alive *a)
{
	const struct pfs_plot_picture *p = &a->picture;
	double x = x_of(a, a->series->peak_ns), y = y_of(a, a->series->peak);
	bool left = x > (p->left + p->right) / 2;
	char bytes[8], text[32];

	snprintf(text, sizeof(text), "peak %s", size_text(bytes, a->series->peak));
	pen_point(p, x, y - 6, 9, PFS_PLOT_DOWN, p->theme->ink, 1);
	pen_text(p, left ? x - 9 : x + 9, fmax(y - 3, p->first - 5), 11, left ? PEN_RIGHT : PEN_LEFT, 200,
		 p->theme->ink, text);
}

/* ---- axes ---- */

/* Exact, in the unit of the ticks, which are powers of two. */
static void draw_bytes_axis(const struct alive *a)
{
	const struct pfs_plot_picture *p = &a->picture;
	unsigned int unit = a->tick < 1024 ? 0 : (63 - __builtin_clzll(a->tick)) / 10;
	char text[32];

	pen_box(p, p->left, p->first, p->right - p->left, AREAS, p->theme->chart, 1);
	for (uint64_t bytes = 0; bytes <= a->most; bytes += a->tick) {
		double y = y_of(a, bytes);

		snprintf(text, sizeof(text), "%" PRIu64 "%.*s", bytes >> 10 * unit, bytes && unit ? 1 : 0,
			 &" KMGTPE"[unit]);
		pen_line(p, p->left, y, p->right, y, bytes ? p->theme->line : p->theme->rule);
		pen_text(p, p->left - 6, y + 4, 11, PEN_RIGHT, LEFT, p->theme->ink, text);
	}
	pen_text(p, p->left - 6, p->first - 12, 11, PEN_RIGHT, LEFT, p->theme->dim, "bytes");
}

static void draw_time_axis(const struct alive *a)
{
	static const struct pfs_plot_unit units[] = {
		{ "s", PFS_NS_PER_S }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }
	};
	const struct pfs_plot_picture *p = &a->picture;
	uint64_t tick = pfs_plot_tick(a->span_ns, (p->right - p->left) / 60);
	const struct pfs_plot_unit *unit = units;
	double room = p->right - p->left, digits = 0, name;
	char text[48];

	while (unit->ns > 1 && tick < unit->ns / 10)
		unit++;
	if (tick < unit->ns)
		digits = 1;
	snprintf(text, sizeof(text), "time (%s)", unit->name);
	name = pen_width(p, 11, text);
	pen_text(p, p->right, p->last + 17, 11, PEN_RIGHT, room, p->theme->ink, text);
	for (uint64_t at = 0; at <= a->span_ns; at += tick) {
		double x = x_of(a, a->series->start_ns + at);

		snprintf(text, sizeof(text), "%.*f", (int)digits, (double)at / unit->ns);
		pen_line(p, x, p->last, x, p->last + 5, p->theme->dim);
		if (x + pen_width(p, 11, text) / 2 + 8 < p->right - name)
			pen_text(p, x, p->last + 17, 11, PEN_CENTER, 200, p->theme->ink, text);
	}
}

/* ---- the table ---- */

static void put_row(const struct alive *a, double y, const char *number, const char *name, const char *peak,
		    const char *end, const char *color)
{
	const struct pfs_plot_picture *p = &a->picture;
	double left = p->right + 24, right = p->width - MARGIN;

	pen_text(p, left + 28, y, 11, PEN_RIGHT, 12, color, number);
	pen_text(p, left + 34, y, 11, PEN_LEFT, right - 2 * COLUMN - left - 34, color, name);
	pen_text(p, right - COLUMN, y, 11, PEN_RIGHT, COLUMN - 6, color, peak);
	pen_text(p, right, y, 11, PEN_RIGHT, COLUMN - 6, color, end);
}

static void draw_table(const struct alive *a)
{
	const struct pfs_series_column *highest = pfs_series_highest(a->series);
	const struct pfs_plot_picture *p = &a->picture;
	double y = HEAD + 8, left = p->right + 24;
	char name[PFS_PLOT_TEXT_MAX], number[16], peak[8], end[8];

	put_row(a, y, "", "allocated by", "at peak", "at end", p->theme->dim);
	for (uint32_t area = 0; area < nr_areas(a); area++) {
		y += LINE;
		pen_box(p, left, y - 10, 12, 12, color_of(a, area), 1);
		snprintf(number, sizeof(number), "%" PRIu32, area + 1);
		put_row(a, y, area < a->nr ? number : "", name_of(a, area, name, sizeof(name)),
			size_text(peak, bytes_of(a, highest, area)), size_text(end, bytes_at_end(a, area)),
			area < a->nr && a->leaks[area] ? p->theme->note : p->theme->ink);
	}
	y += LINE;
	pen_line(p, left, y - 14, p->width - MARGIN, y - 14, p->theme->line);
	put_row(a, y, "", "all", size_text(peak, a->series->peak), size_text(end, a->series->bytes), p->theme->ink);
}

/* ---- the picture ---- */

static int draw(const struct pfs_plot_picture *p, struct pfs_err *err)
{
	const struct alive *a = alive_of(p);
	cairo_status_t status;

	pen_box(p, 0, 0, p->width, p->total, p->theme->ground, 1);
	pen_text(p, MARGIN, 26, 16, PEN_BOLD, p->width - 2 * MARGIN, p->theme->ink, a->title);
	pen_text(p, MARGIN, 46, 12, PEN_LEFT, p->width - 2 * MARGIN, p->theme->ink, a->summary);
	draw_bytes_axis(a);
	draw_areas(a);
	for (uint32_t area = 0; area < a->nr; area++)
		draw_label(a, area);
	draw_peak(a);
	draw_time_axis(a);
	draw_table(a);
	draw_notes(a, a->bottom);
	status = p->cairo->status(p->on);
	return status ? pfs_err_set(err, status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO, "cairo cannot draw: %s",
				    p->cairo->status_to_string(status))
		      : 0;
}

static void put_columns(const struct alive *a, struct pfs_json *json)
{
	pfs_json_begin(json, "columns", "[");
	for (unsigned int i = 0; i < a->series->nr; i++) {
		const struct pfs_series_column *column = &a->series->columns[i];

		pfs_json_begin(json, NULL, "[");
		pfs_json_i64(json, NULL, column->ts_ns - a->stats->first_ns);
		pfs_json_u64(json, NULL, column->bytes);
		for (uint32_t area = 0; area < nr_areas(a); area++)
			pfs_json_u64(json, NULL, bytes_of(a, column, area));
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
}

/* All that is drawn; a column: its moment (nanoseconds since the first event), the sum, each area. */
static void put_numbers(const struct pfs_plot_picture *p, struct pfs_json *json)
{
	const struct alive *a = alive_of(p);
	char text[PFS_PLOT_TEXT_MAX];

	pfs_json_begin(json, NULL, "{");
	pfs_json_u64(json, "peak_bytes", a->series->peak);
	pfs_json_u64(json, "peak_ns", a->series->peak_ns - a->stats->first_ns);
	pfs_json_u64(json, "alive_bytes", a->series->bytes);
	pfs_json_u64(json, "alive", a->series->nr_alive);
	pfs_json_u64(json, "column_ns", a->series->column_ns);
	pfs_json_begin(json, "areas", "[");
	for (uint32_t area = 0; area < nr_areas(a); area++) {
		pfs_json_begin(json, NULL, "[");
		pfs_json_string(json, NULL, name_of(a, area, text, sizeof(text)));
		pfs_json_u64(json, NULL, bytes_at_end(a, area));
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	put_columns(a, json);
	pfs_json_end(json, "}");
}

int pfs_plot_write_alive(const struct pfs_series *series, const struct pfs_tally *tally,
			 const struct pfs_plot_style *style, enum pfs_plot_format format, FILE *out,
			 struct pfs_err *err)
{
	struct pfs_cairo cairo;
	struct alive a = {
		.picture = { .style = style,
			     .cairo = &cairo,
			     .theme = style->theme ?: &pfs_plot_themes[PFS_PLOT_LIGHT] },
		.series = series,
		.tally = tally,
		.stats = pfs_objects_stats(series->objects),
	};
	char described[2 * PFS_PLOT_TEXT_MAX];
	const struct pfs_plot_content content = { a.title, described, draw, put_numbers };
	int ret = series->peak ? pfs_plot_cairo_load(&cairo, err)
			       : pfs_err_set(err, -ENODATA, "no kernel objects to plot");

	if (ret)
		return ret;
	ret = plan_sites(&a);
	write_title(&a);
	write_summary(&a);
	write_notes(&a);
	snprintf(described, sizeof(described), "%s\n%s", a.summary, a.notes);
	ret = ret ?: pfs_plot_surface_plan(&a.picture, format, plan);
	return ret ? pfs_err_set(err, ret, "no memory for the plot")
		   : pfs_plot_surface_write(&a.picture, &content, format, out, err);
}
