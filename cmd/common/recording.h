/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `run` and `attach` have in common: the options of a recording, its life, and what becomes of it.
 */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "base/atomic_file.h"
#include "common/ftrace_args.h"
#include "common/invoking_user.h"
#include "common/pipeline.h"
#include "common/refault_args.h"
#include "common/refault_session.h"
#include "common/source.h"
#include "common/stap_args.h"
#include "common/view_args.h"

#include <argp.h>

struct recording_args {
	const char *file;		       /* -o, or NULL */
	const char *user;		       /* -u of run, or NULL */
	const struct recording_source *source; /* --source; NULL: ftrace */
	unsigned int buffer_kb;		       /* 0: the source's own choice */
	bool via, text;			       /* --via was given; it was text */
	bool compress;			       /* the file */
	bool no_follow;			       /* run: only the first process */
	bool by_trait;			       /* attach: none by number, all of a name or of a user */
	bool all_of_user;		       /* attach --user ... */
	uid_t uid;			       /* ... and who that is */
	struct stap_args stap;
	struct pfs_capture_tracers tracers; /* --probes and its like */
	struct refault_args refault;	    /* --refault */
	enum event_form events;		    /* --events */
	bool no_bars;
	bool strict; /* lost events are a failure */
	struct view_args view;
};

extern const struct argp recording_argp; /* input: struct recording_args */

struct recording {
	const struct recording_args *args;
	const struct recording_source *source;
	void *capture; /* the source's own, NULL: not opened, or given up */
	struct caller caller;
	struct pipeline live; /* where --events go while it runs */
	bool is_live;
	bool live_over; /* nothing more is to be printed ... */
	int live_err;	/* ... for this reason */
	bool lost;	/* --strict: something was */
	struct refaulting refaulting;
	struct pollfd *fds;	     /* what is waited for */
	struct pfs_atomic_file file; /* where it is to be kept, if it is */
	int stop_fd;		     /* of stop_open(): a signal while it is set up or finished ends that */
};

/*
 * Opens the source and the file. 0 or -errno with err set; -EINTR: the user did not want to wait for
 * it. recording_close() must follow in any case.
 */
int recording_open(struct recording *r, const struct recording_args *args, int stop_fd, struct pfs_err *err);

/* As in struct recording_source, of the recording's. */
int recording_launch(struct recording *r, pid_t pid, struct pfs_err *err);
int recording_attach(struct recording *r, pid_t pid, struct pfs_err *err);
int recording_note(struct recording *r, pid_t tid, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * As well; from here on pfscope is the user on whose behalf it records, for good. What was left to root is with
 * the source's helper (lib/os/helper.h).
 */
int recording_start(struct recording *r, struct pfs_err *err);

/* Has the user asked to stop? For sources that take their time. */
bool recording_given_up(void *recording);

/* The source's wait(), and printed what came. */
int recording_wait(struct recording *r, struct pollfd *fds, unsigned int nr_fds, int timeout_ms, struct pfs_err *err);

/* Says why, and ends the tracing: what was traced goes on. Then only recording_close() may follow. */
void recording_failed(struct recording *r, const struct pfs_err *err);

/*
 * Stops, writes the file under its name, draws the bars. 0 or -errno with err set; -EINTR: the user did
 * not want to wait for it.
 */
int recording_finish(struct recording *r, struct pfs_err *err);

/* Gives up what was not finished, and the instance. 0 or -errno with err set. */
int recording_close(struct recording *r, struct pfs_err *err);

/* The words of a command line, for the note; the caller frees. NULL: no memory. */
char *recording_command_line(char **argv);

#endif
