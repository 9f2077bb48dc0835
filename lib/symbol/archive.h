/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that the names of a recording come from, in one file that is read on other machines: a tar file (POSIX ustar) in
 * which BUILD_ID/elf is a program or library, BUILD_ID/debug its debug file, and ID/jit a file of a JIT compiler with that
 * content (jit/content.h). Nothing is extracted under a name of the archive. pack.h chooses the files; a folder of them, as tar extracts it, is as good.
 */
#ifndef PFS_ARCHIVE_H
#define PFS_ARCHIVE_H

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

/* Adds that file as BUILD_ID/WHAT, all of it. Its size, or -errno with err set. */
int64_t pfs_archive_add(FILE *out, const char *build_id, const char *what, int fd, struct pfs_err *err);
/* After the last one. 0 or -errno with err set. */
int pfs_archive_end(FILE *out, struct pfs_err *err);

/* A copy of BUILD_ID/WHAT without a name, whose contents nobody has checked; -1: there is none. The caller closes it. */
int pfs_archive_open(const char *archive, const char *build_id, const char *what);

/* 0; 1 with the reason in err: not all of it can be read; or -errno with err set: it cannot be opened. */
int pfs_archive_check(const char *archive, struct pfs_err *err);

#endif
