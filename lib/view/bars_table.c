/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bars as a table: one row a region, its columns aligned over the epoch, the bar as wide as the width leaves. The form by
 * address, whose surroundings are bars_frame.c's, has the address range of each region; the default form (bars.c) has not.
 *
 *     55d0c8e02000-55d0c8e07000 r-xp     2/5 /usr/bin/cat  |X+++X|
 */
#include "view/bars_priv.h"
#include "base/escape.h"

#include <string.h>

/* Addresses of the kernel's half (the [vsyscall] page) are wider; one such row widens no table. */
enum { MAX_RANGE = 25 };

/* Widths of the columns of one epoch's table. */
struct columns {
	unsigned int range, count, name, bar; /* range 0: none */
	bool base_names;		      /* file names only: the paths do not fit */
};

static void count_text(char buf[24], const struct pfs_row *row, const struct pfs_model *model)
{
	char touched[8], pages[8];

	snprintf(buf, 24, "%s/%s", pfs_short_number(touched, row->tally.touched),
		 pfs_short_number(pages, pfs_row_pages(row, model)));
}

static void widen(unsigned int *width, unsigned int to)
{
	if (*width < to)
		*width = to;
}

/* With ranges a label need not tell which region of its kind it is. */
static const char *label(const struct pfs_bars *bars, const struct pfs_row *row, char buf[PFS_LABEL_MAX])
{
	return (bars->ranges ? pfs_label : pfs_label_place)(row, buf, PFS_LABEL_MAX);
}

static struct columns measure(const struct pfs_bars *bars, const struct pfs_rows *rows)
{
	unsigned int limit = bars->ranges ? bars->width / 5 : bars->width * 3 / 10, base = 4, used;
	struct columns c = { .range = bars->ranges ? 17 : 0, .count = 7, .name = 4 };
	char text[PFS_LABEL_MAX];

	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct pfs_row *row = &rows->row[i];

		pfs_range_text(text, row->start, row->end);
		if (bars->ranges && strlen(text) <= MAX_RANGE)
			widen(&c.range, strlen(text));
		count_text(text, row, bars->model);
		widen(&c.count, strlen(text));
		label(bars, row, text);
		widen(&c.name, pfs_columns(text));
		widen(&base, pfs_columns(pfs_label_base(text)));
		if (!row->region)
			widen(&limit, pfs_columns(text));
	}
	c.base_names = c.name > limit;
	if (c.base_names)
		c.name = base < limit ? base : limit;
	used = 1 + c.range + bars->ranges + 4 + 1 + c.count + 1 + c.name + 1 + 2;
	c.bar = bars->width > used + 8 ? bars->width - used : 8;
	return c;
}

static void put_heading(const struct pfs_bars *bars, const struct columns *c)
{
	fprintf(bars->options->out, "%s %-*s%sperm %*s name%s\n", pfs_color_on(bars->options->color, "\033[2m"),
		(int)c->range, bars->ranges ? "address range" : "", bars->ranges ? " " : "", (int)c->count, "touched",
		pfs_color_off(bars->options->color));
}

static void put_row(struct pfs_bars *bars, const struct pfs_row *row, const struct columns *c)
{
	struct pfs_bar bar = pfs_bar_plan(row, bars->model, c->bar);
	char range[40] = "", perms[5] = "    ", count[24], room[PFS_LABEL_MAX], scale[8];
	const char *name = label(bars, row, room);
	FILE *out = bars->options->out;
	bool faint = bars->options->color && (row->gone || !row->tally.seen);
	unsigned int excess;

	if (bars->ranges)
		pfs_range_text(range, row->start, row->end);
	excess = strlen(range) > c->range ? strlen(range) - c->range : 0;
	if (row->region)
		pfs_perms_text(perms, row->region);
	count_text(count, row, bars->model);
	fprintf(out, "%s%c%-*s%s%s %*s ", pfs_color_on(faint, "\033[2m"), row->gone ? '-' : ' ', (int)c->range, range,
		bars->ranges ? " " : "", perms, (int)c->count, count);
	pfs_put_fitted(out, c->base_names ? pfs_label_base(name) : name, c->name - excess, !c->base_names);
	fprintf(out, "%s |", pfs_color_off(faint));
	bars->pen.unobserved = row->unobserved;
	pfs_bar_draw(&bar, &bars->pen);
	bars->pen.unobserved = false;
	fprintf(out, "|%s\n", pfs_bar_scale_text(scale, &bar));
	pfs_bars_row_lost(bars, row);
}

void pfs_bars_table(struct pfs_bars *bars, const struct pfs_rows *rows)
{
	struct columns c = measure(bars, rows);

	if (rows->nr)
		put_heading(bars, &c);
	for (unsigned int i = 0; i < rows->nr; i++)
		put_row(bars, &rows->row[i], &c);
}

static void put_rows(struct pfs_bars *bars, const struct pfs_rows *rows)
{
	bars->ranges = true;
	pfs_bars_table(bars, rows);
}

int pfs_bars_by_address_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	return pfs_bars_frame(model, options, put_rows, err);
}
