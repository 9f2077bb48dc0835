/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records on their way: from staprun's pipe, unread, into a file without a name, and out of it again.
 */
#ifndef PFS_STAP_SPOOL_H
#define PFS_STAP_SPOOL_H

#include "base/err.h"
#include "tapset/wire.h"

#include <stdint.h>

struct pfs_spool {
	int fd;
	uint64_t len; /* bytes in it */
};

/* 0 or -errno with err set. */
int pfs_spool_init(struct pfs_spool *spool, struct pfs_err *err);
void pfs_spool_fini(struct pfs_spool *spool);

/* Takes what is in the pipe now. 1: it is open still, 0: end of file, or -errno with err set. */
int pfs_spool_fill(struct pfs_spool *spool, int pipe_fd, struct pfs_err *err);

/*
 * Passes the whole records from *at on to fn, and leaves *at behind the last one that fn took. 0, what
 * fn returned, or -errno with err set.
 */
int pfs_spool_each(const struct pfs_spool *spool, uint64_t *at, int (*fn)(void *ctx, const struct pfs_rec *rec),
		   void *ctx, struct pfs_err *err);

#endif
