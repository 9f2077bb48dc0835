/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope report: prints tables, and compares a recording with the kernel's own counts.
 */
#include "classes/mapped.h"
#include "code/code.h"
#include "common/command.h"
#include "common/reading.h"
#include "export/viewer.h"

#include <errno.h>
#include <string.h>

enum { OPT_CHECK = 0x600, OPT_BY, OPT_TOP };

struct report_args {
	struct reading_args reading; /* the first member */
	struct pfs_code_options code;
	bool html; /* a page with a flame graph */
};

static const struct argp_option options[] = {
	{ "check", OPT_CHECK, NULL, 0,
	  "Compare with the kernel's own counts and explain each difference (recordings of `run')", 1 },
	{ "by", OPT_BY, "LIST", 0,
	  "Tables: `file', `process', `region', `thread', `class', `page-size', `node'; of code `function', `line', `stack', `module', `instruction'",
	  1 },
	{ "inlines", OPTION_FLAG(struct report_args, code.symbols.inlines), NULL, 0,
	  "Count inlined functions by themselves", 1 },
	{ "inverted", OPTION_FLAG(struct report_args, code.inverted), NULL, 0,
	  "By stack: begin with the innermost function", 1 },
	{ "module", OPTION_WORD(struct report_args, code.module), "GLOB", 0, "Faults count for functions of this file",
	  1 },
	SYMBOLS_OPTIONS,
	{ "top", OPT_TOP, "N", 0, "At most N lines of each table", 1 },
	{ "wide", OPTION_FLAG(struct reading_args, view.wide), NULL, 0, "All columns, however wide", 1 },
	FORMAT_OPTIONS_OF("`text' (the default), `json', `csv' or, of --by stack, `html' (a flame graph)"),
	{ 0 },
};

