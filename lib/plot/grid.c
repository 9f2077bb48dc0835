/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cells into rows and columns: see plot.h.
 */
#include "plot/plot.h"

#include "base/array.h"
#include "classes/classes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const pfs_plot_by_names[PFS_PLOT_BYS] = { "heat", "access", "class", "thread", "fault-class" };
const char *const pfs_plot_access_texts[4] = { "touched, access unknown", "read", "written", "executed" };
const char *const pfs_plot_class_texts[4] = { "not known to be major", "minor", "major: read from disk",
					      "ended in a signal" };

/* ---- colours ---- */

/* The busiest threads have colours of their own. */
static void choose_threads(struct pfs_plot_grid *grid, const struct pfs_plot_data *data)
{
	for (uint32_t i = 0; i < data->nr_threads; i++) {
		uint32_t at = grid->nr_threads;

		if (!data->threads[i].count)
			continue;
		grid->nr_threads += at < PFS_PLOT_OTHERS;
		for (; at && data->threads[grid->threads[at - 1]].count < data->threads[i].count; at--)
			if (at < PFS_PLOT_OTHERS)
				grid->threads[at] = grid->threads[at - 1];
		if (at < PFS_PLOT_OTHERS)
			grid->threads[at] = i;
	}
}

/* So have the classes with the most faults. */
static void choose_labels(struct pfs_plot_grid *grid, const struct pfs_plot_data *data)
{
	uint64_t counts[1 << 5] = { 0 };

	for (size_t i = 0; i < data->cells.nr; i++)
		if (!data->cells.cells[i].kind.sampled)
			counts[data->cells.cells[i].kind.label] += data->cells.cells[i].count;
	while (grid->nr_labels < PFS_PLOT_OTHERS) {
		unsigned int best = 0;

		for (unsigned int label = 1; label < 1 << 5; label++)
			if (counts[label] > counts[best])
				best = label;
		if (!counts[best])
			break;
		counts[best] = 0;
		grid->labels[grid->nr_labels++] = best;
	}
}

uint32_t pfs_plot_label_color(const struct pfs_plot_grid *grid, unsigned int label)
{
	const uint8_t *found = memchr(grid->labels, label, grid->nr_labels);

	return found ? found - grid->labels : PFS_PLOT_OTHERS;
}

const char *pfs_plot_label_text(unsigned int label)
{
	return label && label <= PFS_NR_CLASSES ? pfs_class_names[label - 1] : "class not known";
}

uint32_t pfs_plot_thread_color(const struct pfs_plot_grid *grid, uint32_t thread)
{
	uint32_t color = 0;

	while (color < grid->nr_threads && grid->threads[color] != thread)
		color++;
	return color < grid->nr_threads ? color : PFS_PLOT_OTHERS;
}

static uint32_t color_of(const struct pfs_plot_grid *grid, const struct pfs_plot_cell *cell)
{
	if (cell->kind.sampled)
		return PFS_PLOT_SAMPLED;
	switch (grid->by) {
	case PFS_PLOT_BY_ACCESS:
		return cell->kind.access;
	case PFS_PLOT_BY_CLASS:
		return cell->kind.signal ? 3 : cell->kind.class;
	case PFS_PLOT_BY_THREAD:
		return pfs_plot_thread_color(grid, cell->thread);
	case PFS_PLOT_BY_FAULT_CLASS:
		return pfs_plot_label_color(grid, cell->kind.label);
	default:
		return 0;
	}
}

const char *pfs_plot_thread_text(const struct pfs_plot *plot, uint32_t nr, char *buf, size_t size)
{
	const struct pfs_plot_thread *thread = &plot->data->threads[nr];
	char comm[256];

	pfs_plot_escape(comm, sizeof(comm), thread->comm ? thread->comm : "?");
	if (thread->tid)
		snprintf(buf, size, "%s%s %" PRId32, pfs_plot_side_text(plot->data, thread->side), comm, thread->tid);
	else
		snprintf(buf, size, "threads beyond the first %d", PFS_PLOT_MAX_THREADS - 1);
	return buf;
}

