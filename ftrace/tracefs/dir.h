/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of tracefs, and the removal of instances in it.
 */
#ifndef PFS_TRACEFS_DIR_H
#define PFS_TRACEFS_DIR_H

#include "base/err.h"

#define PFS_INSTANCE_PREFIX "pfscope-" /* PID-START-NUMBER follow */

/* Where tracefs is mounted, or NULL with errno and err set (with what to do about it). Borrowed. */
const char *pfs_tracing_dir(struct pfs_err *err);

/*
 * Removes the instance in that folder; one that does not exist is no error. An instance stays busy until its last
 * reader has closed it, a moment longer than the reader lives: patience_ms bounds the wait. 0 or -errno. Allocates
 * no memory, so that a keeper can call it.
 */
int pfs_instance_rmdir(const char *dir, unsigned int patience_ms);

/*
 * Removes all instances and dynamic events whose pfscope is dead, by the pid and start time in their names; patience_ms
 * bounds the wait for an instance that is still read. Returns the number of instances removed, or -errno with err set.
 */
int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err);

#endif
