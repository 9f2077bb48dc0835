/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of --source=stap, and its operations: those of session.h.
 */
#include "session/source.h"

#include "event/line.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stap_options {
	const char *module;
	bool no_dwarf;
};

enum { OPT_MODULE = 1, OPT_NO_DWARF };

const struct argp_option pfs_stap_options[] = {
	{ "module", OPT_MODULE, "FILE", 0, "Load a module that `pfscope stap build' made", 0 },
	{ "no-dwarf", OPT_NO_DWARF, NULL, 0, "Place probes without debuginfo even if it is installed", 0 },
	{ 0 },
};

static int set_option(void *options, int key, const char *arg, struct pfs_err *err)
{
	struct stap_options *o = options;

	if (key == OPT_MODULE)
		o->module = arg;
	else
		o->no_dwarf = true;
	return 0;
}

static int check(const struct pfs_source_config *config, struct pfs_err *err)
{
	const struct stap_options *o = config->options;

	if (o->module && o->no_dwarf)
		return pfs_err_set(err, -EINVAL, "--no-dwarf: applies to building a module, --module loads one");
	return 0;
}

struct stap_live {
	struct pfs_live base;
	struct pfs_stap *session;
};

static struct pfs_stap *of(struct pfs_live *live)
{
	return ((struct stap_live *)live)->session;
}

static struct pfs_live *open_live(const struct pfs_source_config *config, struct pfs_err *err)
{
	const struct stap_options *o = config->options;
	const struct pfs_stap_config session = {
		.module = o->module,
		.comm = config->comm,
		.uid = config->all_of_user ? (long)config->uid : -1,
		.no_follow = config->no_follow,
		.no_dwarf = o->no_dwarf,
		.buffer_kb = config->buffer_kb,
		.live = config->live,
		.give_up = config->give_up,
		.give_up_ctx = config->ctx,
		.say = config->report,
		.say_ctx = config->ctx,
	};
	struct stap_live *l = calloc(1, sizeof(*l));

	if (!l) {
		errno = -pfs_err_set(err, -ENOMEM, "no memory for a recording");
		return NULL;
	}
	l->base.source = &pfs_stap_source;
	l->session = pfs_stap_new(&session, err);
	if (l->session)
		return &l->base;
	free(l);
	return NULL;
}

static int close_live(struct pfs_live *live, struct pfs_err *err)
{
	int ret = live ? pfs_stap_free(of(live), err) : 0;

	free(live);
	return ret;
}

static int launch(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	return pfs_stap_launch(of(live), pid, err);
}

static int attach(struct pfs_live *live, pid_t pid, struct pfs_err *err)
{
	return pfs_stap_attach(of(live), pid, err);
}

static int note(struct pfs_live *live, pid_t tid, const struct pfs_fact *fact)
{
	return pfs_stap_note(of(live), tid, fact);
}

static int start(struct pfs_live *live, struct pfs_err *err)
{
	return pfs_stap_start(of(live), err);
}

static int wait_live(struct pfs_live *live, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		     struct pfs_err *err)
{
	return pfs_stap_wait(of(live), fds, nr_fds, timeout_ms, err);
}

static int stop(struct pfs_live *live, struct pfs_err *err)
{
	return pfs_stap_stop(of(live), err);
}

static int replay(struct pfs_live *live, const struct pfs_sink *sink, struct pfs_err *err)
{
	return pfs_stap_replay(of(live), sink, err);
}

static int write_lines(struct pfs_live *live, int fd, struct pfs_err *err)
{
	int copy = dup(fd), ret = 0;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	struct pfs_line_writer *writer = out ? pfs_line_writer_new(out) : NULL;
	struct pfs_sink sink;

	if (!writer) {
		ret = pfs_err_set(err, -ENOMEM, "no memory to write the recording");
	} else {
		sink = pfs_line_writer_sink(writer);
		ret = replay(live, &sink, err);
	}
	if (!ret)
		ret = pfs_line_writer_flush(writer);
	pfs_line_writer_free(writer);
	if (out && fclose(out) && !ret)
		ret = -errno;
	else if (!out && copy >= 0)
		close(copy);
	if (ret && ret != -EINTR)
		pfs_err_set(err, ret, "cannot write the recording: %s", strerror(-ret));
	return ret;
}

const struct pfs_source pfs_stap_source = {
	.name = "stap",
	.options = pfs_stap_options,
	.options_size = sizeof(struct stap_options),
	.can = PFS_CAN_USER | PFS_CAN_COMM,
	.set_option = set_option,
	.check = check,
	.open = open_live,
	.close = close_live,
	.launch = launch,
	.attach = attach,
	.note = note,
	.start = start,
	.wait = wait_live,
	.stop = stop,
	.replay = replay,
	.write = write_lines,
};
