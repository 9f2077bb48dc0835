/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers and sorts the lines of the report: see report.h.
 */
#include "view/report.h"

#include "base/array.h"
#include "view/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct pfs_process_line *add_process(struct pfs_report_lines *g, const struct pfs_epochs *at)
{
	struct pfs_process_line *line = pfs_array_add(g->processes, g->nr_processes, g->max_processes);

	if (line)
		*line = (struct pfs_process_line){ .at = *at };
	return line;
}

/* The counts of a whole process are those of its events, not of its rows. */
static void count_events(struct pfs_tally *t, const struct pfs_counts *c)
{
	*t = (struct pfs_tally){
		.faults = c->faults,
		.read = c->read,
		.write = c->write,
		.exec = c->exec,
		.access_unknown = c->access_unknown,
		.user = c->user,
		.kernel = c->kernel,
		.signal = c->signal,
		.outside = c->outside,
		.major = c->major,
		.populated = c->populated,
		.touched = t->touched,
		.around = t->around,
		.maybe_around = t->maybe_around,
		.huge = t->huge,
		.unobserved = t->unobserved,
		.seen = t->seen,
	};
}

static int gather_rows(struct pfs_report_lines *g, const struct pfs_epochs *at, struct pfs_process_line *line)
{
	bool moment = g->options->filter && g->options->filter->at.set;
	struct pfs_gaps shown = pfs_gaps_shown(g->model, g->options->filter);
	struct pfs_rows rows;
	int err = pfs_rows_collect(&rows, at);

	for (unsigned int i = 0; !err && i < rows.nr; i++) {
		const struct pfs_row *row = &rows.row[i];
		struct pfs_region_line *region;

		line->regions += !!row->region;
		line->gone += row->gone;
		if (row->gone && moment && !g->options->all)
			continue;
		pfs_tally_add(&line->tally, &row->tally);
		region = pfs_array_add(g->regions, g->nr_regions, g->max_regions);
		if (region)
			*region = (struct pfs_region_line){ *at, *row, pfs_gaps_sum(pfs_gaps_of(shown, at, row)) };
		else
			err = -ENOMEM;
	}
	pfs_rows_free(&rows);
	return err;
}

bool pfs_report_concerns(const struct pfs_process_line *line, struct pfs_gaps shown, const struct pfs_loss *gap)
{
	struct pfs_epochs life = pfs_whole_life(line->at.model, line->at.proc);

	return pfs_gaps_have(pfs_gaps_of(shown, &life, NULL), gap);
}

static void find_missing(struct pfs_report_lines *g)
{
	struct pfs_gaps shown = pfs_gaps_shown(g->model, g->options->filter);

	for (size_t i = 0; i < g->nr_processes; i++) {
		struct pfs_epochs life = pfs_whole_life(g->model, g->processes[i].at.proc);

		g->processes[i].missing = pfs_gaps_sum(pfs_gaps_of(shown, &life, NULL));
	}
}

/* Processes that lived in their parents' spaces only (vfork) have no rows, but they have faults. */
static int gather_guests(struct pfs_report_lines *g)
{
	struct pfs_epochs at = { .model = g->model, .filter = g->options->filter };
	struct pfs_process_line *line;
	size_t listed = 0;

	/* Lines are in the order of the model's list here: one pass along both. */
	for (at.proc = g->model->procs; at.proc; at.proc = at.proc->next) {
		if (listed < g->nr_processes && g->processes[listed].at.proc == at.proc) {
			listed++;
			continue;
		}
		if (!at.proc->counts.faults)
			continue;
		line = add_process(g, &at);
		if (!line)
			return -ENOMEM;
		line->at.epoch = &at.proc->epochs[0];
	}
	return 0;
}

static int gather_processes(struct pfs_report_lines *g)
{
	const struct pfs_filter *filter = g->options->filter;
	struct pfs_epochs at = { .model = g->model, .filter = filter };
	struct pfs_process_line *line = NULL;
	int err = 0;

	while (!err && pfs_epochs_next(&at)) {
		if (!line || line->at.proc != at.proc)
			line = add_process(g, &at);
		if (!line)
			return -ENOMEM;
		err = gather_rows(g, &at, line);
	}
	/* With --region or --at the rows that are left are what counts. */
	if (err || pfs_filter_has_regions(filter) || (filter && filter->at.set))
		return err;
	err = gather_guests(g);
	for (size_t i = 0; i < g->nr_processes; i++)
		count_events(&g->processes[i].tally, &g->processes[i].at.proc->counts);
	return err;
}

/* ---- by file ---- */

static bool has_file(const struct pfs_row *row)
{
	return row->region && pfs_region_is_file(row->region);
}