const char *pfs_plot_color_text(const struct pfs_plot *plot, const struct pfs_plot_grid *grid, uint32_t color,
				char *buf, size_t size)
{
	static const char *const faults[] = { "faults" };
	static const char *const *const texts[] = {
		[PFS_PLOT_BY_NOTHING] = faults,
		[PFS_PLOT_BY_ACCESS] = pfs_plot_access_texts,
		[PFS_PLOT_BY_CLASS] = pfs_plot_class_texts,
	};

	if (!grid->by_color[color])
		return NULL;
	if (color == PFS_PLOT_SAMPLED || color == PFS_PLOT_OTHERS)
		snprintf(buf, size, "%s",
			 color == PFS_PLOT_SAMPLED	  ? "sampled accesses (not faults)"
			 : grid->by == PFS_PLOT_BY_THREAD ? "other threads"
							  : "other classes");
	else if (grid->by == PFS_PLOT_BY_FAULT_CLASS)
		snprintf(buf, size, "%s", pfs_plot_label_text(grid->labels[color]));
	else if (grid->by == PFS_PLOT_BY_THREAD)
		pfs_plot_thread_text(plot, grid->threads[color], buf, size);
	else
		snprintf(buf, size, "%s", texts[grid->by][color]);
	return buf;
}

/* ---- spots ---- */

enum pfs_plot_mark pfs_plot_mark(struct pfs_plot_kind kind)
{
	return kind.signal ? PFS_PLOT_SIGNAL : kind.class == PFS_MAJOR_CLASS ? PFS_PLOT_MAJOR : PFS_PLOT_PLAIN;
}

static bool same_place(const struct pfs_plot_spot *x, const struct pfs_plot_spot *y)
{
	return x->band == y->band && x->row == y->row && x->column == y->column;
}

static int compare_spots(const void *a, const void *b)
{
	const struct pfs_plot_spot *x = a, *y = b;

	return pfs_order(x->band, y->band) ?: pfs_order(x->row, y->row) ?: pfs_order(x->column, y->column)
		?: pfs_order(x->color, y->color) ?: pfs_order(x->mark, y->mark);
}

/* What came from several cells becomes one spot; of spots in one place the one with the highest count is the last. */
static void merge_spots(struct pfs_plot_grid *grid)
{
	struct pfs_plot_spot *spots = grid->spots;
	uint32_t kept = 0;

	qsort(spots, grid->nr_spots, sizeof(*spots), compare_spots);
	for (uint32_t i = 0, at; i < grid->nr_spots; i++) {
		struct pfs_plot_spot spot = spots[i];

		for (; i + 1 < grid->nr_spots && !compare_spots(&spot, &spots[i + 1]); i++)
			spot.count += spots[i + 1].count;
		for (at = kept++; at && same_place(&spots[at - 1], &spot) && spots[at - 1].count > spot.count; at--)
			spots[at] = spots[at - 1];
		spots[at] = spot;
	}
	grid->nr_spots = kept;
}

/* The most faults in one place, whatever their colours, and in one column. */
static void find_most(struct pfs_plot_grid *grid, uint32_t nr_sides)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < grid->nr_spots; i++) {
		const struct pfs_plot_spot *spot = &grid->spots[i];

		if (!i || !same_place(spot, spot - 1))
			sum = 0;
		if (spot->color == PFS_PLOT_SAMPLED) {
			grid->most_sampled = spot->count > grid->most_sampled ? spot->count : grid->most_sampled;
			continue;
		}
		sum += spot->count;
		grid->most = sum > grid->most ? sum : grid->most;
	}
	for (uint32_t side = 0; side < nr_sides; side++)
		for (uint32_t i = 0; i < grid->columns; i++) {
			if (grid->faults[side][i] > grid->most_faults)
				grid->most_faults = grid->faults[side][i];
			if (grid->resident[side][i] > grid->most_resident)
				grid->most_resident = grid->resident[side][i];
		}
}

