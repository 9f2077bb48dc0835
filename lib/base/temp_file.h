/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unnamed temporary files in $TMPDIR or /tmp, for spools and for input that cannot seek. */
#ifndef PFS_TEMP_FILE_H
#define PFS_TEMP_FILE_H

#include "base/err.h"

#include <stddef.h>

/* A new one, open for reading and writing, mode 0600. -errno with err set. */
int pfs_temp_open(struct pfs_err *err);

/* All of it, at the file position. 0 or -errno with err set. */
int pfs_temp_write(int fd, const void *bytes, size_t len, struct pfs_err *err);

#endif
