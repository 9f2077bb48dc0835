/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a running process looks like now: its threads, its break and its /proc/PID/maps, as raw events.
 *
 * capture.c takes one when it attaches. How no change is missed though the process runs on is said
 * there.
 */
#ifndef PFS_SNAPSHOT_H
#define PFS_SNAPSHOT_H

#include "err.h"
#include "raw.h"

#include <stdbool.h>
#include <sys/types.h>

/* A process to be looked at; { .pid = pid, .maps_fd = -1 } before pfs_snapshot_open(). */
struct pfs_snapshot {
	pid_t pid;
	int maps_fd;
	char *stat;		/* the text of /proc/PID/stat */
	uint64_t since_ns;	/* from then on each change is recorded; 0: from the first look on */
};

/*
 * Opens what there is to be read, while it is allowed. A process that goes over to another program after that
 * is gone for this snapshot; one that is amid that is waited for, a moment. 0, -ESRCH, or -errno with err set.
 */
int pfs_snapshot_open(struct pfs_snapshot *snapshot, struct pfs_err *err);
void pfs_snapshot_close(struct pfs_snapshot *snapshot);

/* Has the process still the memory that was opened? */
bool pfs_snapshot_lives(const struct pfs_snapshot *snapshot);

/*
 * Passes the layout to fn. first: dated since_ns, or at the time before the reading began (later changes are
 * replayed over it); otherwise a second look, each piece dated at its end. 0, -ESRCH if it is gone, or -errno with err
 * set.
 */
int pfs_snapshot_layout(const struct pfs_snapshot *snapshot, bool first, raw_event_fn fn, void *ctx,
			struct pfs_err *err);

/* Passes the number and the name of each thread to fn, dated ts_ns. 0, -ESRCH, or -errno with err set. */
int pfs_snapshot_tasks(pid_t pid, uint64_t ts_ns, raw_event_fn fn, void *ctx,
		       struct pfs_err *err);

#endif
