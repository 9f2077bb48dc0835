/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a moment: the report's by region, file and process, and one for each thread. See live.h.
 */
#include "live/live.h"

#include "base/array.h"
#include "base/escape.h"
#include "view/labels.h"
#include "view/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const pfs_live_by[PFS_NR_LIVE_BY] = { "region", "file", "process", "thread" };
const char *const pfs_live_sort[PFS_NR_LIVE_SORT] = { "faults/s", "faults", "major", "touched", "name" };

/* All that the lines of one moment are made of. */
struct gather {
	struct pfs_live_lines *lines;
	const struct pfs_moment *moment;
	const struct pfs_report_lines *report;
	const char *text;
	int err;
};

static void name_process(char *who, size_t size, const struct pfs_proc *proc, const char *comm)
{
	size_t len = snprintf(who, size, "%d ", proc->pid);

	pfs_escape(who + len, size - len, comm ? comm : "?", 0);
}

static bool fits(const struct pfs_live_line *line, const char *text)
{
	return !text || !*text || strcasestr(line->name, text) || strcasestr(line->who, text);
}

/* Takes the line with its name, if it is wanted. */
static void add(struct gather *g, const struct pfs_live_line *line)
{
	struct pfs_live_lines *lines = g->lines;
	struct pfs_live_line *new = NULL;

	if (line->name && !fits(line, g->text)) {
		free(line->name);
		return;
	}
	if (line->name)
		new = pfs_array_add(lines->line, lines->nr, lines->max);
	if (new)
		*new = *line;
	else
		free(line->name);
	g->err = new ? g->err : -ENOMEM;
}

static char *escaped(const char *name)
{
	char safe[PFS_LABEL_MAX];

	pfs_escape(safe, sizeof(safe), name, 0);
	return strdup(safe);
}

static void count(struct pfs_live_line *line, const struct pfs_tally *t)
{
	line->faults = t->faults;
	line->major = t->major;
	line->touched = t->touched;
}

/*
 * Faults of the last second. A region that was split or moved within it has been counted as what it was before: then its
 * pages that were new have their faults, and those of its other part are not its own any more.
 */
static uint64_t rate_of(const struct pfs_moment *moment, const struct pfs_row *row)
{
	uint64_t since_ns = pfs_rate_since(moment->now_ns), new = 0, rate = 0;
	const struct pfs_page *page;
	struct pfs_page_walk walk;

	if (!row->tally.seen || row->tally.last_ns < since_ns)
		return 0;
	if (row->region)
		rate = pfs_moment_region_rate(moment, row->region);
	for (pfs_page_walk_start(&walk, row->pages, row->start, row->end); (page = pfs_page_walk_next(&walk));)
		new += page->first_ns >= since_ns ? page->nr_faults : 0;
	rate = rate > new ? rate : new;
	return rate < row->tally.faults ? rate : row->tally.faults;
}

static void add_regions(struct gather *g)
{
	for (size_t i = 0; !g->err && i < g->report->nr_regions; i++) {
		const struct pfs_region_line *region = &g->report->regions[i];
		const struct pfs_row *row = &region->row;
		struct pfs_live_line line = { .has_row = true, .row = *row };
		char label[PFS_LABEL_MAX];

		if (!row->tally.seen)
			continue;
		snprintf(line.key, sizeof(line.key), "r%d %u %" PRIx64 " %" PRIu64, region->at.proc->pid,
			 region->at.number, row->start, row->region ? row->region->born_ns : 0);
		line.name = strdup(pfs_label_base(pfs_label_place(row, label, sizeof(label))));
		name_process(line.who, sizeof(line.who), region->at.proc, pfs_epoch_comm(&region->at));
		line.rate = rate_of(g->moment, row);
		line.pages = pfs_row_pages(row, g->moment->model);
		count(&line, &row->tally);
		add(g, &line);
	}
}

/* By the same rule as the report has. */
static bool maps_file(const struct pfs_row *row, const struct pfs_file_line *file)
{
	const char *kind = pfs_label_kind(row);

	if (row->region && pfs_region_is_file(row->region))
		return row->region->dev == file->dev && row->region->ino == file->ino;
	return !file->dev && !file->ino && !strcmp(kind ? kind : row->name, file->label);
}

static void add_files(struct gather *g)
{
	for (size_t i = 0; !g->err && i < g->report->nr_files; i++) {
		const struct pfs_file_line *file = &g->report->files[i];
		struct pfs_live_line line = { .pages = file->pages };

		if (!file->tally.seen)
			continue;
		for (size_t k = 0; k < g->report->nr_regions; k++) {
			const struct pfs_region_line *region = &g->report->regions[k];

			if (!maps_file(&region->row, file))
				continue;
			line.rate += rate_of(g->moment, &region->row);
			if (!*line.who)
				name_process(line.who, sizeof(line.who), region->at.proc, pfs_epoch_comm(&region->at));
		}
		if (file->processes > 1)
			snprintf(line.who, sizeof(line.who), "%" PRIu64 " processes", file->processes);
		line.name = escaped(file->label);
		snprintf(line.key, sizeof(line.key), "f%x %" PRIu64 " %s", file->dev, file->ino, file->label);
		count(&line, &file->tally);
		add(g, &line);
	}
}

