/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of sources, and their options. See recording.h.
 */
#include "common/recording.h"

#include "capture/capture.h"
#include "common/command.h"
#include "faults/faults.h"
#include "os/perf_event.h"
#include "os/process.h"
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static error_t parse_own(int key, char *arg, struct argp_state *state);

/* The table of sources, with a row of each in the other two. */
static const struct pfs_source *const sources[NR_SOURCES] = { &pfs_ftrace_source, &pfs_stap_source, &pfs_perf_source };

/* What is tried without --source, in this order. */
static const struct pfs_source *const automatic[] = { &pfs_ftrace_source, &pfs_perf_source };

static const struct argp argps[NR_SOURCES] = {
	{ pfs_ftrace_options, parse_own, NULL, NULL, NULL, NULL, NULL },
	{ pfs_stap_options, parse_own, NULL, NULL, NULL, NULL, NULL },
	{ pfs_perf_options, parse_own, NULL, NULL, NULL, NULL, NULL },
};

static const struct argp_child children[NR_SOURCES + 1] = {
	{ &argps[0], 0, "With --source=ftrace, where the kernel has it:", 1 },
	{ &argps[1], 0, "With --source=stap, ftrace:", 2 },
	{ &argps[2], 0, "With --source=perf:", 3 },
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
	{ "source", OPT_SOURCE, "SOURCE", 0,
	  "Record through `ftrace', SystemTap (`stap') or `perf' events; `auto' (the default): ftrace; perf without root, or for --stack=dwarf",
	  0 },
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
	int ret = -source_args_init(args);

	args->source = NULL; /* see source_args_choose() */
	for (int i = 0; i < NR_SOURCES; i++)
		state->child_inputs[i] = &args->of[i];
	return ret;
}

const struct pfs_source *source_named(const char *name)
{
	for (int i = 0; i < NR_SOURCES; i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct source_args *args = state->input;

	if (key == ARGP_KEY_INIT)
		return init(args, state);
	if (key != OPT_SOURCE)
		return ARGP_ERR_UNKNOWN;
	args->source = source_named(arg);
	if (!args->source && strcmp(arg, "auto") != 0)
		argp_error(state, "--source: %s: must be auto, ftrace, stap or perf", arg);
	return 0;
}

const struct argp sources_argp = { options, parse, NULL, NULL, children, NULL, NULL };

/* Of an option that only one source has, that one; else the first that may be used. */
const struct pfs_source *source_args_choose(struct source_args *args, bool needs_root)
{
	struct pfs_err err;

	for (int i = 0; !args->source && i < NR_SOURCES; i++)
		if (args->of[i].given)
			args->source = sources[i];
	if (args->source)
		return args->source;
	args->chosen = true;
	args->source = needs_root ? sources[0] : source_choose(&err);
	if (!args->source) /* it has the reason that can be mended */
		args->source = geteuid() || source_check_place(sources[0], &err) ? &pfs_perf_source : sources[0];
	return args->source;
}

bool source_args_change(struct source_args *args, enum pfs_source_can can, const char *option)
{
	struct pfs_err err;

	for (int i = 0; args->chosen && !(args->source->can & can) && i < NR_SOURCES; i++)
		if (sources[i]->can & can && !source_check_place(sources[i], &err) && !sources[i]->usable(&err)) {
			args->source = sources[i];
			args->chosen_for = option;
			return true;
		}
	return false;
}

void source_args_report(const struct source_args *args)
{
	struct pfs_err why;

	if (args->chosen && args->source != sources[0] &&
	    (args->chosen_for || source_check_place(sources[0], &why) || sources[0]->usable(&why)))
		message("recording through perf events, without %saccesses and removals of regions (%s%s)",
			pfs_perf_may_record(true, NULL) ? "faults in kernel mode, " : "",
			args->chosen_for ? "for " : "", args->chosen_for ? args->chosen_for : why.msg);
}

const struct source_options *source_args_hider(const struct source_args *args)
{
	for (int i = 0; args->source->marks && i < NR_SOURCES; i++)
		if (sources[i]->hides)
			return &args->of[i];
	return NULL;
}

int source_args_check(const struct source_args *args, const struct pfs_source *hider, const void **own,
		      struct pfs_err *err)
{
	for (int i = 0; i < NR_SOURCES; i++) {
		if (args->of[i].source == args->source)
			*own = args->of[i].options;
		else if (args->of[i].given && args->of[i].source != hider)
			return pfs_err_set(err, -EINVAL, "--%s: only with --source=%s", args->of[i].given,
					   args->of[i].source->name);
	}
	return 0;
}

int source_args_set(struct source_args *args, const char *name, const char *value, struct pfs_err *err)
{
	const struct pfs_source *source = args->source;
	const struct argp_option *option = source->options;
	struct pfs_err why;
	int i = 0, ret;

	while (option->name && strcmp(option->name, name) != 0)
		option++;
	while (args->of[i].source != source)
		i++;
	if (!option->name)
		return pfs_err_set(err, -EINVAL, "--%s: not with --source=%s", name, source->name);
	ret = source->set_option(args->of[i].options, option->key, value, &why);
	return ret ? pfs_err_set(err, ret, "--%s: %s: %s", name, value, why.msg) : 0;
}

void source_args_fini(struct source_args *args)
{
	for (int i = 0; i < NR_SOURCES; i++)
		free(args->of[i].options);
}

int source_check_place(const struct pfs_source *source, struct pfs_err *err)
{
	int ret = pfs_proc_check(err);

	if (ret || source->can & PFS_CAN_SPACE || pfs_process_numbers_are_global())
		return ret;
	return pfs_err_set(
		err, -ENOTSUP,
		"cannot record from inside a PID namespace: the kernel's events have the process numbers of the "
		"initial one; attach from outside, with the numbers that it shows, or start the container with "
		"--pid=host");
}

const struct pfs_source *source_choose(struct pfs_err *err)
{
	struct pfs_err why;

	for (size_t i = 0; i < sizeof(automatic) / sizeof(automatic[0]); i++)
		if (!source_check_place(automatic[i], i ? &why : err) && !automatic[i]->usable(i ? &why : err))
			return automatic[i];
	return NULL;
}

const char *source_that(enum pfs_source_can can)
{
	for (int i = 0; i < NR_SOURCES; i++)
		if (sources[i]->can & can)
			return sources[i]->name;
	return NULL;
}
