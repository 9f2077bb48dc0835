/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two recordings in one plot: see plot/data.h. Processes and regions are matched by compare/counterpart.h. What the second
 * one has moves to the addresses of its counterpart in the first, so layout, grid and all formats see one recording with
 * two sides. A region without a counterpart moves as far as the one below it, which keeps the order of both.
 */
#include "plot/data_priv.h"

#include "base/array.h"
#include "model/space.h"
#include "compare/counterpart.h"

#include <errno.h>
#include <stdlib.h>

/* A region at any time. */
struct row {
	uint32_t image;	  /* in the joined data; until number_images() in that of its side */
	size_t line;	  /* of the match of images */
	const char *name; /* of its group */
	bool nameless;
	uint64_t start, end, born_ns;
	bool used;	    /* or still there at the end */
	uint64_t shift;	    /* of the second recording: to the counterpart, or as far as a neighbour */
	uint64_t other_end; /* of the second recording: of the counterpart; 0: there is none */
	bool matched, shifted;
	struct pfs_match_item item;
};

struct rows {
	struct row *all;
	size_t nr, max;
};

struct join {
	struct pfs_plot_data *data, *other;
	struct pfs_match images, regions;
	uint32_t first;		 /* number of the other recording's first image in the joined data */
	struct pfs_intern *pool; /* of keys */
	struct rows rows[2];
};

/* ---- processes and regions of a side ---- */

static bool next_image(struct pfs_epochs *walk)
{
	while (pfs_epochs_next(walk))
		if (!walk->epoch->shared)
			return true;
	return false;
}

static int add_rows(struct join *j, int side, const struct pfs_epochs *at, size_t line)
{
	struct pfs_rows rows;
	uint32_t image;
	int ret = plot_image_number(side ? j->other : j->data, at->epoch->space, &image) ?: pfs_rows_collect(&rows, at);

	if (ret)
		return ret;
	for (unsigned int i = 0; !ret && i < rows.nr; i++) {
		const struct pfs_region *region = rows.row[i].region;
		const char *name = region ? pfs_region_name(at->epoch->space, region) : NULL, *kind;
		struct row *row;

		if (!region)
			continue;
		row = pfs_array_add(j->rows[side].all, j->rows[side].nr, j->rows[side].max);
		if (!row) {
			ret = -ENOMEM;
			continue;
		}
		kind = pfs_region_kind(region, name);
		*row = (struct row){
			.image = image,
			.line = line,
			.name = kind ? kind : name,
			.nameless = kind,
			.start = rows.row[i].start,
			.end = rows.row[i].end,
			.born_ns = region->born_ns,
			.used = rows.row[i].tally.seen || !rows.row[i].gone,
		};
		ret = pfs_row_keys(&row->item, at, &rows, i, line, &j->pool);
	}
	pfs_rows_free(&rows);
	return ret;
}

static int match_images(struct join *j, struct pfs_epochs walk, struct pfs_match_item **items)
{
	size_t nr = 0, max = 0;

	while (next_image(&walk)) {
		struct pfs_match_item *item = pfs_array_add(*items, nr, max);

		if (!item || pfs_image_keys(item, &walk, nr == 1, &j->pool))
			return -ENOMEM;
	}
	return nr ? pfs_match_add(&j->images, *items, nr) : 0;
}

/* In order of mapping, in which regions that are alike are matched. */
static int compare_births(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return pfs_order(x->line, y->line) ?: pfs_order(x->born_ns, y->born_ns) ?: pfs_order(x->start, y->start);
}

static int match_rows(struct join *j, int side)
{
	struct rows *rows = &j->rows[side];
	struct pfs_match_item *items = calloc(rows->nr + 1, sizeof(*items));
	int ret = items ? 0 : -ENOMEM;

	if (!ret && rows->nr)
		qsort(rows->all, rows->nr, sizeof(*rows->all), compare_births);
	for (size_t i = 0; !ret && i < rows->nr; i++)
		items[i] = rows->all[i].item;
	if (!ret)
		ret = pfs_match_add(&j->regions, items, rows->nr);
	for (size_t i = 0; !ret && i < rows->nr; i++)
		rows->all[i].item.line = items[i].line;
	free(items);
	return ret;
}

static int add_side(struct join *j, int side)
{
	const struct pfs_plot_data *data = side ? j->other : j->data;
	struct pfs_epochs walk = { .model = data->model, .filter = data->filter };
	struct pfs_match_item *items = NULL;
	int ret = match_images(j, walk, &items);

	for (size_t i = 0; !ret && next_image(&walk); i++)
		ret = add_rows(j, side, &walk, items[i].line);
	free(items);
	return ret ?: match_rows(j, side);
}

