/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose code is unwound, and the rules of their instructions so far. What is not known yet is asked from a helper, which
 * reads the files without any privilege: one that ends it, or keeps it busy, has no rules. Files are known by what they are
 * and not by their name, so that processes share them.
 */
#ifndef PFS_FILES_H
#define PFS_FILES_H

#include "unwind/rules.h"

#include "base/err.h"

#include <sys/types.h>

struct pfs_unwind_files;
struct pfs_unwind_file;

/* 0, or -errno with err set: there is no libdw here. */
int pfs_unwind_check(struct pfs_err *err);

/* Starts the helper. NULL with errno and err set. */
struct pfs_unwind_files *pfs_unwind_files_new(struct pfs_err *err);
void pfs_unwind_files_free(struct pfs_unwind_files *files);

/* What the process has mapped at [start, end) from the file of that name, device and inode. */
struct pfs_unwind_map {
	uint64_t start, end, off;
	uint64_t ino;
	uint32_t dev; /* as in events */
	pid_t pid;
	const char *name; /* "[vdso]": that of the running kernel */
};

/* NULL: it is not there, or cannot be read (any more), or there is no memory. It lives as long as the files. */
struct pfs_unwind_file *pfs_unwind_file(struct pfs_unwind_files *files, const struct pfs_unwind_map *map);

/* The rules at that offset; valid until the next call. NULL: nothing is known. */
const struct pfs_rules *pfs_unwind_file_rules(struct pfs_unwind_files *files, struct pfs_unwind_file *file,
					      uint64_t off);

#endif
