/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary files without a name, in $TMPDIR or /tmp: gone when closed, however we end.
 *
 * For input that cannot seek (ftrace/dat/read.c), and where recordings are spooled.
 */
#ifndef PFS_TEMP_FILE_H
#define PFS_TEMP_FILE_H

#include "base/err.h"

#include <stddef.h>

/* A new one, open for reading and writing, mode 0600. -errno with err set. */
int pfs_temp_open(struct pfs_err *err);

/* All of it, at the file position. 0 or -errno with err set. */
int pfs_temp_write(int fd, const void *bytes, size_t len, struct pfs_err *err);

#endif
