/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen of `pfscope top`: a process of its own, which reads event lines from a file while another process appends to
 * it, and shows them (lib/live). So nothing that it does can delay a recording.
 */
#ifndef CMD_WATCH_H
#define CMD_WATCH_H

#include "base/err.h"
#include "base/term.h"

struct watch_config {
	int lines_fd;	   /* the event lines, opened for this process alone */
	int past_fd;	   /* once more */
	int ended_fd;	   /* readable once no line comes any more */
	const char *title; /* of a recording without a command */
	double speed;	   /* of a replay: seconds of the recording a second; 0: it is live */
	enum pfs_color_when color;
};

/* Shows the screen on the terminal of standard input and output until its user has seen enough. The exit status. */
int watch(const struct watch_config *config);

#endif
