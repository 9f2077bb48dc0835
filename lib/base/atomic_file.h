/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that has its name only when it is whole: written under a name of its own beside it, then renamed.
 */
#ifndef CMD_WHOLE_FILE_H
#define CMD_WHOLE_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdio.h>

struct whole_file {
	const char *name; /* as it was given; borrowed */
	char *path;	  /* what a link leads to */
	char *temp;	  /* while it is being written; NULL: no file, but a device or the like */
	int fd;		  /* -1: none */
};

/* Nothing is open: what whole_file_drop() may be called on. */
#define WHOLE_FILE_NONE ((struct whole_file){ .fd = -1 })

enum whole_file_kind {
	WHOLE_FILE_PRIVATE, /* for its owner's eyes; a regular file only */
	WHOLE_FILE_OUTPUT,  /* with the rights that any new file would have; devices and pipes are written to */
};

/* 0 with file->fd open for writing, or -errno with err set. */
int whole_file_open(struct whole_file *file, const char *name, enum whole_file_kind kind, struct pfs_err *err);

/* All is written: closes it and gives it its name. 0, or -errno with err set: then it is gone. */
int whole_file_keep(struct whole_file *file, struct pfs_err *err);

/* Away with it, unless it has been kept. */
void whole_file_drop(struct whole_file *file);

/* Writes all of a file to `out`. 0 or more, or -errno with err set. */
typedef int (*whole_file_fn)(void *ctx, FILE *out, struct pfs_err *err);

/* The file of that name as fn writes it: an output, only if all could be written. What fn returned, or -errno. */
int whole_file_write(const char *name, whole_file_fn fn, void *ctx, struct pfs_err *err);

#endif
