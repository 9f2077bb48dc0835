/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: the small process (os/helper.h) that removes a recording's tracefs instance and its dynamic events
 * when pfscope asks for it or dies, and meanwhile removes what dead pfscopes left.
 *
 * It waits at a socket whose other end only pfscope holds, so that any end of pfscope, kill -9 included, wakes it.
 * It keeps the privileges that pfscope drops once the recording is set up.
 */
#ifndef PFS_KEEPER_H
#define PFS_KEEPER_H

#include "base/err.h"

#include <stdbool.h>

/*
 * Starts a keeper for the instance that will be in `dir`. leftovers() removes what dead pfscopes left elsewhere; NULL:
 * nothing. Returns the descriptor that keeps the keeper waiting, or -errno with err set; pfs_keeper_remove() closes it.
 */
int pfs_keeper_start(const char *dir, void (*leftovers)(void), struct pfs_err *err);

/* Returns true if a keeper would still remove the instance. */
bool pfs_keeper_lives(int fd);

enum pfs_keeper_task {
	PFS_KEEPER_CLEAN = 'c',	  /* remove what dead pfscopes left */
	PFS_KEEPER_SILENCE = 's', /* switch tracing and events off, which takes time of its own before a removal */
};

/* Gives the keeper something to do while pfscope goes on. Returns how many answers that makes pending. */
int pfs_keeper_ask(int fd, enum pfs_keeper_task task);

/*
 * Has the keeper remove everything; all readers of the instance must have been closed. Waits for the pending answers of
 * pfs_keeper_ask(), but not for the removal, which takes the kernel a while: only until the keeper has begun, or reports
 * why it cannot. If the keeper was killed, removes everything itself. Closes fd. 0 or -errno with err set.
 */
int pfs_keeper_remove(int fd, unsigned int pending, const char *dir, struct pfs_err *err);

#endif
