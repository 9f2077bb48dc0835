/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a plot: see plot/plot.h. Each of the busiest process images becomes a block. The touched pages of a
 * region, or of several adjacent regions of one name, become a strip; strips become bands in order of address. Where
 * there are too many, adjacent small strips share a band.
 */
#include "plot/plot.h"

#include "base/array.h"
#include "base/escape.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLE_COLUMNS = 60 }; /* of a command line in a label */

enum { MAX_BLOCKS = 8 }; /* the least busy of more images share one more block */

/* A page (or several) with all that happened to it. */
struct leaf {
	uint64_t page, faults, sampled;
	uint32_t group;
};

struct strip {
	uint32_t group, block, side;
	uint32_t ruler;	     /* its group, or the counterpart's */
	uint32_t first, end; /* leaves */
	uint64_t start;	     /* address */
	uint64_t place;	     /* of two recordings: of the whole region */
	uint64_t count;
	bool own;  /* band */
	bool pair; /* it and the next one are counterparts: both have a band of their own, or none */
};

struct layout {
	struct pfs_plot *plot;
	struct leaf *leaves;
	struct strip *strips;
	uint32_t nr_leaves, nr_strips;
	uint32_t *block_of; /* by image */
	uint32_t max_blocks;
};

static const struct pfs_plot_group *group_of(const struct layout *l, uint32_t group)
{
	return &l->plot->data->groups[group];
}

/* The group whose ranges decide where strips end: of two counterparts that of the first recording. */
static uint32_t ruler_of(const struct layout *l, uint32_t group)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint32_t pair = data->groups[group].pair;

	return pair != PFS_PLOT_NO_PAIR && data->images[data->groups[group].image].side ? pair : group;
}

enum { MIN_FOLD = 16 }; /* shorter runs of untouched units are not folded */

/* ---- blocks ---- */

static bool is_second(const struct pfs_plot_image *image)
{
	return image->side && image->pair != PFS_PLOT_NO_PAIR;
}

/*
 * Its touches and those of its counterpart, with which it shares a block; an image without any is shown if that is not
 * known.
 */
static uint64_t weight(const struct pfs_plot_data *data, const struct pfs_plot_image *image)
{
	const struct pfs_plot_image *other = image->pair == PFS_PLOT_NO_PAIR ? NULL : &data->images[image->pair];

	if (is_second(image))
		return 0;
	return image->count + (other ? other->count : 0) ?: image->unobserved || (other && other->unobserved);
}

/* The least number of touches with which an image gets a block of its own. */
static uint64_t least_of_block(const struct layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint64_t busiest[MAX_BLOCKS] = { 0 }; /* in falling order */

	if (data->nr_images <= l->max_blocks)
		return 1;
	for (uint32_t i = 0; i < data->nr_images; i++) {
		uint64_t count = weight(data, &data->images[i]);

		for (uint32_t k = 0; k < l->max_blocks; k++) {
			uint64_t other = busiest[k];

			busiest[k] = count > other ? count : other;
			count = count > other ? other : count;
		}
	}
	return busiest[l->max_blocks - 1] + 1;
}

static const char *epoch_comm(const struct pfs_proc *proc, unsigned int nr)
{
	const char *comm = proc->epochs[nr].comm ? proc->epochs[nr].comm : proc->comm;

	return comm ? comm : "?";
}

static bool is_shown(const struct pfs_plot_data *data, const struct pfs_epoch *epoch)
{
	for (uint32_t i = 0; i < data->nr_images; i++)
		if (data->images[i].space == epoch->space && data->images[i].count)
			return !epoch->shared;
	return false;
}

/* ", image 2": the second one of that name in a process of which several are in the picture. */
static const char *image_number(char buf[32], const struct pfs_plot_data *data, const struct pfs_proc *proc,
				unsigned int nr)
{
	unsigned int all = 0, before = 0;

	for (unsigned int i = 0; i < proc->nr_epochs; i++) {
		if (strcmp(epoch_comm(proc, i), epoch_comm(proc, nr)) || !is_shown(data, &proc->epochs[i]))
			continue;
		all++;
		before += i < nr;
	}
	buf[0] = '\0';
	if (all > 1)
		snprintf(buf, 32, ", image %u", before + 1);
	return buf;
}

