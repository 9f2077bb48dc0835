/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the symbols and the debug information of a stripped file are: by its build-id in /usr/lib/debug/.build-id, by the
 * name and the checksum in its .gnu_debuglink, or, if that is wanted, at a server for debuginfod.
 */
#ifndef PFS_DEBUG_FILE_H
#define PFS_DEBUG_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Where files are looked for by their build-ids. */
struct pfs_debug_files {
	const char *dir;     /* NULL: /usr/lib/debug */
	const char *archive; /* an archive (archive.h), or a folder of its files; NULL: none */
	bool debuginfod; /* ask the servers in DEBUGINFOD_URLS for what is nowhere else; pfs_debuginfod_load() was called */
};

/* Loads libdebuginfod. 0, or -errno with err set: it is not installed, or no server is named. */
int pfs_debuginfod_load(struct pfs_err *err);

/* The file of a JIT compiler whose content has that id (jit/content.h), of an archive (files); not checked. */
int pfs_debug_jit_open(void *files, const char *id);

/* Each returns a descriptor, which the caller closes, of a file that was checked; -1: there is none. */

/* The program or library itself, of an archive or a server. */
int pfs_debug_program_open(const struct pfs_debug_files *files, const char *build_id);
/* Its debug file. */
int pfs_debug_file_by_id(const struct pfs_debug_files *files, const char *build_id);
/* link: what the file at `path` names in its .gnu_debuglink. */
int pfs_debug_file_by_link(const struct pfs_debug_files *files, const char *path, const char *link, uint32_t crc);

/* Its debug file, of a server. */
int pfs_debug_file_served(const struct pfs_debug_files *files, const char *build_id);

#endif
