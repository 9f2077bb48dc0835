/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bars, the classic form: one line a region, one character a page, X faulted, . not.
 *
 *     Region: 40000000 - 40019000 (  25 pages): |XXXXXXXXXXXXXXXXX.XXXXX..|
 *
 * With --names the region's name is behind it. Every region that existed, in order of address, then of birth. Regions
 * below 64Ki pages are always exact; in larger ones each run of more than 4096 pages that did not fault is written as its
 * length: "..(268435453 untouched)..". Pages that faulted in no known region are on lines that start with "Unknown:"
 * instead. "Process:" lines come only where there is more than one address space.
 */
#include "base/escape.h"
#include "view/labels.h"
#include "view/loss.h"
#include "view/view.h"

#include <inttypes.h>
#include <string.h>

enum { EXACT_PAGES = 1 << 16, FOLD_PAGES = 4096 };

static void put_untouched(FILE *out, uint64_t nr, bool may_fold)
{
	if (may_fold && nr > FOLD_PAGES)
		fprintf(out, "..(%" PRIu64 " untouched)..", nr);
	else
		for (; nr; nr--)
			fputc('.', out);
}

static void put_row(const struct pfs_view_options *options, const struct pfs_model *model, const struct pfs_row *row)
{
	uint64_t nr_pages = pfs_row_pages(row, model), next = 0;
	bool may_fold = nr_pages >= EXACT_PAGES;
	char name[PFS_LABEL_MAX];
	FILE *out = options->out;
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t nr;

	fprintf(out, "%s: %08" PRIx64 " - %08" PRIx64 " (%4" PRIu64 " pages): |", row->region ? "Region" : "Unknown",
		row->start, row->end, nr_pages);
	if (row->pages)
		pfs_page_walk_start(&at, row->pages, row->start, row->end);
	while (row->pages && (page = pfs_page_walk_row(&at, &nr))) {
		uint64_t index = (at.addr - row->start) >> model->page_shift;

		if (!(page->flags & PFS_PAGE_TOUCHED))
			continue;
		put_untouched(out, index - next, may_fold);
		for (next = index + nr; index < next; index++)
			fputc('X', out);
	}
	put_untouched(out, nr_pages - next, may_fold);
	fputs("|", out);
	if (options->names)
		fprintf(out, " %s", pfs_label(row, name, sizeof(name)));
	fputc('\n', out);
}

static void put_process(FILE *out, const struct pfs_epochs *at)
{
	const char *comm = pfs_epoch_comm(at);
	char name[256];

	fprintf(out, "Process: %d", at->proc->pid);
	if (comm) {
		pfs_escape(name, sizeof(name), comm, 0);
		fprintf(out, " %s", name);
	}
	if (at->of > 1 && !at->epoch->shared)
		fprintf(out, " (exec epoch %u of %u)", at->number, at->of);
	fputc('\n', out);
}

static int put_epoch(const struct pfs_epochs *at, const struct pfs_view_options *options, bool title)
{
	struct pfs_rows rows;
	int err = pfs_rows_collect(&rows, at);

	if (err)
		return err;
	if (title && rows.nr)
		put_process(options->out, at);
	for (unsigned int i = 0; i < rows.nr; i++)
		if (!rows.row[i].gone || !options->filter || !options->filter->at.set)
			put_row(options, at->model, &rows.row[i]);
	pfs_rows_free(&rows);
	return 0;
}

int pfs_bars_classic_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_epochs start = { .model = model, .filter = options->filter }, at = start;
	unsigned int nr_epochs = 0;
	char lost[PFS_LOST_TEXT_MAX];
	int ret = 0;

	while (nr_epochs < 2 && pfs_epochs_next(&at))
		nr_epochs++;
	for (at = start; !ret && pfs_epochs_next(&at);)
		ret = put_epoch(&at, options, nr_epochs > 1);
	if (ret)
		return pfs_err_set(err, ret, "no memory to draw with");
	if (pfs_lost_text(lost, pfs_gaps_shown(model, options->filter)))
		fprintf(options->out, "Lost: %s\n", lost + (strncmp(lost, "lost ", 5) ? 0 : 5));
	return pfs_output_end(options->out, "the bars", err);
}
