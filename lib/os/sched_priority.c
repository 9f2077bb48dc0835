/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/sched_priority.h"

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
	/* That children are reset only the privileged may take back. */
	if (sched_setscheduler(0, before->policy, &before->param))
		sched_setscheduler(0, before->policy | SCHED_RESET_ON_FORK, &before->param);
}
