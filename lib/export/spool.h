/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bytes of many owners in one temporary file, which gives those of each owner back in their order: for formats whose tables
 * stand one behind the other. Memory is a block an owner at most.
 */
#ifndef PFS_EXPORT_SPOOL_H
#define PFS_EXPORT_SPOOL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct viewer_spool {
	int fd;
	bool opened;
	struct viewer_spool_owner *owners;
	size_t nr_owners;
	uint64_t nr_blocks;
};

/* 0 or -errno with err set. */
int viewer_spool_init(struct viewer_spool *spool, struct pfs_err *err);
void viewer_spool_fini(struct viewer_spool *spool); /* takes one of zeroes, too */

/* 0 or -errno with err set. */
int viewer_spool_add(struct viewer_spool *spool, uint32_t owner, const void *bytes, size_t nr, struct pfs_err *err);

/*
 * Calls fn for the owner's bytes, piece by piece; records whose size is a power of two are in one piece each. 0, what fn
 * returned, or -errno with err set.
 */
int viewer_spool_each(struct viewer_spool *spool, uint32_t owner, int (*fn)(void *ctx, const void *bytes, size_t nr),
		      void *ctx, struct pfs_err *err);

/* How often bytes were added for the owner. */
uint64_t viewer_spool_count(const struct viewer_spool *spool, uint32_t owner);

#endif
