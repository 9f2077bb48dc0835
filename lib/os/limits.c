/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/limits.h"

#include <sys/resource.h>

static struct rlimit before_raise;
static bool fds_raised;

void pfs_fd_limit_raise(void)
{
	struct rlimit limit;

	if (fds_raised || getrlimit(RLIMIT_NOFILE, &before_raise) || before_raise.rlim_cur >= before_raise.rlim_max)
		return;
	limit = before_raise;
	limit.rlim_cur = limit.rlim_max;
	fds_raised = !setrlimit(RLIMIT_NOFILE, &limit);
}

void pfs_fd_limit_restore(void)
{
	if (fds_raised)
		setrlimit(RLIMIT_NOFILE, &before_raise);
}

void pfs_sched_priority_raise(struct pfs_sched_priority *before)
{
	const struct sched_param least = { .sched_priority = sched_get_priority_min(SCHED_RR) };

	before->policy = sched_getscheduler(0);
	before->raised = before->policy >= 0 && !sched_getparam(0, &before->param) &&
			 !sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &least);
}

void pfs_sched_priority_restore(struct pfs_sched_priority *before)
{
	if (!before->raised)
		return;
	before->raised = false;
	/* Only a privileged process may drop SCHED_RESET_ON_FORK. */
	if (sched_setscheduler(0, before->policy, &before->param))
		sched_setscheduler(0, before->policy | SCHED_RESET_ON_FORK, &before->param);
}
