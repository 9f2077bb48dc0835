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

/*
 * Passes the layout of a process to fn. first: as it is at the time before the reading began (later
 * changes are replayed over it); otherwise a second look, each piece dated at its end. 0, -ESRCH if it
 * is gone, or -errno with err set.
 */
int pfs_snapshot_layout(pid_t pid, bool first, raw_event_fn fn, void *ctx, struct pfs_err *err);

/* Passes the number and the name of each thread to fn, dated ts_ns. As above. */
int pfs_snapshot_tasks(pid_t pid, uint64_t ts_ns, raw_event_fn fn, void *ctx,
		       struct pfs_err *err);

#endif
