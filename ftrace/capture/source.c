/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of --source=ftrace, and its operations: those of capture.h with an assembler behind them.
 */
#include "capture/source.h"

#include "assemble/assemble.h"
#include "capture/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

#define MAX_EVENTS 64

struct ftrace_options {
	struct pfs_capture_tracers tracers;
	bool text, compress;
	const char *events[MAX_EVENTS + 1]; /* NULL ends the list */
	unsigned int nr_events;
};

enum { OPT_PROBES = 1, OPT_LATENCY, OPT_CLASSIFY, OPT_HISTOGRAM, OPT_VIA, OPT_COMPRESS };

const struct argp_option pfs_ftrace_options[] = {
	{ "compress", OPT_COMPRESS, NULL, 0, "Write FILE compressed (trace.dat version 7, zstd)", 0 },
	{ "via", OPT_VIA, "HOW", 0, "Read the ring buffer as pages (`binary', the default) or as `text' of trace_pipe",
	  0 },
	{ "event", 'e', "SYSTEM:EVENT", 0, "Also record this trace event, or all of SYSTEM (repeatable)", 0 },
	{ "probes", OPT_PROBES, NULL, 0,
	  "Record each fault's flags, region and class (minor or major), and faults of the kernel itself (probes on the fault handler)",
	  0 },
	{ "latency", OPT_LATENCY, NULL, 0, "Record the time that each fault took in the kernel (probes)", 0 },
	{ "classify", OPT_CLASSIFY, NULL, 0,
	  "Record the kind of each fault (anon, file, cow, swap, huge, numa), from the functions that it called (function tracer)",
	  0 },
	{ "histogram", OPT_HISTOGRAM, NULL, 0, "Count faults per page inside the kernel instead of recording each", 0 },
	{ 0 },
};

static int set_option(void *options, int key, const char *arg, struct pfs_err *err)
{
	struct ftrace_options *o = options;

	switch (key) {
	case OPT_COMPRESS:
		o->compress = true;
		return 0;
	case OPT_VIA:
		o->text = !strcmp(arg, "text");
		if (!o->text && strcmp(arg, "binary"))
			return pfs_err_set(err, -EINVAL, "must be binary or text");
		return 0;
	case 'e':
		if (o->nr_events == MAX_EVENTS)
			return pfs_err_set(err, -EINVAL, "must be one of at most %d", MAX_EVENTS);
		o->events[o->nr_events++] = arg;
		return 0;
	case OPT_PROBES:
		o->tracers.probes = true;
		return 0;
	case OPT_LATENCY:
		o->tracers.latency = true;
		return 0;
	case OPT_CLASSIFY:
		o->tracers.classify = true;
		return 0;
	case OPT_HISTOGRAM:
		o->tracers.histogram = true;
		return 0;
	}
	return 0;
}

static int check(const struct pfs_source_config *config, struct pfs_err *err)
{
	const struct ftrace_options *o = config->options;
	const struct pfs_capture_tracers *t = &o->tracers;

	if (o->compress && !config->to_file)
		return pfs_err_set(err, -EINVAL, "--compress: no file given (-o FILE)");
	if (o->compress && o->text)
		return pfs_err_set(err, -EINVAL, "--compress: --via=text writes text, which is never compressed");
	if (t->histogram && (t->probes || t->latency || t->classify))
		return pfs_err_set(err, -EINVAL,
				   "--histogram: cannot be combined with --probes, --latency or --classify (it only "
				   "counts faults)");
	return 0;
}

/* ---- operations ---- */

struct ftrace_live {
	struct pfs_live base;
	struct pfs_source_config config;
	struct pfs_capture *capture;
	struct pfs_assembler *assembler; /* of the events as they come; NULL: nobody wants them (any more) */
	bool killed_reported;
};

static struct ftrace_live *of(struct pfs_live *live)
{
	return (struct ftrace_live *)live;
}

static int live_event(void *ctx, const struct raw_event *raw)
{
	struct ftrace_live *l = ctx;
	int ret = l->assembler ? pfs_assembler_feed(l->assembler, raw) : 0;

	if (ret != -ECANCELED)
		return ret;
	pfs_assembler_free(l->assembler);
	l->assembler = NULL;
	return 0;
}

static int close_live(struct pfs_live *live, struct pfs_err *err)
{
	int ret;

	if (!live)
		return 0;
	ret = pfs_capture_free(of(live)->capture, err);
	pfs_assembler_free(of(live)->assembler);
	free(live);
	return ret;
}

