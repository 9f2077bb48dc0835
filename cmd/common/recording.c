/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording's life for `run` and `attach`, see recording.h.
 */
#include "common/recording.h"

#include "common/command.h"
#include "common/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_VIA = 0x200, OPT_EVENTS, OPT_NO_BARS, OPT_SOURCE, OPT_STRICT, OPT_COMPRESS };

static const struct argp_option options[] = {
	{ "source", OPT_SOURCE, "SOURCE", 0, "Who sees the faults: `ftrace' or SystemTap (`stap')", 1 },
	{ "output-file", 'o', "FILE", 0,
	  "Keep the recording in FILE: a trace.dat, or with "
	  "--source=stap event lines",
	  1 },
	{ "compress", OPT_COMPRESS, NULL, 0, "Write FILE compressed (trace.dat version 7, zstd)", 1 },
	{ "buffer-size", 'b', "KB", 0, "Of the kernel's buffer, per processor (8192)", 1 },
	{ "via", OPT_VIA, "HOW", 0, "Read the buffer as pages (`binary') or as `text' of trace_pipe", 1 },
	{ "events", OPT_EVENTS, "FORM", OPTION_ARG_OPTIONAL,
	  "Print events on standard output as they come: `lines', `json' or `csv'", 1 },
	{ "no-bars", OPT_NO_BARS, NULL, 0, "Do not draw bars at the end", 1 },
	{ "strict", OPT_STRICT, NULL, 0, "Exit with 3 if events were lost, whatever the command's status", 1 },
	{ 0 },
};

static const struct recording_source *const sources[] = { &source_ftrace, &source_stap };

const struct recording_source *recording_source_find(const char *name)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}

static const struct recording_source *source_of(const struct recording_args *args)
{
	return args->source ? args->source : &source_ftrace;
}