/* Does another process in the picture have that name, too? */
static bool is_ambiguous(const struct pfs_plot_data *data, const struct pfs_model *model, const struct pfs_proc *proc,
			 unsigned int nr)
{
	for (const struct pfs_proc *other = model->procs; other; other = other->next)
		for (unsigned int i = 0; other != proc && i < other->nr_epochs; i++)
			if (!strcmp(epoch_comm(other, i), epoch_comm(proc, nr)) && is_shown(data, &other->epochs[i]))
				return true;
	return false;
}

/*
 * ", ls -l /tmp" or, where the command line is unknown, ", child of sh 14246, from 3.19 ms": what tells the image from others
 * of its name. "": nothing has to.
 */
static void role_text(char *buf, size_t size, const struct pfs_plot_data *data, const struct pfs_model *model,
		      const struct pfs_proc *proc, unsigned int nr)
{
	const struct pfs_epochs at = { .model = model, .proc = proc, .epoch = &proc->epochs[nr] };
	const struct pfs_proc *parent = proc->ppid ? pfs_model_proc(model, proc->ppid) : NULL;
	uint64_t base = pfs_model_base_ns(model), start = proc->epochs[nr].start_ns;
	char comm[256] = "", since[32], args[PFS_LABEL_MAX];
	int len = 0;

	buf[0] = '\0';
	if (!is_ambiguous(data, model, proc, nr))
		return;
	if (pfs_epoch_role(&at, args, sizeof(args))) {
		strcpy(buf, ", ");
		pfs_fit_head(buf + 2, size - 2, args, ROLE_COLUMNS, "..");
		return;
	}
	if (parent)
		pfs_plot_escape(comm, sizeof(comm), parent->comm ? parent->comm : "");
	if (proc->ppid)
		len = snprintf(buf, size, ", child of %s%s%" PRId32, comm, *comm ? " " : "", proc->ppid);
	if (start > base)
		snprintf(buf + len, size - len, ", from %s", pfs_duration_text(since, start - base, 3));
}

char *pfs_plot_image_label(const struct pfs_plot_data *data, uint32_t nr)
{
	const struct pfs_model *model = data->side[data->images[nr].side].model;
	char comm[256], number[32], role[400], *label = NULL;

	for (const struct pfs_proc *proc = model->procs; proc; proc = proc->next) {
		for (unsigned int i = 0; i < proc->nr_epochs; i++) {
			const struct pfs_epoch *epoch = &proc->epochs[i];

			if (epoch->space != data->images[nr].space || epoch->shared)
				continue;
			pfs_plot_escape(comm, sizeof(comm), epoch_comm(proc, i));
			role_text(role, sizeof(role), data, model, proc, i);
			return asprintf(&label, "%s (%s %" PRId32 "%s)%s", comm, proc->pid_known ? "pid" : "tid",
					proc->pid, image_number(number, data, proc, i), role) < 0
				       ? NULL
				       : label;
		}
	}
	return strdup("a process");
}

/* Of two recordings: "A cc1 (pid 4711), B cc1 (pid 4720)". Allocated; NULL: no memory. */
static char *block_label(const struct pfs_plot_data *data, uint32_t nr)
{
	const struct pfs_plot_image *image = &data->images[nr];
	char *mine = pfs_plot_image_label(data, nr), *other = NULL, *label = NULL;

	if (data->nr_sides == 1 || !mine)
		return mine;
	if (image->pair != PFS_PLOT_NO_PAIR)
		other = pfs_plot_image_label(data, image->pair);
	if (asprintf(&label, "%s%s%s%s%s", image->pair == PFS_PLOT_NO_PAIR ? "only " : "",
		     pfs_plot_side_text(data, image->side), mine, other ? ", B " : "", other ? other : "") < 0)
		label = NULL;
	free(mine);
	free(other);
	return label;
}

