/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_event_open(2): opens an event, and reports why the kernel refuses one.
 */
#ifndef PFS_PERF_EVENT_H
#define PFS_PERF_EVENT_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

/* A descriptor, or -errno. cpu -1: any. */
int pfs_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu);

/*
 * May the caller have the faults of its own processes: those in user mode, or with `kernel` those in kernel mode, too?
 * Opens and closes such an event. 0, or -errno with err set.
 */
int pfs_perf_may_record(bool kernel, struct pfs_err *err);

/* Sets err to why the kernel returned that -errno: the setting, and what changes it. Returns ret. */
int pfs_perf_refused(int ret, struct pfs_err *err);

#endif