/* The other recording's images come behind those of the first. */
static int number_images(struct join *j)
{
	struct pfs_plot_data *data = j->data;

	j->first = data->nr_images;
	for (uint32_t i = 0; i < j->other->nr_images; i++) {
		struct pfs_plot_image *image = pfs_array_add(data->images, data->nr_images, data->max_images);

		if (!image)
			return -ENOMEM;
		*image = j->other->images[i];
		image->side = 1;
	}
	for (size_t i = 0; i < j->rows[1].nr; i++)
		j->rows[1].all[i].image += j->first;
	return 0;
}

/* ---- counterparts ---- */

static int compare_places(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return pfs_order(x->image, y->image) ?: pfs_order(x->start, y->start) ?: pfs_order(x->born_ns, y->born_ns);
}

/* Sorts the second side's rows by address. */
static void shift_unmatched(struct rows *rows)
{
	if (rows->nr)
		qsort(rows->all, rows->nr, sizeof(*rows->all), compare_places);
	for (size_t i = 1; i < rows->nr; i++)
		if (!rows->all[i].shifted && rows->all[i].image == rows->all[i - 1].image) {
			rows->all[i].shift = rows->all[i - 1].shift;
			rows->all[i].shifted = rows->all[i - 1].shifted;
		}
	for (size_t i = rows->nr; i-- > 1;)
		if (!rows->all[i - 1].shifted && rows->all[i].image == rows->all[i - 1].image) {
			rows->all[i - 1].shift = rows->all[i].shift;
			rows->all[i - 1].shifted = rows->all[i].shifted;
		}
}

/* Regions of the second recording without a counterpart have groups of their own: the name is another copy. */
static int group_of_row(struct join *j, const struct row *row, uint32_t *nr)
{
	const char *name = row->matched ? row->name : pfs_intern(&j->data->priv->names, row->name);
	int ret = name ? plot_group_number(j->data, row->image, name, nr) : -ENOMEM;

	if (!ret)
		j->data->groups[*nr].nameless = row->nameless;
	return ret;
}

/* The groups and images of two counterparts are counterparts, too; the first that are found. */
static int pair(struct join *j, struct row *mine, struct row *theirs)
{
	struct pfs_plot_group *groups;
	struct pfs_plot_image *images = j->data->images;
	uint32_t a, b;
	int ret;

	theirs->shift = mine->start - theirs->start;
	theirs->other_end = mine->used ? mine->end : 0;
	theirs->matched = theirs->shifted = mine->matched = true;
	ret = group_of_row(j, mine, &a) ?: group_of_row(j, theirs, &b);
	groups = j->data->groups;
	if (ret || !mine->used)
		return ret;
	if (groups[a].pair == PFS_PLOT_NO_PAIR && groups[b].pair == PFS_PLOT_NO_PAIR) {
		groups[a].pair = b;
		groups[b].pair = a;
	}
	if (images[mine->image].pair == PFS_PLOT_NO_PAIR && images[theirs->image].pair == PFS_PLOT_NO_PAIR) {
		images[mine->image].pair = theirs->image;
		images[theirs->image].pair = mine->image;
	}
	return plot_group_reach(&groups[a], mine->start, mine->end);
}

static int find_pairs(struct join *j)
{
	size_t *of_line = malloc((j->regions.nr + 1) * sizeof(*of_line));
	int ret = of_line ? 0 : -ENOMEM;

	for (size_t i = 0; of_line && i < j->regions.nr; i++)
		of_line[i] = PFS_MATCH_NONE;
	for (size_t i = 0; of_line && i < j->rows[0].nr; i++)
		of_line[j->rows[0].all[i].item.line] = i;
	for (size_t i = 0; !ret && i < j->rows[1].nr; i++) {
		struct row *row = &j->rows[1].all[i];

		if (of_line[row->item.line] != PFS_MATCH_NONE)
			ret = pair(j, &j->rows[0].all[of_line[row->item.line]], row);
	}
	free(of_line);
	return ret;
}

/* Behind those before it, as far as they overlap. */
static int add_range(struct pfs_plot_group *group, struct pfs_plot_range range)
{
	struct pfs_plot_range *last = group->nr_ranges ? &group->ranges[group->nr_ranges - 1] : NULL;

	if (last && last->shift == range.shift && range.start <= last->end) {
		last->end = range.end - 1 > last->end - 1 ? range.end : last->end;
		return 0;
	}
	if (last && range.start < last->end)
		range.start = last->end;
	if (range.start >= range.end || group->nr_ranges == PFS_PLOT_MAX_RANGES)
		return 0;
	last = pfs_array_add(group->ranges, group->nr_ranges, group->max_ranges);
	if (!last)
		return -ENOMEM;
	*last = range;
	return 0;
}

