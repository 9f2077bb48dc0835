/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many pages were in memory, as far as a recording shows it: a page is from the first fault that asked for
 * it, or from when it was mapped beside one or populated, until its region goes. Computed from the model when
 * all is known.
 *
 * An estimate: what was there before the recording is not in it, nor what the kernel took away again
 * (MADV_DONTNEED, swapping), nor what a fork shares; a page of two processes counts twice. Refused faults
 * brought no page.
 */
#include "plot.h"

#include "view_rows.h"

#include <errno.h>
#include <stdlib.h>

struct resident {
	const struct pfs_plot *plot;
	int64_t *change;		/* by bin; one more for what comes after the last */
	uint64_t gone_ns;		/* when the row's pages went */
};

static void add(struct resident *r, uint64_t ts_ns, int64_t pages)
{
	const struct pfs_plot *plot = r->plot;
	uint64_t bin = ts_ns <= plot->from_ns ? 0 : (ts_ns - plot->from_ns) >> plot->data->cells.time_shift;

	r->change[bin < plot->nr_bins ? bin : plot->nr_bins] += pages;
}

static bool is_there(const struct pfs_page *page)
{
	const uint32_t present = PFS_PAGE_AROUND | PFS_PAGE_POPULATED | PFS_PAGE_HUGE;

	return page->flags & present ||
	       (page->flags & PFS_PAGE_TOUCHED && page->nr_faults > page->nr_signal);
}

static void add_pages(struct resident *r, const struct pfs_page *page, uint64_t nr)
{
	if (!is_there(page))
		return;
	add(r, page->first_ns, nr);
	add(r, r->gone_ns, -(int64_t)nr);
}

/* A leaf of the tree of pages has no more. */
enum { MAX_APART = 64 };

/* Pages that are alike but for the time come one by one. */
static void add_row(struct resident *r, const struct pfs_row *row)
{
	struct pfs_page_walk walk, each;
	const struct pfs_page *page;
	uint64_t nr;

	pfs_page_walk_start(&walk, row->pages, row->start, row->end);
	while ((page = pfs_page_walk_alike(&walk, &nr))) {
		if (nr == 1 || nr > MAX_APART || page->first_ns == page->last_ns) {
			add_pages(r, page, nr);
			continue;
		}
		pfs_page_walk_start(&each, row->pages, walk.addr, row->end);
		while (nr-- && (page = pfs_page_walk_next(&each)))
			add_pages(r, page, 1);
	}
}

static int add_epoch(struct resident *r, const struct pfs_epochs *at)
{
	const struct pfs_space *space = at->epoch->space;
	struct pfs_rows rows;
	int ret = pfs_rows_collect(&rows, at);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < rows.nr; i++) {
		const struct pfs_region *region = rows.row[i].region;

		r->gone_ns = region && region->died_ns < space->died_ns ? region->died_ns : space->died_ns;
		if (rows.row[i].pages)
			add_row(r, &rows.row[i]);
	}
	pfs_rows_free(&rows);
	return 0;
}

int pfs_plot_resident(const struct pfs_plot *plot, uint32_t columns, uint64_t bins, uint64_t *pages)
{
	struct resident r = { .plot = plot, .change = calloc(plot->nr_bins + 1, sizeof(*r.change)) };
	struct pfs_epochs walk = { .model = plot->data->model, .filter = plot->data->filter };
	int64_t now = 0;
	int ret = r.change ? 0 : -ENOMEM;

	while (!ret && pfs_epochs_next(&walk))
		ret = add_epoch(&r, &walk);
	for (uint64_t bin = 0; !ret && bin < plot->nr_bins && bin / bins < columns; bin++) {
		now += r.change[bin];
		if (now > 0 && (uint64_t)now > pages[bin / bins])
			pages[bin / bins] = now;
	}
	free(r.change);
	return ret;
}
