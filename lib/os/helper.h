/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A helper: a small process that outlives whoever started it, and is hard to be rid of.
 *
 * What pfscope puts into the kernel has to go however pfscope ends. So a helper is nobody's child (init's),
 * ignores the terminal's signals, holds no descriptor but those it is given, and is started anew by a twin if
 * it is killed. It keeps the privileges that it was started with; pfscope itself may drop its own then.
 */
#ifndef PFS_HELPER_H
#define PFS_HELPER_H

#include "base/err.h"

#include <stdbool.h>

#define PFS_HELPER_MAX_FDS 8200 /* one a processor, and some */
#define PFS_HELPER_FD	   3	/* the first one that it is given, in the helper */

struct pfs_helper {
	const char *name; /* as ps shows it, at most 15 bytes */
	const int *fds;	  /* in the helper PFS_HELPER_FD and following; the rest is closed */
	unsigned int nr_fds;

	/*
	 * What it does; when this returns the helper ends. again: one before was killed. What the next one
	 * shall know of this one's doings has to be in shared memory.
	 */
	void (*run)(void *ctx, bool again);
	void *ctx;
};

/* Starts it. The caller's own copies of the descriptors stay open. 0 or -errno with err set. */
int pfs_helper_start(const struct pfs_helper *helper, struct pfs_err *err);

#endif
