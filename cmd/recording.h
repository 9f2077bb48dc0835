/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `run` and `attach` have in common: the options of a recording, its life, and what becomes of it.
 */
#ifndef CMD_RECORDING_H
#define CMD_RECORDING_H

#include "caller.h"
#include "capture.h"
#include "pipeline.h"
#include "view_args.h"

#include <argp.h>

struct recording_args {
	const char *file;		/* -o, or NULL */
	const char *user;		/* -u, or NULL */
	unsigned int buffer_kb;
	bool text;			/* --via text */
	enum event_form events;		/* --events */
	bool no_bars;
	struct view_args view;
};

extern const struct argp recording_argp;	/* input: struct recording_args */

struct recording {
	const struct recording_args *args;
	struct caller caller;
	struct pfs_capture *capture;
	struct pipeline live;		/* where --events go while it runs */
	struct pfs_assembler *assembler;
	bool is_live;
	bool live_over;			/* nothing more is to be printed ... */
	int live_err;			/* ... for this reason */
	char *path;			/* of the file, NULL: none is to be kept */
	char *temp_path;		/* of the file while it is being written */
	int file_fd;
	int stop_fd;			/* of stop_open(), or -1: a signal while it is finished ends that */
};

/* Opens the capture and the file; stop_fd is the caller's to set. 0 or -errno with err set. */
int recording_open(struct recording *r, const struct recording_args *args, struct pfs_err *err);

/* pfs_capture_wait(), and printed what came. */
int recording_wait(struct recording *r, struct pollfd *fds, unsigned int nr_fds, int timeout_ms,
		   struct pfs_err *err);

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
