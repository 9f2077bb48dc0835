/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture/: a live recording through tracefs, `--source=ftrace`.
 *
 * The kernel's ring-buffer pages are spliced unread into one unnamed spool file per CPU (with --via=text, the lines of
 * trace_pipe into one file); pfscope's own records (side-band of mappings, snapshots, notes) are one more stream beside
 * them. At the end the spools are read back through the code that reads a file, and written as one.
 *
 * Everything that needs root is opened before start() returns.
 */
#ifndef PFS_CAPTURE_H
#define PFS_CAPTURE_H

#include "event/source.h"

#include <stdio.h>

extern const struct pfs_source pfs_ftrace_source;
extern const struct argp_option pfs_ftrace_options[];

/*
 * Passes on what a recording with all of its options would lack here: each note `lacks` of one that is set up and not
 * started, an event or an option. 0, what fn returned, or -errno with err set: there can be no recording.
 */
int pfs_capture_lacks(int (*fn)(void *ctx, const struct pfs_fact *lack), void *ctx, struct pfs_err *err);

/*
 * May accesses to kernel objects be recorded (pfs_object_choice, watch)? Tries a watchpoint on each CPU. 0, or -errno with err
 * set to why not.
 */
int pfs_capture_can_watch(struct pfs_err *err);

/* Prints a command line of trace-cmd that records, on this machine, what pfscope can read. -ENOTSUP: the kernel has none of it. */
int pfs_capture_needed(FILE *out, struct pfs_err *err);

#endif
