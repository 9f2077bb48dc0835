/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that appear only when they are complete. Meanwhile they have no name (O_TMPFILE), so that nothing is left of a
 * killed pfscope; on file systems that do not have these a temporary one in the same folder, which pfscope locks: the
 * next file that is opened in that folder removes those that nobody has locked.
 */
#ifndef PFS_ATOMIC_FILE_H
#define PFS_ATOMIC_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct pfs_atomic_file {
	const char *name; /* as given; borrowed */
	char *path;	  /* with links resolved */
	char *temp;	  /* the temporary name, or NULL */
	int fd;		  /* -1: none */
	bool unnamed;	  /* it gets a name when it is kept */
};

/* No open file. pfs_atomic_file_drop() accepts it. */
#define PFS_ATOMIC_FILE_NONE ((struct pfs_atomic_file){ .fd = -1 })

enum pfs_atomic_file_kind {
	PFS_ATOMIC_FILE_PRIVATE, /* readable by its owner only; a regular file only */
	PFS_ATOMIC_FILE_OUTPUT,	 /* with the usual mode; may be a device or a pipe */
};

/* 0 with file->fd open for writing, or -errno with err set. */
int pfs_atomic_file_open(struct pfs_atomic_file *file, const char *name, enum pfs_atomic_file_kind kind,
			 struct pfs_err *err);

/* Closes the file and gives it its name. 0, or -errno with err set and the file removed. */
int pfs_atomic_file_keep(struct pfs_atomic_file *file, struct pfs_err *err);

/* Removes the file, unless it was kept. */
void pfs_atomic_file_drop(struct pfs_atomic_file *file);

/* Writes all of a file to `out`. 0 or more, or -errno with err set. */
typedef int (*pfs_atomic_file_fn)(void *ctx, FILE *out, struct pfs_err *err);

/* Writes a file (an output) by fn. Returns what fn returned, or -errno. */
int pfs_atomic_file_write(const char *name, pfs_atomic_file_fn fn, void *ctx, struct pfs_err *err);

#endif
