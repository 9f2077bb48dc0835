/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sources, and their options. See recording.h.
 */
#include "common/recording.h"

#include "capture/capture.h"
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static error_t parse_own(int key, char *arg, struct argp_state *state);

/* The table of sources: a row in each of the three. The first one is the default. */
static const struct pfs_source *const sources[NR_SOURCES] = { &pfs_ftrace_source, &pfs_stap_source };

static const struct argp argps[NR_SOURCES] = {
	{ pfs_ftrace_options, parse_own, NULL, NULL, NULL, NULL, NULL },
	{ pfs_stap_options, parse_own, NULL, NULL, NULL, NULL, NULL },
};

static const struct argp_child children[NR_SOURCES + 1] = {
	{ &argps[0], 0, "With --source=ftrace, where the kernel has it:", 1 },
	{ &argps[1], 0, "With --source=stap:", 2 },
	{ 0 },
};

/* An option of one source; what argp passes beside options is none. */
static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct source_options *own = state->input;
	const struct argp_option *option = own->source->options;
	struct pfs_err err;

	while (option->name && option->key != key)
		option++;
	if (!option->name)
		return ARGP_ERR_UNKNOWN;
	own->given = option->name;
	if (own->source->set_option(own->options, key, arg, &err))
		argp_error(state, "--%s: %s: %s", option->name, arg, err.msg);
	return 0;
}

enum { OPT_SOURCE = 1 };

static const struct argp_option options[] = {
	{ "source", OPT_SOURCE, "SOURCE", 0, "Record through `ftrace' (the default) or SystemTap (`stap')", 0 },
	{ 0 },
};

int source_args_init(struct source_args *args)
{
	args->source = sources[0];
	for (int i = 0; i < NR_SOURCES; i++) {
		args->of[i].source = sources[i];
		args->of[i].options = calloc(1, sources[i]->options_size);
		if (!args->of[i].options)
			return -ENOMEM;
	}
	return 0;
}

static error_t init(struct source_args *args, struct argp_state *state)
{
	for (int i = 0; i < NR_SOURCES; i++)
		state->child_inputs[i] = &args->of[i];
	return -source_args_init(args);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct source_args *args = state->input;

	if (key == ARGP_KEY_INIT)
		return init(args, state);
	if (key != OPT_SOURCE)
		return ARGP_ERR_UNKNOWN;
	args->source = NULL;
	for (int i = 0; i < NR_SOURCES; i++)
		if (!strcmp(sources[i]->name, arg))
			args->source = sources[i];
	if (!args->source)
		argp_error(state, "--source: %s: must be ftrace or stap", arg);
	return 0;
}

const struct argp sources_argp = { options, parse, NULL, NULL, children, NULL, NULL };

int source_args_check(const struct source_args *args, const void **own, struct pfs_err *err)
{
	for (int i = 0; i < NR_SOURCES; i++) {
		if (args->of[i].source == args->source)
			*own = args->of[i].options;
		else if (args->of[i].given)
			return pfs_err_set(err, -EINVAL, "--%s: only with --source=%s", args->of[i].given,
					   args->of[i].source->name);
	}
	return 0;
}

void source_args_fini(struct source_args *args)
{
	for (int i = 0; i < NR_SOURCES; i++)
		free(args->of[i].options);
}

const struct pfs_source *source_choose(struct pfs_err *err)
{
	return sources[0]->usable(err) ? NULL : sources[0];
}

const char *source_that(enum pfs_source_can can)
{
	for (int i = 0; i < NR_SOURCES; i++)
		if (sources[i]->can & can)
			return sources[i]->name;
	return NULL;
}