/* Fills l->plot->blocks and l->block_of. 0 or -ENOMEM. */
static int make_blocks(struct layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	struct pfs_plot *plot = l->plot;
	uint32_t others = 0;
	uint64_t least = least_of_block(l);

	plot->blocks = calloc(MAX_BLOCKS + 1, sizeof(*plot->blocks));
	l->block_of = calloc(data->nr_images + 1, sizeof(*l->block_of));
	if (!plot->blocks || !l->block_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < data->nr_images; i++) {
		uint64_t count = weight(data, &data->images[i]);

		l->block_of[i] = UINT32_MAX;
		others += count && count < least;
		if (count < least)
			continue;
		l->block_of[i] = plot->nr_blocks++;
		plot->blocks[l->block_of[i]].label = block_label(data, i);
		if (!plot->blocks[l->block_of[i]].label)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < data->nr_images; i++)
		if (is_second(&data->images[i]))
			l->block_of[i] = l->block_of[data->images[i].pair];
	if (!others)
		return 0;
	if (asprintf(&plot->blocks[plot->nr_blocks].label, "%" PRIu32 " %sprocess images", others,
		     plot->nr_blocks ? "other " : "") < 0) {
		plot->blocks[plot->nr_blocks].label = NULL;
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < data->nr_images; i++)
		if (l->block_of[i] == UINT32_MAX)
			l->block_of[i] = plot->nr_blocks;
	plot->nr_blocks++;
	return 0;
}

/* ---- strips ---- */

static int compare_leaves(const void *a, const void *b)
{
	const struct leaf *x = a, *y = b;

	return pfs_order(x->group, y->group) ?: pfs_order(x->page, y->page);
}

