/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a helper (os/helper.h) that reports through a socket. */
#include "capture/capture_priv.h"

#include "base/clock.h"

#include <poll.h>
#include <sys/socket.h>

/* One that does not end is left alone: it holds one file of the instance at most. */
#define END_PATIENCE_MS 1000

int capture_end_helper(struct pfs_capture *c, const int *fd, int (*take_in)(struct pfs_capture *c, struct pfs_err *err),
		       struct pfs_err *err)
{
	uint64_t end_ns = pfs_now_ns() + END_PATIENCE_MS * UINT64_C(1000000);
	int ret = 0;

	shutdown(*fd, SHUT_WR);
	while (!ret && *fd >= 0 && pfs_now_ns() < end_ns) {
		struct pollfd poll_fd = { *fd, POLLIN, 0 };

		if (poll(&poll_fd, 1, END_PATIENCE_MS) > 0)
			ret = take_in(c, err);
	}
	return ret;
}
