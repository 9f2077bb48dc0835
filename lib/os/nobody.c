/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/nobody.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capset, &header, none);
}

static bool change_ids(void)
{
	if (!setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY))
		return true;
	return (errno == EINVAL || errno == EPERM) && drop_capabilities();
}

bool pfs_become_nobody(void)
{
	return (geteuid() || change_ids()) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
