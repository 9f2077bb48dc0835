/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live recording through tracefs: set up, drained while it runs, stopped, read back, written.
 *
 * The kernel's ring-buffer pages are spliced unread into one nameless spool file a processor (or, with
 * `text`, the lines of trace_pipe into one); pfscope's own records (side-band of mappings, snapshots,
 * notes) make one more stream beside them. `run` and `attach` in cmd/ call it.
 */
#ifndef PFS_CAPTURE_H
#define PFS_CAPTURE_H

#include "base/err.h"
#include "event/notes.h"
#include "record/raw.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

struct pfs_capture;

/* What is asked for beyond the events; see capture/tracers.c. */
struct pfs_capture_tracers {
	bool probes;	/* what the fault handler was given, and what came of it */
	bool latency;	/* the time it took */
	bool classify;	/* the functions that it went through */
	bool histogram; /* faults counted by page in the kernel, none told */
	bool count;	/* perf's counters of a launched command as well, for the check */
};

struct pfs_capture_config {
	struct pfs_capture_tracers tracers;
	unsigned int buffer_kb;	   /* of the kernel's buffer, a processor; 0: 8192 */
	bool text;		   /* read trace_pipe's lines, not the binary buffer */
	bool compress;		   /* what pfs_capture_write() writes */
	const char *const *events; /* other events to record, "SYSTEM:EVENT" or "SYSTEM"; NULL ends the list */
	raw_event_fn live;	   /* NULL, or who wants the events as they come */
	void *live_ctx;
	bool (*give_up)(void *ctx); /* NULL, or asked now and then while it is read back */
	void *give_up_ctx;
	void (*leftovers)(void); /* NULL, or removes what dead pfscopes left beside tracefs; the keeper calls it */
};

/* What could not be had, in words for the user; NULL ends the list. Borrowed. */
typedef const char *const *pfs_capture_missing;

/*
 * Begins to make the instance; tracing is off yet. NULL with errno and err set. Once it
 * is started, what dead pfscopes left is removed, too.
 */
struct pfs_capture *pfs_capture_new(const struct pfs_capture_config *config, struct pfs_err *err);

/*
 * Has the instance removed and forgets the recording. NULL is fine. 0, or -errno with err set. On return the
 * instance is about to go, by its keeper.
 */
int pfs_capture_free(struct pfs_capture *capture, struct pfs_err *err);

/* Adds a process that waits to be started, with its kernel counts if asked for. 0 or -errno with err set. */
int pfs_capture_launch(struct pfs_capture *capture, pid_t pid, struct pfs_err *err);

/* Adds a running process, before pfs_capture_start(). 0, -ESRCH, or -errno with err set. */
int pfs_capture_attach(struct pfs_capture *capture, pid_t pid, struct pfs_err *err);

/*
 * Adds all processes of a user (user_procs.h), and from pfs_capture_start() on those that become the user's;
 * before it, too. There need not be any yet. 0 or -errno with err set.
 */
int pfs_capture_attach_user(struct pfs_capture *capture, uid_t uid, struct pfs_err *err);

/* Why /proc is looked at every so often for those to come; NULL: the kernel tells of them. Borrowed. */
const char *pfs_capture_polls(const struct pfs_capture *capture);

/* Does nobody see any more who becomes the user's? */
bool pfs_capture_watcher_killed(const struct pfs_capture *capture);

/* A header fact, dated now; tid 0: of the recording as a whole. 0 or -ENOMEM. */
int pfs_capture_note(struct pfs_capture *capture, pid_t tid, const struct pfs_fact *fact);

/* Where the kernel lists the threads that are traced, those that were started since included; root's to read. */
void pfs_capture_tids_file(const struct pfs_capture *capture, char *path, size_t size);

/*
 * To be recorded, too: which pages DAMON saw used, once its thread is among those listed there. Before
 * processes are added.
 */
void pfs_capture_want_accesses(struct pfs_capture *capture);

/*
 * Tracing on. Not before processes were added: without any, the kernel would record all there are. From
 * here on no privilege is needed, it may be given up. 0 or -errno with err set.
 */
int pfs_capture_start(struct pfs_capture *capture, struct pfs_err *err);

/* Reads the layouts of the processes that ran already. 0 or -errno with err set. */
int pfs_capture_look(struct pfs_capture *capture, struct pfs_err *err);

/*
 * Waits until there is something to drain, one of `fds` is ready, or timeout_ms (-1: for ever) is
 * over, and drains. 0 or -errno with err set; -EINTR is not an error but 0.
 */
int pfs_capture_wait(struct pfs_capture *capture, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		     struct pfs_err *err);

/* Tracing off, the rest drained, the kernel's counts noted. 0 or -errno with err set. */
int pfs_capture_stop(struct pfs_capture *capture, struct pfs_err *err);

/*
 * After the stop: passes the whole recording to fn, in order of time, but page faults of the everyday form to
 * faults (of --via text, all to fn). May be called again. 0, what fn or faults returned, -EINTR if give_up() said so, or -errno with err set.
 */
int pfs_capture_replay(struct pfs_capture *capture, raw_event_fn fn, raw_faults_fn faults, void *ctx,
		       struct pfs_err *err);

/* After the stop: writes it to fd, as trace.dat (or as text). 0 or -errno with err set. */
int pfs_capture_write(struct pfs_capture *capture, int fd, struct pfs_err *err);

/* After the start: what was asked for in config.tracers and the kernel refused, and why. */
pfs_capture_missing pfs_capture_refused(const struct pfs_capture *capture);

#endif