/* Its first page stands for a region without touches, which may have been used unobserved: its band is hatched. */
static int collect_unobserved(struct layout *l, uint32_t image)
{
	const struct pfs_plot_data *data = l->plot->data;
	const struct pfs_space *space = pfs_plot_unobserved_space(data, image);
	uint32_t nr = l->nr_leaves;

	for (unsigned int i = 0; space && i < space->nr_live + space->nr_retired; i++) {
		const struct pfs_region *region =
			i < space->nr_live ? space->live[i] : space->retired[i - space->nr_live];
		uint32_t group = pfs_plot_group_of(data, image, space, region);
		uint64_t shift = group < data->nr_groups ? pfs_plot_shift_of(&data->groups[group], region->start) : 0;
		uint64_t first = (region->start + shift) >> l->plot->unit_shift;
		uint64_t last = (region->end - 1 + shift) >> l->plot->unit_shift;
		struct leaf *larger, leaf = { .page = first, .group = group };
		unsigned int at = 0;
		struct pfs_stay stay;

		if (leaf.group == data->nr_groups || !pfs_stay_next(space, region, data->model->page_shift, &at, &stay))
			continue;
		at = pfs_lower_bound(nr, k, compare_leaves(&l->leaves[k], &leaf) < 0);
		if (at < nr && l->leaves[at].group == leaf.group && l->leaves[at].page <= last)
			continue;
		larger = realloc(l->leaves, (l->nr_leaves + 2) * sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		l->leaves = larger;
		l->leaves[l->nr_leaves++] = leaf;
	}
	if (l->nr_leaves > nr)
		qsort(l->leaves, l->nr_leaves, sizeof(*l->leaves), compare_leaves);
	return 0;
}

static bool is_in_range(const struct layout *l, uint32_t group, uint64_t page)
{
	uint32_t nr = pfs_plot_find_range(l->plot, group, page);

	return nr < group_of(l, group)->nr_ranges &&
	       group_of(l, group)->ranges[nr].start >> l->plot->unit_shift <= page;
}

/* Counterparts have the same leaves, so they look alike and are side by side. */
static int complete_pairs(struct layout *l)
{
	const struct pfs_plot_data *data = l->plot->data;
	uint32_t nr = l->nr_leaves;
	struct leaf *larger;

	if (data->nr_sides == 1 || !nr)
		return 0;
	larger = realloc(l->leaves, 2 * (size_t)nr * sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	l->leaves = larger;
	for (uint32_t i = 0; i < nr; i++) {
		struct leaf leaf = { .page = larger[i].page, .group = data->groups[larger[i].group].pair };
		uint32_t at;

		if (leaf.group == PFS_PLOT_NO_PAIR || !is_in_range(l, leaf.group, leaf.page))
			continue;
		at = pfs_lower_bound(nr, k, compare_leaves(&larger[k], &leaf) < 0);
		if (at == nr || compare_leaves(&larger[at], &leaf))
			larger[l->nr_leaves++] = leaf;
	}
	qsort(larger, l->nr_leaves, sizeof(*larger), compare_leaves);
	return 0;
}

static int collect_leaves(struct layout *l)
{
	const struct pfs_plot_cells *cells = &l->plot->data->cells;
	struct leaf *leaf = NULL;

	l->leaves = malloc((cells->nr + 1) * sizeof(*l->leaves));
	if (!l->leaves)
		return -ENOMEM;
	for (size_t i = 0; i < cells->nr; i++) {
		const struct pfs_plot_cell *cell = &cells->cells[i];

		if (!leaf || leaf->group != cell->group || leaf->page != cell->page) {
			leaf = &l->leaves[l->nr_leaves++];
			*leaf = (struct leaf){ .group = cell->group, .page = cell->page };
		}
		*(cell->kind.sampled ? &leaf->sampled : &leaf->faults) += cell->count;
	}
	for (uint32_t i = 0; i < l->plot->data->nr_images; i++)
		if (l->block_of[i] < l->plot->nr_blocks && collect_unobserved(l, i))
			return -ENOMEM;
	return complete_pairs(l);
}

uint32_t pfs_plot_find_range(const struct pfs_plot *plot, uint32_t nr, uint64_t page)
{
	const struct pfs_plot_group *group = &plot->data->groups[nr];
	uint64_t addr = page << plot->unit_shift;

	return pfs_lower_bound(group->nr_ranges, i, group->ranges[i].end - 1 < addr);
}

static int compare_strips(const void *a, const void *b)
{
	const struct strip *x = a, *y = b;

	return pfs_order(x->block, y->block) ?: pfs_order(x->place, y->place) ?: pfs_order(x->ruler, y->ruler)
		?: pfs_order(y->side, x->side) ?: pfs_order(x->start, y->start);
}

/* Its first address, as exactly as known, so that regions in one unit are in order, too. */
static uint64_t start_of(const struct layout *l, const struct leaf *leaf, unsigned int range)
{
	const struct pfs_plot_group *group = group_of(l, ruler_of(l, leaf->group));
	uint64_t addr = leaf->page << l->plot->unit_shift;

	return range < group->nr_ranges && group->ranges[range].start > addr ? group->ranges[range].start : addr;
}

static uint64_t place_of(const struct layout *l, const struct strip *strip, uint32_t range)
{
	const struct pfs_plot_group *group = group_of(l, ruler_of(l, strip->group));

	return l->plot->data->nr_sides > 1 && range < group->nr_ranges ? group->ranges[range].start : strip->start;
}

/* Marks counterparts, which are neighbours; their touches count together. */
static void find_pairs(struct layout *l)
{
	for (uint32_t i = 1; i < l->nr_strips; i++) {
		struct strip *a = &l->strips[i - 1], *b = &l->strips[i];

		if (a->place != b->place || group_of(l, a->group)->pair != b->group)
			continue;
		a->pair = true;
		a->count = b->count += a->count;
	}
}

/* Fills l->leaves and l->strips, sorted by block and address. 0 or -ENOMEM. */
static int make_strips(struct layout *l)
{
	uint32_t range = 0;
	int ret = collect_leaves(l);

	if (ret)
		return ret;
	l->strips = malloc((l->nr_leaves + 1) * sizeof(*l->strips));
	if (!l->strips)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_leaves; i++) {
		const struct leaf *leaf = &l->leaves[i];
		struct strip *strip = &l->strips[l->nr_strips];
		uint32_t at = pfs_plot_find_range(l->plot, ruler_of(l, leaf->group), leaf->page);

		if (i && leaf->group == leaf[-1].group && at == range) {
			strip--;
		} else {
			*strip = (struct strip){ .group = leaf->group,
						 .first = i,
						 .start = start_of(l, leaf, at),
						 .block = l->block_of[group_of(l, leaf->group)->image],
						 .side = l->plot->data->images[group_of(l, leaf->group)->image].side };
			strip->ruler = ruler_of(l, leaf->group);
			strip->place = place_of(l, strip, at);
			l->nr_strips++;
		}
		strip->end = i + 1;
		strip->count += leaf->faults + leaf->sampled;
		range = at;
	}
	if (l->nr_strips)
		qsort(l->strips, l->nr_strips, sizeof(*l->strips), compare_strips);
	find_pairs(l);
	return 0;
}

static int compare_busy(const void *a, const void *b)
{
	const struct strip *x = *(const struct strip *const *)a, *y = *(const struct strip *const *)b;

	return pfs_order(y->count, x->count) ?: pfs_order(x, y);
}

/* Gives the first nr strips, and if `unknown` those in no region, bands of their own. Returns the number of bands. */
static uint32_t choose_first(struct layout *l, struct strip **order, uint32_t nr, bool unknown)
{
	uint32_t bands = 0;

	for (uint32_t i = 0; i < l->nr_strips; i++)
		order[i]->own = i < nr || (unknown && group_of(l, order[i]->group)->unknown);
	for (uint32_t i = 0; i + 1 < l->nr_strips; i++)
		if (l->strips[i].pair)
			l->strips[i].own = l->strips[i + 1].own = l->strips[i].own || l->strips[i + 1].own;
	for (uint32_t i = 0; i < l->nr_strips; i++) {
		const struct strip *strip = &l->strips[i];

		if (strip->own || !i || strip[-1].own || strip[-1].block != strip->block)
			bands += strip->own ? 1 : l->plot->data->nr_sides;
	}
	return bands;
}

/* Bands of their own for as many of the busiest as possible: each adds at most two bands, and never removes any. */
static int choose_strips(struct layout *l, uint32_t max_bands)
{
	struct strip **order = malloc((l->nr_strips + 1) * sizeof(*order));
	uint32_t low = 0, high = l->nr_strips;
	bool unknown;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_strips; i++)
		order[i] = &l->strips[i];
	qsort(order, l->nr_strips, sizeof(*order), compare_busy);
	unknown = choose_first(l, order, 0, true) <= max_bands;
	while (low < high) {
		uint32_t mid = low + (high - low + 1) / 2;

		if (choose_first(l, order, mid, unknown) <= max_bands)
			low = mid;
		else
			high = mid - 1;
	}
	choose_first(l, order, low, unknown);
	free(order);
	return 0;
}

