/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --source stap: stap/session.h. Its file is event lines, which every command reads.
 */
#include "command.h"
#include "event_line.h"
#include "recording.h"
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int check(const struct recording_args *args, struct pfs_err *err)
{
	if (ftrace_args_given(&args->tracers))
		return pfs_err_set(err, -EINVAL, "--probes, --latency, --classify, --histogram and "
				   "--count are of --source=ftrace only: with --source=stap all of it is "
				   "known anyway");
	if (args->via)
		return pfs_err_set(err, -EINVAL, "--via is of --source=ftrace only");
	if (args->refault.interval_ns)
		return pfs_err_set(err, -EINVAL, "--refault is of --source=ftrace only");
	if (args->compress)
		return pfs_err_set(err, -EINVAL, "--compress makes a trace.dat, and --source=stap event lines");
	if (args->stap.module && args->stap.no_dwarf)
		return pfs_err_set(err, -EINVAL, "--no-dwarf is for building a module, --module "
						 "loads one");
	return 0;
}

static void say(void *ctx, const char *line)
{
	tell("%s", line);
}

static void *open_session(struct recording *r, const struct pfs_sink *live, struct pfs_err *err)
{
	const struct recording_args *args = r->args;
	const struct pfs_filter *filter = &args->view.filter;
	struct pfs_stap_config config = {
		.module = args->stap.module, .uid = args->all_of_user ? (long)args->uid : -1,
		.no_follow = args->no_follow, .no_dwarf = args->stap.no_dwarf,
		.buffer_kb = args->buffer_kb, .live = live, .give_up = recording_given_up,
		.give_up_ctx = r, .say = say,
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

static int free_session(void *session, struct pfs_err *err)
{
	return pfs_stap_free(session, err);
}

static int launch(void *session, pid_t pid, struct pfs_err *err)
{
	return pfs_stap_launch(session, pid, err);
}

static int attach(void *session, pid_t pid, struct pfs_err *err)
{
	return pfs_stap_attach(session, pid, err);
}

static int note(void *session, pid_t tid, const char *text)
{
	return pfs_stap_note(session, tid, "%s", text);
}

static int start(void *session, struct pfs_err *err)
{
	return pfs_stap_start(session, err);
}

static int wait_for(void *session, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		    struct pfs_err *err)
{
	return pfs_stap_wait(session, fds, nr_fds, timeout_ms, err);
}

static int stop(void *session, struct pfs_err *err)
{
	return pfs_stap_stop(session, err);
}

static int replay(void *session, const struct pfs_sink *sink, struct pfs_err *err)
{
	return pfs_stap_replay(session, sink, err);
}

static int write_lines(void *session, int fd, struct pfs_err *err)
{
	int copy = dup(fd), ret = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	struct pfs_line_writer *writer = out ? pfs_line_writer_new(out) : NULL;
	struct pfs_sink sink;

	if (!writer) {
		ret = pfs_err_set(err, -ENOMEM, "no memory to write the recording");
	} else {
		sink = pfs_line_writer_sink(writer);
		ret = pfs_stap_replay(session, &sink, err);
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
	.name = "stap", .check = check, .open = open_session, .free = free_session,
	.launch = launch, .attach = attach, .note = note, .start = start, .wait = wait_for,
	.stop = stop, .replay = replay, .write = write_lines,
};