static struct pfs_live *open_live(const struct pfs_source_config *config, struct pfs_err *err)
{
	const struct ftrace_options *o = config->options;
	struct ftrace_live *l = calloc(1, sizeof(*l));
	struct pfs_capture_config capture = {
		.tracers = o->tracers,
		.buffer_kb = config->buffer_kb,
		.text = o->text,
		.compress = o->compress,
		.events = o->events,
		.give_up = config->give_up,
		.give_up_ctx = config->ctx,
		.leftovers = config->leftovers,
	};
	int ret = -ENOMEM;

	if (!l)
		goto no_memory;
	l->base.source = &pfs_ftrace_source;
	l->config = *config;
	capture.tracers.count = config->count;
	if (config->live) {
		l->assembler = pfs_assembler_new(config->live);
		if (!l->assembler)
			goto no_memory;
		capture.live = live_event;
		capture.live_ctx = l;
	}
	l->capture = pfs_capture_new(&capture, err);
	ret = l->capture ? 0 : -errno;
	if (!ret && config->all_of_user)
		ret = pfs_capture_attach_user(l->capture, config->uid, err);
	if (!ret)
		return &l->base;
	goto out;
no_memory:
	pfs_err_set(err, ret, "no memory to record");
out:
	close_live(l ? &l->base : NULL, NULL);
	errno = -ret;
	return NULL;
}

static int launch(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	return pfs_capture_launch(of(live)->capture, pid, err);
}

static int attach(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	return pfs_capture_attach(of(live)->capture, pid, err);
}

static int note(struct pfs_live *live, pid_t tid, const struct pfs_fact *fact)
{
	return pfs_capture_note(of(live)->capture, tid, fact);
}

static void tids_file(struct pfs_live *live, char *path, size_t size)
{
	pfs_capture_tids_file(of(live)->capture, path, size);
}

static void want_accesses(struct pfs_live *live)
{
	pfs_capture_want_accesses(of(live)->capture);
}

static void report(const struct ftrace_live *l, const char *what, const char *consequence)
{
	struct pfs_err line;

	pfs_err_set(&line, 0, "%s; %s", what, consequence);
	l->config.report(l->config.ctx, line.msg);
}

static int start(struct pfs_live *live, struct pfs_err *err)
{
	struct ftrace_live *l = of(live);
	int ret = pfs_capture_start(l->capture, err);
	const char *polls;

	if (ret)
		return ret;
	polls = pfs_capture_polls(l->capture);
	if (polls)
		report(l, polls, "polling /proc every 100 ms instead");
	for (pfs_capture_missing m = pfs_capture_refused(l->capture); *m; m++)
		report(l, *m, "continuing without");
	return 0;
}

static int look(struct pfs_live *live, struct pfs_err *err)
{
	return pfs_capture_look(of(live)->capture, err);
}

static int wait_live(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		     struct pfs_err *err)
{
	struct ftrace_live *l = of(live);
	int ret = pfs_capture_wait(l->capture, fds, nr_fds, timeout_ms, err);

	if (pfs_capture_watcher_killed(l->capture) && !l->killed_reported) {
		l->config.report(l->config.ctx, "pfscope-watcher was killed; processes that become the user's from "
						"now on are not recorded");
		l->killed_reported = true;
	}
	return ret;
}

static int stop(struct pfs_live *live, struct pfs_err *err)
{
	struct ftrace_live *l = of(live);
	int ret = pfs_capture_stop(l->capture, err);

	if (!ret && l->assembler)
		ret = pfs_assembler_finish(l->assembler);
	return ret == -ECANCELED ? 0 : ret;
}

static int replay(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct pfs_assembler *assembler = pfs_assembler_new(sink);
	int ret;

	if (!assembler)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = pfs_capture_replay(of(live)->capture, pfs_assembler_feed, pfs_assembler_faults, assembler, err);
	if (!ret)
		ret = pfs_assembler_finish(assembler);
	pfs_assembler_free(assembler);
	return ret;
}

static int write_live(struct pfs_live *live, int fd, struct pfs_err *err)
{
	return pfs_capture_write(of(live)->capture, fd, err);
}

const struct pfs_source pfs_ftrace_source = {
	.name = "ftrace",
	.options = pfs_ftrace_options,
	.options_size = sizeof(struct ftrace_options),
	.can = PFS_CAN_COUNT | PFS_CAN_USER,
	.set_option = set_option,
	.check = check,
	.open = open_live,
	.close = close_live,
	.launch = launch,
	.attach = attach,
	.note = note,
	.tids_file = tids_file,
	.want_accesses = want_accesses,
	.start = start,
	.look = look,
	.wait = wait_live,
	.stop = stop,
	.replay = replay,
	.write = write_live,
};
