/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --source stap: stap/session/session.h. Its file is event lines, which every command reads.
 */
#include "common/command.h"
#include "common/recording.h"
#include "event/line.h"
#include "session/session.h"
#include "user/thread_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stap_source {
	struct pfs_stap *session;
	struct pfs_thread_list *threads; /* NULL: nobody asks for them */
};

static int check(const struct recording_args *args, struct pfs_err *err)
{
	if (ftrace_args_given(&args->tracers))
		return pfs_err_set(err, -EINVAL,
				   "--probes, --latency, --classify, --histogram and "
				   "--count are of --source=ftrace only: with --source=stap all of it is "
				   "known anyway");
	if (args->via)
		return pfs_err_set(err, -EINVAL, "--via is of --source=ftrace only");
	/* Those are known to the probes alone, and not before there is something of them. */
	if (args->refault.interval_ns && args->by_trait)
		return pfs_err_set(err, -EINVAL,
				   "--refault with --source=stap: of processes that are given by number; "
				   "those of a user: with --source=ftrace");
	if (args->compress)
		return pfs_err_set(err, -EINVAL, "--compress makes a trace.dat, and --source=stap event lines");
	if (args->stap.module && args->stap.no_dwarf)
		return pfs_err_set(err, -EINVAL,
				   "--no-dwarf is for building a module, --module "
				   "loads one");
	return 0;
}

static void say(void *ctx, const char *line)
{
	tell("%s", line);
}

static struct pfs_stap *open_session(struct recording *r, const struct pfs_sink *live, struct pfs_err *err)
{
	const struct recording_args *args = r->args;
	const struct pfs_filter *filter = &args->view.filter;
	struct pfs_stap_config config = {
		.module = args->stap.module,
		.uid = args->all_of_user ? (long)args->uid : -1,
		.no_follow = args->no_follow,
		.no_dwarf = args->stap.no_dwarf,
		.buffer_kb = args->buffer_kb,
		.live = live,
		.give_up = recording_given_up,
		.give_up_ctx = r,
		.say = say,
	};

	/* Processes that are given by number are recorded whole, whatever is shown of them. */
	if (args->by_trait && filter->nr_comms > 1) {
		pfs_err_set(err, -EINVAL, "--comm: one name where no process is given by number");
		errno = EINVAL;
		return NULL;
	}
	if (args->by_trait && filter->nr_comms)
		config.comm = filter->comms[0];
	return pfs_stap_new(&config, err);
}

static void *open_source(struct recording *r, const struct pfs_sink *live, struct pfs_err *err)
{
	struct stap_source *s = calloc(1, sizeof(*s));

	if (!s) {
		pfs_err_set(err, -ENOMEM, "no memory for a recording");
		errno = ENOMEM;
		return NULL;
	}
	s->session = open_session(r, live, err);
	if (s->session)
		return s;
	free(s);
	return NULL;
}

static int free_source(void *source, struct pfs_err *err)
{
	struct stap_source *s = source;
	int ret, left;

	if (!s)
		return 0;
	left = pfs_thread_list_free(s->threads, err);
	ret = pfs_stap_free(s->session, left ? NULL : err);
	free(s);
	return left ? left : ret;
}

static int launch(void *source, pid_t pid, struct pfs_err *err)
{
	struct stap_source *s = source;
	int ret = s->threads ? pfs_thread_list_add(s->threads, pid, err) : 0;

	return ret ? ret : pfs_stap_launch(s->session, pid, err);
}

static int attach(void *source, pid_t pid, struct pfs_err *err)
{
	struct stap_source *s = source;
	int ret = s->threads ? pfs_thread_list_add(s->threads, pid, err) : 0;

	return ret ? ret : pfs_stap_attach(s->session, pid, err);
}

static int note(void *source, pid_t tid, const char *text)
{
	struct stap_source *s = source;

	return pfs_stap_note(s->session, tid, "%s", text);
}

static int tids_file(void *source, char *path, size_t size, struct pfs_err *err)
{
	struct stap_source *s = source;

	s->threads = pfs_thread_list_new(err);
	if (!s->threads)
		return -errno;
	pfs_thread_list_file(s->threads, path, size);
	return 0;
}

static int start(void *source, struct pfs_err *err)
{
	struct stap_source *s = source;

	return pfs_stap_start(s->session, err);
}

static int wait_for(void *source, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err)
{
	struct stap_source *s = source;

	return pfs_stap_wait(s->session, fds, nr_fds, timeout_ms, err);
}

static int stop(void *source, struct pfs_err *err)
{
	struct stap_source *s = source;

	return pfs_stap_stop(s->session, err);
}

static int replay(void *source, const struct pfs_sink *sink, struct pfs_err *err)
{
	struct stap_source *s = source;

	return pfs_stap_replay(s->session, sink, err);
}

static int write_lines(void *source, int fd, struct pfs_err *err)
{
	int copy = dup(fd), ret = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	struct pfs_line_writer *writer = out ? pfs_line_writer_new(out) : NULL;
	struct pfs_sink sink;

	if (!writer) {
		ret = pfs_err_set(err, -ENOMEM, "no memory to write the recording");
	} else {
		sink = pfs_line_writer_sink(writer);
		ret = replay(source, &sink, err);
	}
	if (!ret)
		ret = pfs_line_writer_flush(writer);
	pfs_line_writer_free(writer);
	if (out && fclose(out) && !ret)
		ret = -errno;
	else if (!out && copy >= 0)
		close(copy);
	if (ret && ret != -EINTR)
		pfs_err_set(err, ret, "the recording cannot be written: %s", strerror(-ret));
	return ret;
}

const struct recording_source source_stap = {
	.name = "stap",
	.check = check,
	.open = open_source,
	.free = free_source,
	.launch = launch,
	.attach = attach,
	.note = note,
	.tids_file = tids_file,
	.start = start,
	.wait = wait_for,
	.stop = stop,
	.replay = replay,
	.write = write_lines,
};
