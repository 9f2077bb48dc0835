/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that are recorded. */
#include "faults/faults_priv.h"

#include "unwind/unwind.h"

#include <stdlib.h>

struct perf_proc *perf_proc(struct perf_session *s, int32_t pid)
{
	return PFS_HASH_GET(s->procs, key, pid);
}

void perf_proc_end(struct perf_session *s, struct perf_proc *p)
{
	HASH_DEL(s->procs, p);
	free(p->maps);
	free(p->present.range);
	pfs_unwind_space_free(p->space);
	free(p);
}

void perf_procs_free(struct perf_session *s)
{
	struct perf_proc *p, *next;

	HASH_ITER (hh, s->procs, p, next)
		perf_proc_end(s, p);
}