/* Mappings of one file are equal, and so is memory of one label. */
static int order_by_file(const struct pfs_row *x, const struct pfs_row *y)
{
	char left[PFS_LABEL_MAX], right[PFS_LABEL_MAX];

	if (has_file(x) != has_file(y))
		return has_file(x) ? -1 : 1;
	if (has_file(x))
		return pfs_order(x->region->dev, y->region->dev) ?: pfs_order(x->region->ino, y->region->ino);
	return strcmp(pfs_label(x, left, sizeof(left)), pfs_label(y, right, sizeof(right)));
}

/* Of one file, by process. */
static int compare_by_file(const void *a, const void *b)
{
	const struct pfs_region_line *x = *(struct pfs_region_line *const *)a;
	const struct pfs_region_line *y = *(struct pfs_region_line *const *)b;

	return order_by_file(&x->row, &y->row) ?: pfs_order(x->at.proc->pid, y->at.proc->pid) ?: pfs_order(x, y);
}

static int add_file(struct pfs_report_lines *g, const struct pfs_region_line *region,
		    const struct pfs_region_line *before)
{
	bool same = before && !order_by_file(&before->row, &region->row);
	struct pfs_file_line *file =
		same ? &g->files[g->nr_files - 1] : pfs_array_add(g->files, g->nr_files, g->max_files);
	const char *kind = pfs_label_kind(&region->row);

	if (!file)
		return -ENOMEM;
	if (!same) {
		*file = (struct pfs_file_line){ 0 };
		file->label = strdup(kind ? kind : region->row.name);
		if (!file->label)
			return -ENOMEM;
		file->dev = has_file(&region->row) ? region->row.region->dev : 0;
		file->ino = has_file(&region->row) ? region->row.region->ino : 0;
	}
	file->mappings++;
	file->processes += !same || before->at.proc != region->at.proc;
	file->pages += pfs_row_pages(&region->row, g->model);
	pfs_tally_add(&file->tally, &region->row.tally);
	return 0;
}

static int gather_files(struct pfs_report_lines *g)
{
	const struct pfs_region_line **sorted = calloc(g->nr_regions + 1, sizeof(*sorted));
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr_regions; i++)
		sorted[i] = &g->regions[i];
	qsort(sorted, g->nr_regions, sizeof(*sorted), compare_by_file);
	for (size_t i = 0; !err && i < g->nr_regions; i++)
		err = add_file(g, sorted[i], i ? sorted[i - 1] : NULL);
	free(sorted);
	return err;
}

/* ---- by thread ---- */

struct pfs_report_threads {
	struct pfs_thread_line *lines, *last; /* last: of the last event */
	const struct pfs_filter *filter;
};

struct pfs_report_threads *pfs_report_threads_new(const struct pfs_filter *filter)
{
	struct pfs_report_threads *threads = calloc(1, sizeof(*threads));

	if (threads)
		threads->filter = filter;
	return threads;
}

void pfs_report_threads_free(struct pfs_report_threads *threads)
{
	if (threads)
		PFS_HASH_FREE(threads->lines);
	free(threads);
}

/* NULL, with *err 0: it is not shown. */
static struct pfs_thread_line *line_of(struct pfs_report_threads *threads, const struct pfs_outcome *o, int *err)
{
	const struct pfs_thread *thread = o->thread;
	struct pfs_thread_line *line;
	typeof(line->key) key;

	*err = 0;
	if (!o->space || !thread || o->space->launcher || !pfs_filter_outcome(threads->filter, o))
		return NULL;
	key = (typeof(key)){ (uintptr_t)thread, thread->born_ns, thread->tid };
	line = threads->last;
	if (!line || memcmp(&line->key, &key, sizeof(key)))
		line = PFS_HASH_GET(threads->lines, key, key);
	if (!line) {
		*err = -ENOMEM;
		return NULL;
	}
	threads->last = line;
	line->proc = thread->proc;
	line->comm = thread->comm;
	return line;
}

static void count_line(struct pfs_thread_line *line, unsigned int access, unsigned int mode, bool outside, uint64_t nr)
{
	struct pfs_tally *t = &line->tally;

	t->faults += nr;
	*(access == PFS_READ	  ? &t->read
	  : access == PFS_WRITE	  ? &t->write
	  : access == PFS_EXECUTE ? &t->exec
				  : &t->access_unknown) += nr;
	t->user += mode == PFS_USER ? nr : 0;
	t->kernel += mode == PFS_KERNEL ? nr : 0;
	t->outside += outside ? nr : 0;
}

static void count_times(struct pfs_thread_line *line, uint64_t first_ns, uint64_t last_ns)
{
	if (!line->first_ns)
		line->first_ns = first_ns;
	line->last_ns = last_ns;
}

