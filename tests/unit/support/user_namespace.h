/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root of a user namespace that has no other user, as `unshare -Ur` makes it. */
#ifndef USER_NAMESPACE_H
#define USER_NAMESPACE_H

#include "base/write_all.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* The calling process, which must have one thread, is there from now on. False: that is not allowed here. */
static inline bool enter_user_namespace(void)
{
	char uids[32], gids[32];

	snprintf(uids, sizeof(uids), "0 %d 1", (int)geteuid());
	snprintf(gids, sizeof(gids), "0 %d 1", (int)getegid());
	return !unshare(CLONE_NEWUSER) && !pfs_write_file("/proc/self/setgroups", "deny") &&
	       !pfs_write_file("/proc/self/uid_map", uids) && !pfs_write_file("/proc/self/gid_map", gids);
}

#endif
