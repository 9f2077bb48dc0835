/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope diff: compares recordings, and fails by conditions on the result.
 */
#include "base/array.h"
#include "common/command.h"
#include "common/pager.h"
#include "common/reading.h"
#include "compare/print.h"
#include "view/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_FAIL_IF = 0x900, OPT_TOP, DEFAULT_TOP = 10 };

struct names {
	const char **name;
	size_t nr;
};

struct diff_args {
	struct reading_args reading; /* without a file */
	struct names before, after;  /* `--' */
	struct pfs_gate *gates;
	size_t nr_gates;
	bool any_region;      /* --region leaves something of some recording; else */
	char no_region[1024]; /* what to say */
};

static const struct argp_option options[] = {
	{ "fail-if", OPT_FAIL_IF, "GATE", 0,
	  "Exit with status 3 if this holds of what changed: `faults>+5%', `major>0', `pages[libfoo*]>+10' (repeatable)",
	  1 },
	{ "top", OPT_TOP, "N", 0, "At most N lines of each table (default 10)", 1 },
	{ "all", OPTION_FLAG(struct reading_args, view.all), NULL, 0, "All lines, also of what did not change", 1 },
	FORMAT_OPTIONS,
	{ "salvage", OPTION_FLAG(struct reading_args, input.salvage), NULL, 0,
	  "Compare what is readable of damaged files", 1 },
	{ 0 },
};

static void add_name(struct names *names, const char *name, struct argp_state *state)
{
	const char **added = pfs_array_append(names->name, names->nr);

	if (!added)
		argp_failure(state, EXIT_FAILED, ENOMEM, "the arguments");
	else
		*added = name;
}

static void add_gate(struct diff_args *args, const char *text, struct argp_state *state)
{
	struct pfs_gate *gate = pfs_array_append(args->gates, args->nr_gates);
	struct pfs_err err;

	if (!gate)
		argp_failure(state, EXIT_FAILED, ENOMEM, "the arguments");
	else if (pfs_gate_parse(gate, text, &err))
		argp_error(state, "--fail-if: %s", err.msg);
}

static void check_names(struct diff_args *args, struct argp_state *state)
{
	if (!args->after.nr && args->before.nr == 2) {
		args->before.nr = 1;
		add_name(&args->after, args->before.name[1], state);
	}
	if (!args->before.nr || !args->after.nr)
		argp_error(state, "two recordings are needed, or several runs of each: OLD... -- NEW...");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->reading.view.filter;
		return 0;
	case ARGP_KEY_ARG:
		add_name(state->quoted && state->next > state->quoted ? &args->after : &args->before, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_names(args, state);
		return 0;
	case OPT_FAIL_IF:
		add_gate(args, arg, state);
		return 0;
	case OPT_TOP:
		args->reading.view.top = top_of_option(arg, "lines", state);
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp_child children[] = { { &fault_filter_argp, 0, FILTERS_HEADER, 3 }, { 0 } };

static const struct argp argp = {
	options,
	parse,
	"OLD NEW\nOLD... -- NEW...",
	"Compare recordings: which faults, pages and time were gained and lost, by file, region and process. Regions are matched by file and offset, name or size, never by address; what random addresses or the spread of several runs explain is told from what changed.\v"
	"Examples:\n"
	"  pfscope diff old.dat new.dat\n"
	"  pfscope diff old1.dat old2.dat old3.dat -- new1.dat new2.dat new3.dat\n"
	"  pfscope diff --fail-if 'faults>+5%' --fail-if 'major>0' old.dat new.dat\n"
	"\n"
	"Exit status: 0; 1 if a file cannot be read or a condition cannot be decided; 2 for wrong usage; 3 if a "
	"condition holds.",
	children,
	NULL,
	NULL,
};

static int add_recording(struct diff_args *args, struct pfs_compare *compare, enum pfs_side side, const char *name,
			 struct pfs_err *err)
{
	const struct pfs_filter *filter = &args->reading.view.filter;
	struct pfs_epochs any;
	struct pipeline p;
	int ret;

	args->reading.file = name;
	ret = reading_first(&args->reading, err) ?: pipeline_init(&p, filter, PFS_EXPORT_NONE, NULL, err);
	if (ret)
		return ret;
	pipeline_observe(&p, pfs_compare_observer(compare));
	ret = reading_read(&args->reading, &p, err);
	any = (struct pfs_epochs){ .model = p.model, .filter = filter };
	if (ret == -ENODATA || (!ret && !pfs_epochs_next(&any)))
		ret = pfs_err_set(err, -ENODATA, "%s: no process to compare is in this recording", name);
	if (!ret)
		ret = pfs_compare_add(compare, side, p.model, filter, err);
	if (!ret && !args->any_region && !pfs_no_region(p.model, filter, args->no_region, sizeof(args->no_region)))
		args->any_region = true;
	pipeline_fini(&p);
	reading_fini(&args->reading);
	return ret;
}

static int read_all(struct diff_args *args, struct pfs_compare *compare, struct pfs_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < args->before.nr; i++)
		ret = add_recording(args, compare, PFS_OLD, args->before.name[i], err);
	for (size_t i = 0; !ret && i < args->after.nr; i++)
		ret = add_recording(args, compare, PFS_NEW, args->after.name[i], err);
	if (!ret && !args->any_region)
		message("%s", args->no_region);
	return ret ? ret : pfs_compare_end(compare, err);
}

static int print(const struct diff_args *args, const struct pfs_compare *compare, struct pfs_err *err)
{
	const struct view_args *view = &args->reading.view;
	const struct pfs_compare_print what = { args->before.name, args->after.name, args->gates, args->nr_gates };
	int terminal = pager_terminal(stdout);
	const struct pfs_view_options how = {
		.out = stdout,
		.format = view->format,
		.all = view->all,
		.top = view->top || view->all || view->format ? view->top : DEFAULT_TOP,
		.width = isatty(terminal) ? pfs_term_width(terminal) : 80,
		.color = pfs_term_color(terminal, PFS_COLOR_AUTO),
	};

	pager_start();
	return pfs_compare_print(compare, &what, &how, err);
}

/* A condition that holds outweighs one that cannot be decided. */
static int judge(const struct diff_args *args, const struct pfs_compare *compare)
{
	int status = EXIT_OK;
	char why[512];

	for (size_t i = 0; i < args->nr_gates; i++) {
		enum pfs_verdict verdict = pfs_gate_judge(&args->gates[i], compare, why, sizeof(why));

		if (verdict == PFS_GATE_MET)
			return EXIT_GATE;
		if (verdict == PFS_GATE_UNDECIDABLE)
			status = EXIT_FAILED;
	}
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_args args = { 0 };
	struct pfs_compare *compare;
	struct pfs_err err = { "" };
	int status = EXIT_FAILED;

	/* In order, or getopt() moves the -- to the front. */
	if (cannot_parse(&argp, argc, argv, ARGP_IN_ORDER, &args))
		return status;
	compare = pfs_compare_new();
	if (!compare)
		pfs_err_set(&err, -ENOMEM, "no memory for the comparison");
	if (!compare || read_all(&args, compare, &err) || print(&args, compare, &err))
		fail(&err);
	else
		status = judge(&args, compare);
	pager_end();
	pfs_compare_free(compare);
	pfs_filter_fini(&args.reading.view.filter);
	reading_fini(&args.reading);
	free(args.before.name);
	free(args.after.name);
	free(args.gates);
	return status;
}
