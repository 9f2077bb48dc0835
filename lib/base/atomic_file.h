/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that has its name only when it is whole: written under a name of its own beside it, then renamed.
 */
#ifndef PFS_ATOMIC_FILE_H
#define PFS_ATOMIC_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct pfs_atomic_file {
	const char *name; /* as it was given; borrowed */
	char *path;	  /* what a link leads to */
	char *temp;	  /* while it is being written; NULL: no file, but a device or the like */
	int fd;		  /* -1: none */
};

/* Nothing is open: what pfs_atomic_file_drop() may be called on. */
#define PFS_ATOMIC_FILE_NONE ((struct pfs_atomic_file){ .fd = -1 })

enum pfs_atomic_file_kind {
	PFS_ATOMIC_FILE_PRIVATE, /* for its owner's eyes; a regular file only */
	PFS_ATOMIC_FILE_OUTPUT,	 /* with the rights that any new file would have; devices and pipes are written to */
};

/* 0 with file->fd open for writing, or -errno with err set. */
int pfs_atomic_file_open(struct pfs_atomic_file *file, const char *name, enum pfs_atomic_file_kind kind,
			 struct pfs_err *err);

/* All is written: closes it and gives it its name. 0, or -errno with err set: then it is gone. */
int pfs_atomic_file_keep(struct pfs_atomic_file *file, struct pfs_err *err);

/* Away with it, unless it has been kept. */
void pfs_atomic_file_drop(struct pfs_atomic_file *file);

/* Writes all of a file to `out`. 0 or more, or -errno with err set. */
typedef int (*pfs_atomic_file_fn)(void *ctx, FILE *out, struct pfs_err *err);

/* The file of that name as fn writes it: an output, only if all could be written. What fn returned, or -errno. */
int pfs_atomic_file_write(const char *name, pfs_atomic_file_fn fn, void *ctx, struct pfs_err *err);

#endif