static error_t set_events(struct recording_args *args, const char *form, struct argp_state *state)
{
	if (!form || !strcmp(form, "lines"))
		args->events = EVENTS_LINES;
	else if (!strcmp(form, "json"))
		args->events = EVENTS_JSON;
	else if (!strcmp(form, "csv"))
		args->events = EVENTS_CSV;
	else
		argp_error(state, "--events: %s: is neither lines, json nor csv", form);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recording_args *args = state->input;
	struct pfs_err err;
	unsigned long kb;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->view;
		state->child_inputs[1] = &args->view.filter;
		state->child_inputs[2] = &args->stap;
		state->child_inputs[3] = &args->tracers;
		state->child_inputs[4] = &args->refault;
		return 0;
	case OPT_SOURCE:
		args->source = recording_source_find(arg);
		if (!args->source)
			argp_error(state, "--source: %s: is neither ftrace nor stap", arg);
		return 0;
	case 'o':
		args->file = arg;
		return 0;
	case 'b':
		errno = 0;
		kb = strtoul(arg, &end, 10);
		if (errno || *end || kb < 8 || kb > 1 << 24)
			argp_error(state, "--buffer-size: %s: is no number of KB from 8 to 16777216", arg);
		args->buffer_kb = kb;
		return 0;
	case OPT_VIA:
		if (strcmp(arg, "text") && strcmp(arg, "binary"))
			argp_error(state, "--via: %s: is neither binary nor text", arg);
		args->via = true;
		args->text = !strcmp(arg, "text");
		return 0;
	case OPT_EVENTS:
		return set_events(args, arg, state);
	case OPT_COMPRESS:
		args->compress = true;
		return 0;
	case OPT_STRICT:
		args->strict = true;
		return 0;
	case OPT_NO_BARS:
		args->no_bars = true;
		return 0;
	case ARGP_KEY_END:
		if (args->compress && !args->file)
			argp_error(state, "--compress: which file is to be written? (-o FILE)");
		if (source_of(args)->check(args, &err))
			argp_error(state, "%s", err.msg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{ &view_argp, 0, "What is drawn:", 2 },
	{ &filter_argp, 0, NULL, 3 },
	{ &stap_argp, 0, "With --source=stap:", 4 },
	{ &ftrace_argp, 0, "With --source=ftrace, where the kernel has it:", 5 },
	{ &refault_argp, 0, "What is used again:", 6 },
	{ 0 },
};

const struct argp recording_argp = { options, parse, NULL, NULL, children, NULL, NULL };

char *recording_command_line(char **argv)
{
	size_t len = 1;
	char *line, *to;

	for (char **arg = argv; *arg; arg++)
		len += strlen(*arg) + 1;
	line = to = malloc(len);
	if (!line)
		return NULL;
	for (char **arg = argv; *arg; arg++)
		to = stpcpy(stpcpy(to, *arg), arg[1] ? " " : "");
	*to = '\0';
	return line;
}

/* So that an hour of recording does not end with it. */
static int check_output(const char *output, struct pfs_err *err)
{
	char *copy = strdup(output);
	int ret = 0;

	if (!copy)
		return pfs_err_set(err, -ENOMEM, "no memory for a file name");
	if (euidaccess(output, W_OK) && (errno != ENOENT || euidaccess(dirname(copy), W_OK | X_OK)))
		ret = pfs_err_set(err, -errno, "%s: cannot be written: %s", output, strerror(errno));
	free(copy);
	return ret;
}

/* As the user whose files they will be. */
static int open_files(struct recording *r, struct pfs_err *err)
{
	const char *output = r->args->no_bars ? NULL : r->args->view.output;
	int ret = caller_enter(&r->caller);

	if (ret)
		return pfs_err_set(err, ret, "cannot become %s: %s", r->caller.name, strerror(-ret));
	if (output)
		ret = check_output(output, err);
	if (!ret && r->args->file)
		ret = pfs_atomic_file_open(&r->file, r->args->file, PFS_ATOMIC_FILE_PRIVATE, err);
	caller_leave(&r->caller);
	return ret;
}

/* The recording goes on though nobody may want to read its events any more. */
static int live_event(void *ctx, const struct pfs_event *ev)
{
	struct recording *r = ctx;
	struct pfs_sink sink = pipeline_sink(&r->live);
	int ret;

	if (r->live_over)
		return 0;
	ret = pfs_emit(&sink, ev);
	if (ret) {
		r->live_over = true;
		r->live_err = ret == -ECANCELED ? 0 : ret; /* past --to or --at */
	}
	return 0;
}

bool recording_given_up(void *recording)
{
	struct recording *r = recording;
	int sig;

	while (r->stop_fd >= 0 && (sig = stop_next(r->stop_fd)))
		if (sig != SIGCHLD)
			return true;
	return false;
}

int recording_open(struct recording *r, const struct recording_args *args, int stop_fd, struct pfs_err *err)
{
	struct pfs_sink sink = { .fn = live_event, .ctx = r };
	int ret;

	*r = (struct recording){
		.args = args,
		.source = source_of(args),
		.file = PFS_ATOMIC_FILE_NONE,
		.stop_fd = stop_fd,
	};
	ret = caller_find(&r->caller, args->user, err);
	if (!ret)
		ret = open_files(r, err);
	if (!ret && args->events != EVENTS_NONE) {
		ret = pipeline_init(&r->live, &args->view.filter, args->events, stdout, err);
		r->is_live = !ret;
	}
	if (ret)
		return ret;
	r->capture = r->source->open(r, r->is_live ? &sink : NULL, err);
	return r->capture ? refaulting_open(r, err) : -errno;
}

int recording_launch(struct recording *r, pid_t pid, struct pfs_err *err)
{
	return r->source->launch(r->capture, pid, err);
}

int recording_attach(struct recording *r, pid_t pid, struct pfs_err *err)
{
	return r->source->attach(r->capture, pid, err);
}

int recording_start(struct recording *r, struct pfs_err *err)
{
	int ret = r->source->start(r->capture, err);

	if (ret)
		return ret;
	ret = caller_drop(&r->caller);
	if (ret)
		return pfs_err_set(err, ret, "cannot become %s: %s", r->caller.name, strerror(-ret));
	refaulting_begin(r);
	return r->source->look ? r->source->look(r->capture, err) : 0;
}

int recording_note(struct recording *r, pid_t tid, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (ret < 0)
		return -ENOMEM;
	ret = r->source->note(r->capture, tid, text);
	free(text);
	return ret;
}

static int keep_file(struct recording *r, struct pfs_err *err)
{
	int ret = r->source->write(r->capture, r->file.fd, err);

	return ret ? ret : pfs_atomic_file_keep(&r->file, err);
}

static int draw_model(struct recording *r, const struct pfs_model *model, struct pfs_err *err)
{
	r->lost = strict_status(r->args->strict, model, EXIT_OK) != EXIT_OK;
	if (r->args->no_bars)
		return 0;
	return view_args_draw(&r->args->view, model, stderr, PFS_VIEW_TEXT, err);
}

static int draw(struct recording *r, struct pfs_err *err)
{
	struct pipeline p;
	struct pfs_sink sink;
	int ret;

	if (r->is_live) /* it has seen everything already */
		return draw_model(r, r->live.model, err);
	ret = pipeline_init(&p, &r->args->view.filter, EVENTS_NONE, NULL, err);
	if (ret)
		return ret;
	sink = pipeline_sink(&p);
	ret = r->source->replay(r->capture, &sink, err);
	if (ret == -ECANCELED) /* past --to or --at */
		ret = 0;
	if (ret && !*err->msg) /* the model could not take them */
		pfs_err_set(err, ret, "the bars cannot be drawn: %s", strerror(-ret));
	if (!ret)
		ret = draw_model(r, p.model, err);
	pipeline_fini(&p);
	return ret;
}

int recording_finish(struct recording *r, struct pfs_err *err)
{
	int ret = refaulting_stop(r, err);

	if (!ret)
		ret = r->source->stop(r->capture, err);
	if (!ret && r->is_live && !r->live_err)
		r->live_err = pipeline_flush(&r->live);
	if (!ret && r->args->file)
		ret = keep_file(r, err);
	if (!ret && (!r->args->no_bars || r->args->strict))
		ret = draw(r, err);
	if (!ret && !r->args->no_bars)
		refaulting_tell(r);
	if (!ret && r->live_err && r->live_err != -EPIPE) /* `| head' has seen enough */
		ret = pfs_err_set(err, r->live_err, "standard output: %s", strerror(-r->live_err));
	return ret;
}

int recording_wait(struct recording *r, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	struct pollfd *all = realloc(r->fds, (nr_fds + 1) * sizeof(*all));
	int ret;

	if (!all)
		return pfs_err_set(err, -ENOMEM, "no memory to wait with");
	r->fds = all;
	memcpy(all, fds, nr_fds * sizeof(*fds));
	all[nr_fds] = (struct pollfd){ refaulting_fd(r), POLLIN, 0 };
	ret = r->source->wait(r->capture, all, nr_fds + 1, timeout_ms, err);
	memcpy(fds, all, nr_fds * sizeof(*fds));

	if (!ret)
		ret = refaulting_note(r, err);
	if (!ret && r->is_live && !r->live_over) {
		r->live_err = pipeline_flush(&r->live);
		r->live_over = r->live_err;
	}
	return ret;
}

void recording_failed(struct recording *r, const struct pfs_err *err)
{
	fail(err);
	refaulting_close(r, NULL);
	r->source->free(r->capture, NULL);
	r->capture = NULL;
}

int recording_close(struct recording *r, struct pfs_err *err)
{
	int ret = refaulting_close(r, err), freed = r->source->free(r->capture, ret ? NULL : err);

	if (!ret)
		ret = freed;
	free(r->fds);
	if (r->is_live)
		pipeline_fini(&r->live);
	if (r->file.temp && !caller_enter(&r->caller)) { /* it may have failed before the drop */
		pfs_atomic_file_drop(&r->file);
		caller_leave(&r->caller);
	}
	return ret;
}
