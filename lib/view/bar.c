/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planning and drawing of one bar: see bars_priv.h. Both walk the touched pages only, never the untouched
 * ones, so that the cost does not depend on how large a region is.
 */
#include "view/bars_priv.h"

#include <inttypes.h>
#include <string.h>

enum {
	FOLD_FROM_PAGES = 1024, /* smaller rows are folded only if wholly untouched */
	FOLD_CELLS = 16,	/* and no shorter stretches than that */
};

/* A walk over a bar, cell by cell, that draws it or only counts its columns. */
struct bar_walk {
	const struct pfs_bar *bar;
	struct pfs_pen *pen;	 /* NULL: counts */
	uint64_t next;		 /* index of the first cell that is not passed yet */
	uint64_t columns, limit; /* the walk ends when there are more */
};

static uint64_t cells_of(const struct pfs_bar *bar)
{
	return (bar->nr_pages - 1) / bar->cell_pages + 1;
}

static bool count(struct bar_walk *walk, uint64_t columns)
{
	walk->columns += columns;
	return walk->columns <= walk->limit;
}

/* Cells up to `index` are untouched. */
static bool pass_gap(struct bar_walk *walk, uint64_t index)
{
	const struct pfs_bar *bar = walk->bar;
	uint64_t nr_cells = index - walk->next, from = walk->next * bar->cell_pages, to, nr_pages = 0;
	char number[8];

	walk->next = index;
	if (bar->fold == PFS_FOLD_NONE || nr_cells < FOLD_CELLS) {
		if (walk->pen)
			pfs_pen_untouched(walk->pen, nr_cells);
		return count(walk, nr_cells);
	}
	to = index == cells_of(bar) ? bar->nr_pages : index * bar->cell_pages;
	if (bar->fold == PFS_FOLD_NUMBERED)
		nr_pages = to - from;
	if (walk->pen)
		pfs_pen_fold(walk->pen, nr_pages);
	return count(walk, nr_pages ? 2 + strlen(pfs_short_number(number, nr_pages)) : 1);
}

static bool pass_cell(struct bar_walk *walk, uint64_t index, const struct pfs_cell *cell)
{
	const struct pfs_bar *bar = walk->bar;
	uint64_t left = bar->nr_pages - index * bar->cell_pages;

	if (!pass_gap(walk, index))
		return false;
	walk->next = index + 1;
	if (walk->pen)
		pfs_pen_cell(walk->pen, cell, left < bar->cell_pages ? left : bar->cell_pages);
	return count(walk, 1);
}

/* Address behind the cell; of the last one, behind the bar. */
static uint64_t cell_end(const struct pfs_bar *bar, uint64_t index)
{
	uint64_t page = (index + 1) * bar->cell_pages;

	return bar->start + ((page < bar->nr_pages ? page : bar->nr_pages) << bar->page_shift);
}

/* All cells up to the last in which anything happened. */
static bool walk_cells(struct bar_walk *walk)
{
	const struct pfs_bar *bar = walk->bar;
	uint64_t current = UINT64_MAX, limit = cell_end(bar, 0);
	struct pfs_cell cell = { 0 };
	struct pfs_page_walk at;
	uint32_t flags;
	uint64_t nr;

	pfs_page_walk_start(&at, bar->pages, bar->start, bar->start + (bar->nr_pages << bar->page_shift));
	while (pfs_page_walk_flags(&at, limit, &flags, &nr)) {
		if (current == UINT64_MAX || at.addr - bar->start >= limit - bar->start) {
			if (current != UINT64_MAX && !pass_cell(walk, current, &cell))
				return false;
			memset(&cell, 0, sizeof(cell));
			current = ((at.addr - bar->start) >> bar->page_shift) / bar->cell_pages;
			limit = cell_end(bar, current);
		}
		pfs_cell_add(&cell, flags, nr);
	}
	return current == UINT64_MAX || pass_cell(walk, current, &cell);
}

/* False: it takes more than walk->limit columns. */
static bool walk_bar(struct bar_walk *walk)
{
	return (!walk->bar->pages || walk_cells(walk)) && pass_gap(walk, cells_of(walk->bar));
}

static bool fits(const struct pfs_bar *bar, unsigned int columns)
{
	char buf[8];
	struct bar_walk walk = { .bar = bar, .limit = columns - strlen(pfs_bar_scale_text(buf, bar)) };

	return bar->fold == PFS_FOLD_NONE ? cells_of(bar) <= walk.limit : walk_bar(&walk);
}

/* 1, 2, 3, 4, 6, 8, 12, 16, ... */
static uint64_t next_size(uint64_t pages)
{
	if (pages == 1)
		return 2;
	return pages & (pages - 1) ? pages / 3 * 4 : pages / 2 * 3;
}

struct pfs_bar pfs_bar_plan(const struct pfs_row *row, const struct pfs_model *model, unsigned int columns)
{
	struct pfs_bar bar = { .pages = row->pages,
			       .start = row->start,
			       .nr_pages = pfs_row_pages(row, model),
			       .page_shift = model->page_shift,
			       .cell_pages = 1 };
	bool may_fold = !row->tally.seen || bar.nr_pages >= FOLD_FROM_PAGES;

	/* The touched pages alone take that many cells. */
	while (row->tally.seen / bar.cell_pages > columns)
		bar.cell_pages = next_size(bar.cell_pages);
	for (;; bar.cell_pages = next_size(bar.cell_pages)) {
		enum pfs_fold last = may_fold ? PFS_FOLD_PLAIN : PFS_FOLD_NONE;

		for (bar.fold = PFS_FOLD_NONE; bar.fold <= last; bar.fold++)
			if (fits(&bar, columns))
				return bar;
	}
}

void pfs_bar_draw(const struct pfs_bar *bar, struct pfs_pen *pen)
{
	struct bar_walk walk = { .bar = bar, .pen = pen, .limit = UINT64_MAX };

	walk_bar(&walk);
	pfs_pen_lift(pen);
	pen->scale_used |= bar->cell_pages > 1;
}

const char *pfs_bar_scale_text(char buf[8], const struct pfs_bar *bar)
{
	static const char units[] = " KMGTPE";
	uint64_t pages = bar->cell_pages;
	unsigned int unit = 0;

	if (pages == 1)
		return "";
	for (; pages % 1024 == 0; unit++)
		pages /= 1024;
	snprintf(buf, 8, "x%u%.*s", (unsigned int)pages, !!unit, &units[unit]);
	return buf;
}

void pfs_put_row_bar(FILE *out, const struct pfs_row *row, const struct pfs_model *model, unsigned int columns,
		     bool color)
{
	struct pfs_pen pen = { .out = out, .color = color, .unobserved = row->unobserved };
	struct pfs_bar bar = pfs_bar_plan(row, model, columns - 2);
	struct bar_walk walk = { .bar = &bar, .limit = UINT64_MAX };
	char scale[8];

	walk_bar(&walk);
	fputc('|', out);
	pfs_bar_draw(&bar, &pen);
	fprintf(out, "|%-*s", (int)(columns - 2 - walk.columns), pfs_bar_scale_text(scale, &bar));
}