/* ---- bands ---- */

/* "libc.so.6"; a region without a name has its first address and size: "anon 7f1c40000000 64K". Allocated, or NULL. */
static char *strip_label(const struct layout *l, const struct strip *strip)
{
	const struct pfs_plot_group *group = group_of(l, strip->group);
	const char *side = pfs_plot_side_text(l->plot->data, strip->side);
	uint32_t nr = pfs_plot_find_range(l->plot, strip->group, l->leaves[strip->first].page);
	const struct pfs_plot_range *range = group->nameless && nr < group->nr_ranges ? &group->ranges[nr] : NULL;
	char escaped[PFS_LABEL_MAX], size[8], *label;
	int ret;

	pfs_plot_escape(escaped, sizeof(escaped), group->name);
	if (range)
		ret = asprintf(&label, "%s%s %" PRIx64 " %s", side, escaped, range->start - range->shift,
			       pfs_size_text(size, range->end - range->start - range->grown));
	else
		ret = asprintf(&label, "%s%s", side, pfs_label_base(escaped));
	return ret < 0 ? NULL : label;
}

static int label_band(struct layout *l, struct pfs_plot_band *band, const struct strip *strips, uint32_t nr)
{
	if (nr > 1) {
		if (asprintf(&band->label, "%s%" PRIu32 " small regions",
			     pfs_plot_side_text(l->plot->data, strips->side), nr) >= 0)
			return 0;
		band->label = NULL;
		return -ENOMEM;
	}
	band->name = group_of(l, strips->group)->name;
	band->unknown = group_of(l, strips->group)->unknown;
	band->label = strip_label(l, strips);
	return band->label ? 0 : -ENOMEM;
}

