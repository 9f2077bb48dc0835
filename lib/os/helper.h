/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper: a small process that outlives the pfscope that started it, and removes what pfscope put into the kernel,
 * however pfscope ends.
 *
 * It is a child of init, ignores the terminal's signals, has no descriptors but those it is given, and a twin starts it
 * again if it is killed. It keeps the privileges that it was started with, so pfscope may drop its own.
 */
#ifndef PFS_HELPER_H
#define PFS_HELPER_H

#include "base/err.h"

#include <stdbool.h>

#define PFS_HELPER_MAX_FDS 8200 /* one per CPU, and some */
#define PFS_HELPER_FD	   3	/* the first one that it is given, in the helper */

struct pfs_helper {
	const char *name; /* as ps shows it, at most 15 bytes */
	int *fds;	  /* in the helper PFS_HELPER_FD and following; all others are closed */
	unsigned int nr_fds;

	/*
	 * Its work; the helper ends when this returns. again: the one before was killed. State for a successor has to be
	 * in shared memory.
	 */
	void (*run)(void *ctx, bool again);
	void *ctx;
};

/* Starts it. The caller's own copies of the descriptors stay open. 0 or -errno with err set. */
int pfs_helper_start(const struct pfs_helper *helper, struct pfs_err *err);

/*
 * Starts it with one end of a socket (SOCK_SEQPACKET) for every descriptor that is -1 in fds, where they are then the
 * closed end's number. Returns the other end, the caller's, or -errno with err set.
 */
int pfs_helper_connect(const struct pfs_helper *helper, struct pfs_err *err);

#endif