static int fill(struct pfs_plot_grid *grid, const struct pfs_plot *plot, const uint32_t *rows)
{
	const struct pfs_plot_cells *cells = &plot->data->cells;
	const struct pfs_plot_segment *segment = plot->segments;

	grid->spots = malloc((cells->nr + 1) * sizeof(*grid->spots));
	if (!grid->spots)
		return -ENOMEM;
	for (size_t i = 0; i < cells->nr; i++) {
		const struct pfs_plot_cell *cell = &cells->cells[i];
		struct pfs_plot_spot *spot = &grid->spots[grid->nr_spots++];
		uint32_t nr_rows;

		segment = pfs_plot_find(segment, cell);
		nr_rows = rows ? rows[segment->band] : 1;
		*spot = (struct pfs_plot_spot){
			.band = segment->band,
			.row = pfs_plot_place(segment, cell) * nr_rows,
			.count = cell->count,
			.color = color_of(grid, cell),
			.mark = pfs_plot_mark(cell->kind),
			.column = (cell->bin - cells->first_bin) / grid->bins,
		};
		if (spot->row >= nr_rows)
			spot->row = nr_rows - 1;
		grid->by_color[spot->color] += spot->count;
		grid->by_mark[spot->mark] += spot->count;
		if (spot->color != PFS_PLOT_SAMPLED)
			grid->faults[plot->bands[segment->band].side][spot->column] += spot->count;
	}
	return 0;
}

int pfs_plot_grid_make(struct pfs_plot_grid *grid, const struct pfs_plot *plot, uint32_t max_columns,
		       const uint32_t *rows, enum pfs_plot_by by)
{
	int ret = 0;

	*grid = (struct pfs_plot_grid){ .by = by };
	grid->bins = (plot->nr_bins + max_columns - 1) / max_columns;
	grid->columns = (plot->nr_bins + grid->bins - 1) / grid->bins;
	grid->column_ns = grid->bins < UINT64_MAX >> plot->data->cells.time_shift
				  ? grid->bins << plot->data->cells.time_shift
				  : UINT64_MAX;
	choose_threads(grid, plot->data);
	choose_labels(grid, plot->data);
	for (uint32_t side = 0; !ret && side < plot->data->nr_sides; side++) {
		grid->faults[side] = calloc(grid->columns, sizeof(**grid->faults));
		grid->resident[side] = calloc(grid->columns, sizeof(**grid->resident));
		ret = grid->faults[side] && grid->resident[side]
			      ? pfs_plot_resident(plot, side, grid->columns, grid->bins, grid->resident[side])
			      : -ENOMEM;
	}
	if (!ret)
		ret = fill(grid, plot, rows);
	if (ret) {
		pfs_plot_grid_fini(grid);
		return ret;
	}
	if (grid->nr_spots)
		merge_spots(grid);
	find_most(grid, plot->data->nr_sides);
	return 0;
}

void pfs_plot_grid_fini(struct pfs_plot_grid *grid)
{
	free(grid->spots);
	for (unsigned int side = 0; side < 2; side++) {
		free(grid->faults[side]);
		free(grid->resident[side]);
	}
	*grid = (struct pfs_plot_grid){ 0 };
}

/* ---- for programs ---- */

void pfs_plot_write_summary(const struct pfs_plot *plot, const struct pfs_plot_grid *grid, struct pfs_json *json,
			    const char *key)
{
	uint64_t faults = 0, sampled = 0;
	char text[PFS_PLOT_TEXT_MAX];

	for (uint32_t i = 0; i < grid->nr_spots; i++)
		*(grid->spots[i].color == PFS_PLOT_SAMPLED ? &sampled : &faults) += grid->spots[i].count;
	pfs_json_begin(json, key, "{");
	pfs_json_u64(json, "faults", plot->data->faults);
	pfs_json_u64(json, "sampled", plot->data->sampled);
	pfs_json_u64(json, "outside", plot->data->outside);
	pfs_json_u64(json, "timeless", plot->data->timeless);
	pfs_json_u64(json, "drawn", faults);
	pfs_json_u64(json, "drawn_sampled", sampled);
	pfs_json_begin(json, "colors", "{");
	for (uint32_t i = 0; i < PFS_PLOT_COLORS; i++) {
		if (!pfs_plot_color_text(plot, grid, i, text, sizeof(text)))
			continue;
		pfs_json_key(json, text);
		pfs_json_u64(json, NULL, grid->by_color[i]);
	}
	pfs_json_end(json, "}");
	pfs_json_begin(json, "bands", "[");
	for (uint32_t i = 0; i < plot->nr_bands; i++) {
		pfs_json_begin(json, NULL, "[");
		pfs_json_string(json, NULL, plot->blocks[plot->bands[i].block].label);
		pfs_json_string(json, NULL, plot->bands[i].label);
		pfs_json_u64(json, NULL, plot->bands[i].faults + plot->bands[i].sampled);
		pfs_json_end(json, "]");
	}
	pfs_json_end(json, "]");
	pfs_json_end(json, "}");
}
