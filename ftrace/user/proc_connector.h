/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's process connector (Documentation/driver-api/connector.rst, linux/cn_proc.h): it reports each
 * process that becomes another user's. Needs CAP_NET_ADMIN, and the first namespaces of users, processes and
 * the network.
 */
#ifndef PFS_PROC_CONNECTOR_H
#define PFS_PROC_CONNECTOR_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* A process, or a thread of it, has become another user's. */
struct pfs_uid_change {
	pid_t pid;
	uid_t euid;	/* the effective one that it has now */
	uint64_t ts_ns; /* CLOCK_MONOTONIC */
};

/* A descriptor to poll, which does not block; or -errno with err set. */
int pfs_connector_open(struct pfs_err *err);

/* The next change. 1; 0: none now; -ENOBUFS: some were lost; or another -errno. */
int pfs_connector_next(int fd, struct pfs_uid_change *change);

/*
 * Stops the kernel's messages; the descriptor is closed. Up to Linux 6.5 it does not conclude that from its
 * being closed.
 */
void pfs_connector_close(int fd);

#endif
