/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope export: writes a recording for viewers of other projects.
 */
#include "base/atomic_file.h"
#include "common/command.h"
#include "common/reading.h"
#include "export/viewer.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { OPT_TO = 0x600 };

#define FORMATS "firefox, perfetto, pprof, folded, speedscope, sqlite, chrome or html"

struct export_args {
	struct reading_args reading;
	const char *output; /* NULL: standard output */
	int format;	    /* a format's number; -1: not given */
	struct pipeline *pipeline;
};

static const struct argp_option options[] = {
	{ "to", OPT_TO, "FORMAT", 0,
	  "For this viewer: `firefox', `perfetto', `pprof', `folded' (stacks, for flamegraph.pl), `speedscope', `sqlite', `chrome' (trace events) or `html' (a flame graph)",
	  1 },
	SYMBOLS_OPTIONS,
	{ "output", 'o', "FILE", 0, "Write to FILE (default: standard output)", 1 },
	{ 0 },
};

/* A format; --to is also the filter's, whose times are no words. */
static error_t parse_to(struct export_args *args, const char *arg, struct argp_state *state)
{
	struct pfs_filter *filter = &args->reading.view.filter;
	struct pfs_err err;

	if (!isalpha((unsigned char)*arg)) {
		if (pfs_filter_add(filter, PFS_FILTER_TO, arg, &err))
			argp_error(state, "--to: %s", err.msg);
		return 0;
	}
	args->format = option_word(state, "to", arg, pfs_viewer_names, PFS_NR_VIEWERS, FORMATS);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_args *args = state->input;

	switch (key) {
	case ARGP_KEY_END:
		if (args->format < 0)
			argp_error(state, "--to: no format given (" FORMATS ")");
		if (args->output && !strcmp(args->output, "-"))
			args->output = NULL;
		if (!args->output && pfs_viewer_is_binary(args->format) && isatty(STDOUT_FILENO))
			argp_error(state, "--to=%s: is not written to a terminal (-o FILE)",
				   pfs_viewer_names[args->format]);
		return 0;
	case OPT_TO:
		return parse_to(args, arg, state);
	case 'o':
		args->output = arg;
		return 0;
	default:
		return reading_parse(key, arg, state);
	}
}

static const struct argp argp = READING_ARGP(
	options, parse, fault_reading_children,
	"Write a recording for viewers of other projects: each fault with its stack (without one, its own instruction), class, region and offset in the file; resident pages; gaps where events were lost.\v"
	"Examples:\n"
	"  pfscope export --to firefox -o py.json py.dat      for profiler.firefox.com\n"
	"  pfscope export --to perfetto -o py.pftrace py.dat  for ui.perfetto.dev\n"
	"  pfscope export --to pprof -o py.pb.gz py.dat       for go tool pprof\n"
	"  pfscope export --to folded py.dat | flamegraph.pl >py.svg\n"
	"  pfscope export --to sqlite -o py.db --region heap py.dat");

static int write_file(void *ctx, FILE *out, struct pfs_err *err)
{
	struct export_args *args = ctx;

	return reading_export(&args->reading, args->pipeline, args->format, out, err);
}

static int read_and_write(struct reading_args *reading, struct pipeline *p, struct pfs_err *err)
{
	struct export_args *args = (struct export_args *)reading;
	int ret;

	args->pipeline = p;
	ret = args->output ? pfs_atomic_file_write(args->output, write_file, args, err) : write_file(args, stdout, err);
	if (!ret)
		reading_export_losses(p, args->format, "--to");
	return ret;
}

int cmd_export(int argc, char **argv)
{
	struct export_args args = { .reading = { .classify = true, .names = true }, .format = -1 };

	return reading_main(&args.reading, &argp, argc, argv, read_and_write);
}
