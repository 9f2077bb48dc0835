/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of tracefs, and how the folder of an instance in it is removed.
 */
#ifndef PFS_TRACEFS_DIR_H
#define PFS_TRACEFS_DIR_H

#include "base/err.h"

/* Where tracefs is mounted, or NULL with errno and err set (with what to do about it). Borrowed. */
const char *pfs_tracing_dir(struct pfs_err *err);

/*
 * Removes the instance in that folder; one that does not exist is no error. An instance stays busy until its last
 * reader has let go, a moment longer than the reader lives: patience_ms bounds the wait. 0 or -errno. Allocates
 * nothing, so that a keeper can call it.
 */
int pfs_instance_rmdir(const char *dir, unsigned int patience_ms);

#endif
