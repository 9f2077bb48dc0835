/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: the small process (lib/os/helper.h) that removes a recording's tracefs instance, and the dynamic
 * events that belong to it, when it is told to or when pfscope is gone.
 *
 * It waits at a socket that only pfscope holds the other end of, so that any end of pfscope, kill -9
 * included, wakes it. It keeps the privileges that pfscope itself drops once it is set up.
 */
#ifndef PFS_KEEPER_H
#define PFS_KEEPER_H

#include "base/err.h"

#include <stdbool.h>

/*
 * Starts a keeper for the instance that will be in `dir`. Returns the descriptor that keeps it waiting, or
 * -errno with err set; pfs_keeper_remove() closes it.
 */
int pfs_keeper_start(const char *dir, struct pfs_err *err);

/* Is there still one that would remove it? */
bool pfs_keeper_lives(int fd);

/*
 * Has all of it removed; what reads the instance must have been closed. The kernel takes a while for that, so it
 * is only waited until the keeper is at it, or says why it cannot. If the keeper was killed, tries it itself.
 * Closes fd. 0 or -errno with err set.
 */
int pfs_keeper_remove(int fd, const char *dir, struct pfs_err *err);

#endif
