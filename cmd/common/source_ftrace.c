/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --source ftrace: ftrace/capture/capture.h with the assembler that makes events of its raw ones.
 */
#include "assemble/assemble.h"
#include "capture/capture.h"
#include "common/command.h"
#include "common/recording.h"

#include <errno.h>
#include <stdlib.h>

struct ftrace_source {
	struct pfs_capture *capture;
	struct pfs_assembler *live; /* NULL: nobody wants them as they come */
	struct recording *recording;
	bool told_killed;
};

static int check(const struct recording_args *args, struct pfs_err *err)
{
	if (args->stap.module)
		return pfs_err_set(err, -EINVAL, "--module is of --source=stap only");
	if (args->stap.no_dwarf)
		return pfs_err_set(err, -EINVAL, "--no-dwarf is of --source=stap only");
	if (args->compress && args->text)
		return pfs_err_set(err, -EINVAL, "--compress makes a trace.dat, and --via=text lines of text");
	return 0;
}

static int live_event(void *ctx, const struct raw_event *raw)
{
	struct ftrace_source *s = ctx;

	return s->recording->live_over ? 0 : pfs_assembler_feed(s->live, raw);
}

static int free_source(void *source, struct pfs_err *err)
{
	struct ftrace_source *s = source;
	int ret;

	if (!s)
		return 0;
	ret = pfs_capture_free(s->capture, err);
	pfs_assembler_free(s->live);
	free(s);
	return ret;
}

/* What was asked for and the kernel does not let us: once, and the recording goes on without. */
static void tell_refused(const struct pfs_capture *capture)
{
	const char *polls = pfs_capture_polls(capture);

	if (polls)
		tell("going on by looking at /proc every 100 ms: %s", polls);
	for (pfs_capture_missing m = pfs_capture_refused(capture); *m; m++)
		tell("%s; going on without", *m);
}

static void *open_source(struct recording *r, const struct pfs_sink *live, struct pfs_err *err)
{
	struct ftrace_source *s = calloc(1, sizeof(*s));
	struct pfs_capture_config config = {
		.buffer_kb = r->args->buffer_kb,
		.text = r->args->text,
		.compress = r->args->compress,
		.tracers = r->args->tracers,
		.give_up = recording_given_up,
		.give_up_ctx = r,
	};
	int ret = -ENOMEM;

	if (!s)
		goto no_memory;
	s->recording = r;
	if (live) {
		s->live = pfs_assembler_new(live);
		if (!s->live)
			goto no_memory;
		config.live = live_event;
		config.live_ctx = s;
	}
	s->capture = pfs_capture_new(&config, err);
	ret = s->capture ? 0 : -errno;
	if (!ret && r->args->all_of_user)
		ret = pfs_capture_attach_user(s->capture, r->args->uid, err);
	if (!ret)
		return s;
	goto out;
no_memory:
	pfs_err_set(err, ret, "no memory to record");
out:
	free_source(s, NULL);
	errno = -ret;
	return NULL;
}

static int launch(void *source, pid_t pid, struct pfs_err *err)
{
	struct ftrace_source *s = source;

	return pfs_capture_launch(s->capture, pid, err);
}

static int attach(void *source, pid_t pid, struct pfs_err *err)
{
	struct ftrace_source *s = source;

	return pfs_capture_attach(s->capture, pid, err);
}

static int note(void *source, pid_t tid, const char *text)
{
	struct ftrace_source *s = source;

	return pfs_capture_note(s->capture, tid, "%s", text);
}

static int tids_file(void *source, char *path, size_t size, struct pfs_err *err)
{
	struct ftrace_source *s = source;

	pfs_capture_tids_file(s->capture, path, size);
	return 0;
}

static void want_accesses(void *source)
{
	struct ftrace_source *s = source;

	pfs_capture_want_accesses(s->capture);
}

static int start(void *source, struct pfs_err *err)
{
	struct ftrace_source *s = source;
	int ret = pfs_capture_start(s->capture, err);

	if (!ret)
		tell_refused(s->capture);
	return ret;
}

static int look(void *source, struct pfs_err *err)
{
	struct ftrace_source *s = source;

	return pfs_capture_look(s->capture, err);
}

static int wait_for(void *source, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	struct ftrace_source *s = source;
	int ret = pfs_capture_wait(s->capture, fds, nr_fds, timeout_ms, err);

	if (pfs_capture_watcher_killed(s->capture) && !s->told_killed) {
		tell("pfscope-watcher was killed; going on without processes that become the user's from now on");
		s->told_killed = true;
	}
	return ret;
}

static int stop(void *source, struct pfs_err *err)
{
	struct ftrace_source *s = source;

	int ret = pfs_capture_stop(s->capture, err);

	if (!ret && s->live && !s->recording->live_over)
		ret = pfs_assembler_finish(s->live);
	return ret;
}

static int replay(void *source, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct ftrace_source *s = source;
	struct pfs_assembler *assembler = pfs_assembler_new(sink);
	int ret;

	if (!assembler)
		return pfs_err_set(err, -ENOMEM, "no memory to read the recording");
	ret = pfs_capture_replay(s->capture, pfs_assembler_feed, pfs_assembler_faults, assembler, err);
	if (!ret)
		ret = pfs_assembler_finish(assembler);
	pfs_assembler_free(assembler);
	return ret;
}

static int write_dat(void *source, int fd, struct pfs_err *err)
{
	struct ftrace_source *s = source;

	return pfs_capture_write(s->capture, fd, err);
}

const struct recording_source source_ftrace = {
	.name = "ftrace",
	.check = check,
	.open = open_source,
	.free = free_source,
	.launch = launch,
	.attach = attach,
	.note = note,
	.tids_file = tids_file,
	.want_accesses = want_accesses,
	.start = start,
	.look = look,
	.wait = wait_for,
	.stop = stop,
	.replay = replay,
	.write = write_dat,
};
