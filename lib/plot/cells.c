/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of cells: see plot/data.h. Cells stand side by side in order of their first touches, which are close in
 * time, and so in the CPU's caches; the index is a small hash table with open addressing.
 */
#include "plot/data.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No page is larger than 2^24 bytes, no address has more than 64 bits. */
enum { FIRST_INDEX = 1024, PAGES_A_LINE = 16, MAX_PAGE_SHIFT = 39, MAX_TIME_SHIFT = 62 };

/* Neighbours are often touched one after another: 16 pages, all else being equal, share a line of the caches. */
static inline size_t hash(const struct pfs_plot_cell *c)
{
	uint64_t key = (c->page / PAGES_A_LINE) * UINT64_C(0x9e3779b97f4a7c15);

	key = (key ^ c->bin ^ (uint64_t)c->group << 32) * UINT64_C(0xbf58476d1ce4e5b9);
	key = (key ^ key >> 29 ^ pfs_plot_kind_bits(c->kind) ^ (uint64_t)c->thread << 8) * UINT64_C(0x94d049bb133111eb);
	return key ^ key >> 32 ^ c->page % PAGES_A_LINE;
}

static inline bool is_same(const struct pfs_plot_cell *a, const struct pfs_plot_cell *b)
{
	return a->page == b->page && a->bin == b->bin && a->group == b->group && a->thread == b->thread &&
	       pfs_plot_kind_bits(a->kind) == pfs_plot_kind_bits(b->kind);
}

/* An entry of the index is the number of a cell plus 1, and above that bits of its hash, which spare a look at others. */
static struct pfs_plot_cell *cell_at(const struct pfs_plot_cells *cells, uint32_t entry)
{
	return &cells->cells[(entry & (cells->nr_index - 1)) - 1];
}

/* Its entry in the index, or the free one for it, with the bits of its hash. There is always a free one. */
static inline uint32_t *look_up(const struct pfs_plot_cells *cells, const struct pfs_plot_cell *what, uint32_t *bits)
{
	size_t key = hash(what), mask = cells->nr_index - 1, at = key & mask;
	uint32_t entry;

	*bits = key >> 32 & ~mask;
	while ((entry = cells->index[at]) && ((entry & ~mask) != *bits || !is_same(cell_at(cells, entry), what)))
		at = (at + PAGES_A_LINE + 1) & mask;
	return &cells->index[at];
}

static void put(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	uint32_t bits = 0, *entry = cells->last && is_same(cell_at(cells, cells->last), what)
					    ? &cells->last
					    : look_up(cells, what, &bits);
	bool is_new = !*entry;
	struct pfs_plot_cell *cell;

	if (is_new)
		*entry = ++cells->nr_used | bits;
	cells->last = *entry;
	cell = cell_at(cells, *entry);
	if (is_new || !cell->count) {
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

/* Room for so many cells: the index has twice as many entries. */
static int reserve(struct pfs_plot_cells *cells, size_t room)
{
	size_t nr_index = cells->nr_index ? cells->nr_index : FIRST_INDEX;
	struct pfs_plot_cell *larger;
	uint32_t *index;

	while (nr_index / 2 < room)
		nr_index *= 2;
	if (nr_index == cells->nr_index)
		return 0;
	larger = realloc(cells->cells, nr_index / 2 * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	cells->cells = larger;
	index = malloc(nr_index * sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(cells->index);
	cells->index = index;
	cells->nr_index = nr_index;
	return 0;
}

/* The same cells without empty ones, with room for so many, each covering 2^time the time and 2^pages the pages. */
static int rebuild(struct pfs_plot_cells *cells, size_t room, unsigned int time, unsigned int pages)
{
	size_t used = cells->nr_used;
	int ret = reserve(cells, room);

	if (ret)
		return ret;
	memset(cells->index, 0, cells->nr_index * sizeof(*cells->index));
	cells->nr = cells->nr_used = cells->last = 0;
	cells->time_shift += time;
	cells->page_shift += pages;
	cells->first_bin >>= time;
	cells->last_bin >>= time;
	for (size_t i = 0; i < used; i++) {
		struct pfs_plot_cell cell = cells->cells[i];

		if (!cell.count)
			continue;
		cell.bin >>= time;
		cell.page >>= pages;
		put(cells, &cell);
	}
	return 0;
}

/* Makes cells larger in the way that costs the picture least. 0, -ENOMEM, or 1: they cannot be larger. */
static int coarsen(struct pfs_plot_cells *cells)
{
	bool many_bins = cells->last_bin - cells->first_bin >= PFS_PLOT_MIN_BINS;

	if (!many_bins && cells->page_shift < MAX_PAGE_SHIFT)
		return rebuild(cells, cells->nr, 0, 1);
	return many_bins || cells->time_shift < MAX_TIME_SHIFT ? rebuild(cells, cells->nr, 1, 0) : 1;
}

int pfs_plot_cells_shrink(struct pfs_plot_cells *cells, size_t max)
{
	int ret = 0;

	while (!ret && cells->nr > max)
		ret = coarsen(cells);
	return ret < 0 ? ret : 0;
}

int pfs_plot_cells_coarsen(struct pfs_plot_cells *cells, unsigned int time_shift, unsigned int page_shift)
{
	unsigned int time = time_shift > cells->time_shift ? time_shift - cells->time_shift : 0;
	unsigned int pages = page_shift > cells->page_shift ? page_shift - cells->page_shift : 0;

	return time || pages ? rebuild(cells, cells->nr, time, pages) : 0;
}

static int make_room(struct pfs_plot_cells *cells)
{
	int ret = 0;

	if (cells->max && cells->nr >= cells->max)
		ret = pfs_plot_cells_shrink(cells, cells->max / 4 * 3);
	if (!ret && cells->nr_used >= cells->nr_index / 2)
		ret = rebuild(cells, cells->nr + cells->nr / 8 + 1, 0, 0);
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
		int ret = rebuild(cells, cells->nr, 1, 0);

		if (ret)
			return ret;
	}
	if (bin < cells->first_bin)
		cells->first_bin = bin;
	if (bin > cells->last_bin)
		cells->last_bin = bin;
	return 0;
}

/* The key of a touch at the present size of cells. */
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

bool pfs_plot_cells_remove(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what)
{
	struct pfs_plot_cell key = cell_of(cells, what), *cell;
	uint32_t bits, entry = cells->nr_index ? *look_up(cells, &key, &bits) : 0;

	cell = entry ? cell_at(cells, entry) : NULL;
	if (!cell || !cell->count)
		return false;
	cells->nr -= !--cell->count;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct pfs_plot_cell *x = a, *y = b;

	return pfs_order(x->group, y->group) ?: pfs_order(x->page, y->page) ?: pfs_order(x->bin, y->bin)
		?: pfs_order(x->thread, y->thread) ?: pfs_order(pfs_plot_kind_bits(x->kind), pfs_plot_kind_bits(y->kind));
}

void pfs_plot_cells_sort(struct pfs_plot_cells *cells)
{
	size_t kept = 0;

	for (size_t i = 0; i < cells->nr_used; i++)
		if (cells->cells[i].count)
			cells->cells[kept++] = cells->cells[i];
	cells->nr_used = kept;
	if (kept)
		qsort(cells->cells, kept, sizeof(*cells->cells), compare);
	free(cells->index); /* which is built anew when more comes */
	cells->index = NULL;
	cells->nr_index = cells->last = 0;
}

void pfs_plot_cells_fini(struct pfs_plot_cells *cells)
{
	free(cells->cells);
	free(cells->index);
	*cells = (struct pfs_plot_cells){ 0 };
}
