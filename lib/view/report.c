/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: tables by file, by process and by region, each sorted by faults (view/report_lines.c), and what concerns
 * the whole recording; as text, CSV or JSON.
 */
#include "view/report.h"

#include "classes/classes.h"
#include "classes/mapped.h"
#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Only in the wide text: most of them are 0. */
enum { RARE = PFS_COLUMN_OPTIONAL | PFS_COLUMN_WIDE, NR_COUNTS = 16 };

/* Counts, the same in every table; two that not every table has room for. */
/* clang-format off */
#define COUNT_COLUMNS(signal, around)							\
	{ "faults", "faults", 0 },							\
	{ "read", "read", PFS_COLUMN_OPTIONAL },					\
	{ "write", "write", PFS_COLUMN_OPTIONAL },					\
	{ "exec", "exec", PFS_COLUMN_OPTIONAL },					\
	{ "access_unknown", "unknown", RARE },						\
	{ "user", "user", RARE },							\
	{ "kernel", "kernel", RARE },							\
	{ "major", "major", PFS_COLUMN_OPTIONAL },					\
	{ "signal", "signal", signal },							\
	{ "outside", "outside", RARE },							\
	{ "touched", "touched", 0 },							\
	{ "around", "around", around },							\
	{ "maybe_around", "at most", RARE },						\
	{ "populated", "populated", RARE },						\
	{ "huge", "huge", RARE },							\
	{ "unobserved", "not observed", RARE }
/* clang-format on */

/* How many gaps may concern the row, and how many events were lost in them. */
/* clang-format off */
#define LOSS_COLUMNS									\
	{ "gaps", "gaps", PFS_COLUMN_OPTIONAL },					\
	{ "may_lack", "maybe lost", RARE }
/* clang-format on */

static const struct pfs_column process_columns[] = {
	{ "pid", "pid", 0 },
	{ "ppid", "parent", RARE },
	{ "epochs", "epochs", PFS_COLUMN_WIDE },
	{ "threads", "threads", PFS_COLUMN_WIDE },
	COUNT_COLUMNS(PFS_COLUMN_OPTIONAL, RARE),
	{ "regions", "regions", PFS_COLUMN_WIDE },
	{ "gone", "unmapped", PFS_COLUMN_WIDE },
	LOSS_COLUMNS,
	{ "start_s", "start", PFS_COLUMN_SECONDS | PFS_COLUMN_WIDE },
	{ "end_s", "end", PFS_COLUMN_SECONDS | PFS_COLUMN_WIDE },
	{ "comm", "name", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ "args", "arguments", PFS_COLUMN_LEFT | RARE },
	{ NULL, NULL, 0 },
};

