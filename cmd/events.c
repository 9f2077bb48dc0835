/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope events: a recording in the one event format.
 */
#include "capture/capture.h"
#include "common/command.h"
#include "common/pager.h"
#include "common/reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_NEEDED = 0x600 };

static const struct argp_option options[] = {
	{ "all", OPTION_FLAG(struct reading_args, input.other), NULL, 0,
	  "Also print trace events that pfscope does not decode", 1 },
	{ "needed", OPT_NEEDED, NULL, 0, "Print the command line of trace-cmd that records what pfscope can use", 1 },
	FORMAT_OPTIONS,
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;
	struct pfs_err err = { 0 };

	if (key == OPT_NEEDED) {
		if (pfs_capture_needed(stdout, &err))
			exit(fail(&err));
		exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
	}
	if (key != ARGP_KEY_END)
		return reading_parse(key, arg, state);
	if (args->view.format)
		args->events = args->view.format == PFS_VIEW_CSV ? PFS_EXPORT_CSV : PFS_EXPORT_JSON;
	return 0;
}

static const struct argp argp = READING_ARGP(
	options, parse, fault_reading_children,
	"Print the events of a recording, one per line, in the format of pfscope-events(5). `pfscope render' draws the same bars from these lines as from the recording.\v"
	"Examples:\n"
	"  pfscope events py.dat | grep ' fault ' | wc -l\n"
	"  pfscope events --json py.dat | jq -r 'select(.kind == \"fault\") | .addr'\n"
	"  pfscope events --all switches.dat\n"
	"  pfscope events --needed\n"
	"  pfscope events --tid 1234 --from 0.1 --to 0.2 py.dat");

static int print(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	int ret, flushed;

	pager_start();
	ret = reading_read(args, p, err);
	/* After a failure prints the events before it, but not a header and notes alone. */
	flushed = ret && !p->nr_written ? 0 : pipeline_flush(p);
	if (!flushed && fflush(stdout))
		flushed = -errno;
	if (!ret && flushed)
		ret = pfs_err_set(err, flushed, "standard output: %s", strerror(-flushed));
	return ret;
}

int cmd_events(int argc, char **argv)
{
	struct reading_args args = { .events = PFS_EXPORT_LINES };

	return reading_main(&args, &argp, argc, argv, print);
}
