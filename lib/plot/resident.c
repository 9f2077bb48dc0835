/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates how many pages were resident, from the model at the end: a page is resident from its first served fault,
 * fault-around or population until its region is unmapped. Pages from before the recording and pages shared by fork do
 * not count; pages that the kernel took back (MADV_DONTNEED, swapping) still count, and a page of two processes counts
 * twice.
 */
#include "plot/plot.h"

#include "base/array.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>

/* Pages that were unmapped at one time, whenever they were mapped. */
struct stay {
	const struct pfs_pages *pages;
	uint64_t start, end;
	uint64_t end_ns;
};

/*
 * A time at which pages were unmapped, or the last of a bin. Between two moments pages are only added, so the number
 * just before the removals of a moment is the highest since the moment before.
 */
struct moment {
	uint64_t ts_ns;
	uint64_t added, removed; /* since the moment before; at this one */
};

struct resident {
	const struct pfs_plot *plot;
	uint64_t shift_ns; /* of times of the model to those of the plot */
	struct stay *stays;
	struct moment *moments; /* sorted by time */
	size_t nr_stays, max_stays, nr_moments;
	size_t last; /* the moment that was found last */
};

/* ---- stays ---- */

static uint64_t moved(const struct resident *r, uint64_t ts_ns)
{
	return ts_ns == UINT64_MAX ? ts_ns : ts_ns + r->shift_ns;
}

static int add_epoch(struct resident *r, const struct pfs_epochs *at)
{
	uint64_t end_ns = moved(r, at->epoch->space->died_ns);
	struct pfs_rows rows;
	int ret = pfs_rows_collect(&rows, at);

	for (unsigned int i = 0; !ret && i < rows.nr; i++) {
		const struct pfs_row *row = &rows.row[i];
		struct stay *stay;

		if (!row->pages)
			continue;
		stay = pfs_array_add(r->stays, r->nr_stays, r->max_stays);
		if (stay)
			*stay = (struct stay){ row->pages, row->start, row->end, end_ns };
		else
			ret = -ENOMEM;
		if (stay && row->region && moved(r, row->region->died_ns) < end_ns)
			stay->end_ns = moved(r, row->region->died_ns);
	}
	pfs_rows_free(&rows);
	return ret;
}

/* ---- moments ---- */

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return pfs_order(x->ts_ns, y->ts_ns);
}

static uint64_t last_of_bin(const struct pfs_plot *plot, uint64_t bin)
{
	uint64_t after =
		bin + 1 < plot->nr_bins ? plot->from_ns + ((bin + 1) << plot->data->cells.time_shift) : plot->to_ns;

	return after == UINT64_MAX ? after : after - 1;
}

static int make_moments(struct resident *r)
{
	size_t nr = 0;

	r->moments = calloc(r->nr_stays + r->plot->nr_bins, sizeof(*r->moments));
	if (!r->moments)
		return -ENOMEM;
	for (uint64_t bin = 0; bin < r->plot->nr_bins; bin++)
		r->moments[nr++].ts_ns = last_of_bin(r->plot, bin);
	for (size_t i = 0; i < r->nr_stays; i++)
		if (r->stays[i].end_ns < r->plot->to_ns)
			r->moments[nr++].ts_ns = r->stays[i].end_ns;
	qsort(r->moments, nr, sizeof(*r->moments), compare_moments);
	for (size_t i = 0; i < nr; i++)
		if (!i || r->moments[i].ts_ns != r->moments[r->nr_moments - 1].ts_ns)
			r->moments[r->nr_moments++] = r->moments[i];
	return 0;
}

/* The first moment at that time or later; NULL: none. */
static struct moment *moment_at(struct resident *r, uint64_t ts_ns)
{
	size_t low;

	if (r->moments[r->last].ts_ns >= ts_ns && (!r->last || r->moments[r->last - 1].ts_ns < ts_ns))
		return &r->moments[r->last];
	low = pfs_lower_bound(r->nr_moments, i, r->moments[i].ts_ns < ts_ns);
	if (low == r->nr_moments)
		return NULL;
	r->last = low;
	return &r->moments[low];
}

/* ---- pages ---- */

static bool is_there(const struct pfs_page *page)
{
	const uint32_t present = PFS_PAGE_AROUND | PFS_PAGE_POPULATED | PFS_PAGE_HUGE;

	return page->flags & present || (page->flags & PFS_PAGE_TOUCHED && page->nr_faults > page->nr_signal);
}

/* Returns how many of them are resident at some time. */
static uint64_t add_pages(struct resident *r, const struct pfs_page *page, uint64_t nr)
{
	struct moment *moment = is_there(page) ? moment_at(r, moved(r, page->first_ns)) : NULL;

	if (!moment)
		return 0;
	moment->added += nr;
	return nr;
}

/* A leaf of the tree of pages has no more. */
enum { MAX_APART = 64 };

/* Pages that differ in time only are added one by one. */
static void add_pages_of(struct resident *r, const struct stay *stay)
{
	struct pfs_page_walk walk, each;
	struct moment *gone;
	const struct pfs_page *page;
	uint64_t nr, sum = 0;

	pfs_page_walk_start(&walk, stay->pages, stay->start, stay->end);
	while ((page = pfs_page_walk_alike(&walk, &nr))) {
		if (nr == 1 || nr > MAX_APART || page->first_ns == page->last_ns) {
			sum += add_pages(r, page, nr);
			continue;
		}
		pfs_page_walk_start(&each, stay->pages, walk.addr, stay->end);
		while (nr-- && (page = pfs_page_walk_next(&each)))
			sum += add_pages(r, page, 1);
	}
	gone = moment_at(r, stay->end_ns);
	if (gone)
		gone->removed += sum;
}

/* The highest number of each column is that of one of its moments. */
static void add_up(const struct resident *r, uint32_t columns, uint64_t bins, uint64_t *pages)
{
	const struct pfs_plot *plot = r->plot;
	int64_t now = 0;

	for (size_t i = 0; i < r->nr_moments; i++) {
		const struct moment *moment = &r->moments[i];
		uint64_t bin = moment->ts_ns <= plot->from_ns
				       ? 0
				       : (moment->ts_ns - plot->from_ns) >> plot->data->cells.time_shift;

		now += moment->added;
		if (now > 0 && bin / bins < columns && (uint64_t)now > pages[bin / bins])
			pages[bin / bins] = now;
		now -= moment->removed;
	}
}

int pfs_plot_resident(const struct pfs_plot *plot, uint32_t side, uint32_t columns, uint64_t bins, uint64_t *pages)
{
	const struct pfs_plot_side *of = &plot->data->side[side];
	struct resident r = { .plot = plot, .shift_ns = of->shift_ns };
	struct pfs_epochs walk = { .model = of->model, .filter = plot->data->filter };
	int ret = 0;

	while (!ret && pfs_epochs_next(&walk))
		ret = add_epoch(&r, &walk);
	if (!ret)
		ret = make_moments(&r);
	if (!ret) {
		for (size_t i = 0; i < r.nr_stays; i++)
			add_pages_of(&r, &r.stays[i]);
		add_up(&r, columns, bins, pages);
	}
	free(r.stays);
	free(r.moments);
	return ret;
}
