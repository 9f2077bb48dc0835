/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private copy of SystemTap's runtime with some files changed, where a stock SystemTap does not compile
 * against a stock kernel. The copy is links but for those files.
 *
 * PFS_OVERLAY_TASK_WORK: Linux 6.11, and 6.1 and other stable kernels with it, renamed task_work_cancel() to
 * task_work_cancel_func() and gave the old name to another function. SystemTap before 5.2 knows nothing of
 * it: Debian 12's 4.8 fails on Debian 12's 6.1. In stp_task_work.c the name becomes the new one, as a word
 * of the code and in the string by which it is looked up in the kernel.
 *
 * PFS_OVERLAY_LINUX_6_10: on Debian 12's other kernel, 6.12, its SystemTap misses what has gone or changed
 * since. Each file that needs it is included with those names defined around it.
 */
#ifndef PFS_STAP_OVERLAY_H
#define PFS_STAP_OVERLAY_H

#include "base/err.h"
#include "module/kernel.h"

#include <stddef.h>

#define PFS_OVERLAY_VERSION 2

enum { PFS_OVERLAY_TASK_WORK = 1, PFS_OVERLAY_LINUX_6_10 = 2 };

/* "Systemtap translator/driver (version 4.8/0.188, Debian ...": 408; 0: no version is in it. */
unsigned int pfs_stap_version(const char *said);

/* Which changes this SystemTap (its runtime in that folder) needs for this kernel: PFS_OVERLAY_*; 0: none. */
unsigned int pfs_overlay_needed(unsigned int version, const char *runtime, const struct pfs_kernel *kernel);

/*
 * Makes a copy with these changes below `dir` unless it is there, and puts its path into overlay. 0 or -errno
 * with err set.
 */
int pfs_overlay_make(const char *dir, unsigned int version, const char *runtime, unsigned int changes, char *overlay,
		     size_t size, struct pfs_err *err);

/* How many files that changes. */
unsigned int pfs_overlay_nr_files(unsigned int changes);

/* What stap has to be told beside; NULL ends it. */
const char *const *pfs_overlay_options(unsigned int changes);

#endif
