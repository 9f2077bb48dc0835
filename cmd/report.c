/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope report: prints tables, and compares a recording with the kernel's own counts.
 */
#include "common/command.h"
#include "common/reading.h"

enum { OPT_CHECK = 0x600 };

static const struct argp_option options[] = {
	{ "check", OPT_CHECK, NULL, 0,
	  "Compare the faults with the kernel's own counts and explain each difference (recordings made by `run')", 1 },
	{ "json", OPT_JSON, NULL, 0, "Print JSON", 1 },
	{ "csv", OPT_CSV, NULL, 0, "Print comma-separated values", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	if (key != OPT_CHECK)
		return reading_parse(key, arg, state);
	args->view.view = "check";
	return 0;
}

static const struct argp argp = READING_ARGP(
	options, parse, reading_children,
	"Print tables of a recording by process, by region and by file: faults by kind, pages touched, mapped by fault-around and populated, regions mapped and unmapped, events lost.\v"
	"Examples:\n"
	"  pfscope report py.dat\n"
	"  pfscope report --check py.dat     compare with the kernel's own counts\n"
	"\n"
	"Exit status: 0; 1 if the file cannot be read or, with --check, a difference has no explanation; 2 "
	"for wrong usage.");

int cmd_report(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "report" } };

	return reading_main(&args, &argp, argc, argv, reading_draw);
}
