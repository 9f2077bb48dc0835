/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live recording through a SystemTap module: built (or found in the cache), loaded, drained while it
 * runs, stopped, read back. What ftrace/capture/capture.h is for tracefs; `run` and `attach` in cmd/ call it.
 *
 * Records (wire.h) go unread from staprun's standard output into one nameless spool file; decode.c
 * makes events of them.
 */
#ifndef PFS_STAP_SESSION_H
#define PFS_STAP_SESSION_H

#include "base/err.h"
#include "event/event.h"
#include "event/notes.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct pfs_stap;

struct pfs_stap_config {
	const char *module;	     /* a module built before (`stap build`), or NULL: build or cache */
	const char *comm;	     /* record every process of that name, or NULL */
	long uid;		     /* record every process of that user, or -1 */
	bool no_follow;		     /* not what the processes start */
	bool no_dwarf;		     /* place probes without debuginfo even where there is some */
	unsigned int buffer_kb;	     /* SystemTap's buffer, a processor; 0: 16 MB */
	const struct pfs_sink *live; /* NULL, or who wants the events as they come (copied) */
	bool (*give_up)(void *ctx);  /* NULL, or asked now and then while it is built or read back */
	void *give_up_ctx;
	void (*say)(void *ctx, const char *line); /* what is being done, a line for people; or NULL */
	void *say_ctx;
};

/*
 * Builds or finds the module; nothing is loaded yet. Also removes modules that dead pfscopes left
 * behind. NULL with errno and err set: each way to fail has its own message with its remedy. The
 * strings of the config are borrowed until pfs_stap_start(). To be called before the caller becomes a
 * subreaper.
 */
struct pfs_stap *pfs_stap_new(const struct pfs_stap_config *config, struct pfs_err *err);

/* Unloads, forgets the recording. NULL is fine. 0 or -errno with err set. */
int pfs_stap_free(struct pfs_stap *s, struct pfs_err *err);

/* Adds a process that waits to be started (its faults before the exec are marked), or a running one. */
int pfs_stap_launch(struct pfs_stap *s, pid_t pid, struct pfs_err *err);
int pfs_stap_attach(struct pfs_stap *s, pid_t pid, struct pfs_err *err);

/* A header fact ("KEY=VALUE"), dated now; tid 0: of the recording as a whole. 0 or -ENOMEM. */
int pfs_stap_note(struct pfs_stap *s, pid_t tid, const struct pfs_fact *fact);

/* Loads the module and returns when it is READY: what happens to the targets from now on is recorded. */
int pfs_stap_start(struct pfs_stap *s, struct pfs_err *err);

/* As pfs_capture_wait(). An error if staprun ended by itself. */
int pfs_stap_wait(struct pfs_stap *s, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err);

/* Unloads; the rest is drained up to PFS_REC_END; what is missing is known then. 0 or -errno. */
int pfs_stap_stop(struct pfs_stap *s, struct pfs_err *err);

/* After the stop: all events, in order. May be called again. 0, what the sink returned, -EINTR, ... */
int pfs_stap_replay(struct pfs_stap *s, const struct pfs_sink *sink, struct pfs_err *err);

#endif
