/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/view_args.h"
#include "base/atomic_file.h"
#include "base/escape.h"
#include "base/number.h"
#include "classes/classes.h"
#include "common/command.h"
#include "common/pager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_CLASSIC = 0x100, OPT_NAMES, OPT_FULL, OPT_BY_ADDRESS, OPT_TOP, OPT_SORT, OPT_WIDTH, OPT_COLOR, OPT_CLASS };

/* The key of an option that is a filter. */
#define OPT_FILTER(name) (0x110 + PFS_FILTER_##name)

static const struct argp_option view_options[] = {
	{ "top", OPT_TOP, "N", 0, "Draw N regions (default: as many as fit on the terminal)", 0 },
	{ "sort", OPT_SORT, "ORDER", 0,
	  "Order of the regions: most `faults' (the default) or most pages `touched' first, by `time' of the first touch, or by `address'",
	  0 },
	{ "by-address", OPT_BY_ADDRESS, NULL, 0, "Draw all regions in the order of their addresses, summed up below",
	  0 },
	{ "classic", OPT_CLASSIC, NULL, 0, "One line per region, one character per page: X (touched) or .", 0 },
	{ "names", OPT_NAMES, NULL, 0, "As --classic, with the names of regions behind the bars", 0 },
	{ "full", OPT_FULL, NULL, 0, "One character per page, wrapped at the width", 0 },
	{ "all", OPTION_FLAG(struct view_args, all), NULL, 0,
	  "Draw all regions of all processes, also those without a touch", 0 },
	{ "width", OPT_WIDTH, "COLUMNS", 0, "Width of the output (default: the terminal's)", 0 },
	{ "color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL,
	  "Color the output: `always' (also without WHEN), `never' or `auto' (the default)", 0 },
	{ 0 },
};

unsigned int width_of_option(const char *arg, struct argp_state *state)
{
	int width = pfs_term_width_parse(arg);

	if (width < 0)
		argp_error(state, "--width: %s: must be between 40 and 10000 columns", arg);
	return width;
}

enum pfs_color_when color_of_option(const char *arg, struct argp_state *state)
{
	int color = arg ? pfs_color_parse(arg) : PFS_COLOR_ALWAYS;

	if (color < 0)
		argp_error(state, "--color: %s: must be always, never or auto", arg);
	return color;
}

unsigned int top_of_option(const char *arg, const char *what, struct argp_state *state)
{
	uint64_t top;

	if (!pfs_number_parse(arg, 1, UINT32_MAX, &top))
		argp_error(state, "--top: %s: must be a number of %s", arg, what);
	return top;
}

/* The option `name` is one of that view; NULL: of the default bars. */
static error_t set_view(struct view_args *args, const char *view, const char *name, struct argp_state *state)
{
	if (args->view_option && strcmp(args->view ?: "", view ?: ""))
		argp_error(state, "--%s and --%s: only one of them", args->view_option, name);
	args->view = view;
	args->view_option = name;
	return 0;
}

