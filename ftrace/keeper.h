/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: a small process that removes a recording's tracefs instance, and the dynamic events that
 * belong to it, when pfscope is killed.
 *
 * It waits on a pipe that only pfscope holds the other end of, so that any end of pfscope, kill -9
 * included, wakes it. It is nobody's child (init's), ignores the terminal's signals, and holds no
 * other descriptor.
 */
#ifndef PFS_KEEPER_H
#define PFS_KEEPER_H

#include "err.h"

/*
 * Starts a keeper for the instance in `dir`. Returns the descriptor that keeps it waiting, or -errno
 * with err set. Give it to pfs_keeper_dismiss() after the instance was removed in order.
 */
int pfs_keeper_start(const char *dir, struct pfs_err *err);

/* The instance is gone: the keeper ends without doing anything. Closes fd; -1 is fine. */
void pfs_keeper_dismiss(int fd);

#endif
