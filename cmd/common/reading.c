/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/reading.h"

#include "common/message.h"

#include <errno.h>
#include <unistd.h>

enum { OPT_SALVAGE = 0x400, OPT_STRICT };

static const struct argp_option options[] = {
	{ "salvage", OPT_SALVAGE, NULL, 0, "Show what can still be read of a damaged file", 1 },
	{ "strict", OPT_STRICT, NULL, 0, "Exit with 3 if events were lost", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct reading_args *args = state->input;

	switch (key) {
	case OPT_SALVAGE:
		args->input.salvage = true;
		return 0;
	case OPT_STRICT:
		args->strict = true;
		return 0;
	case ARGP_KEY_ARG:
		if (args->file)
			argp_error(state, "%s: only one recording at a time", arg);
		args->file = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp reading_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

int reading_read(const struct reading_args *args, struct pipeline *p, struct pfs_err *err)
{
	struct pfs_sink sink = pipeline_sink(p);
	struct input_options how = args->input;
	int ret;

	how.progress = !p->writes || !isatty(STDOUT_FILENO);
	ret = input_read(args->file, &how, &sink, err);

	return ret == -ECANCELED ? 0 : ret; /* past --to or --at */
}

int reading_draw(const struct reading_args *args, enum pfs_view_format format)
{
	struct pfs_err err = { "" };
	struct pipeline p;
	int status, ret = pipeline_init(&p, &args->view.filter, EVENTS_NONE, NULL, &err);

	if (ret)
		return fail(&err);
	ret = reading_read(args, &p, &err);
	if (!ret)
		ret = view_args_draw(&args->view, p.model, stdout, format, &err);
	status = ret ? fail(&err) : strict_status(args->strict, p.model, EXIT_OK);
	pipeline_fini(&p);
	return status;
}
