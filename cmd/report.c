/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope report: prints tables, and compares a recording with the kernel's own counts.
 */
#include "classes/classes.h"
#include "common/command.h"
#include "common/reading.h"

#include <errno.h>
#include <string.h>

enum { OPT_CHECK = 0x600, OPT_BY, OPT_TOP };

static const struct argp_option options[] = {
	{ "check", OPT_CHECK, NULL, 0,
	  "Compare the faults with the kernel's own counts and explain each difference (recordings made by `run')", 1 },
	{ "by", OPT_BY, "LIST", 0, "Only these tables: `file', `process', `region', `thread', `class'", 1 },
	{ "top", OPT_TOP, "N", 0, "At most N lines of each table", 1 },
	{ "wide", OPTION_FLAG(struct reading_args, view.wide), NULL, 0, "All columns, however wide", 1 },
	FORMAT_OPTIONS,
	{ 0 },
};

static void parse_by(struct view_args *view, char *list, struct argp_state *state)
{
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
		view->by |= 1U << option_word(state, "by", word, pfs_report_tables, PFS_NR_REPORT_TABLES,
					      "file, process, region, thread or class");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	switch (key) {
	case ARGP_KEY_END:
		if (!strcmp(args->view.view, "check") &&
		    (args->view.by || args->view.top || args->view.wide || args->view.format))
			argp_error(
				state,
				"--check: prints lines of text, not tables: without --by, --top, --wide and --format");
		return 0;
	case OPT_CHECK:
		args->view.view = "check";
		return 0;
	case OPT_BY:
		parse_by(&args->view, arg, state);
		return 0;
	case OPT_TOP:
		args->view.top = top_of_option(arg, "lines", state);
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp argp = READING_ARGP(
	options, parse, reading_children,
	"Print tables of a recording by file, by process, by region and, on request, by thread and by class: faults by kind, pages touched, mapped by fault-around and populated, regions mapped and unmapped, events lost.\v"
	"Examples:\n"
	"  pfscope report py.dat\n"
	"  pfscope report --by file,region --top 10 py.dat\n"
	"  pfscope report --by class py.dat  what the kernel had to do\n"
	"  pfscope report --check py.dat     compare with the kernel's own counts\n"
	"\n"
	"Exit status: 0; 1 if the file cannot be read or, with --check, a difference has no explanation; 2 "
	"for wrong usage.");

static int draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct pfs_report_threads *threads = NULL;
	struct pfs_classes *classes = NULL;
	int ret = 0;

	if (args->view.by & PFS_REPORT_BY_THREAD) {
		args->view.threads = threads = pfs_report_threads_new(&args->view.filter);
		if (threads)
			pipeline_observe(p, pfs_report_threads_observer(threads));
		ret = threads ? ret : -ENOMEM;
	}
	if (args->view.by & PFS_REPORT_BY_CLASS) {
		pfs_model_track_presence(p->model);
		args->view.classes = classes = pfs_classes_new(p->model, &args->view.filter);
		if (classes)
			pipeline_observe(p, pfs_classes_observer(classes));
		ret = classes ? ret : -ENOMEM;
	}
	ret = ret ? pfs_err_set(err, ret, "no memory for the tables") : reading_draw(args, p, err);
	pfs_report_threads_free(threads);
	pfs_classes_free(classes);
	return ret;
}

int cmd_report(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "report" } };

	return reading_main(&args, &argp, argc, argv, draw);
}
