/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: tables by process, by region and by file, each sorted by faults, as text, CSV or JSON.
 *
 * The process table counts events, so it equals what the kernel counted for the process; the other
 * two add up pages. They differ where processes share a space (vfork): there a region's faults are
 * those of both.
 */
#include "escape.h"
#include "labels.h"
#include "table.h"
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"

/* What every table says of its rows, in this order. */
#define COUNT_COLUMNS									\
	{ "faults", "faults", 0 },							\
	{ "read", "read", PFS_COLUMN_OPTIONAL },					\
	{ "write", "write", PFS_COLUMN_OPTIONAL },					\
	{ "exec", "exec", PFS_COLUMN_OPTIONAL },					\
	{ "access_unknown", "unknown", PFS_COLUMN_OPTIONAL },				\
	{ "user", "user", PFS_COLUMN_OPTIONAL },					\
	{ "kernel", "kernel", PFS_COLUMN_OPTIONAL },					\
	{ "major", "major", PFS_COLUMN_OPTIONAL },					\
	{ "signal", "signal", PFS_COLUMN_OPTIONAL },					\
	{ "outside", "outside", PFS_COLUMN_OPTIONAL },					\
	{ "touched", "touched", 0 },							\
	{ "around", "around", PFS_COLUMN_OPTIONAL },					\
	{ "populated", "populated", PFS_COLUMN_OPTIONAL },				\
	{ "huge", "huge", PFS_COLUMN_OPTIONAL }

