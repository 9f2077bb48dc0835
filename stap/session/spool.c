/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/session_priv.h"

#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 1024 /* records read at once */

int pfs_spool_init(struct pfs_spool *spool, struct pfs_err *err)
{
	spool->len = 0;
	spool->fd = pfs_temp_open(err);
	return spool->fd < 0 ? spool->fd : 0;
}

void pfs_spool_fini(struct pfs_spool *spool)
{
	pfs_close(spool->fd);
	spool->fd = -1;
}

int pfs_spool_fill(struct pfs_spool *spool, int pipe_fd, struct pfs_err *err)
{
	while (1) {
		ssize_t got = TEMP_FAILURE_RETRY(
			splice(pipe_fd, NULL, spool->fd, NULL, 1 << 20, SPLICE_F_MOVE | SPLICE_F_NONBLOCK));

		if (got < 0 && errno == EAGAIN)
			return 1;
		if (got < 0)
			return pfs_err_set(err, -errno, "cannot spool the recording: %s; TMPDIR chooses another folder",
					   strerror(errno));
		if (!got)
			return 0;
		spool->len += got;
	}
}

int pfs_spool_each(const struct pfs_spool *spool, uint64_t *at, int (*fn)(void *ctx, const struct pfs_rec *rec),
		   void *ctx, struct pfs_err *err)
{
	struct pfs_rec block[BLOCK];

	while (*at + sizeof(block[0]) <= spool->len) {
		ssize_t got = pfs_read_all_at(spool->fd, block, sizeof(block), *at);

		if (got >= 0 && got < (ssize_t)sizeof(block[0]))
			got = -EIO;
		if (got < 0)
			return pfs_err_set(err, got, "cannot read the spooled recording: %s", strerror(-got));
		for (size_t i = 0; i < got / sizeof(block[0]); i++) {
			int ret = fn(ctx, &block[i]);

			if (ret)
				return ret;
			*at += sizeof(block[0]);
		}
	}
	return 0;
}