static void add_processes(struct gather *g)
{
	for (size_t i = 0; !g->err && i < g->report->nr_processes; i++) {
		const struct pfs_process_line *process = &g->report->processes[i];
		struct pfs_live_line line = { .name = escaped(process->at.proc->comm ? process->at.proc->comm : "?") };

		for (struct pfs_counter *c = g->moment->threads; c; c = c->hh.next)
			if (c->proc == process->at.proc)
				line.rate += pfs_rate_at(&c->rate, g->moment->now_ns);
		name_process(line.who, sizeof(line.who), process->at.proc, process->at.proc->comm);
		snprintf(line.key, sizeof(line.key), "p%d %" PRIu64, process->at.proc->pid, process->at.proc->born_ns);
		count(&line, &process->tally);
		add(g, &line);
	}
}

static void add_threads(struct gather *g)
{
	for (struct pfs_counter *c = g->moment->threads; c && !g->err; c = c->hh.next) {
		struct pfs_live_line line = { .faults = c->faults, .major = c->major };
		char name[64];

		snprintf(name, sizeof(name), "%d %s", c->tid, c->comm ? c->comm : "?");
		line.name = escaped(name);
		line.rate = pfs_rate_at(&c->rate, g->moment->now_ns);
		name_process(line.who, sizeof(line.who), c->proc, c->proc->comm);
		snprintf(line.key, sizeof(line.key), "t%d %" PRIu64, c->tid, c->key.born_ns);
		add(g, &line);
	}
}

/* ---- order: each compares by one number or word, and what is equal by the faults and the key ---- */

static int compare(const struct pfs_live_line *x, const struct pfs_live_line *y, enum pfs_live_sort sort)
{
	int order = 0;

	if (sort == PFS_LIVE_BY_RATE)
		order = pfs_order(y->rate, x->rate);
	else if (sort == PFS_LIVE_BY_MAJOR)
		order = pfs_order(y->major, x->major);
	else if (sort == PFS_LIVE_BY_TOUCHED)
		order = pfs_order(y->touched, x->touched);
	else if (sort == PFS_LIVE_BY_NAME)
		order = strcmp(x->name, y->name);
	return order ?: pfs_order(y->faults, x->faults) ?: pfs_order(y->touched, x->touched) ?: strcmp(x->key, y->key);
}

static int compare_lines(const void *x, const void *y, void *sort)
{
	return compare(x, y, *(const enum pfs_live_sort *)sort);
}

/* ---- all of it ---- */

/* As lib/plot/resident.c does it: from the first event of a page until its region is unmapped. */
static void sum_up(struct pfs_live_lines *lines, const struct pfs_report_lines *report)
{
	for (size_t i = 0; i < report->nr_regions; i++) {
		const struct pfs_row *row = &report->regions[i].row;
		const struct pfs_tally *t = &row->tally;
		uint64_t not = t->maybe + t->maybe_around + t->signal;

		pfs_tally_add(&lines->tally, t);
		if (row->region && row->region->died_ns == UINT64_MAX && t->seen > not )
			lines->resident += t->seen - not ;
	}
	for (size_t i = 0; i < report->nr_processes; i++) {
		lines->nr_procs++;
		lines->nr_threads += report->processes[i].at.proc->nr_threads;
	}
}

int pfs_live_gather(struct pfs_live_lines *lines, const struct pfs_moment *moment, const struct pfs_filter *filter,
		    enum pfs_live_by by, enum pfs_live_sort sort, const char *text)
{
	static void (*const add_lines[PFS_NR_LIVE_BY])(struct gather * g) = { add_regions, add_files, add_processes,
									      add_threads };
	struct pfs_view_options options = { .filter = filter };
	struct pfs_report_lines report;
	struct gather g = { lines, moment, &report, text, 0 };

	*lines = (struct pfs_live_lines){ 0 };
	if (pfs_report_gather(&report, moment->model, &options))
		return -ENOMEM;
	add_lines[by](&g);
	sum_up(lines, &report);
	pfs_report_free(&report);
	if (g.err)
		pfs_live_free(lines);
	else if (lines->nr)
		qsort_r(lines->line, lines->nr, sizeof(*lines->line), compare_lines, &sort);
	return g.err;
}

void pfs_live_free(struct pfs_live_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++)
		free(lines->line[i].name);
	free(lines->line);
	*lines = (struct pfs_live_lines){ 0 };
}

int pfs_live_find(const struct pfs_live_lines *lines, const char *key)
{
	for (size_t i = 0; i < lines->nr; i++)
		if (!strcmp(lines->line[i].key, key))
			return i;
	return -1;
}