static int compare_shifted(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return pfs_order(x->start + x->shift, y->start + y->shift);
}

static int add_ranges(struct join *j)
{
	struct rows *rows = &j->rows[1];
	int ret = 0;

	if (rows->nr)
		qsort(rows->all, rows->nr, sizeof(*rows->all), compare_shifted);
	for (size_t i = 0; !ret && i < rows->nr; i++) {
		const struct row *row = &rows->all[i];
		uint32_t nr;

		if (!row->used)
			continue;
		ret = group_of_row(j, row, &nr);
		if (!ret)
			ret = add_range(&j->data->groups[nr], (struct pfs_plot_range){ .start = row->start + row->shift,
										       .end = row->end + row->shift,
										       .shift = row->shift });
	}
	return ret;
}

/* Extends the range that ends at `end`, if nothing is there. */
static void stretch(struct pfs_plot_group *group, uint64_t end, uint64_t to)
{
	for (uint32_t i = 0; i < group->nr_ranges; i++) {
		struct pfs_plot_range *range = &group->ranges[i];

		if (range->end != end || (i + 1 < group->nr_ranges && range[1].start < to))
			continue;
		range->grown = to - end;
		range->end = to;
	}
}

/* Both of two counterparts are as long as the longer one, so that they have one scale. */
static int stretch_pairs(struct join *j)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < j->rows[1].nr; i++) {
		const struct row *row = &j->rows[1].all[i];
		uint64_t end = row->end + row->shift;
		uint32_t nr, pair;

		if (!row->used || !row->other_end || row->other_end == end)
			continue;
		ret = group_of_row(j, row, &nr);
		pair = ret ? PFS_PLOT_NO_PAIR : j->data->groups[nr].pair;
		if (pair == PFS_PLOT_NO_PAIR)
			continue;
		if (end < row->other_end)
			stretch(&j->data->groups[nr], end, row->other_end);
		else
			stretch(&j->data->groups[pair], row->other_end, end);
	}
	return ret;
}

/* ---- touches ---- */

/* Numbers of the second recording's groups, threads and sites in the joined data. */
struct numbers {
	uint32_t *groups, *threads, *sites;
};

/* The range in which that address was; or NULL. */
static const struct pfs_plot_range *range_of(const struct pfs_plot_group *group, uint64_t addr)
{
	for (uint32_t i = 0; i < group->nr_ranges; i++) {
		const struct pfs_plot_range *range = &group->ranges[i];

		if (addr + range->shift - range->start < range->end - range->start)
			return range;
	}
	return NULL;
}

uint64_t pfs_plot_shift_of(const struct pfs_plot_group *group, uint64_t addr)
{
	const struct pfs_plot_range *range = range_of(group, addr);

	return range ? range->shift : 0;
}

/* The group of regions of that name without a counterpart. */
static int find_lone(struct join *j, uint32_t nr)
{
	const char *name = pfs_intern(&j->data->priv->names, j->data->groups[nr].name);
	uint32_t lone;
	int ret = name ? plot_group_number(j->data, j->data->groups[nr].image, name, &lone) : -ENOMEM;

	if (ret)
		return ret;
	j->data->groups[lone].nameless = j->data->groups[nr].nameless;
	j->data->groups[nr].lone = lone;
	return 0;
}

uint32_t pfs_plot_group_at(const struct pfs_plot_data *data, uint32_t nr, uint64_t addr)
{
	uint32_t lone = data->groups[nr].lone;

	return lone != PFS_PLOT_NO_PAIR && !range_of(&data->groups[nr], addr) && range_of(&data->groups[lone], addr)
		       ? lone
		       : nr;
}

static int number_groups(struct join *j, struct numbers *n)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < j->other->nr_groups; i++) {
		const struct pfs_plot_group *group = &j->other->groups[i];

		ret = plot_group_number(j->data, j->first + group->image, group->name, &n->groups[i]);
		if (ret)
			break;
		j->data->groups[n->groups[i]].unknown = group->unknown;
		j->data->groups[n->groups[i]].nameless = group->nameless;
		ret = find_lone(j, n->groups[i]);
	}
	return ret;
}

