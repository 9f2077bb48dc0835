/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are a user's: whose effective user that is, as SystemTap's variant has it
 * (stap/tapset/target.stp), that have memory of their own, and are not pfscope's.
 */
#ifndef PFS_USER_PROCS_H
#define PFS_USER_PROCS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Is it one of that user's? own: the pfscope that asks: neither it, nor what it forks, nor any pfscope's helper
 * (lib/os/helper.h) is one.
 */
bool pfs_user_has(uid_t uid, pid_t own, pid_t pid);

/* Has it memory of its own, and is not pfscope's? Whoever's it is. */
bool pfs_is_program(pid_t own, pid_t pid);

/* Has it ended, or is it about to and has given its memory up? */
bool pfs_has_ended(pid_t pid);

/* All of the user's that there are, *nr of them; the caller's to free. NULL with errno: no memory, no /proc. */
pid_t *pfs_user_list(uid_t uid, pid_t own, unsigned int *nr);

#endif