static const struct pfs_column region_columns[] = {
	{ "pid", "pid", 0 },
	{ "epoch", "epoch", PFS_COLUMN_WIDE },
	{ "range", "address range", PFS_COLUMN_LEFT | PFS_COLUMN_WIDE },
	{ "perms", "perm", PFS_COLUMN_LEFT },
	{ "gone", "unmapped", RARE },
	{ "pages", "pages", PFS_COLUMN_WIDE },
	COUNT_COLUMNS(RARE, RARE),
	{ "unobserved_s", "for s", RARE | PFS_COLUMN_SECONDS },
	LOSS_COLUMNS,
	{ "first_s", "first", PFS_COLUMN_SECONDS | PFS_COLUMN_WIDE },
	{ "last_s", "last", PFS_COLUMN_SECONDS | PFS_COLUMN_WIDE },
	{ "name", "name", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

static const struct pfs_column file_columns[] = {
	{ "mappings", "mappings", PFS_COLUMN_WIDE },
	{ "processes", "processes", PFS_COLUMN_WIDE },
	{ "pages", "pages", PFS_COLUMN_WIDE },
	COUNT_COLUMNS(PFS_COLUMN_OPTIONAL, PFS_COLUMN_OPTIONAL),
	{ "device", "device", PFS_COLUMN_LEFT | RARE },
	{ "inode", "inode", RARE },
	{ "name", "name", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

/* Faults only: a page belongs to no thread. */
static const struct pfs_column thread_columns[] = {
	{ "pid", "pid", 0 },
	{ "tid", "tid", 0 },
	{ "faults", "faults", 0 },
	{ "read", "read", PFS_COLUMN_OPTIONAL },
	{ "write", "write", PFS_COLUMN_OPTIONAL },
	{ "exec", "exec", PFS_COLUMN_OPTIONAL },
	{ "access_unknown", "unknown", RARE },
	{ "user", "user", RARE },
	{ "kernel", "kernel", PFS_COLUMN_OPTIONAL },
	{ "major", "major", PFS_COLUMN_OPTIONAL },
	{ "signal", "signal", PFS_COLUMN_OPTIONAL },
	{ "outside", "outside", RARE },
	{ "latency_ns", "total ns", PFS_COLUMN_OPTIONAL },
	{ "first_s", "first", PFS_COLUMN_SECONDS | PFS_COLUMN_WIDE },
	{ "last_s", "last", PFS_COLUMN_SECONDS | PFS_COLUMN_WIDE },
	{ "comm", "name", PFS_COLUMN_LEFT | PFS_COLUMN_TAIL },
	{ NULL, NULL, 0 },
};

/* Of the whole recording; only where a source knows how faults were handled. */
static const struct pfs_column handling_columns[] = {
	{ "how", "handled as", PFS_COLUMN_LEFT },
	{ "class", "class", PFS_COLUMN_LEFT },
	{ "faults", "faults", 0 },
	{ "unasked", "by kernel", PFS_COLUMN_OPTIONAL },
	{ "latency_ns", "total ns", PFS_COLUMN_OPTIONAL },
	{ "latency_mean_ns", "mean ns", PFS_COLUMN_OPTIONAL },
	{ "latency_max_ns", "max ns", PFS_COLUMN_OPTIONAL },
	{ NULL, NULL, 0 },
};

/* ---- tables ---- */

static void add_counts(struct pfs_table *table, const struct pfs_tally *t)
{
	pfs_table_numbers(table, t->faults, t->read, t->write, t->exec, t->access_unknown, t->user, t->kernel, t->major,
			  t->signal, t->outside, t->touched, t->around, t->maybe_around, t->populated, t->huge,
			  t->unobserved);
}

/* Seconds since the start of the recording; what came before it is at 0. */
static void add_time(struct pfs_table *table, const struct pfs_model *model, bool known, uint64_t ns)
{
	uint64_t base = pfs_model_base_ns(model);

	pfs_table_known(table, known, ns > base ? ns - base : 0);
}

static void add_missing(struct pfs_table *table, const struct pfs_missing *missing)
{
	pfs_table_number(table, missing->nr);
	pfs_table_known(table, !missing->unknown, missing->count);
}

/* The lines of a table together, and whether one more is printed. */
struct total {
	struct pfs_tally tally;
	unsigned int nr;
};

static bool is_wanted(struct total *total, const struct pfs_report_lines *g, const struct pfs_tally *line)
{
	const struct pfs_view_options *options = g->options;

	pfs_tally_add(&total->tally, line);
	return ++total->nr <= options->top || !options->top;
}

/* The last line of the text. */
static void add_total(struct pfs_table *table, const struct pfs_column *columns, const struct pfs_report_lines *g,
		      const struct total *total)
{
	char text[32];

	if (g->options->format != PFS_VIEW_TEXT || total->nr < 2)
		return;
	snprintf(text, sizeof(text), "total of %u", total->nr);
	for (; columns->key; columns++) {
		if (!strcmp(columns->key, "faults")) {
			add_counts(table, &total->tally);
			columns += NR_COUNTS - 1;
		} else if (columns->flags & PFS_COLUMN_LEFT) {
			pfs_table_word(table, columns->flags & PFS_COLUMN_TAIL ? text : "");
		} else {
			pfs_table_missing(table);
		}
	}
}

static void fill_processes(struct pfs_table *table, const struct pfs_report_lines *g)
{
	struct total total = { 0 };

	for (size_t i = 0; i < g->nr_processes; i++) {
		const struct pfs_process_line *line = &g->processes[i];
		const struct pfs_proc *proc = line->at.proc;
		const char *args = pfs_space_args(pfs_proc_space(proc));

		if (!is_wanted(&total, g, &line->tally))
			continue;
		pfs_table_numbers(table, proc->pid, proc->ppid, line->at.of, proc->nr_threads);
		add_counts(table, &line->tally);
		pfs_table_numbers(table, line->regions, line->gone);
		add_missing(table, &line->missing);
		add_time(table, g->model, true, line->at.epoch->start_ns);
		add_time(table, g->model, proc->died_ns != UINT64_MAX, proc->died_ns);
		pfs_table_word(table, proc->comm ? proc->comm : "?");
		if (args)
			pfs_table_word(table, args);
		else
			pfs_table_missing(table);
	}
	add_total(table, process_columns, g, &total);
}

/* Without the column of addresses, unnamed memory is told apart by its address in the name. */
static const char *region_name(char buf[PFS_LABEL_MAX], const struct pfs_row *row,
			       const struct pfs_view_options *options)
{
	if (options->format == PFS_VIEW_TEXT && !options->wide && pfs_label_kind(row))
		return pfs_label_place(row, buf, PFS_LABEL_MAX);
	return pfs_label_kind(row) ? pfs_label_kind(row) : row->name;
}

static void fill_regions(struct pfs_table *table, const struct pfs_report_lines *g)
{
	char text[40], perms[5] = "", name[PFS_LABEL_MAX];
	struct total total = { 0 };

	for (size_t i = 0; i < g->nr_regions; i++) {
		const struct pfs_region_line *line = &g->regions[i];
		const struct pfs_tally *t = &line->row.tally;

		if (!t->seen && !t->unobserved && !line->missing.nr && !g->options->all)
			continue;
		if (!is_wanted(&total, g, t))
			continue;
		pfs_table_numbers(table, line->at.proc->pid, line->at.number);
		pfs_range_text(text, line->row.start, line->row.end);
		pfs_table_word(table, text);
		if (line->row.region)
			pfs_perms_text(perms, line->row.region);
		pfs_table_word(table, line->row.region ? perms : "");
		pfs_table_numbers(table, line->row.gone, pfs_row_pages(&line->row, g->model));
		add_counts(table, t);
		pfs_table_number(table, line->row.unobserved_ns);
		add_missing(table, &line->missing);
		add_time(table, g->model, t->seen, t->first_ns);
		add_time(table, g->model, t->seen, t->last_ns);
		pfs_table_word(table, region_name(name, &line->row, g->options));
	}
	add_total(table, region_columns, g, &total);
}

static void fill_files(struct pfs_table *table, const struct pfs_report_lines *g)
{
	struct total total = { 0 };
	char device[24] = "";

	for (size_t i = 0; i < g->nr_files; i++) {
		const struct pfs_file_line *file = &g->files[i];

		if (!file->tally.seen && !file->tally.unobserved && !g->options->all)
			continue;
		if (!is_wanted(&total, g, &file->tally))
			continue;
		pfs_table_numbers(table, file->mappings, file->processes, file->pages);
		add_counts(table, &file->tally);
		snprintf(device, sizeof(device), "%02x:%02x", file->dev >> 20, file->dev & 0xfffff);
		pfs_table_word(table, pfs_is_file(file->dev, file->ino) ? device : "");
		pfs_table_known(table, pfs_is_file(file->dev, file->ino), file->ino);
		pfs_table_word(table, file->label);
	}
	add_total(table, file_columns, g, &total);
}

static void add_thread(struct pfs_table *table, const struct pfs_tally *t, bool timed, uint64_t latency_ns)
{
	pfs_table_numbers(table, t->faults, t->read, t->write, t->exec, t->access_unknown, t->user, t->kernel, t->major,
			  t->signal, t->outside);
	pfs_table_known(table, timed, latency_ns);
}

static void fill_threads(struct pfs_table *table, const struct pfs_report_lines *g)
{
	struct total total = { 0 };
	uint64_t latency_ns = 0;
	bool timed = false;
	char text[32];

	for (size_t i = 0; i < g->nr_threads; i++) {
		const struct pfs_thread_line *line = g->threads[i];

		latency_ns += line->latency_ns;
		timed |= line->nr_timed;
		if (!is_wanted(&total, g, &line->tally))
			continue;
		pfs_table_numbers(table, line->proc->pid, line->key.tid);
		add_thread(table, &line->tally, line->nr_timed, line->latency_ns);
		add_time(table, g->model, line->first_ns, line->first_ns);
		add_time(table, g->model, line->last_ns, line->last_ns);
		pfs_table_word(table, line->comm ? line->comm : "?");
	}
	if (g->options->format != PFS_VIEW_TEXT || total.nr < 2)
		return;
	for (int i = 0; i < 2; i++)
		pfs_table_missing(table);
	add_thread(table, &total.tally, timed, latency_ns);
	for (int i = 0; i < 2; i++)
		pfs_table_missing(table);
	snprintf(text, sizeof(text), "total of %u", total.nr);
	pfs_table_word(table, text);
}

static bool has_threads(const struct pfs_report_lines *g)
{
	return g->options->threads;
}

static void fill_classes(struct pfs_table *table, const struct pfs_report_lines *g)
{
	pfs_classes_table(g->options->classes, table, g->options->format == PFS_VIEW_TEXT, g->options->wide);
}

static bool has_classes(const struct pfs_report_lines *g)
{
	return g->options->classes;
}

static void fill_page_sizes(struct pfs_table *table, const struct pfs_report_lines *g)
{
	pfs_mapped_sizes(g->options->mapped, table, g->options->format == PFS_VIEW_TEXT);
}

static void fill_nodes(struct pfs_table *table, const struct pfs_report_lines *g)
{
	pfs_mapped_nodes(g->options->mapped, g->model, table, g->options->format == PFS_VIEW_TEXT);
}

static bool has_mapped(const struct pfs_report_lines *g)
{
	return g->options->mapped;
}

static void add_handling(struct pfs_table *table, unsigned int how, unsigned int class, const struct pfs_handling *h)
{
	pfs_table_word(table, pfs_fields[PFS_F_HOW].names[how]);
	pfs_table_word(table, pfs_fields[PFS_F_CLASS].names[class]);
	pfs_table_numbers(table, h->exceptions, h->unasked);
	if (h->nr_timed) {
		pfs_table_numbers(table, h->total_ns, h->total_ns / h->nr_timed, h->max_ns);
		return;
	}
	for (int i = 0; i < 3; i++)
		pfs_table_missing(table);
}

static void fill_handling(struct pfs_table *table, const struct pfs_report_lines *g)
{
	const struct pfs_counts *counts = &g->model->counts;

	for (unsigned int how = 1; how <= PFS_NR_HOW; how++)
		for (unsigned int class = 1; class <= PFS_MAJOR_CLASS + 1; class ++) {
			/* unknown comes last */
			unsigned int i = how % PFS_NR_HOW, k = class % (PFS_MAJOR_CLASS + 1);
			const struct pfs_handling *h = &counts->handling[i][k];

			if (h->exceptions + h->unasked)
				add_handling(table, i, k, h);
		}
}

/* Is anything known of how any fault was handled? That is not counted by region. */
static bool has_handling(const struct pfs_report_lines *g)
{
	const struct pfs_counts *counts = &g->model->counts;

	if (pfs_filter_has_regions(g->options->filter))
		return false;
	for (unsigned int how = 0; how < PFS_NR_HOW; how++)
		for (unsigned int class = 0; class <= PFS_MAJOR_CLASS; class ++) {
			const struct pfs_handling *h = &counts->handling[how][class];

			if (how ? h->exceptions + h->unasked : h->nr_timed)
				return true;
		}
	return false;
}

/* ---- what the kernel does not report ---- */

static const struct pfs_column not_told_columns[] = {
	{ "what", "what", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

static void fill_not_told(struct pfs_table *table, const struct pfs_report_lines *g)
{
	unsigned int at = 0;
	char what[256];

	while (pfs_lack_next(g->model, &at, what, sizeof(what)))
		pfs_table_word(table, what);
}

static bool has_not_told(const struct pfs_report_lines *g)
{
	unsigned int at = 0;
	char what[256];

	return pfs_lack_next(g->model, &at, what, sizeof(what));
}

/* ---- losses ---- */

static const struct pfs_column gap_columns[] = {
	{ "cpu", "cpu", 0 },
	{ "from_s", "from", PFS_COLUMN_SECONDS },
	{ "to_s", "to", PFS_COLUMN_SECONDS },
	{ "events", "events", 0 },
	{ "processes", "processes", 0 },
	{ "regions", "regions", 0 },
	{ "pids", "may concern", PFS_COLUMN_LEFT },
	{ NULL, NULL, 0 },
};

/* "12 34 56": those that the gap may concern. */
struct concerned {
	unsigned int processes, regions;
	char pids[4096];
};

static void add_concerned(struct concerned *c, const struct pfs_loss *gap, const struct pfs_report_lines *g)
{
	struct pfs_gaps shown = pfs_gaps_shown(g->model, g->options->filter);
	size_t len = 0;

	*c = (struct concerned){ 0 };
	for (size_t i = 0; i < g->nr_processes; i++) {
		const struct pfs_process_line *line = &g->processes[i];

		if (!pfs_report_concerns(line, shown, gap))
			continue;
		c->processes++;
		if (len + 20 < sizeof(c->pids))
			len += snprintf(c->pids + len, sizeof(c->pids) - len, "%s%d", len ? " " : "",
					line->at.proc->pid);
		else
			snprintf(c->pids + len, sizeof(c->pids) - len, " ...");
	}
	for (size_t i = 0; i < g->nr_regions; i++) {
		const struct pfs_region_line *line = &g->regions[i];

		c->regions += line->row.region && pfs_gaps_have(pfs_gaps_of(shown, &line->at, &line->row), gap);
	}
}

static void fill_gaps(struct pfs_table *table, const struct pfs_report_lines *g)
{
	struct pfs_gaps shown = pfs_gaps_shown(g->model, g->options->filter);
	struct concerned c;

	for (unsigned int i = 0; i < g->model->nr_losses; i++) {
		const struct pfs_loss *gap = &g->model->losses[i];

		if (!pfs_gaps_have(shown, gap))
			continue;
		pfs_table_known(table, gap->cpu >= 0, gap->cpu);
		add_time(table, g->model, gap->from_ns, gap->from_ns);
		add_time(table, g->model, gap->to_ns != UINT64_MAX, gap->to_ns);
		pfs_table_known(table, !gap->unknown, gap->count);
		add_concerned(&c, gap, g);
		pfs_table_numbers(table, c.processes, c.regions);
		pfs_table_word(table, c.pids);
	}
}

static bool has_gaps(const struct pfs_report_lines *g)
{
	return pfs_gaps_sum(pfs_gaps_shown(g->model, g->options->filter)).nr;
}

/* One table. */
struct section {
	const char *key, *title;
	const struct pfs_column *columns;
	void (*fill)(struct pfs_table *table, const struct pfs_report_lines *lines);
	bool (*wanted)(const struct pfs_report_lines *lines); /* NULL: always */
};

/* --by selects among the first ones: pfs_report_tables. */
static const struct section sections[] = {
	{ "file", "By file", file_columns, fill_files, NULL },
	{ "process", "By process", process_columns, fill_processes, NULL },
	{ "region", "By region", region_columns, fill_regions, NULL },
	{ "thread", "By thread", thread_columns, fill_threads, has_threads },
	{ "class", "By class", pfs_classes_columns, fill_classes, has_classes },
	{ "page_size", "By page size", pfs_mapped_size_columns, fill_page_sizes, has_mapped },
	{ "node", "By NUMA node", pfs_mapped_node_columns, fill_nodes, has_mapped },
	{ "handling", "By handling", handling_columns, fill_handling, has_handling },
	{ "gap", "Lost events", gap_columns, fill_gaps, has_gaps },
	{ "not_told", "Not reported", not_told_columns, fill_not_told, has_not_told },
	{ NULL, NULL, NULL, NULL, NULL },
};

const char *const pfs_report_tables[PFS_NR_REPORT_TABLES] = { "file",  "process",   "region", "thread",
							      "class", "page-size", "node" };

static int put_section(const struct pfs_report_lines *g, const struct section *section)
{
	struct pfs_table *table = pfs_table_new(section->columns);
	int err;

	if (table) {
		section->fill(table, g);
		if (!g->options->wide)
			pfs_table_fit(table, g->options->width ? g->options->width : 80);
	}
	err = pfs_output_table(g->options, g->json, table, section->key, section->title);
	if (!err && g->options->format == PFS_VIEW_TEXT)
		fputc('\n', g->options->out);
	return err;
}

/* ---- re-reference ---- */

static const struct pfs_column refault_columns[] = {
	{ "method", "", 0 },
	{ "interval_ns", "", 0 },
	{ "mean_ns", "", 0 },
	{ "cycles", "", 0 },
	{ "full", "", 0 },
	{ "pages", "", 0 },
	{ "away", "", 0 },
	{ "shared", "", 0 },
	{ "fixed", "", 0 },
	{ "took_ns", "", 0 },
	{ "quiet", "", 0 },
	{ "skipped", "", 0 },
	{ "slowdown", "", PFS_COLUMN_THOUSANDTHS },
	{ "hidden", "", 0 },
	{ NULL, NULL, 0 },
};

/* Only hiding marks the faults that it causes: with other methods their number is unknown. */
static void fill_refault(struct pfs_table *table, const struct pfs_refault_how *how,
			 const struct pfs_refault_sums *sums, const struct pfs_counts *counts)
{
	double slowdown = pfs_refault_slowdown(sums);

	pfs_table_word(table, pfs_refault_methods[how->method]);
	pfs_table_numbers(table, how->interval_ns, how->mean_ns ? how->mean_ns : how->interval_ns, sums->nr_cycles,
			  sums->nr_full, sums->pages.pages, sums->pages.away, sums->pages.shared, sums->pages.fixed,
			  sums->took_ns, sums->nr[PFS_PACE_QUIET], sums->skipped);
	pfs_table_known(table, slowdown > 0, slowdown > 0 ? slowdown * 1000 + 0.5 : 0);
	pfs_table_known(table, how->method == PFS_REFAULT_HIDE, pfs_counts_hidden(counts));
}

static unsigned int nr_hugetlb(const struct pfs_report_lines *g)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < g->nr_regions; i++)
		nr += g->regions[i].row.region && g->regions[i].row.region->traits & PFS_TRAIT_HUGETLB;
	return nr;
}

static void put_hidden_text(const struct pfs_report_lines *g)
{
	const struct pfs_counts *counts = &g->model->counts;
	uint64_t hidden = pfs_counts_hidden(counts);
	unsigned int hugetlb = nr_hugetlb(g);
	char number[32], more[32];

	fprintf(g->options->out, "  %s faults on hidden pages, %s of the program's own\n",
		pfs_grouped_text(number, hidden), pfs_grouped_text(more, counts->faults - hidden));
	pfs_plural(number, sizeof(number), hugetlb, "region");
	if (hugetlb)
		fprintf(g->options->out, "  %s of hugetlbfs stayed accessible\n", number);
}

static void put_refault_text(const struct pfs_report_lines *g, const struct pfs_refault_how *how,
			     const struct pfs_refault_sums *sums)
{
	char text[PFS_REFAULT_HOW_MAX], cost[PFS_REFAULT_TEXT_MAX];
	FILE *out = g->options->out;

	pfs_refault_how_text(text, how);
	pfs_refault_cost_text(cost, how->method, sums);
	fprintf(out, "%s %s%s\n", pfs_refault_what(how->method), text, sums->nr_cycles ? ":" : "");
	if (sums->nr_cycles)
		fputs(cost, out);
	if (how->method == PFS_REFAULT_HIDE)
		put_hidden_text(g);
}

/* Pages that pfscope made fault again caused some of the faults: by which method, and at what cost. */
static int put_refault(const struct pfs_report_lines *g)
{
	const struct pfs_refault_sums *sums = &g->model->refaults;
	struct pfs_refault_how how;
	struct pfs_table *table;

	if (!pfs_model_refault(g->model, &how))
		return 0;
	if (g->options->format == PFS_VIEW_TEXT) {
		put_refault_text(g, &how, sums);
		return 0;
	}
	table = pfs_table_new(refault_columns);
	if (table)
		fill_refault(table, &how, sums, &g->model->counts);
	return pfs_output_row(g->options, g->json, table, "refault");
}

/* ---- pages that pfscope hid ---- */

static const struct pfs_column microset_columns[] = {
	{ "pages", "", 0 },  { "by", "", 0 },  { "regions", "", 0 },
	{ "hidden", "", 0 }, { "own", "", 0 }, { NULL, NULL, 0 },
};

/* How many faults are because of that, and how many are the program's own. */
static int put_microset(const struct pfs_report_lines *g)
{
	const struct pfs_counts *counts = &g->model->counts;
	uint64_t hidden = pfs_counts_hidden(counts);
	struct pfs_table *table;
	struct pfs_fact fact;

	if (!pfs_model_fact(g->model, PFS_NOTE_MICROSET, &fact))
		return 0;
	if (g->options->format == PFS_VIEW_TEXT) {
		fprintf(g->options->out,
			"all pages of %s but the last %" PRIu64 " of each %s were hidden (--microset):\n", fact.text,
			fact.count, fact.what);
		put_hidden_text(g);
		return 0;
	}
	table = pfs_table_new(microset_columns);
	if (table) {
		pfs_table_numbers(table, fact.count);
		pfs_table_word(table, fact.what);
		pfs_table_word(table, fact.text);
		pfs_table_numbers(table, hidden, counts->faults - hidden);
	}
	return pfs_output_row(g->options, g->json, table, "microset");
}

/* ---- the whole recording ---- */

/* Losses belong to no process and no region: they stand for themselves, in front or at the end. */
static int put_recording(const struct pfs_report_lines *g)
{
	const struct pfs_view_options *options = g->options;
	const struct pfs_model *m = g->model;
	FILE *out = options->out;
	char lost[PFS_LOST_TEXT_MAX], end[32];
	int ret;

	if (options->format == PFS_VIEW_CSV) {
		fputs("table,cpu,lost,lost_unknown_times\n", out);
		for (unsigned int i = 0; i < m->nr_lost_on; i++)
			fprintf(out, "lost,%d,%" PRIu64 ",%" PRIu64 "\n", m->lost_on[i].cpu, m->lost_on[i].count,
				m->lost_on[i].unknown);
		ret = put_refault(g) ?: put_microset(g);
	} else if (options->format == PFS_VIEW_JSON) {
		pfs_json_begin(g->json, NULL, "{");
		pfs_json_begin(g->json, "recording", "{");
		pfs_json_u64(g->json, "events", m->nr_events);
		pfs_json_u64(g->json, "first_ns", m->first_ns);
		pfs_json_u64(g->json, "last_ns", m->last_ns);
		pfs_json_u64(g->json, "start_ns", pfs_model_base_ns(m));
		pfs_json_u64(g->json, "lost", m->lost);
		pfs_json_u64(g->json, "lost_unknown_times", m->lost_unknown);
		pfs_json_u64(g->json, "processes_missed", m->missed);
		ret = put_refault(g) ?: put_microset(g);
		pfs_json_end(g->json, "}");
	} else {
		if (!g->nr_processes)
			fprintf(out, "no process to show (of %u in the recording)\n", m->nr_procs);
		pfs_plural(lost, sizeof(lost), m->nr_events, "event");
		fprintf(out, "%s in %s s, ", lost, pfs_time_text(end, m, m->last_ns));
		if (!pfs_lost_text(lost, pfs_gaps_shown(m, options->filter)))
			snprintf(lost, sizeof(lost), "none lost");
		fprintf(out, "%s\n", lost);
		ret = put_refault(g) ?: put_microset(g);
	}
	return ret;
}

int pfs_view_report_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_report_lines g;
	struct pfs_json json;
	int ret = pfs_report_gather(&g, model, options);

	if (ret)
		return pfs_err_set(err, ret, "no memory for the tables");
	pfs_json_init(&json, options->out);
	json.spaced = true;
	g.json = &json;
	if (options->format != PFS_VIEW_TEXT)
		ret = put_recording(&g);
	if (!ret && options->more)
		ret = options->more->put(options->more->ctx, model, options, g.json);
	for (const struct section *section = sections; !ret && section->key && (options->by || !options->more);
	     section++)
		if (!options->by ? !section->wanted || section->wanted(&g) : options->by >> (section - sections) & 1)
			ret = put_section(&g, section);
	if (options->format == PFS_VIEW_JSON)
		pfs_json_end(&json, "}\n");
	else if (!ret && options->format == PFS_VIEW_TEXT)
		ret = put_recording(&g);
	pfs_report_free(&g);
	return ret ? pfs_err_set(err, ret, "no memory for the tables")
		   : pfs_output_end(options->out, "the tables", err);
}
