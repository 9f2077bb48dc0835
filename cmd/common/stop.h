/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user's wish to stop, as a descriptor to poll: signals, read one by one.
 */
#ifndef CMD_STOP_H
#define CMD_STOP_H

#include <signal.h>

/* What a command that is started is to have again. */
struct stop_before {
	sigset_t mask;
	struct sigaction pipe, child;
};

/*
 * Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD, ignores SIGPIPE, and returns a descriptor for the
 * former, or -errno. Children that end are heard of even if the caller does not care for its own. How it
 * was before goes to *before, for stop_restore() in a child.
 */
int stop_open(struct stop_before *before);
void stop_restore(const struct stop_before *before);

/*
 * The next signal that came, 0 if there is none. The same one within a moment is not another: timeout(1) sends it to
 * its command, and then to the group that the command is in as well.
 */
int stop_next(int fd);

#endif