/* The pages of the strip's region, else those of its leaves. */
static void extent_of(const struct layout *l, const struct strip *strip, uint64_t *first, uint64_t *end)
{
	uint32_t ruler = ruler_of(l, strip->group);
	const struct pfs_plot_group *group = group_of(l, ruler);
	uint32_t range = pfs_plot_find_range(l->plot, ruler, l->leaves[strip->first].page);

	*first = l->leaves[strip->first].page;
	*end = l->leaves[strip->end - 1].page + 1;
	if (range < group->nr_ranges && group->ranges[range].start >> l->plot->unit_shift <= *first) {
		*first = group->ranges[range].start >> l->plot->unit_shift;
		*end = ((group->ranges[range].end - 1) >> l->plot->unit_shift) + 1;
	}
}

/* Regions that share a band are side by side in it, each as large as it is. */
static void fill_thumb(const struct layout *l, struct pfs_plot_band *band, const struct strip *strips, uint32_t nr)
{
	double part[PFS_PLOT_THUMB] = { 0 }, all = 0, before = 0;
	uint64_t first, end;

	for (uint32_t i = 0; i < nr; i++) {
		extent_of(l, &strips[i], &first, &end);
		all += end - first;
	}
	for (uint32_t i = 0; i < nr; before += end - first, i++) {
		extent_of(l, &strips[i], &first, &end);
		for (uint32_t k = strips[i].first; k < strips[i].end; k++) {
			const struct leaf *leaf = &l->leaves[k];
			double from = (before + (leaf->page - first)) / all * PFS_PLOT_THUMB;
			double to = from + PFS_PLOT_THUMB / all;

			for (uint32_t at = from; leaf->faults + leaf->sampled && at < to && at < PFS_PLOT_THUMB; at++)
				part[at] += fmin(to, at + 1) - fmax(from, at);
		}
	}
	for (uint32_t at = 0; at < PFS_PLOT_THUMB; at++)
		band->thumb[at] = fmin(8, ceil(part[at] * 8 - 1e-6));
}

/* Gaps of this many untouched units are folded: a quarter of the touched ones or more. */
static uint64_t fold_from(const struct strip *strips, uint32_t nr)
{
	uint64_t touched = 0;

	for (uint32_t i = 0; i < nr; i++)
		touched += strips[i].end - strips[i].first;
	return touched / 4 > MIN_FOLD ? touched / 4 : MIN_FOLD;
}

static void add_segments(struct layout *l, const struct strip *strip, uint64_t fold)
{
	struct pfs_plot *plot = l->plot;
	struct pfs_plot_segment *segment = NULL;

	for (uint32_t i = strip->first; i < strip->end; i++) {
		uint64_t page = l->leaves[i].page;

		if (!segment || page - segment->last - 1 >= fold) {
			segment = &plot->segments[plot->nr_segments++];
			*segment = (struct pfs_plot_segment){ .group = strip->group,
							      .band = plot->nr_bands,
							      .first = page };
		}
		segment->last = page;
		plot->bands[plot->nr_bands].faults += l->leaves[i].faults;
		plot->bands[plot->nr_bands].sampled += l->leaves[i].sampled;
	}
}

/* Places the segments in the band, with a gap for each fold. */
static void place_segments(struct pfs_plot_band *band, struct pfs_plot_segment *segments, uint32_t nr)
{
	double units = 0, gap = 0, at = 0;

	for (uint32_t i = 0; i < nr; i++) {
		units += segments[i].last - segments[i].first + 1;
		band->nr_folds += i && segments[i].first != segments[i - 1].last + 1;
	}
	if (band->nr_folds) {
		gap = units / 40 > 1 ? units / 40 : 1;
		if (gap * band->nr_folds > units / 4)
			gap = units / 4 / band->nr_folds;
	}
	band->pages = units + gap * band->nr_folds;
	for (uint32_t i = 0; i < nr; i++) {
		if (i && segments[i].first != segments[i - 1].last + 1)
			at += gap;
		segments[i].at = at / band->pages;
		segments[i].len = (segments[i].last - segments[i].first + 1) / band->pages;
		at += segments[i].last - segments[i].first + 1;
	}
}

