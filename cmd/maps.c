/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope maps: the layout at a moment, as /proc/PID/maps would have shown it.
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
	state->child_inputs[1] = &args->view.filter;
	return 0;
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 1 },
	{ &filter_argp, 0, NULL, 2 },
	{ 0 },
};

static const struct argp argp = {
	NULL,
	parse,
	"[FILE|-]",
	"Print the memory regions that the processes of a recording had at its end, or at the moment --at, "
	"in the form of /proc/PID/maps. What the recording does not know is shown as `?'.\v"
	"Examples:\n"
	"  pfscope maps py.dat\n"
	"  pfscope maps --pid 1234 --at 0.25 py.dat\n"
	"  pfscope maps --at @5120.000123456 py.dat     a time of the recording's clock",
	children,
	NULL,
	NULL,
};

int cmd_maps(int argc, char **argv)
{
	struct reading_args args = { .view = { .view = "maps" } };
	int status;

	if (cannot_parse(&argp, argc, argv, 0, &args))
		return EXIT_FAILED;
	status = reading_draw(&args, PFS_VIEW_TEXT);
	view_args_fini(&args.view);
	return status;
}
