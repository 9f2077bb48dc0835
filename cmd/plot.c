/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope plot: time by address, as a picture in a file or in characters.
 */
#include "command.h"
#include "plot.h"
#include "reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_TITLE = 0x600, OPT_WIDTH, OPT_COLOR };

enum { BANDS_OF_TEXT = 20 };

struct plot_args {
	struct reading_args reading;
	struct pfs_plot_style style;
};

static const struct argp_option options[] = {
	{ "title", OPT_TITLE, "TEXT", 0, "Instead of the recorded command", 1 },
	{ "width", OPT_WIDTH, "COLUMNS", 0, "Of characters; instead of the terminal's", 1 },
	{ "color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL, "Of characters: `always', `never' or `auto'", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plot_args *args = state->input;
	int value;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->reading;
		state->child_inputs[1] = &args->reading.view.filter;
		return 0;
	case OPT_TITLE:
		args->style.title = arg;
		return 0;
	case OPT_WIDTH:
		value = pfs_term_width_parse(arg);
		if (value < 0)
			argp_error(state, "--width: %s: is no number of columns from 40 to 10000", arg);
		args->style.width = value;
		return 0;
	case OPT_COLOR:
		value = arg ? pfs_color_parse(arg) : PFS_COLOR_ALWAYS;
		if (value < 0)
			argp_error(state, "--color: %s: is neither always, never nor auto", arg);
		args->reading.view.color = value;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &reading_argp, 0, NULL, 2 },
	{ &filter_argp, 0, NULL, 3 },
	{ 0 },
};

static const struct argp argp = {
	options, parse, "[FILE|-]",
	"Draw the touches of a recording, time from left to right, addresses from bottom to top.\v"
	"Examples:\n"
	"  pfscope plot py.dat",
	children, NULL, NULL,
};

static int print(struct plot_args *args, const struct pfs_plot_data *data, struct pfs_err *err)
{
	struct pfs_plot_style *style = &args->style;
	struct pfs_plot plot;
	int ret = pfs_plot_lay_out(&plot, data, BANDS_OF_TEXT);

	if (ret)
		return pfs_err_set(err, ret, "no memory for the plot");
	style->width = style->width ? style->width : pfs_term_width(STDOUT_FILENO);
	style->color = style->blocks = pfs_term_color(STDOUT_FILENO, args->reading.view.color);
	ret = pfs_plot_write_text(&plot, style, stdout, err);
	if (!ret && fflush(stdout))
		ret = pfs_err_set(err, -errno, "standard output: %s", strerror(errno));
	pfs_plot_fini(&plot);
	return ret;
}

int cmd_plot(int argc, char **argv)
{
	struct plot_args args = { 0 };
	const struct pfs_filter *filter = &args.reading.view.filter;
	struct pfs_err err = { "" };
	struct pfs_plot_data *data;
	struct pipeline p;
	int ret, status;

	if (cannot_parse(&argp, argc, argv, 0, &args))
		return EXIT_FAILED;
	ret = pipeline_init(&p, filter, EVENTS_NONE, NULL, &err);
	if (ret)
		return fail(&err);
	data = pfs_plot_data_new(p.model, filter);
	if (data) {
		pipeline_behind(&p, pfs_plot_data_sink(data));
		ret = reading_read(&args.reading, &p, &err);
	} else {
		ret = pfs_err_set(&err, -ENOMEM, "no memory for the plot");
	}
	if (!ret)
		ret = print(&args, data, &err);
	status = ret ? fail(&err) : strict_status(args.reading.strict, p.model, EXIT_OK);
	pfs_plot_data_free(data);
	pipeline_fini(&p);
	view_args_fini(&args.reading.view);
	return status;
}
