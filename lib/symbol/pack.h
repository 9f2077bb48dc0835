/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files an archive (archive.h) has: of each build-id of a recording the file itself, which is found as for its names,
 * and its debug file, if there is one here; and the jitdumps and perf maps, if they begin with what was recorded.
 */
#ifndef PFS_PACK_H
#define PFS_PACK_H

#include "base/err.h"
#include "symbol/build_ids.h"

#include <stdint.h>
#include <stdio.h>

struct pfs_debug_files;
struct pfs_model;

struct pfs_pack {
	const struct pfs_debug_files *files; /* where debug files are looked for; NULL: the usual places */
	unsigned int nr_files, nr_debug;     /* in the archive */
	unsigned int nr_jit;		     /* of these files: of JIT compilers */
	unsigned int nr_without_id;	     /* files of which the recording has no build-id */
	uint64_t bytes;
	/* "/usr/bin/x: another build-id now", for each file that is not packed */
	void (*report)(void *ctx, const char *line);
	void *ctx;
};

/*
 * Writes the archive. ids: the mapped files of the recording; model: its notes. 0, or -errno with err set; -ENODATA: there is
 * nothing to pack.
 */
int pfs_pack_write(struct pfs_pack *pack, const struct pfs_build_ids *ids, const struct pfs_model *model, FILE *out,
		   struct pfs_err *err);

#endif