static const struct pfs_column process_columns[] = {
	{ "pid", "pid", 0 },
	{ "ppid", "parent", PFS_COLUMN_OPTIONAL },
	{ "epochs", "execs", 0 },
	{ "threads", "threads", 0 },
	COUNT_COLUMNS,
	{ "regions", "regions", 0 },
	{ "gone", "gone", 0 },
	{ "start_s", "start", PFS_COLUMN_SECONDS },
	{ "end_s", "end", PFS_COLUMN_SECONDS },
	{ "comm", "name", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

static const struct pfs_column region_columns[] = {
	{ "pid", "pid", 0 },
	{ "epoch", "exec", 0 },
	{ "range", "address range", PFS_COLUMN_LEFT },
	{ "perms", "perm", PFS_COLUMN_LEFT },
	{ "gone", "gone", PFS_COLUMN_OPTIONAL },
	{ "pages", "pages", 0 },
	COUNT_COLUMNS,
	{ "first_s", "first", PFS_COLUMN_SECONDS },
	{ "last_s", "last", PFS_COLUMN_SECONDS },
	{ "name", "name", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

static const struct pfs_column file_columns[] = {
	{ "mappings", "mappings", 0 },
	{ "processes", "processes", 0 },
	{ "pages", "pages", 0 },
	COUNT_COLUMNS,
	{ "device", "device", PFS_COLUMN_LEFT | PFS_COLUMN_OPTIONAL },
	{ "inode", "inode", PFS_COLUMN_OPTIONAL },
	{ "name", "name", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

/* ---- what is gathered from the model ---- */

struct process_line {
	struct pfs_epochs at;		/* its first epoch that is shown */
	struct pfs_tally tally;
	uint64_t regions, gone;
};

struct region_line {
	struct pfs_epochs at;
	struct pfs_row row;
};

struct file_line {
	char *label;
	uint32_t dev;
	uint64_t ino, pages, mappings, processes;
	struct pfs_tally tally;
};

struct gathered {
	const struct pfs_model *model;
	const struct pfs_view_options *options;
	struct process_line *processes;
	struct region_line *regions;
	struct file_line *files;
	size_t nr_processes, nr_regions, nr_files;
};

/* One more zeroed element at the end. NULL: no memory. */
static void *append(void *array, size_t *nr, size_t size)
{
	char **bytes = array, *bigger;

	if (!(*nr & (*nr - 1))) {	/* room doubles at each power of two */
		bigger = realloc(*bytes, (*nr ? *nr * 2 : 1) * size);
		if (!bigger)
			return NULL;
		*bytes = bigger;
	}
	bigger = *bytes + (*nr)++ * size;
	memset(bigger, 0, size);
	return bigger;
}

/* The whole life of a process as its events say, whatever the rows are. */
static void count_events(struct pfs_tally *tally, const struct pfs_counts *c)
{
	uint64_t touched = tally->touched, seen = tally->seen;

	*tally = (struct pfs_tally){
		.faults = c->faults, .read = c->read, .write = c->write, .exec = c->exec,
		.access_unknown = c->access_unknown, .user = c->user, .kernel = c->kernel,
		.signal = c->signal, .outside = c->outside, .major = c->major,
		.around = c->around, .populated = c->populated, .huge = c->huge,
		.touched = touched, .seen = seen,
	};
}

static int gather_rows(struct gathered *g, const struct pfs_epochs *at, struct process_line *line)
{
	bool moment = g->options->filter && g->options->filter->at.set;
	struct pfs_rows rows;
	int err = pfs_rows_collect(&rows, g->model, at->epoch->space, g->options->filter);

	for (unsigned int i = 0; !err && i < rows.nr; i++) {
		const struct pfs_row *row = &rows.row[i];
		struct region_line *region;

		line->regions += !!row->region;
		line->gone += row->gone;
		if (row->gone && moment && !g->options->all)
			continue;
		pfs_tally_add(&line->tally, &row->tally);
		region = append(&g->regions, &g->nr_regions, sizeof(*region));
		if (region)
			*region = (struct region_line){ .at = *at, .row = *row };
		else
			err = -ENOMEM;
	}
	pfs_rows_free(&rows);
	return err;
}

static int gather(struct gathered *g)
{
	const struct pfs_filter *filter = g->options->filter;
	struct pfs_epochs at = { .model = g->model, .filter = filter };
	struct process_line *line = NULL;
	int err = 0;

	while (!err && pfs_epochs_next(&at)) {
		if (!line || line->at.proc != at.proc)
			line = append(&g->processes, &g->nr_processes, sizeof(*line));
		if (!line)
			return -ENOMEM;
		if (!line->at.proc)
			line->at = at;
		err = gather_rows(g, &at, line);
	}
	for (size_t i = 0; i < g->nr_processes; i++)
		if (!filter || (!filter->nr_regions && !filter->at.set))
			count_events(&g->processes[i].tally, &g->processes[i].at.proc->counts);
	return err;
}

/* ---- by file ---- */

static bool has_file(const struct pfs_row *row)
{
	return row->region && row->region->have & PFS_HAS(PFS_F_INO) && row->region->ino;
}

/* Mappings of one file follow each other, and so do those of one label; of each, by process. */
static int compare_by_file(const void *a, const void *b)
{
	const struct region_line *x = *(struct region_line *const *)a;
	const struct region_line *y = *(struct region_line *const *)b;
	const struct pfs_region *p = x->row.region, *q = y->row.region;
	char left[1024], right[1024];
	int by_name;

	if (has_file(&x->row) != has_file(&y->row))
		return has_file(&x->row) ? -1 : 1;
	if (has_file(&x->row) && p->dev != q->dev)
		return p->dev < q->dev ? -1 : 1;
	if (has_file(&x->row) && p->ino != q->ino)
		return p->ino < q->ino ? -1 : 1;
	if (!has_file(&x->row)) {
		by_name = strcmp(pfs_label(&x->row, left, sizeof(left)),
				 pfs_label(&y->row, right, sizeof(right)));
		if (by_name)
			return by_name;
	}
	if (x->at.proc->pid != y->at.proc->pid)
		return x->at.proc->pid < y->at.proc->pid ? -1 : 1;
	return (x > y) - (x < y);
}

static bool same_file(const struct region_line *a, const struct region_line *b)
{
	char left[1024], right[1024];

	if (has_file(&a->row) != has_file(&b->row))
		return false;
	if (has_file(&a->row))
		return a->row.region->dev == b->row.region->dev &&
		       a->row.region->ino == b->row.region->ino;
	return !strcmp(pfs_label(&a->row, left, sizeof(left)),
		       pfs_label(&b->row, right, sizeof(right)));
}

static int add_file(struct gathered *g, const struct region_line *region,
		    const struct region_line *before)
{
	bool same = before && same_file(before, region);
	struct file_line *file = same ? &g->files[g->nr_files - 1] :
				 append(&g->files, &g->nr_files, sizeof(*file));
	char label[1024];

	if (!file)
		return -ENOMEM;
	if (!same) {
		file->label = strdup(pfs_label(&region->row, label, sizeof(label)));
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

static int gather_files(struct gathered *g)
{
	const struct region_line **sorted = calloc(g->nr_regions + 1, sizeof(*sorted));
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

static void gathered_fini(struct gathered *g)
{
	for (size_t i = 0; i < g->nr_files; i++)
		free(g->files[i].label);
	free(g->files);
	free(g->regions);
	free(g->processes);
}

/* ---- order ---- */

static int compare_tallies(const struct pfs_tally *a, const struct pfs_tally *b)
{
	if (a->faults != b->faults)
		return a->faults > b->faults ? -1 : 1;
	return (a->seen < b->seen) - (a->seen > b->seen);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process_line *x = a, *y = b;
	int order = compare_tallies(&x->tally, &y->tally);

	if (order)
		return order;
	if (x->at.proc->pid != y->at.proc->pid)
		return x->at.proc->pid < y->at.proc->pid ? -1 : 1;
	return (x->at.proc->born_ns > y->at.proc->born_ns) -
	       (x->at.proc->born_ns < y->at.proc->born_ns);
}

static int compare_regions(const void *a, const void *b)
{
	const struct region_line *x = a, *y = b;
	int order = compare_tallies(&x->row.tally, &y->row.tally);

	if (order)
		return order;
	if (x->at.proc->pid != y->at.proc->pid)
		return x->at.proc->pid < y->at.proc->pid ? -1 : 1;
	if (x->at.epoch->start_ns != y->at.epoch->start_ns)
		return x->at.epoch->start_ns < y->at.epoch->start_ns ? -1 : 1;
	if (x->row.start != y->row.start)
		return x->row.start < y->row.start ? -1 : 1;
	if (x->row.region && y->row.region)
		return (x->row.region->born_ns > y->row.region->born_ns) -
		       (x->row.region->born_ns < y->row.region->born_ns);
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct file_line *x = a, *y = b;
	int order = compare_tallies(&x->tally, &y->tally);

	if (!order)
		order = strcmp(x->label, y->label);
	if (!order)
		order = (x->dev > y->dev) - (x->dev < y->dev);
	return order ? order : (x->ino > y->ino) - (x->ino < y->ino);
}

/* ---- tables ---- */

static void add_counts(struct pfs_table *table, const struct pfs_tally *t)
{
	const uint64_t counts[] = {
		t->faults, t->read, t->write, t->exec, t->access_unknown, t->user, t->kernel,
		t->major, t->signal, t->outside, t->touched, t->around, t->populated, t->huge,
	};

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		pfs_table_number(table, counts[i]);
}

/* Seconds since the start of the recording; what came before it is at 0. */
static void add_time(struct pfs_table *table, const struct pfs_model *model, bool known, uint64_t ns)
{
	uint64_t base = model->start_ns ? model->start_ns : model->first_ns;

	if (known)
		pfs_table_number(table, ns > base ? ns - base : 0);
	else
		pfs_table_missing(table);
}

static void fill_processes(struct pfs_table *table, const struct gathered *g)
{
	for (size_t i = 0; i < g->nr_processes; i++) {
		const struct process_line *line = &g->processes[i];
		const struct pfs_proc *proc = line->at.proc;

		pfs_table_number(table, proc->pid);
		pfs_table_number(table, proc->ppid);
		pfs_table_number(table, line->at.of);
		pfs_table_number(table, proc->nr_threads);
		add_counts(table, &line->tally);
		pfs_table_number(table, line->regions);
		pfs_table_number(table, line->gone);
		add_time(table, g->model, true, line->at.epoch->start_ns);
		add_time(table, g->model, proc->died_ns != UINT64_MAX, proc->died_ns);
		pfs_table_word(table, proc->comm ? proc->comm : "?");
	}
}

static void fill_regions(struct pfs_table *table, const struct gathered *g)
{
	char text[1024], perms[5] = "";

	for (size_t i = 0; i < g->nr_regions; i++) {
		const struct region_line *line = &g->regions[i];
		const struct pfs_tally *t = &line->row.tally;

		if (!t->seen && !g->options->all)
			continue;
		pfs_table_number(table, line->at.proc->pid);
		pfs_table_number(table, line->at.number);
		pfs_range_text(text, line->row.start, line->row.end);
		pfs_table_word(table, text);
		if (line->row.region)
			pfs_perms_text(perms, line->row.region);
		pfs_table_word(table, line->row.region ? perms : "");
		pfs_table_number(table, line->row.gone);
		pfs_table_number(table, pfs_row_pages(&line->row, g->model));
		add_counts(table, t);
		add_time(table, g->model, t->seen, t->first_ns);
		add_time(table, g->model, t->seen, t->last_ns);
		pfs_table_word(table, pfs_label_kind(&line->row) ? pfs_label_kind(&line->row) :
			       line->row.name);
	}
}

static void fill_files(struct pfs_table *table, const struct gathered *g)
{
	char device[24] = "";

	for (size_t i = 0; i < g->nr_files; i++) {
		const struct file_line *file = &g->files[i];

		if (!file->tally.seen && !g->options->all)
			continue;
		pfs_table_number(table, file->mappings);
		pfs_table_number(table, file->processes);
		pfs_table_number(table, file->pages);
		add_counts(table, &file->tally);
		snprintf(device, sizeof(device), "%02x:%02x", file->dev >> 20, file->dev & 0xfffff);
		pfs_table_word(table, file->ino ? device : "");
		if (file->ino)
			pfs_table_number(table, file->ino);
		else
			pfs_table_missing(table);
		pfs_table_word(table, file->label);
	}
}

/* ---- the three forms ---- */

struct section {
	const char *key, *title;
	const struct pfs_column *columns;
	void (*fill)(struct pfs_table *table, const struct gathered *g);
};

static const struct section sections[] = {
	{ "process", "By process", process_columns, fill_processes },
	{ "region", "By region", region_columns, fill_regions },
	{ "file", "By file", file_columns, fill_files },
};

static int put_section(const struct gathered *g, const struct section *section)
{
	struct pfs_table *table = pfs_table_new(section->columns);
	FILE *out = g->options->out;
	bool color = g->options->color;
	int err;

	if (!table)
		return -ENOMEM;
	section->fill(table, g);
	err = pfs_table_error(table);
	if (err) {
		pfs_table_free(table);
		return err;
	}
	switch (g->options->format) {
	case PFS_VIEW_CSV:
		pfs_table_csv(table, out, section->key);
		break;
	case PFS_VIEW_JSON:
		fprintf(out, ",\n\"%s\": ", section->key);
		pfs_table_json(table, out);
		break;
	default:
		fprintf(out, "%s%s%s\n", color ? BOLD : "", section->title, color ? "\033[0m" : "");
		pfs_table_text(table, out, color ? "\033[2m" : NULL);
		fputc('\n', out);
	}
	pfs_table_free(table);
	return 0;
}

/* Losses belong to no process and no region: they stand for themselves, in front or at the end. */
static void put_recording(const struct gathered *g)
{
	const struct pfs_model *m = g->model;
	FILE *out = g->options->out;
	char lost[512], end[32];

	if (g->options->format == PFS_VIEW_CSV) {
		fputs("table,cpu,lost,lost_unknown_times\n", out);
		for (unsigned int i = 0; i < m->nr_losses; i++)
			fprintf(out, "lost,%d,%" PRIu64 ",%" PRIu64 "\n", m->losses[i].cpu,
				m->losses[i].count, m->losses[i].unknown);
	} else if (g->options->format == PFS_VIEW_JSON) {
		fprintf(out, "{\"recording\": {\"events\": %" PRIu64 ", \"first_ns\": %" PRIu64
			", \"last_ns\": %" PRIu64 ", \"start_ns\": %" PRIu64 ", \"lost\": %" PRIu64
			", \"lost_unknown_times\": %" PRIu64 "}", m->nr_events, m->first_ns,
			m->last_ns, m->start_ns ? m->start_ns : m->first_ns, m->lost,
			m->lost_unknown);
	} else {
		pfs_plural(lost, sizeof(lost), m->nr_events, "event");
		fprintf(out, "%s in %s s, ", lost, pfs_time_text(end, m, m->last_ns));
		if (!pfs_lost_text(lost, sizeof(lost), m, 0, UINT64_MAX))
			snprintf(lost, sizeof(lost), "none lost");
		fprintf(out, "%s\n", lost);
	}
}

int pfs_view_report_draw(const struct pfs_model *model, const struct pfs_view_options *options,
			 struct pfs_err *err)
{
	struct gathered g = { .model = model, .options = options };
	int ret = gather(&g);

	if (!ret)
		ret = gather_files(&g);
	if (ret)
		goto out;
	qsort(g.processes, g.nr_processes, sizeof(*g.processes), compare_processes);
	qsort(g.regions, g.nr_regions, sizeof(*g.regions), compare_regions);
	qsort(g.files, g.nr_files, sizeof(*g.files), compare_files);
	if (options->format != PFS_VIEW_TEXT)
		put_recording(&g);
	for (unsigned int i = 0; !ret && i < sizeof(sections) / sizeof(sections[0]); i++)
		ret = put_section(&g, &sections[i]);
	if (options->format == PFS_VIEW_JSON)
		fputs("}\n", options->out);
	else if (options->format == PFS_VIEW_TEXT)
		put_recording(&g);
out:
	gathered_fini(&g);
	if (ret)
		return pfs_err_set(err, ret, "no memory for the tables");
	if (fflush(options->out) || ferror(options->out))
		return pfs_err_set(err, -EIO, "writing the tables: %s", strerror(errno));
	return 0;
}
