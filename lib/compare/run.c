/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a comparison keeps of one recording: its images and regions with their keys, the numbers of each region, and of
 * regions that map files the pages. See compare/compare_priv.h.
 */
#include "compare/compare_priv.h"

#include "base/array.h"
#include "event/event.h"
#include "view/labels.h"
#include "view/loss.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int take_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pfs_compare_private *priv = ((struct pfs_compare *)ctx)->priv;
	struct compare_time *time;

	if (ev->kind != PFS_FAULT || !pfs_has(ev, PFS_F_LATENCY) || !outcome->space)
		return 0;
	time = pfs_array_add(priv->times, priv->nr_times, priv->max_times);
	if (!time)
		return -ENOMEM;
	*time = (struct compare_time){ outcome->space, ev->addr, ev->ts_ns, ev->latency_ns };
	return 0;
}

static int take_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	return 0; /* they have no latency */
}

struct pfs_observer pfs_compare_observer(struct pfs_compare *compare)
{
	compare->priv->nr_times = 0;
	return (struct pfs_observer){ take_event, take_faults, compare };
}

static int compare_times(const void *a, const void *b)
{
	const struct compare_time *x = a, *y = b;

	return pfs_order((uintptr_t)x->space, (uintptr_t)y->space) ?: pfs_order(x->addr, y->addr)
		?: pfs_order(x->ts_ns, y->ts_ns);
}

/* Of faults in the row while it was there. */
static uint64_t time_of(const struct pfs_compare_private *priv, const struct pfs_epochs *at, const struct pfs_row *row)
{
	const struct pfs_region *region = row->region;
	const struct compare_time *times = priv->times;
	uintptr_t space = (uintptr_t)at->epoch->space;
	uint64_t ns = 0;

	for (size_t i = pfs_lower_bound(priv->nr_times, k,
					(uintptr_t)times[k].space < space ||
						((uintptr_t)times[k].space == space && times[k].addr < row->start));
	     i < priv->nr_times && (uintptr_t)times[i].space == space && (times[i].addr < row->end || !row->end); i++)
		if (!region || (times[i].ts_ns >= region->since_ns && times[i].ts_ns < region->died_ns))
			ns += times[i].latency_ns;
	return ns;
}

/* ---- pages of files ---- */

static int compare_pages(const void *a, const void *b)
{
	const struct compare_page *x = a, *y = b;

	return pfs_order(x->off, y->off);
}

static int gather_pages(struct compare_region *region, const struct pfs_row *row)
{
	enum { SILENT = PFS_PAGE_AROUND | PFS_PAGE_MAYBE_AROUND | PFS_PAGE_POPULATED | PFS_PAGE_HUGE | PFS_PAGE_MAYBE };
	const struct pfs_page *page;
	struct pfs_page_walk at;

	if (!row->pages)
		return 0;
	pfs_page_walk_start(&at, row->pages, row->start, row->end);
	while ((page = pfs_page_walk_next(&at))) {
		struct compare_page *to = pfs_array_add(region->pages, region->nr_pages, region->max_pages);

		if (!to)
			return -ENOMEM;
		*to = (struct compare_page){
			.off = at.addr - row->start + row->region->off,
			.reads = page->nr_faults - page->nr_write,
			.writes = page->nr_write,
			.silent = page->flags & SILENT,
		};
	}
	if (region->nr_pages)
		qsort(region->pages, region->nr_pages, sizeof(*region->pages), compare_pages);
	return 0;
}

/* ---- regions ---- */

static void describe(struct compare_region *to, const struct pfs_row *row)
{
	char size[8];

	if (!row->region)
		return;
	pfs_perms_text(to->perms, row->region);
	if (row->name && row->name[0] == '/' && row->region->have & PFS_HAS(PFS_F_OFF))
		snprintf(to->part, sizeof(to->part), "0x%" PRIx64, row->region->off);
	else
		snprintf(to->part, sizeof(to->part), "%s", pfs_size_text(size, row->end - row->start));
}

