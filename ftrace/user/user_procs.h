/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a user: those with that effective user, as in stap/tapset/target.stp, with memory of their own, and
 * not pfscope's.
 */
#ifndef PFS_USER_PROCS_H
#define PFS_USER_PROCS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Is it one of that user's? own: the calling pfscope. It, its children, and the helpers of any pfscope (os/helper.h) are
 * not.
 */
bool pfs_user_has(uid_t uid, pid_t own, pid_t pid);

/* Is it one of any user's? */
bool pfs_is_program(pid_t own, pid_t pid);

/* Has it ended, or is it about to and has no memory any more? */
bool pfs_has_ended(pid_t pid);

/* All *nr of the user's, to be freed by the caller. NULL with errno: no memory, no /proc. */
pid_t *pfs_user_list(uid_t uid, pid_t own, unsigned int *nr);

#endif
