/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/fd_limit.h"

#include <stdbool.h>
#include <sys/resource.h>

static struct rlimit before;
static bool raised;

void pfs_fd_limit_raise(void)
{
	struct rlimit limit;

	if (raised || getrlimit(RLIMIT_NOFILE, &before) || before.rlim_cur >= before.rlim_max)
		return;
	limit = before;
	limit.rlim_cur = limit.rlim_max;
	raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

void pfs_fd_limit_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
}
