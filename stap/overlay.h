/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private copy of SystemTap's runtime with one file changed, where a stock SystemTap does not compile
 * against a stock kernel.
 *
 * Linux 6.11, and 6.1 and other stable kernels with it, renamed task_work_cancel() to
 * task_work_cancel_func() and gave the old name to another function. SystemTap before 5.2 knows nothing of
 * it: Debian 12's 4.8 fails on Debian 12's 6.1. The copy is links but for stp_task_work.c, in which the name
 * is the new one, as a word of the code and in the string by which it is looked up in the kernel.
 */
#ifndef PFS_STAP_OVERLAY_H
#define PFS_STAP_OVERLAY_H

#include "err.h"
#include "kernel.h"

#include <stdbool.h>
#include <stddef.h>

#define PFS_OVERLAY_VERSION 1

/* "Systemtap translator/driver (version 4.8/0.188, Debian ...": 408; 0: no version is in it. */
unsigned int pfs_stap_version(const char *said);

/* Does this SystemTap (its runtime in that folder) need the overlay for this kernel? */
bool pfs_overlay_needed(unsigned int version, const char *runtime, const struct pfs_kernel *kernel);

/*
 * Makes it below `dir` unless it is there, and puts its path into overlay. 0 or -errno with err set.
 */
int pfs_overlay_make(const char *dir, unsigned int version, const char *runtime, char *overlay,
		     size_t size, struct pfs_err *err);

#endif
