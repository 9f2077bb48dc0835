/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bars, one character a page: each region on as many lines as it takes, each line starting with the
 * address of its first page. Several untouched lines are folded into one, and so are very many
 * pages with the same glyph.
 *
 *     7f5d58600000-7f5d58626000 r--p 12/38 pages  /usr/lib/x86_64-linux-gnu/libc.so.6
 *       7f5d58600000 |RRRR++++........
 */
#include "view/bars_priv.h"
#include "base/escape.h"

#include <inttypes.h>
#include <string.h>

/* That many untouched lines, or pages with the same glyph, are folded. */
enum { FOLD_LINES = 3, MANY_ALIKE = 1 << 16 };

/* Where the drawing of one row has come to. */
struct lines {
	struct pfs_bars *bars;
	const struct pfs_row *row;
	uint64_t nr_pages, next; /* page indices: all of them, and the next to draw */
	unsigned int per_line;
};

static void start_line(struct lines *l)
{
	pfs_pen_lift(&l->bars->pen);
	fprintf(l->bars->options->out, "  %08" PRIx64 " |", l->row->start + (l->next << l->bars->model->page_shift));
}

static void end_line(struct lines *l)
{
	pfs_pen_lift(&l->bars->pen);
	fputs("|\n", l->bars->options->out);
}

static void put_page(struct lines *l, const struct pfs_cell *cell)
{
	if (l->next % l->per_line == 0)
		start_line(l);
	if (cell)
		pfs_pen_cell(&l->bars->pen, cell, 1);
	else
		pfs_pen_untouched(&l->bars->pen, 1);
	l->next++;
	if (l->next % l->per_line == 0 || l->next == l->nr_pages)
		end_line(l);
}

static void put_fold(struct lines *l, uint64_t nr_lines, const char *what)
{
	uint64_t pages = nr_lines * l->per_line;

	if (pages > l->nr_pages - l->next)
		pages = l->nr_pages - l->next;
	fprintf(l->bars->options->out, "  ~ %" PRIu64 " %s ~\n", pages, what);
	l->next += pages;
}

/* Pages up to `index` are untouched. */
static void put_gap(struct lines *l, uint64_t index)
{
	uint64_t whole;

	while (l->next < index && l->next % l->per_line)
		put_page(l, NULL);
	whole = (index - l->next) / l->per_line;
	if (index == l->nr_pages) /* the last line may be short */
		whole = (index - l->next + l->per_line - 1) / l->per_line;
	if (whole >= FOLD_LINES)
		put_fold(l, whole, l->bars->pen.unobserved ? "pages that were not observed" : "untouched pages");
	while (l->next < index)
		put_page(l, NULL);
}

/* The next pages, which all have the same glyph. */
static void put_alike(struct lines *l, const struct pfs_cell *cell, uint64_t nr)
{
	uint64_t whole;

	for (; nr && (nr < MANY_ALIKE || l->next % l->per_line); nr--)
		put_page(l, cell);
	whole = nr / l->per_line;
	if (!whole)
		return;
	for (unsigned int i = 0; i < l->per_line; i++) /* one line to look at */
		put_page(l, cell);
	put_fold(l, whole - 1, "more pages like these");
	for (nr %= l->per_line; nr; nr--)
		put_page(l, cell);
}

static void put_pages(struct lines *l)
{
	const struct pfs_row *row = l->row;
	unsigned int shift = l->bars->model->page_shift;
	struct pfs_cell cell = { { 0 } }, next;
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t nr, nr_alike = 0;

	if (row->pages)
		pfs_page_walk_start(&at, row->pages, row->start, row->end);
	while (row->pages && (page = pfs_page_walk_row(&at, &nr))) {
		uint64_t index = (at.addr - row->start) >> shift;

		next = (struct pfs_cell){ { 0 } };
		pfs_cell_add(&next, page->flags, 1);
		if (index != l->next + nr_alike || memcmp(&next, &cell, sizeof(cell))) {
			put_alike(l, &cell, nr_alike);
			put_gap(l, index);
			cell = next;
			nr_alike = 0;
		}
		nr_alike += nr;
	}
	put_alike(l, &cell, nr_alike);
	put_gap(l, l->nr_pages);
}

static void put_row(struct pfs_bars *bars, const struct pfs_row *row)
{
	unsigned int room = bars->width > 40 ? bars->width - 17 : 24;
	struct lines l = {
		.bars = bars, .row = row, .per_line = room / 16 * 16, .nr_pages = pfs_row_pages(row, bars->model)
	};
	char range[40], perms[5] = "    ", name[PFS_LABEL_MAX], fitted[1024];
	int used;

	pfs_range_text(range, row->start, row->end);
	if (row->region)
		pfs_perms_text(perms, row->region);
	used = fprintf(bars->options->out, "%c%s %s %" PRIu64 "/%" PRIu64 " pages  ", row->gone ? '-' : ' ', range,
		       perms, row->tally.touched, l.nr_pages);
	pfs_fit_tail(fitted, sizeof(fitted), pfs_label(row, name, sizeof(name)),
		     (int)bars->width > used + 16 ? bars->width - used : 16, "..");
	fprintf(bars->options->out, "%s%s%s\n", pfs_color_on(bars->options->color, "\033[1m"), fitted,
		pfs_color_off(bars->options->color));
	pfs_bars_row_lost(bars, row);
	bars->pen.unobserved = row->unobserved;
	put_pages(&l);
	bars->pen.unobserved = false;
}

static void put_rows(struct pfs_bars *bars, const struct pfs_rows *rows)
{
	for (unsigned int i = 0; i < rows->nr; i++)
		put_row(bars, &rows->row[i]);
}

int pfs_bars_full_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	return pfs_bars_frame(model, options, put_rows, err);
}
