/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that ask to stop, as a descriptor to poll.
 */
#ifndef CMD_STOP_H
#define CMD_STOP_H

#include <signal.h>

/* The signal state that a started command gets back. */
struct stop_before {
	sigset_t mask;
	struct sigaction pipe, child;
};

/*
 * Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD, ignores SIGPIPE, and returns a descriptor for the
 * former, or -errno. SIGCHLD is set to its default, so that children can be waited for. The previous state
 * goes to *before, for stop_restore() in a child.
 */
int stop_open(struct stop_before *before);
void stop_restore(const struct stop_before *before);

/*
 * The next pending signal, or 0. A repetition within 50 ms is ignored: timeout(1) sends the signal to its command,
 * and then to the command's process group.
 */
int stop_next(int fd);

/* The next one that is not SIGCHLD, or 0. */
int stop_request(int fd);

#endif
