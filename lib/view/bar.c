/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Planning and drawing of one bar: see bar.h. Both walk the touched pages only, never the untouched
 * ones, so that the cost does not depend on how large a region is.
 */
#include "view/bar.h"

#include <inttypes.h>
#include <string.h>

enum {
	FOLD_FROM_PAGES = 1024, /* smaller rows are folded only if wholly untouched */
	FOLD_CELLS = 16,	/* and no shorter stretches than that */
};

/* What a walk over a bar meets, in order. Each returns false to end the walk. */
struct bar_ops {
	bool (*cell)(void *ctx, const struct pfs_cell *cell, uint64_t nr_pages);
	bool (*gap)(void *ctx, uint64_t nr_cells);
	bool (*fold)(void *ctx, uint64_t nr_pages);
};

struct bar_walk {
	const struct pfs_bar *bar;
	const struct bar_ops *ops;
	void *ctx;
	uint64_t next; /* index of the first cell that is not written yet */
};

static uint64_t cells_of(const struct pfs_bar *bar)
{
	return (bar->nr_pages - 1) / bar->cell_pages + 1;
}

/* Cells up to `index` are untouched. */
static bool pass_gap(struct bar_walk *walk, uint64_t index)
{
	const struct pfs_bar *bar = walk->bar;
	uint64_t nr_cells = index - walk->next, from = walk->next * bar->cell_pages, to;

	walk->next = index;
	if (!nr_cells)
		return true;
	if (bar->fold == PFS_FOLD_NONE || nr_cells < FOLD_CELLS)
		return walk->ops->gap(walk->ctx, nr_cells);
	to = index == cells_of(bar) ? bar->nr_pages : index * bar->cell_pages;
	return walk->ops->fold(walk->ctx, to - from);
}

static bool pass_cell(struct bar_walk *walk, uint64_t index, const struct pfs_cell *cell)
{
	const struct pfs_bar *bar = walk->bar;
	uint64_t left = bar->nr_pages - index * bar->cell_pages;

	if (!pass_gap(walk, index))
		return false;
	walk->next = index + 1;
	return walk->ops->cell(walk->ctx, cell, left < bar->cell_pages ? left : bar->cell_pages);
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

static void walk_bar(const struct pfs_bar *bar, const struct bar_ops *ops, void *ctx)
{
	struct bar_walk walk = { .bar = bar, .ops = ops, .ctx = ctx };

	if (!bar->pages || walk_cells(&walk))
		pass_gap(&walk, cells_of(bar));
}

/* ---- measuring ---- */

struct measure {
	uint64_t columns, limit; /* it ends when it is known not to fit: mostly at once */
	bool numbered;
};

static bool measure_gap(void *ctx, uint64_t nr_cells)
{
	struct measure *measure = ctx;

	measure->columns += nr_cells;
	return measure->columns <= measure->limit;
}

static bool measure_cell(void *ctx, const struct pfs_cell *cell, uint64_t nr_pages)
{
	return measure_gap(ctx, 1);
}

static bool measure_fold(void *ctx, uint64_t nr_pages)
{
	struct measure *measure = ctx;
	char number[8];

	return measure_gap(ctx, measure->numbered ? 2 + strlen(pfs_short_number(number, nr_pages)) : 1);
}

static const struct bar_ops measure_ops = { measure_cell, measure_gap, measure_fold };

static bool fits(const struct pfs_bar *bar, unsigned int columns)
{
	struct measure measure = { .numbered = bar->fold == PFS_FOLD_NUMBERED };
	char buf[8];

	measure.limit = columns - strlen(pfs_bar_scale_text(buf, bar));
	if (bar->fold == PFS_FOLD_NONE)
		return cells_of(bar) <= measure.limit;
	walk_bar(bar, &measure_ops, &measure);
	return measure.columns <= measure.limit;
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

	/* So many touched pages take so many cells at least: no need to try less. */
	while (row->tally.seen / bar.cell_pages > columns)
		bar.cell_pages = next_size(bar.cell_pages);
	for (;; bar.cell_pages = next_size(bar.cell_pages)) {
		enum pfs_fold last = may_fold ? PFS_FOLD_PLAIN : PFS_FOLD_NONE;

		for (bar.fold = PFS_FOLD_NONE; bar.fold <= last; bar.fold++)
			if (fits(&bar, columns))
				return bar;
	}
}

/* ---- drawing ---- */

static bool draw_cell(void *ctx, const struct pfs_cell *cell, uint64_t nr_pages)
{
	pfs_pen_cell(ctx, cell, nr_pages);
	return true;
}

static bool draw_gap(void *ctx, uint64_t nr_cells)
{
	pfs_pen_untouched(ctx, nr_cells);
	return true;
}

static bool draw_fold(void *ctx, uint64_t nr_pages)
{
	pfs_pen_fold(ctx, nr_pages);
	return true;
}

static bool draw_plain_fold(void *ctx, uint64_t nr_pages)
{
	pfs_pen_fold(ctx, 0);
	return true;
}

static const struct bar_ops draw_ops = { draw_cell, draw_gap, draw_fold };
static const struct bar_ops draw_plain_ops = { draw_cell, draw_gap, draw_plain_fold };

void pfs_bar_draw(const struct pfs_bar *bar, struct pfs_pen *pen)
{
	walk_bar(bar, bar->fold == PFS_FOLD_PLAIN ? &draw_plain_ops : &draw_ops, pen);
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
