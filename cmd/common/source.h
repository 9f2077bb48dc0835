/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a live source of events has to do for `run` and `attach`: a table of operations each.
 *
 * source_ftrace.c and source_stap.c are the two; --source chooses one in recording.c, which also owns
 * all that is the same for both (files, live printing, drawing). All return 0 or -errno with err set.
 */
#ifndef CMD_SOURCE_H
#define CMD_SOURCE_H

#include "base/err.h"
#include "event/event.h"

#include <poll.h>
#include <sys/types.h>

struct recording;
struct recording_args;

struct recording_source {
	const char *name; /* as --source has it */

	/* Refuses options that mean nothing to this source, before anything is opened. */
	int (*check)(const struct recording_args *args, struct pfs_err *err);

	/* live: NULL, or who wants the events as they come (copied). NULL with errno and err set. */
	void *(*open)(struct recording *r, const struct pfs_sink *live, struct pfs_err *err);

	/* What is set up is removed, the recording forgotten. NULL is fine. */
	int (*free)(void *capture, struct pfs_err *err);

	/* A process that waits to be started; one that runs. Both before start(). */
	int (*launch)(void *capture, pid_t pid, struct pfs_err *err);
	int (*attach)(void *capture, pid_t pid, struct pfs_err *err);

	/* "KEY=VALUE", dated now; tid 0: of the recording as a whole. 0 or -ENOMEM. */
	int (*note)(void *capture, pid_t tid, const char *text);

	/* The file that lists the numbers of the processes' threads at any time, one a line. Before launch() and attach(). */
	int (*tids_file)(void *capture, char *path, size_t size, struct pfs_err *err);

	/*
	 * What is seen of accesses without a fault is to be recorded: damon:damon_aggregated of DAMON's thread, when
	 * that is added to the file above. Before launch() and attach(). NULL: the source sees faults only.
	 */
	void (*want_accesses)(void *capture);

	/*
	 * On return everything that the processes do is recorded, and no privilege is needed any more: what
	 * follows is called as the user on whose behalf it is recorded.
	 */
	int (*start)(void *capture, struct pfs_err *err);

	/* Reads what the processes that ran already look like. NULL: there is nothing to be read. */
	int (*look)(void *capture, struct pfs_err *err);

	/*
	 * Until there is something to drain, one of `fds` is ready, or timeout_ms (-1: for ever) is
	 * over. Signals are no error.
	 */
	int (*wait)(void *capture, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err);

	int (*stop)(void *capture, struct pfs_err *err);

	/* After the stop: all events in order; the recording in the source's own kind of file. */
	int (*replay)(void *capture, const struct pfs_sink *sink, struct pfs_err *err);
	int (*write)(void *capture, int fd, struct pfs_err *err);
};

extern const struct recording_source source_ftrace, source_stap;

/* Of that name, or NULL. */
const struct recording_source *recording_source_find(const char *name);

#endif