static error_t parse_view(int key, char *arg, struct argp_state *state)
{
	static const char *const orders[] = { "faults", "touched", "time", "address" }; /* enum pfs_sort */
	struct view_args *args = state->input;

	switch (key) {
	case OPT_TOP:
		args->top = top_of_option(arg, "regions", state);
		return set_view(args, NULL, "top", state);
	case OPT_SORT:
		args->sort = option_word(state, "sort", arg, orders, 4, "faults, touched, time or address");
		return set_view(args, NULL, "sort", state);
	case OPT_BY_ADDRESS:
		return set_view(args, "by-address", "by-address", state);
	case OPT_CLASSIC:
		return set_view(args, "classic", "classic", state);
	case OPT_NAMES:
		args->names = true;
		return set_view(args, "classic", "names", state);
	case OPT_FULL:
		return set_view(args, "full", "full", state);
	case ARGP_KEY_END:
		if (args->top && args->all)
			argp_error(state, "--top and --all: only one of them");
		return 0;
	case OPT_WIDTH:
		args->width = width_of_option(arg, state);
		return 0;
	case OPT_COLOR:
		args->color = color_of_option(arg, state);
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

const struct argp view_argp = { view_options, parse_view, NULL, NULL, NULL, NULL, NULL };

static const struct argp_option filter_options[] = {
	{ "pid", OPT_FILTER(PID), "PID", 0, "Only these processes", 0 },
	{ "tid", OPT_FILTER(TID), "TID", 0, "Only touches by these threads", 0 },
	{ "comm", OPT_FILTER(COMM), "GLOB", 0, "Only touches by threads with a matching name", 0 },
	{ "region", OPT_FILTER(REGION), "GLOB", 0,
	  "Only regions with a matching name or start-end, or of a kind (heap,stack,anon,file:GLOB)", 0 },
	{ "from", OPT_FILTER(FROM), "TIME", 0, "Only touches at or after TIME", 0 },
	{ "to", OPT_FILTER(TO), "TIME", 0, "Nothing at or after TIME", 0 },
	{ "at", OPT_FILTER(AT), "TIME", 0,
	  "Layout and touches as of TIME. TIME is since the start (0.25, 250ms), or @SECONDS of the recording's clock",
	  0 },
	{ 0 },
};

/* Times of which both or none are of the recording's clock can be compared before there is one. */
static bool is_before(const struct pfs_time *a, const struct pfs_time *b, bool or_same)
{
	return a->set && b->set && a->of_clock == b->of_clock && (a->ns < b->ns || (or_same && a->ns == b->ns));
}

static void check_times(const struct pfs_filter *filter, const struct argp_state *state)
{
	if (is_before(&filter->to, &filter->from, true))
		argp_error(state, "--to: must be after --from");
	if (is_before(&filter->at, &filter->from, false))
		argp_error(state, "--at: must not be before --from");
}

static error_t parse_filter(int key, char *arg, struct argp_state *state)
{
	enum pfs_filter_key filter = key - OPT_FILTER(PID); /* in the order of filter_options */
	struct pfs_err err;

	if (key == ARGP_KEY_END)
		check_times(state->input, state);
	else if (key < OPT_FILTER(PID) || key > OPT_FILTER(AT))
		return ARGP_ERR_UNKNOWN;
	else if (pfs_filter_add(state->input, filter, arg, &err))
		argp_error(state, "--%s: %s", filter_options[filter].name, err.msg);
	return 0;
}

const struct argp filter_argp = { filter_options, parse_filter, NULL, NULL, NULL, NULL, NULL };

static const struct argp_option class_options[] = {
	{ "class", OPT_CLASS, "LIST", 0,
	  "Only faults of these classes: names in the report by class, their beginnings, or globs", 0 },
	{ 0 },
};

void classes_of_option(const char *arg, uint32_t *labels, const struct argp_state *state)
{
	char names[1024];
	size_t len = 0;

	if (pfs_classes_parse(arg, labels))
		return;
	for (int i = 0; i < PFS_NR_CLASSES; i++)
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? "; " : "", pfs_class_names[i]);
	argp_error(state, "--class: %s: not a list of classes, which are: %s", arg, names);
}

static error_t parse_class(int key, char *arg, struct argp_state *state)
{
	struct pfs_filter *filter = state->input;

	if (key == ARGP_KEY_INIT)
		state->child_inputs[0] = filter;
	else if (key != OPT_CLASS)
		return ARGP_ERR_UNKNOWN;
	else
		classes_of_option(arg, &filter->labels, state);
	return 0;
}

static const struct argp_child plain_filters[] = { { &filter_argp, 0, NULL, 0 }, { 0 } };

const struct argp fault_filter_argp = { class_options, parse_class, NULL, NULL, plain_filters, NULL, NULL };

/* What draw() draws. */
struct picture {
	const struct view_args *args;
	const struct pfs_model *model;
};

static int draw(void *ctx, FILE *out, struct pfs_err *err)
{
	const struct picture *picture = ctx;
	const struct view_args *args = picture->args;
	const struct pfs_view *view = pfs_view_find(args->view ? args->view : "bars");
	unsigned int height = pfs_term_height(fileno(out));
	int terminal = pager_terminal(out);
	char *file = args->file ? pfs_quote_words(args->file, strlen(args->file)) : NULL;
	struct pfs_view_options options = {
		.height = height > 1 ? height - 1 : 0, /* the last line is the prompt's */
		.top = args->top,
		.sort = args->sort,
		.all = args->all,
		.wide = args->wide,
		.names = args->names,
		.by = args->by,
		.format = args->format,
		.file = file,
		.filter = &args->filter,
		.whole = args->whole,
		.threads = args->threads,
		.mapped = args->mapped,
		.classes = args->classes,
		.more = args->more,
		.out = out,
		.terminal = isatty(terminal),
		.width = args->width ? args->width : pfs_term_width(terminal),
		.color = pfs_term_color(terminal, args->color),
	};
	const struct view_drawing *drawing = args->drawing;
	int ret = drawing ? drawing->draw(drawing->ctx, picture->model, &options, err)
			  : view->draw(picture->model, &options, err);

	free(file);
	if (!ret && fflush(out))
		ret = pfs_err_set(err, -errno, "%s: cannot write: %s", args->output ? args->output : "the output",
				  strerror(errno));
	return ret;
}

int view_args_draw(const struct view_args *args, const struct pfs_model *model, FILE *stream, struct pfs_err *err)
{
	struct picture picture = { args, model };

	return args->output ? pfs_atomic_file_write(args->output, draw, &picture, err) : draw(&picture, stream, err);
}
