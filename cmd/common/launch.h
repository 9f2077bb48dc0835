/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts the command that `run` records: a child that blocks until launch_go() and then executes it.
 */
#ifndef CMD_LAUNCH_H
#define CMD_LAUNCH_H

#include "common/invoking_user.h"
#include "common/command.h"

struct launch {
	pid_t pid;
	int go_fd;     /* a byte lets the child execute the command; closing it ends the child */
	int failed_fd; /* errno of a failed exec; end of file: success */
};

/* Features that are off for the command and its children only. */
struct launch_without {
	bool aslr; /* address space randomization (personality(2)) */
	bool thp;  /* transparent huge pages (PR_SET_THP_DISABLE) */
};

/* argv ends in NULL, argv[0] is found through PATH; the child restores the signals of `before`. 0 or -errno with err set. */
int launch_start(struct launch *launch, char **argv, const struct launch_without *without,
		 const struct invoking_user *user, const struct stop_before *before, struct pfs_err *err);

/* Executes the command. 0, or -errno of its exec with err set; the child has ended then. */
int launch_go(struct launch *launch, const char *name, struct pfs_err *err);

/* Ends a child for which launch_go() was not called. */
void launch_abandon(struct launch *launch);

#endif
