/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope render: draws the bars of a recording.
 */
#include "common/command.h"
#include "common/reading.h"

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Draw into FILE", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	if (key == 'o') {
		args->view.output = arg;
		return 0;
	}
	if (key == ARGP_KEY_INIT)
		state->child_inputs[1] = &args->view;
	return reading_parse(key, arg, state);
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 0 },
	{ &view_argp, 0, "Drawing:", 2 },
	{ 0 },
};

static const struct argp argp = READING_ARGP(
	options, parse, children,
	"Draw the bars of a recording: a trace.dat of pfscope or trace-cmd, the text of trace_pipe, of the trace file or of trace-cmd report, or pfscope's event lines. The format is detected.\v"
	"Examples:\n"
	"  pfscope render py.dat\n"
	"  pfscope render --classic trace.dat\n"
	"  pfscope render --at 0.5 --region '*libc*' py.dat\n"
	"  trace-cmd report trace.dat | pfscope render -");

int cmd_render(int argc, char **argv)
{
	struct reading_args args = { 0 };

	return reading_main(&args, &argp, argc, argv, reading_draw);
}
