/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/reading.h"

#include "common/command.h"
#include "common/pager.h"
#include "view/rows.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct argp_option options[] = {
	{ "salvage", OPTION_FLAG(struct reading_args, input.salvage), NULL, 0,
	  "Show what is readable of a damaged file", 1 },
	{ "strict", OPTION_FLAG(struct reading_args, strict), NULL, 0, "Exit with status 3 if events were lost", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->view.filter;
		return 0;
	case ARGP_KEY_ARG:
		if (args->file)
			argp_error(state, "%s: only one recording can be read", arg);
		args->file = arg;
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

static const struct argp_child filter_children[] = {
	{ &filter_argp, 0, FILTERS_HEADER, 3 },
	{ 0 },
};

const struct argp reading_argp = { options, parse, NULL, NULL, filter_children, NULL, NULL };

const struct argp_child reading_children[] = { { &reading_argp, 0, NULL, 0 }, { 0 } };

error_t reading_parse(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "csv", "json" }; /* enum pfs_view_format */
	struct reading_args *args = state->input;
	enum pfs_view_format format = key == OPT_JSON ? PFS_VIEW_JSON : PFS_VIEW_CSV;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = args;
		return 0;
	case OPT_TABLE_FORMAT:
		format = option_word(state, "format", arg, formats, 3, "text, json or csv");
		__attribute__((fallthrough));
	case OPT_JSON:
	case OPT_CSV:
		if (args->view.format && args->view.format != format)
			argp_error(state, "--json, --csv and --format: only one of them");
		args->view.format = format;
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

int reading_read(const struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct pfs_sink sink = pipeline_sink(p);
	struct pfs_epochs any = { .model = p->model };
	struct input_options how = args->input;
	int ret;

	how.progress = !p->observer.event || !isatty(pager_terminal(stdout));
	ret = input_read(args->file, &how, &sink, err);
	if (ret <= 0)
		return ret;
	/* Without faults, other events and a layout can be shown, but no references. */
	return (p->observer.event ? p->nr_written > 0 : pfs_epochs_next(&any)) ? 0 : -ENODATA;
}

int reading_draw(struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct view_args *view = &args->view;
	int ret = reading_read(args, p, err);

	if (args->file && strcmp(args->file, "-"))
		view->file = args->file;
	if (!ret && (view->view || view->all || view->top)) /* the default bars fit */
		pager_start();
	return ret ? ret : view_args_draw(&args->view, p->model, stdout, err);
}

int reading_find(const char **file, struct pfs_err *err)
{
	static const char *const names[] = { PFS_RECORDING_NAME, "trace.dat" };

	if (*file || !isatty(STDIN_FILENO))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!access(names[i], F_OK)) {
			*file = names[i];
			message("reading %s", names[i]);
			return 0;
		}
	return pfs_err_set(err, -ENOENT, "no recording given, and neither %s nor %s is here", names[0], names[1]);
}

int reading_main(struct reading_args *args, const struct argp *argp, int argc, char **argv,
		 int (*body)(struct reading_args *args, struct pipeline *p, struct pfs_err *err))
{
	struct pfs_err err = { "" };
	struct pipeline p;
	int status = EXIT_FAILED;

	if (cannot_parse(argp, argc, argv, 0, args))
		return status;
	if (reading_find(&args->file, &err) || pipeline_init(&p, &args->view.filter, args->events, stdout, &err)) {
		fail(&err);
	} else {
		status = body(args, &p, &err) ? fail(&err) : strict_status(args->strict, p.model, EXIT_OK);
		warn_no_region(p.model, &args->view.filter);
		pipeline_fini(&p);
	}
	pager_end();
	pfs_filter_fini(&args->view.filter);
	return status;
}