/* Bits of the words: first those of the view's own tables, then those of code. */
static void parse_by(struct report_args *args, char *list, struct argp_state *state)
{
	const char *words[PFS_NR_REPORT_TABLES + PFS_NR_CODE_TABLES];

	memcpy(words, pfs_report_tables, sizeof(pfs_report_tables));
	memcpy(words + PFS_NR_REPORT_TABLES, pfs_code_tables, sizeof(pfs_code_tables));
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		unsigned int nr = option_word(state, "by", word, words, PFS_NR_REPORT_TABLES + PFS_NR_CODE_TABLES,
					      "file, process, region, thread, class, page-size, node, function, line, "
					      "stack, module or instruction");

		if (nr < PFS_NR_REPORT_TABLES)
			args->reading.view.by |= 1U << nr;
		else
			args->code.by |= 1U << (nr - PFS_NR_REPORT_TABLES);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *report = state->input;
	struct reading_args *args = &report->reading;

	switch (key) {
	case ARGP_KEY_END:
		if (report->code.inverted && !(report->code.by >> PFS_CODE_STACK & 1))
			argp_error(state, "--inverted: only with --by stack");
		if (report->code.symbols.inlines && !report->code.by)
			argp_error(state, "--inlines: only with --by function, line, stack or instruction");
		if (report->code.module && !(report->code.by & ~(1U << PFS_CODE_STACK)))
			argp_error(state, "--module: only with --by function, line, module or instruction");
		args->classify = args->view.by & PFS_REPORT_BY_CLASS;
		if (!strcmp(args->view.view, "check") && args->view.filter.labels)
			argp_error(state, "--check: compares faults of all classes: without --class");
		if (reading_symbols_option(args) && !report->code.by)
			argp_error(state, "%s: only with --by function, line, stack, module or instruction",
				   reading_symbols_option(args));
		if (!strcmp(args->view.view, "check") &&
		    (args->view.by || report->code.by || args->view.top || args->view.wide || args->view.format))
			argp_error(
				state,
				"--check: prints lines of text, not tables: without --by, --top, --wide and --format");
		if (report->html &&
		    (args->view.by || report->code.by != 1U << PFS_CODE_STACK || report->code.inverted ||
		     report->code.symbols.inlines || args->view.top || args->view.wide || args->view.format))
			argp_error(
				state,
				"--format=html: is a flame graph: only with --by stack, and no other option of tables");
		args->classify |= report->html;
		args->names = report->code.by;
		return 0;
	case OPT_TABLE_FORMAT:
		if (strcmp(arg, "html"))
			return reading_parse(key, arg, state);
		report->html = true;
		return 0;
	case OPT_CHECK:
		args->view.view = "check";
		return 0;
	case OPT_BY:
		parse_by(report, arg, state);
		return 0;
	case OPT_TOP:
		args->view.top = top_of_option(arg, "lines", state);
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp argp = READING_ARGP(
	options, parse, fault_reading_children,
	"Print tables of a recording by file, by process, by region and, on request, by thread, class, page, or the code that caused the faults: faults by kind, pages touched, mapped by fault-around and populated, regions mapped and unmapped, events lost.\v"
	"Examples:\n"
	"  pfscope report py.dat\n"
	"  pfscope report --by file,region --top 10 py.dat\n"
	"  pfscope report --by class py.dat  what the kernel had to do\n"
	"  pfscope report --class copy --by region py.dat\n"
	"  pfscope report --by function,line --module 'python*' py.dat\n"
	"  pfscope report --by stack --inverted py.dat\n"
	"  pfscope report --check py.dat     compare with the kernel's own counts\n"
	"\n"
	"Exit status: 0; 1 if the file cannot be read or, with --check, a difference has no explanation; 2 "
	"for wrong usage.");

struct code_tables {
	struct pfs_code *code;
	struct report_args *args;
};

static int put_code(void *ctx, const struct pfs_model *model, const struct pfs_view_options *view,
		    struct pfs_json *json)
{
	struct code_tables *tables = ctx;

	tables->args->code.recording = tables->args->reading.file;
	tables->args->code.symbols.files = tables->args->reading.symbols;
	tables->args->code.notes = tables->args->reading.notes;
	return pfs_code_put(tables->code, &tables->args->code, model, view, json);
}

static int draw_tables(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct report_args *report = (struct report_args *)args;
	bool by_thread = args->view.by & PFS_REPORT_BY_THREAD, by_class = args->view.by & PFS_REPORT_BY_CLASS;
	struct pfs_report_threads *threads = by_thread ? pfs_report_threads_new(&args->view.filter) : NULL;
	struct code_tables tables = { report->code.by ? pfs_code_new(&args->view.filter, &args->symbols, args->notes)
						      : NULL,
				      report };
	bool by_mapped = args->view.by & PFS_REPORT_BY_MAPPED;
	struct pfs_mapped *mapped = by_mapped ? pfs_mapped_new(&args->view.filter) : NULL;
	struct pfs_report_more more = { put_code, &tables };
	int ret = 0;

	if ((by_thread && !threads) || (by_mapped && !mapped) || (report->code.by && !tables.code))
		ret = pfs_err_set(err, -ENOMEM, "no memory for the tables");
	if (threads)
		pipeline_observe(p, pfs_report_threads_observer(threads));
	if (tables.code)
		pipeline_observe(p, pfs_code_observer(tables.code));
	if (mapped)
		pipeline_observe(p, pfs_mapped_observer(mapped));
	args->view.threads = threads;
	args->view.mapped = mapped;
	args->view.classes = by_class ? args->classes : NULL;
	args->view.more = tables.code ? &more : NULL;
	if (!ret)
		ret = reading_draw(args, p, err);
	pfs_report_threads_free(threads);
	pfs_mapped_free(mapped);
	pfs_code_free(tables.code);
	return ret;
}

static int draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	int ret;

	if (!((struct report_args *)args)->html)
		return draw_tables(args, p, err);
	ret = reading_export(args, p, PFS_VIEWER_HTML, stdout, err);
	if (!ret)
		reading_export_losses(p, PFS_VIEWER_HTML, "--format");
	return ret;
}

int cmd_report(int argc, char **argv)
{
	struct report_args args = { .reading.view.view = "report" };

	return reading_main(&args.reading, &argp, argc, argv, draw);
}
