/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report: tables by process, by region and by file (view/report_tables.c), each sorted by faults, and what
 * concerns the whole recording; as text, CSV or JSON.
 */
#include "view/report_priv.h"

#include "view/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int put_section(const struct pfs_report_lines *g, const struct pfs_report_section *section)
{
	struct pfs_table *table = pfs_table_new(section->columns);
	int err;

	if (table)
		section->fill(table, g);
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
	{ NULL, NULL, 0 },
};

static void fill_refault(struct pfs_table *table, const struct pfs_refault_how *how,
			 const struct pfs_refault_sums *sums)
{
	double slowdown = pfs_refault_slowdown(sums);

	pfs_table_word(table, pfs_refault_methods[how->method]);
	pfs_table_numbers(table, how->interval_ns, how->mean_ns ? how->mean_ns : how->interval_ns, sums->nr_cycles,
			  sums->nr_full, sums->pages.pages, sums->pages.away, sums->pages.shared, sums->pages.fixed,
			  sums->took_ns, sums->nr[PFS_PACE_QUIET], sums->skipped);
	pfs_table_known(table, slowdown > 0, slowdown > 0 ? slowdown * 1000 + 0.5 : 0);
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
static int put_refault(const struct pfs_report_lines *g)
{
	const struct pfs_refault_sums *sums = &g->model->refaults;
	struct pfs_refault_how how;
	struct pfs_table *table;

	if (!pfs_model_refault(g->model, &how))
		return 0;
	if (g->options->format == PFS_VIEW_TEXT) {
		put_refault_text(g->options->out, &how, sums);
		return 0;
	}
	table = pfs_table_new(refault_columns);
	if (table)
		fill_refault(table, &how, sums);
	return pfs_output_row(g->options, g->json, table, "refault");
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
		ret = put_refault(g);
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
		ret = put_refault(g);
		pfs_json_end(g->json, "}");
	} else {
		pfs_plural(lost, sizeof(lost), m->nr_events, "event");
		fprintf(out, "%s in %s s, ", lost, pfs_time_text(end, m, m->last_ns));
		if (!pfs_lost_text(lost, pfs_gaps_shown(m, options->filter)))
			snprintf(lost, sizeof(lost), "none lost");
		fprintf(out, "%s\n", lost);
		ret = put_refault(g);
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
	for (const struct pfs_report_section *section = pfs_report_sections; !ret && section->key; section++)
		if (!section->wanted || section->wanted(&g))
			ret = put_section(&g, section);
	if (options->format == PFS_VIEW_JSON)
		pfs_json_end(&json, "}\n");
	else if (!ret && options->format == PFS_VIEW_TEXT)
		ret = put_recording(&g);
	pfs_report_free(&g);
	return ret ? pfs_err_set(err, ret, "no memory for the tables")
		   : pfs_output_end(options->out, "the tables", err);
}