static int count_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *o)
{
	struct pfs_thread_line *line;
	int err = 0;

	if (ev->kind != PFS_FAULT && ev->kind != PFS_MAJOR && ev->kind != PFS_SIGNAL)
		return 0;
	line = line_of(ctx, o, &err);
	if (!line)
		return err;
	if (ev->kind != PFS_FAULT) {
		*(ev->kind == PFS_MAJOR ? &line->tally.major : &line->tally.signal) += 1;
		return 0;
	}
	count_line(line, pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0, pfs_has(ev, PFS_F_MODE) ? ev->mode : 0, !o->region,
		   pfs_has(ev, PFS_F_COUNT) ? ev->count : 1);
	count_times(line, ev->ts_ns, ev->ts_ns);
	line->tally.major += pfs_has(ev, PFS_F_CLASS) && ev->class == PFS_MAJOR_CLASS;
	line->nr_timed += pfs_has(ev, PFS_F_LATENCY);
	line->latency_ns += pfs_has(ev, PFS_F_LATENCY) ? ev->latency_ns : 0;
	return 0;
}

static int count_run(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *o)
{
	int err = 0;
	struct pfs_thread_line *line = line_of(ctx, o, &err);

	if (!line)
		return err;
	count_line(line, run->access, run->mode, !o->region, run->nr);
	count_times(line, run->ts_ns[0], run->ts_ns[run->nr - 1]);
	return 0;
}

struct pfs_observer pfs_report_threads_observer(struct pfs_report_threads *threads)
{
	return (struct pfs_observer){ count_event, count_run, threads };
}

static int compare_threads(const void *a, const void *b)
{
	const struct pfs_thread_line *x = *(struct pfs_thread_line *const *)a, *y = *(struct pfs_thread_line *const *)b;

	return pfs_order(y->tally.faults, x->tally.faults) ?: pfs_order(x->proc->pid, y->proc->pid)
		?: pfs_order(x->key.tid, y->key.tid) ?: pfs_order(x->key.born_ns, y->key.born_ns);
}

static int gather_threads(struct pfs_report_lines *g)
{
	const struct pfs_report_threads *threads = g->options->threads;
	struct pfs_thread_line *line, *next;
	unsigned int nr = threads ? HASH_COUNT(threads->lines) : 0;

	if (!nr)
		return 0;
	g->threads = calloc(nr, sizeof(*g->threads));
	if (!g->threads)
		return -ENOMEM;
	HASH_ITER (hh, threads->lines, line, next)
		g->threads[g->nr_threads++] = line;
	qsort(g->threads, nr, sizeof(*g->threads), compare_threads);
	return 0;
}

/* ---- order ---- */

static int compare_tallies(const struct pfs_tally *a, const struct pfs_tally *b)
{
	return pfs_order(b->faults, a->faults) ?: pfs_order(b->seen, a->seen);
}

static int compare_processes(const void *a, const void *b)
{
	const struct pfs_process_line *x = a, *y = b;

	return compare_tallies(&x->tally, &y->tally) ?: pfs_order(x->at.proc->pid, y->at.proc->pid)
		?: pfs_order(x->at.proc->born_ns, y->at.proc->born_ns);
}

static int compare_regions(const void *a, const void *b)
{
	const struct pfs_region_line *x = a, *y = b;
	int order = compare_tallies(&x->row.tally, &y->row.tally) ?: pfs_order(x->at.proc->pid, y->at.proc->pid)
		?: pfs_order(x->at.epoch->start_ns, y->at.epoch->start_ns) ?: pfs_order(x->row.start, y->row.start);

	return order || !x->row.region || !y->row.region ? order
							 : pfs_order(x->row.region->born_ns, y->row.region->born_ns);
}

static int compare_files(const void *a, const void *b)
{
	const struct pfs_file_line *x = a, *y = b;

	return compare_tallies(&x->tally, &y->tally) ?: strcmp(x->label, y->label) ?: pfs_order(x->dev, y->dev)
		?: pfs_order(x->ino, y->ino);
}

/* ---- all of it ---- */

int pfs_report_gather(struct pfs_report_lines *g, const struct pfs_model *model, const struct pfs_view_options *options)
{
	int err;

	*g = (struct pfs_report_lines){ .model = model, .options = options };
	err = gather_processes(g);
	find_missing(g);
	if (!err)
		err = gather_files(g) ?: gather_threads(g);
	if (err) {
		pfs_report_free(g);
		return err;
	}
	if (g->nr_processes)
		qsort(g->processes, g->nr_processes, sizeof(*g->processes), compare_processes);
	if (g->nr_regions)
		qsort(g->regions, g->nr_regions, sizeof(*g->regions), compare_regions);
	if (g->nr_files)
		qsort(g->files, g->nr_files, sizeof(*g->files), compare_files);
	return 0;
}

void pfs_report_free(struct pfs_report_lines *g)
{
	for (size_t i = 0; i < g->nr_files; i++)
		free(g->files[i].label);
	free(g->files);
	free(g->threads);
	free(g->regions);
	free(g->processes);
}
