/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope render: the bars of a recording, whatever made it.
 */
#include "common/command.h"
#include "common/message.h"
#include "common/reading.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = args;
	state->child_inputs[1] = &args->view;
	state->child_inputs[2] = &args->view.filter;
	return 0;
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 1 },
	{ &view_argp, 0, "What is drawn:", 2 },
	{ &filter_argp, 0, NULL, 3 },
	{ 0 },
};

static const struct argp argp = {
	NULL,
	parse,
	"[FILE|-]",
	"Draw the bars of a recording: a trace.dat of pfscope or of any trace-cmd, text of trace_pipe, of "
	"the trace file or of trace-cmd report, or pfscope's event lines. Which it is, its content tells.\v"
	"Examples:\n"
	"  pfscope render py.dat\n"
	"  pfscope render --classic trace.dat\n"
	"  pfscope render --at 0.5 --region '*libc*' py.dat\n"
	"  trace-cmd report trace.dat | pfscope render -",
	children,
	NULL,
	NULL,
};

int cmd_render(int argc, char **argv)
{
	struct reading_args args = { 0 };
	int status;

	if (cannot_parse(&argp, argc, argv, 0, &args))
		return EXIT_FAILED;
	status = reading_draw(&args, PFS_VIEW_TEXT);
	view_args_fini(&args.view);
	return status;
}
