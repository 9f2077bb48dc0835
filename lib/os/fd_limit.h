/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many descriptors pfscope may have open: a recording takes some for each processor, and for each thread
 * on each processor.
 */
#ifndef PFS_FD_LIMIT_H
#define PFS_FD_LIMIT_H

/* As many as it may be. */
void pfs_fd_limit_raise(void);

/* As it was before, for a program that is to be started. Safe after fork(). */
void pfs_fd_limit_restore(void);

#endif
