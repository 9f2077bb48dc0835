/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: tables by process, by region and by file (view/report_tables.c), each sorted by faults, and what
 * concerns the whole recording; as text, CSV or JSON.
 */
#include "view/report_priv.h"

#include "view/labels.h"
#include "view/output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int put_section(const struct pfs_report_lines *g, const struct pfs_report_section *section)
{
	struct pfs_table *table = pfs_table_new(section->columns);
	int err;

	if (!table)
		return -ENOMEM;
	section->fill(table, g);
	err = pfs_table_error(table);
	if (!err)
		pfs_output_table(g->options, table, section->key, section->title);
	if (!err && g->options->format == PFS_VIEW_TEXT)
		fputc('\n', g->options->out);
	pfs_table_free(table);
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
	{ NULL, NULL, 0 },
};

static void fill_refault(struct pfs_table *table, const struct pfs_refault_how *how,
			 const struct pfs_refault_sums *sums)
{
	const uint64_t values[] = {
		how->interval_ns,   how->mean_ns ? how->mean_ns : how->interval_ns,
		sums->nr_cycles,    sums->nr_full,
		sums->pages.pages,  sums->pages.away,
		sums->pages.shared, sums->pages.fixed,
		sums->took_ns,	    sums->nr[PFS_PACE_QUIET],
		sums->skipped,
	};

	pfs_table_word(table, pfs_refault_methods[how->method]);
	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		pfs_table_number(table, values[i]);
	if (pfs_refault_slowdown(sums) > 0)
		pfs_table_number(table, pfs_refault_slowdown(sums) * 1000 + 0.5);
	else
		pfs_table_missing(table);
}

static void put_refault_text(FILE *out, const struct pfs_refault_how *how, const struct pfs_refault_sums *sums)
{
	char text[PFS_REFAULT_HOW_MAX], cost[PFS_REFAULT_TEXT_MAX];

	pfs_refault_how_text(text, how);
	pfs_refault_cost_text(cost, how->method, sums);
	fprintf(out, "%s %s%s%s\n", pfs_refault_what(how->method), text, sums->nr_cycles ? ": " : "",
		sums->nr_cycles ? cost : "");
}

/* Pages that pfscope made fault again caused some of the faults: by which method, and at what cost. */
static int put_refault(const struct pfs_model *m, const struct pfs_view_options *options)
{
	struct pfs_refault_how how;
	struct pfs_table *table;
	int err;

	if (!pfs_model_refault(m, &how))
		return 0;
	if (options->format == PFS_VIEW_TEXT) {
		put_refault_text(options->out, &how, &m->refaults);
		return 0;
	}
	table = pfs_table_new(refault_columns);
	if (!table)
		return -ENOMEM;
	fill_refault(table, &how, &m->refaults);
	err = pfs_table_error(table);
	if (!err && options->format == PFS_VIEW_CSV) {
		pfs_table_csv(table, options->out, "refault");
	} else if (!err) {
		fputs(", \"refault\": ", options->out);
		pfs_table_json_row(table, 0, options->out);
	}
	pfs_table_free(table);
	return err;
}

/* ---- the whole recording ---- */

/* Losses belong to no process and no region: they stand for themselves, in front or at the end. */
static int put_recording(const struct pfs_report_lines *g)
{
	const struct pfs_view_options *options = g->options;
	const struct pfs_model *m = g->model;
	FILE *out = options->out;
	struct pfs_gaps shown = pfs_gaps_shown(m, options->filter);
	char lost[PFS_LOST_TEXT_MAX], end[32];
	int ret;

	if (options->format == PFS_VIEW_CSV) {
		fputs("table,cpu,lost,lost_unknown_times\n", out);
		for (unsigned int i = 0; i < m->nr_lost_on; i++)
			fprintf(out, "lost,%d,%" PRIu64 ",%" PRIu64 "\n", m->lost_on[i].cpu, m->lost_on[i].count,
				m->lost_on[i].unknown);
		ret = put_refault(m, options);
	} else if (options->format == PFS_VIEW_JSON) {
		fprintf(out,
			"{\"recording\": {\"events\": %" PRIu64 ", \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
			", \"start_ns\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"lost_unknown_times\": %" PRIu64
			", \"processes_missed\": %" PRIu64,
			m->nr_events, m->first_ns, m->last_ns, m->start_ns ? m->start_ns : m->first_ns, m->lost,
			m->lost_unknown, m->missed);
		ret = put_refault(m, options);
		fputc('}', out);
	} else {
		pfs_plural(lost, sizeof(lost), m->nr_events, "event");
		fprintf(out, "%s in %s s, ", lost, pfs_time_text(end, m, m->last_ns));
		if (!pfs_lost_text(lost, &shown))
			snprintf(lost, sizeof(lost), "none lost");
		fprintf(out, "%s\n", lost);
		ret = put_refault(m, options);
	}
	return ret;
}

int pfs_view_report_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct pfs_report_lines g;
	int ret = pfs_report_gather(&g, model, options);

	if (ret)
		return pfs_err_set(err, ret, "no memory for the tables");
	if (options->format != PFS_VIEW_TEXT)
		ret = put_recording(&g);
	for (const struct pfs_report_section *section = pfs_report_sections; !ret && section->key; section++)
		if (!section->wanted || section->wanted(&g))
			ret = put_section(&g, section);
	if (options->format == PFS_VIEW_JSON)
		fputs("}\n", options->out);
	else if (!ret && options->format == PFS_VIEW_TEXT)
		ret = put_recording(&g);
	pfs_report_free(&g);
	return ret ? pfs_err_set(err, ret, "no memory for the tables")
		   : pfs_output_end(options->out, "the tables", err);
}