static int add_region(struct compare_run *run, struct pfs_compare_private *priv, const struct pfs_epochs *at,
		      const struct pfs_rows *rows, unsigned int i, size_t image)
{
	struct compare_region *region = pfs_array_add(run->regions, run->nr_regions, run->max_regions);
	const struct pfs_row *row = &rows->row[i];
	const char *kind = pfs_label_kind(row);
	const struct pfs_tally *t = &row->tally;

	if (!region)
		return -ENOMEM;
	*region = (struct compare_region){
		.name = pfs_intern(&priv->pool, kind ? kind : row->name),
		.process = run->images[image].name,
		.born_ns = row->region ? row->region->born_ns : UINT64_MAX,
		.start = row->start,
		.number = { t->faults, t->major, t->touched, t->around, time_of(priv, at, row) },
		.image = run->images[image].item.line,
		.is_file = row->region && row->name && row->name[0] == '/' && pfs_region_is_file(row->region),
		.is_stack = row->name && !strcmp(row->name, "[stack]"),
		.is_huge = t->huge || t->maybe,
	};
	describe(region, row);
	if (!region->name || pfs_row_keys(&region->item, at, rows, i, region->image, &priv->pool))
		return -ENOMEM;
	return region->is_file ? gather_pages(region, row) : 0;
}

static int compare_births(const void *a, const void *b)
{
	const struct compare_region *x = a, *y = b;

	return pfs_order(x->image, y->image) ?: pfs_order(x->born_ns, y->born_ns) ?: pfs_order(x->start, y->start);
}

static int add_regions(struct compare_run *run, struct pfs_compare_private *priv, struct pfs_epochs at)
{
	int err = 0;

	for (size_t image = 0; !err && pfs_epochs_next(&at); image++) {
		struct pfs_rows rows;

		err = pfs_rows_collect(&rows, &at);
		for (unsigned int i = 0; !err && i < rows.nr; i++)
			err = add_region(run, priv, &at, &rows, i, image);
		pfs_rows_free(&rows);
	}
	if (run->nr_regions)
		qsort(run->regions, run->nr_regions, sizeof(*run->regions), compare_births);
	return err;
}

/* ---- images ---- */

static int add_images(struct compare_run *run, struct pfs_compare_private *priv, struct pfs_epochs at)
{
	size_t max = 0;
	int err = 0;

	while (!err && pfs_epochs_next(&at)) {
		const char *comm = pfs_epoch_comm(&at);
		struct compare_image *image = pfs_array_add(run->images, run->nr_images, max);

		if (!image)
			return -ENOMEM;
		*image = (struct compare_image){ .name = pfs_intern(&priv->pool, comm ? comm : "?") };
		err = image->name ? pfs_image_keys(&image->item, &at, run->nr_images == 1, &priv->pool) : -ENOMEM;
	}
	return err;
}

static int match_images(struct compare_run *run, struct pfs_match *match)
{
	struct pfs_match_item *items = calloc(run->nr_images + 1, sizeof(*items));
	int err = -ENOMEM;

	if (!items)
		return err;
	for (size_t i = 0; i < run->nr_images; i++)
		items[i] = run->images[i].item;
	err = pfs_match_add(match, items, run->nr_images);
	for (size_t i = 0; !err && i < run->nr_images; i++)
		run->images[i].item.line = items[i].line;
	free(items);
	return err;
}

int compare_run_gather(struct compare_run *run, struct pfs_compare_private *priv, const struct pfs_model *model,
		       const struct pfs_filter *filter)
{
	struct pfs_epochs start = { .model = model, .filter = filter };
	unsigned int at = 0;
	char lack[256];

	run->lost = pfs_gaps_sum(pfs_gaps_shown(model, filter)).nr || model->missed;
	run->timed = priv->nr_times;
	while (pfs_lack_next(model, &at, lack, sizeof(lack)))
		run->lacks_around |= !strcmp(lack, "pages mapped by fault-around");
	if (priv->nr_times)
		qsort(priv->times, priv->nr_times, sizeof(*priv->times), compare_times);
	return add_images(run, priv, start) ?: match_images(run, &priv->images) ?: add_regions(run, priv, start);
}

void compare_run_fini(struct compare_run *run)
{
	for (size_t i = 0; i < run->nr_regions; i++)
		free(run->regions[i].pages);
	free(run->regions);
	free(run->images);
}