static int add_band(struct layout *l, const struct strip *strips, uint32_t nr)
{
	struct pfs_plot *plot = l->plot;
	struct pfs_plot_band *band = &plot->bands[plot->nr_bands];
	uint32_t first = plot->nr_segments;
	uint64_t fold = fold_from(strips, nr);
	int ret = label_band(l, band, strips, nr);

	if (ret)
		return ret;
	band->block = strips->block;
	band->side = strips->side;
	fill_thumb(l, band, strips, nr);
	for (uint32_t i = 0; i < nr; i++)
		add_segments(l, &strips[i], fold);
	band->start = strips->start;
	for (uint32_t i = first; i < plot->nr_segments; i++) {
		uint64_t end = (plot->segments[i].last + 1) << plot->unit_shift;

		band->end = i == first || end - 1 > band->end - 1 ? end : band->end;
	}
	place_segments(band, plot->segments + first, plot->nr_segments - first);
	plot->blocks[band->block].faults += band->faults;
	plot->blocks[band->block].sampled += band->sampled;
	plot->blocks[band->block].of_side[band->side] += band->faults + band->sampled;
	plot->nr_bands++;
	return 0;
}

static int compare_sides(const void *a, const void *b)
{
	const struct strip *x = a, *y = b;

	return pfs_order(y->side, x->side) ?: pfs_order(x->start, y->start) ?: pfs_order(x->group, y->group);
}

/* A band for the strips, or one for those of each recording. */
static int add_bands(struct layout *l, struct strip *strips, uint32_t nr)
{
	uint32_t second = 0; /* how many are of the second recording */
	int ret = 0;

	for (uint32_t i = 0; i < nr; i++)
		second += strips[i].side;
	if (second) {
		qsort(strips, nr, sizeof(*strips), compare_sides);
		ret = add_band(l, strips, second);
	}
	return ret || second == nr ? ret : add_band(l, strips + second, nr - second);
}

static int make_bands(struct layout *l)
{
	struct pfs_plot *plot = l->plot;
	uint32_t next;
	int ret = 0;

	plot->bands = calloc(l->nr_strips + 1, sizeof(*plot->bands));
	plot->segments = malloc((l->nr_leaves + 1) * sizeof(*plot->segments));
	if (!plot->bands || !plot->segments)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nr_strips && !ret; i = next) {
		const struct strip *strip = &l->strips[i];

		next = i + 1;
		while (!strip->own && next < l->nr_strips && !l->strips[next].own &&
		       l->strips[next].block == strip->block)
			next++;
		ret = add_bands(l, &l->strips[i], next - i);
	}
	return ret;
}

static int compare_segments(const void *a, const void *b)
{
	const struct pfs_plot_segment *x = a, *y = b;

	return pfs_order(x->group, y->group) ?: pfs_order(x->first, y->first);
}

/* ---- the order of rows ---- */

const char *const pfs_plot_sort_names[PFS_PLOT_SORTS] = { "address", "faults" };

struct order {
	uint64_t count;
	uint32_t nr;
};

static int compare_orders(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return pfs_order(x->count, y->count) ?: pfs_order(x->nr, y->nr);
}

/* order[i].nr becomes the present place of what is to be the i-th, place[k] the new one of the k-th. */
static void find_places(struct order *order, uint32_t *place, uint32_t nr)
{
	qsort(order, nr, sizeof(*order), compare_orders);
	for (uint32_t i = 0; i < nr; i++)
		place[order[i].nr] = i;
}

/* Counterparts stay together: both count as much as they do together. */
static void join_orders(const struct pfs_plot *plot, const struct pfs_plot_band *bands, struct order *order)
{
	for (uint32_t i = 1; i < plot->nr_bands; i++)
		if (bands[i - 1].side && !bands[i].side && bands[i - 1].start == bands[i].start &&
		    bands[i - 1].block == bands[i].block)
			order[i - 1].count = order[i].count += order[i - 1].count;
}

