/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of processes after an exec, as notes `args`.
 *
 * perf's side-band dates an exec; then /proc/PID/cmdline is read, and then the side-band again: only if it has no later
 * exec and no end of that process, and nothing of it was lost, was the reading that of this exec. The kernel shows no
 * command line from the moment at which an exec gives up the old memory until after the record of it is written.
 */
#ifndef PFS_EXECS_H
#define PFS_EXECS_H

#include "record/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Begins as zeroes. */
struct pfs_execs {
	struct pfs_exec {
		pid_t pid;
		uint64_t exec_ns, read_ns; /* read: 0: not tried yet */
		bool over;		   /* that was its end */
		char *args;		   /* NULL: not read yet */
	} * execs;
	size_t nr, max;
};

void pfs_execs_fini(struct pfs_execs *execs);

/*
 * A process executes a program, or has ended (`over`). The records of one process may come out of order, as far as they
 * are drained together. 0 or -ENOMEM.
 */
int pfs_execs_add(struct pfs_execs *execs, pid_t pid, uint64_t exec_ns, bool over);

/* Records were lost: which exec was the last one of a process is not known. */
void pfs_execs_forget(struct pfs_execs *execs);

/* Reads the command lines. False: there are none. */
bool pfs_execs_read(struct pfs_execs *execs);

/* Passes those that were read, and are not out of date, to fn. 0 or what it returned. */
int pfs_execs_put(struct pfs_execs *execs, raw_event_fn fn, void *ctx);

#endif
