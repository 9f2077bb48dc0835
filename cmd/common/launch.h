/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the command that `run` records: the process waits, blocked, until it may become the command.
 */
#ifndef CMD_LAUNCH_H
#define CMD_LAUNCH_H

#include "common/invoking_user.h"
#include "common/stop.h"

struct launch {
	pid_t pid;
	int go_fd;     /* a byte here lets it go on, closing it ends it */
	int failed_fd; /* what exec failed with comes from here, end of file: nothing */
};

/* What the command and its children do without; nobody else does. */
struct launch_without {
	bool aslr; /* addresses at random (personality(2)) */
	bool thp;  /* transparent huge pages (PR_SET_THP_DISABLE) */
};

/* argv ends in NULL and is found through PATH; signals are as `before`. 0 or -errno with err set. */
int launch_start(struct launch *launch, char **argv, const struct launch_without *without, const struct caller *caller,
		 const struct stop_before *before, struct pfs_err *err);

/* Lets it become the command. 0, or -errno of its exec with err set; then it has ended. */
int launch_go(struct launch *launch, const char *name, struct pfs_err *err);

/* Ends one that never went on. */
void launch_abandon(struct launch *launch);

#endif