/* Those with the most faults on top: blocks come from top to bottom, bands from bottom to top. */
static int sort_rows(struct pfs_plot *plot)
{
	uint32_t most = plot->nr_bands + plot->nr_blocks + 1;
	struct pfs_plot_block *blocks = calloc(most, sizeof(*blocks));
	struct pfs_plot_band *bands = calloc(most, sizeof(*bands));
	struct order *order = calloc(most, sizeof(*order));
	uint32_t *place = calloc(most, sizeof(*place));
	bool enough = blocks && bands && order && place;

	if (enough) {
		memcpy(blocks, plot->blocks, plot->nr_blocks * sizeof(*blocks));
		memcpy(bands, plot->bands, plot->nr_bands * sizeof(*bands));
		for (uint32_t i = 0; i < plot->nr_blocks; i++)
			order[i] = (struct order){ UINT64_MAX - blocks[i].faults - blocks[i].sampled, i };
		find_places(order, place, plot->nr_blocks);
		for (uint32_t i = 0; i < plot->nr_blocks; i++)
			plot->blocks[i] = blocks[order[i].nr];
		for (uint32_t i = 0; i < plot->nr_bands; i++) {
			bands[i].block = place[bands[i].block];
			order[i] = (struct order){ bands[i].faults + bands[i].sampled, i };
		}
		join_orders(plot, bands, order);
		find_places(order, place, plot->nr_bands);
		for (uint32_t i = 0; i < plot->nr_bands; i++)
			plot->bands[i] = bands[order[i].nr];
		for (uint32_t i = 0; i < plot->nr_segments; i++)
			plot->segments[i].band = place[plot->segments[i].band];
	}
	free(blocks);
	free(bands);
	free(order);
	free(place);
	return enough ? 0 : -ENOMEM;
}

int pfs_plot_lay_out(struct pfs_plot *plot, struct pfs_plot_data *data, uint32_t max_bands, enum pfs_plot_sort sort)
{
	struct pfs_plot_cells *cells = &data->cells;
	struct layout l = {
		.plot = plot,
		.max_blocks = max_bands >= 2 * MAX_BLOCKS ? MAX_BLOCKS
			      : max_bands > 3		  ? max_bands / 2
							  : 1,
	};
	int ret;

	*plot = (struct pfs_plot){ .data = data, .sort = sort };
	plot->unit_shift = data->model->page_shift + cells->page_shift;
	plot->nr_bins = cells->last_bin - cells->first_bin + 1;
	plot->from_ns = cells->first_bin << cells->time_shift;
	plot->to_ns = cells->last_bin < UINT64_MAX >> cells->time_shift ? (cells->last_bin + 1) << cells->time_shift
									: UINT64_MAX;
	pfs_plot_cells_sort(cells);
	ret = make_blocks(&l);
	if (!ret)
		ret = make_strips(&l);
	if (!ret)
		ret = choose_strips(&l, max_bands);
	if (!ret)
		ret = make_bands(&l);
	if (!ret && sort == PFS_PLOT_BY_FAULTS)
		ret = sort_rows(plot);
	if (!ret && plot->nr_segments)
		qsort(plot->segments, plot->nr_segments, sizeof(*plot->segments), compare_segments);
	if (!ret)
		ret = pfs_plot_find_unobserved(plot);
	free(l.leaves);
	free(l.strips);
	free(l.block_of);
	if (ret)
		pfs_plot_fini(plot);
	return ret;
}

void pfs_plot_fini(struct pfs_plot *plot)
{
	for (uint32_t i = 0; plot->bands && i <= plot->nr_bands; i++)
		free(plot->bands[i].label);
	for (uint32_t i = 0; plot->blocks && i <= MAX_BLOCKS; i++)
		free(plot->blocks[i].label);
	free(plot->blocks);
	free(plot->bands);
	free(plot->segments);
	free(plot->unobserved);
	*plot = (struct pfs_plot){ 0 };
}

const struct pfs_plot_segment *pfs_plot_find(const struct pfs_plot_segment *from, const struct pfs_plot_cell *cell)
{
	while (from->group < cell->group || (from->group == cell->group && from->last < cell->page))
		from++;
	return from;
}

double pfs_plot_place(const struct pfs_plot_segment *segment, const struct pfs_plot_cell *cell)
{
	return segment->at + segment->len * (cell->page - segment->first + 0.5) / (segment->last - segment->first + 1);
}
