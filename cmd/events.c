/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope events: a recording in the one event format.
 */
#include "common/command.h"
#include "common/message.h"
#include "common/reading.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPT_JSON = 0x500, OPT_CSV };

struct events_args {
	struct reading_args reading;
	enum event_form form;
};

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "One JSON object a line", 1 },
	{ "csv", OPT_CSV, NULL, 0, "Comma-separated values with a header", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct events_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->reading;
		state->child_inputs[1] = &args->reading.view.filter;
		return 0;
	case OPT_JSON:
		args->form = EVENTS_JSON;
		return 0;
	case OPT_CSV:
		args->form = EVENTS_CSV;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 1 },
	{ &filter_argp, 0, NULL, 2 },
	{ 0 },
};

static const struct argp argp = {
	options,
	parse,
	"[FILE|-]",
	"Print the events of a recording, one a line, in the form that pfscope-events(5) describes. "
	"`pfscope render' of these lines gives the same picture as of the recording.\v"
	"Examples:\n"
	"  pfscope events py.dat | grep ' fault ' | wc -l\n"
	"  pfscope events --json py.dat | jq -r 'select(.kind == \"fault\") | .addr'\n"
	"  pfscope events --tid 1234 --from 0.1 --to 0.2 py.dat",
	children,
	NULL,
	NULL,
};

int cmd_events(int argc, char **argv)
{
	struct events_args args = { .form = EVENTS_LINES };
	struct pfs_err err = { "" };
	struct pipeline p;
	int ret, flushed, status;

	if (cannot_parse(&argp, argc, argv, 0, &args))
		return EXIT_FAILED;
	ret = pipeline_init(&p, &args.reading.view.filter, args.form, stdout, &err);
	if (ret)
		return fail(&err);
	ret = reading_read(&args.reading, &p, &err);
	/* What came before a failure as well; but not a bare heading. */
	flushed = ret && !p.model->nr_events ? 0 : pipeline_flush(&p);
	if (!flushed && fflush(stdout))
		flushed = -errno;
	if (!ret && flushed)
		ret = pfs_err_set(&err, flushed, "standard output: %s", strerror(-flushed));
	status = ret ? fail(&err) : strict_status(args.reading.strict, p.model, EXIT_OK);
	pipeline_fini(&p);
	view_args_fini(&args.reading.view);
	return status;
}
