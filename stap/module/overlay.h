/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private copies for stap, which consist of links but for some files: SystemTap's runtime, for a stock SystemTap that
 * does not compile against a stock kernel; and a kernel's headers with a symbol table, for placing probes without
 * debuginfo.
 *
 * PFS_OVERLAY_TASK_WORK: Linux 6.11 and stable kernels since 6.1 renamed task_work_cancel() to
 * task_work_cancel_func() and gave the old name to another function. SystemTap before 5.2 does not know that:
 * Debian 12's 4.8 fails on Debian 12's 6.1. The copy of stp_task_work.c uses the new name.
 *
 * PFS_OVERLAY_LINUX_6_10: the same SystemTap lacks what has changed up to Debian 12's other kernel, 6.12. Each
 * file concerned is included with definitions around it.
 *
 * SystemTap takes the kernel's functions from /boot/System.map-RELEASE, which is a stub on Debian
 * (pfs_kernel_map_real()), but prefers a table beside the headers. The addresses in it do not matter: the kernel
 * resolves the names when the module is loaded.
 */
#ifndef PFS_STAP_OVERLAY_H
#define PFS_STAP_OVERLAY_H

#include "base/err.h"
#include "module/kernel.h"

#include <stddef.h>

/* The text with each such word replaced; the caller frees. NULL: no memory. */
char *pfs_word_replace(const char *text, const char *word, const char *by);

#define PFS_OVERLAY_VERSION 3

enum { PFS_OVERLAY_TASK_WORK = 1, PFS_OVERLAY_LINUX_6_10 = 2 };

/* "Systemtap translator/driver (version 4.8/0.188, Debian ...": 408; 0: the output contains no version. */
unsigned int pfs_stap_version(const char *output);

/* Which changes this SystemTap (its runtime in that folder) needs for this kernel: PFS_OVERLAY_*; 0: none. */
unsigned int pfs_overlay_needed(unsigned int version, const char *runtime, const struct pfs_kernel *kernel);

/* Makes a copy with these changes below `dir` unless it exists; its path goes to overlay. 0 or -errno with err set. */
int pfs_overlay_make(const char *dir, unsigned int version, const char *runtime, unsigned int changes, char *overlay,
		     size_t size, struct pfs_err *err);

/* The number of files that are changed. */
unsigned int pfs_overlay_nr_files(unsigned int changes);

/* Further options for stap; NULL ends them. */
const char *const *pfs_overlay_options(unsigned int changes);

/*
 * Creates the copy of the headers in `dir` anew; `build` gets the argument for stap's -r. The functions are looked up in a list of the
 * kernel's symbols; without one all that the script names are entered, and *unchecked is set. 0 or -errno with err set.
 */
int pfs_tree_make(const char *dir, const struct pfs_kernel *kernel, const char *script, char *build, size_t size,
		  bool *unchecked, struct pfs_err *err);

#endif
