/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of cells: see plot/cells.h. Open addressing; nothing is ever taken out but by making cells larger.
 */
#include "plot/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024

/* No page is larger than 2^24 bytes, no address has more than 64 bits. */
enum { MAX_PAGE_SHIFT = 39, MAX_TIME_SHIFT = 62 };

static unsigned int kind_bits(struct pfs_plot_kind kind)
{
	return kind.access | kind.class << 2 | kind.signal << 4 | kind.sampled << 5;
}

static size_t slot_of(const struct pfs_plot_cells *cells, const struct pfs_plot_cell *c)
{
	uint64_t key = c->page * UINT64_C(0x9e3779b97f4a7c15);

	key = (key ^ c->bin ^ (uint64_t)c->group << 32) * UINT64_C(0xbf58476d1ce4e5b9);
	key = (key ^ key >> 29 ^ kind_bits(c->kind) ^ (uint64_t)c->thread << 8) * UINT64_C(0x94d049bb133111eb);
	return (key ^ key >> 32) & (cells->nr_slots - 1);
}

static bool is_same(const struct pfs_plot_cell *a, const struct pfs_plot_cell *b)
{
	return a->page == b->page && a->bin == b->bin && a->group == b->group && a->thread == b->thread &&
	       kind_bits(a->kind) == kind_bits(b->kind);
}

/* Its slot, or the free one where it belongs. There is always a free one. */
static struct pfs_plot_cell *look_up(const struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	size_t at = slot_of(cells, what);

	while (cells->slots[at].count && !is_same(&cells->slots[at], what))
		at = (at + 1) & (cells->nr_slots - 1);
	return &cells->slots[at];
}

static void put(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	struct pfs_plot_cell *cell = look_up(cells, what);
	uint64_t count = cell->count;

	if (!count) {
		*cell = *what;
		cells->nr++;
		return;
	}
	if (what->ts_ns < cell->ts_ns) {
		cell->ts_ns = what->ts_ns;
		cell->addr = what->addr;
		cell->site = what->site;
	}
	cell->count += what->count;
}

/* The same cells in a new table, with so much more time and so many more pages in each. */
static int rebuild(struct pfs_plot_cells *cells, size_t nr_slots, unsigned int time, unsigned int pages)
{
	struct pfs_plot_cells new = *cells;

	new.slots = calloc(nr_slots, sizeof(*new.slots));
	if (!new.slots)
		return -ENOMEM;
	new.nr_slots = nr_slots;
	new.nr = 0;
	new.time_shift += time;
	new.page_shift += pages;
	new.first_bin >>= time;
	new.last_bin >>= time;
	for (size_t i = 0; i < cells->nr_slots; i++) {
		struct pfs_plot_cell cell = cells->slots[i];

		if (!cell.count)
			continue;
		cell.bin >>= time;
		cell.page >>= pages;
		put(&new, &cell);
	}
	free(cells->slots);
	*cells = new;
	return 0;
}

/* Larger in whichever way costs the picture least. 1: they cannot be any larger; 0 or -ENOMEM. */
static int coarsen(struct pfs_plot_cells *cells)
{
	uint64_t bins = cells->last_bin - cells->first_bin + 1;

	if (bins > PFS_PLOT_MIN_BINS)
		return rebuild(cells, cells->nr_slots, 1, 0);
	if (cells->page_shift < MAX_PAGE_SHIFT)
		return rebuild(cells, cells->nr_slots, 0, 1);
	return cells->time_shift < MAX_TIME_SHIFT ? rebuild(cells, cells->nr_slots, 1, 0) : 1;
}

int pfs_plot_cells_shrink(struct pfs_plot_cells *cells, size_t max)
{
	int ret = 0;

	while (!ret && cells->nr > max)
		ret = coarsen(cells);
	return ret < 0 ? ret : 0;
}

static int make_room(struct pfs_plot_cells *cells)
{
	int ret = 0;

	if (cells->max && cells->nr >= cells->max)
		ret = pfs_plot_cells_shrink(cells, cells->max / 4 * 3);
	if (!ret && cells->nr >= cells->nr_slots / 4 * 3)
		ret = rebuild(cells, cells->nr_slots ? 2 * cells->nr_slots : FIRST_SLOTS, 0, 0);
	return ret;
}

int pfs_plot_cells_reach(struct pfs_plot_cells *cells, uint64_t ts_ns)
{
	uint64_t bin;

	if (!cells->any)
		cells->first_bin = cells->last_bin = ts_ns >> cells->time_shift;
	cells->any = true;
	while ((bin = ts_ns >> cells->time_shift) > cells->first_bin + PFS_PLOT_MAX_BINS - 1 ||
	       bin + PFS_PLOT_MAX_BINS - 1 < cells->last_bin) {
		int ret = rebuild(cells, cells->nr_slots ? cells->nr_slots : FIRST_SLOTS, 1, 0);

		if (ret)
			return ret;
	}
	if (bin < cells->first_bin)
		cells->first_bin = bin;
	if (bin > cells->last_bin)
		cells->last_bin = bin;
	return 0;
}

/* What is counted at that time and place, by today's size of cells. */
static struct pfs_plot_cell cell_of(const struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	struct pfs_plot_cell cell = *what;

	cell.bin = what->ts_ns >> cells->time_shift;
	cell.page >>= cells->page_shift;
	return cell;
}

int pfs_plot_cells_add(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	struct pfs_plot_cell cell;
	int ret = pfs_plot_cells_reach(cells, what->ts_ns);

	if (!ret)
		ret = make_room(cells);
	if (ret)
		return ret;
	cell = cell_of(cells, what);
	put(cells, &cell);
	return 0;
}

/* A cell that has lost its last touch: those behind it may belong where it was. */
static void take_out(struct pfs_plot_cells *cells, struct pfs_plot_cell *cell)
{
	size_t at = cell - cells->slots, mask = cells->nr_slots - 1;

	cells->nr--;
	cell->count = 0;
	for (at = (at + 1) & mask; cells->slots[at].count; at = (at + 1) & mask) {
		struct pfs_plot_cell moved = cells->slots[at];

		cells->slots[at].count = 0;
		*look_up(cells, &moved) = moved;
	}
}

bool pfs_plot_cells_remove(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	struct pfs_plot_cell key = cell_of(cells, what), *cell = cells->nr_slots ? look_up(cells, &key) : NULL;

	if (!cell || !cell->count)
		return false;
	if (!--cell->count)
		take_out(cells, cell);
	return true;
}

void pfs_plot_cells_fini(struct pfs_plot_cells *cells)
{
	free(cells->slots);
	*cells = (struct pfs_plot_cells){ 0 };
}
