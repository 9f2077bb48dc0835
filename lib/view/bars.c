/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bars, the default form: one row a region, its columns aligned over the epoch, the bar as wide as
 * the width leaves. What stands around the rows is bars_frame.c's.
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
	unsigned int range, count, name, bar;
	bool base_names; /* file names only: the paths do not fit */
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

static struct columns measure(const struct pfs_bars *bars, const struct pfs_rows *rows)
{
	unsigned int limit = bars->width / 5, base = 4, used;
	struct columns c = { .range = 17, .count = 7, .name = 4 };
	char text[PFS_LABEL_MAX];

	for (unsigned int i = 0; i < rows->nr; i++) {
		const struct pfs_row *row = &rows->row[i];

		pfs_range_text(text, row->start, row->end);
		if (strlen(text) <= MAX_RANGE)
			widen(&c.range, strlen(text));
		count_text(text, row, bars->model);
		widen(&c.count, strlen(text));
		pfs_label(row, text, sizeof(text));
		widen(&c.name, pfs_columns(text));
		widen(&base, pfs_columns(pfs_label_base(text)));
		if (!row->region)
			widen(&limit, pfs_columns(text));
	}
	c.base_names = c.name > limit;
	if (c.base_names)
		c.name = base < limit ? base : limit;
	used = 1 + c.range + 1 + 4 + 1 + c.count + 1 + c.name + 1 + 2;
	c.bar = bars->width > used + 8 ? bars->width - used : 8;
	return c;
}

static void put_heading(const struct pfs_bars *bars, const struct columns *c)
{
	fprintf(bars->options->out, "%s %-*s perm %*s name%s\n", pfs_color_on(bars->options->color, "\033[2m"),
		(int)c->range, "address range", (int)c->count, "touched", pfs_color_off(bars->options->color));
}

static void put_row(struct pfs_bars *bars, const struct pfs_row *row, const struct columns *c)
{
	struct pfs_bar bar = pfs_bar_plan(row, bars->model, c->bar);
	char range[40], perms[5] = "    ", count[24], name[PFS_LABEL_MAX], scale[8];
	const char *label = pfs_label(row, name, sizeof(name));
	FILE *out = bars->options->out;
	bool faint = bars->options->color && (row->gone || !row->tally.seen);
	unsigned int excess;

	pfs_range_text(range, row->start, row->end);
	excess = strlen(range) > c->range ? strlen(range) - c->range : 0;
	if (row->region)
		pfs_perms_text(perms, row->region);
	count_text(count, row, bars->model);
	fprintf(out, "%s%c%-*s %s %*s ", pfs_color_on(faint, "\033[2m"), row->gone ? '-' : ' ', (int)c->range, range,
		perms, (int)c->count, count);
	pfs_put_fitted(out, c->base_names ? pfs_label_base(label) : label, c->name - excess, !c->base_names);
	fprintf(out, "%s |", pfs_color_off(faint));
	bars->pen.unobserved = pfs_row_unobserved(row);
	pfs_bar_draw(&bar, &bars->pen);
	bars->pen.unobserved = false;
	fprintf(out, "|%s\n", pfs_bar_scale_text(scale, &bar));
	pfs_bars_row_lost(bars, row);
}

static void put_rows(struct pfs_bars *bars, const struct pfs_rows *rows)
{
	struct columns c = measure(bars, rows);

	if (rows->nr)
		put_heading(bars, &c);
	for (unsigned int i = 0; i < rows->nr; i++)
		put_row(bars, &rows->row[i], &c);
}

int pfs_bars_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	return pfs_bars_frame(model, options, put_rows, err);
}
