/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/nobody.h"

#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static bool change_ids(void)
{
	if (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY))
		return true;
	return errno == EINVAL || errno == EPERM; /* in a user namespace */
}

bool pfs_become_nobody(void)
{
	return (geteuid() || change_ids()) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