static int number_threads(struct join *j, struct numbers *n)
{
	struct pfs_plot_data *data = j->data;

	for (uint32_t i = 0; i < j->other->nr_threads; i++) {
		struct pfs_plot_thread *thread = pfs_array_add(data->threads, data->nr_threads, data->max_threads);

		if (!thread)
			return -ENOMEM;
		*thread = j->other->threads[i];
		thread->side = 1;
		n->threads[i] = data->nr_threads - 1;
	}
	for (uint32_t i = 1; i < j->other->nr_sites; i++) {
		struct pfs_plot_site *site = pfs_array_add(data->sites, data->nr_sites, data->max_sites);

		if (!site)
			return -ENOMEM;
		*site = j->other->sites[i];
		n->sites[i] = data->nr_sites - 1;
	}
	return 0;
}

/* The time counts from the start of the first recording. */
static uint64_t shifted(uint64_t ns, uint64_t from, uint64_t to)
{
	return ns >= from || to > from - ns ? ns - from + to : 0;
}

static int add_cells(struct join *j, const struct numbers *n)
{
	const struct pfs_plot_cells *from = &j->other->cells;
	unsigned int page_shift = j->other->model->page_shift;
	uint64_t base = pfs_model_base_ns(j->other->model), to = pfs_model_base_ns(j->data->model);
	int ret = 0;

	if (from->any)
		ret = pfs_plot_cells_reach(&j->data->cells, shifted(from->first_bin << from->time_shift, base, to))
			      ?: pfs_plot_cells_reach(
					 &j->data->cells,
					 shifted(((from->last_bin + 1) << from->time_shift) - 1, base, to));
	for (size_t i = 0; !ret && i < from->nr_used; i++) {
		struct pfs_plot_cell cell = from->cells[i];
		uint64_t addr = cell.page << from->page_shift << page_shift, shift;

		if (!cell.count)
			continue;
		cell.group = pfs_plot_group_at(j->data, n->groups[cell.group], cell.addr);
		shift = pfs_plot_shift_of(&j->data->groups[cell.group], cell.addr);
		cell.page = (addr + shift) >> page_shift;
		cell.addr += shift;
		cell.ts_ns = shifted(cell.ts_ns, base, to);
		cell.thread = n->threads[cell.thread];
		cell.site = n->sites[cell.site];
		ret = pfs_plot_cells_add(&j->data->cells, &cell);
	}
	pfs_plot_cells_fini(&j->other->cells);
	return ret;
}

static int add_touches(struct join *j)
{
	struct pfs_plot_data *data = j->data, *other = j->other;
	struct numbers n = {
		calloc(other->nr_groups + 1, sizeof(*n.groups)),
		calloc(other->nr_threads + 1, sizeof(*n.threads)),
		calloc(other->nr_sites + 1, sizeof(*n.sites)),
	};
	int ret = n.groups && n.threads && n.sites ? 0 : -ENOMEM;

	if (!ret)
		ret = pfs_plot_cells_coarsen(&data->cells, other->cells.time_shift, other->cells.page_shift)
			      ?: number_groups(j, &n)
			      ?: number_threads(j, &n)
			      ?: add_cells(j, &n);
	free(n.groups);
	free(n.threads);
	free(n.sites);
	return ret;
}

/* ---- all of it ---- */

static struct pfs_plot_side side_of(const struct pfs_plot_data *data, uint64_t shift_ns)
{
	const struct pfs_plot_cells *cells = &data->cells;

	return (struct pfs_plot_side){
		.model = data->model,
		.shift_ns = shift_ns,
		.span_ns = cells->any ? (cells->last_bin + 1 - cells->first_bin) << cells->time_shift : 0,
		.faults = data->faults,
		.sampled = data->sampled,
		.outside = data->outside,
		.timeless = data->timeless,
		.left_out = data->left_out,
	};
}

int pfs_plot_data_join(struct pfs_plot_data *data, struct pfs_plot_data *other)
{
	struct join j = { .data = data, .other = other };
	uint64_t shift_ns = pfs_model_base_ns(data->model) - pfs_model_base_ns(other->model);
	int ret;

	if (data->model->page_shift != other->model->page_shift)
		return -EINVAL;
	data->side[0] = side_of(data, 0);
	data->side[1] = side_of(other, shift_ns);
	data->nr_sides = 2;
	ret = add_side(&j, 0) ?: add_side(&j, 1) ?: number_images(&j) ?: find_pairs(&j);
	if (!ret) {
		shift_unmatched(&j.rows[1]);
		ret = add_ranges(&j) ?: stretch_pairs(&j) ?: add_touches(&j);
	}
	data->faults += other->faults;
	data->sampled += other->sampled;
	data->outside += other->outside;
	data->timeless += other->timeless;
	data->left_out += other->left_out;
	free(j.rows[0].all);
	free(j.rows[1].all);
	pfs_match_fini(&j.images);
	pfs_match_fini(&j.regions);
	pfs_intern_free(j.pool);
	return ret;
}
