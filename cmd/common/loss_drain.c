/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/loss_drain.h"

#include <errno.h>

static void await(struct loss_drain *e, const struct pfs_event *ev, bool awaited)
{
	if (!pfs_has(ev, PFS_F_CPU) || ev->cpu < 0 || ev->cpu >= LOSS_DRAIN_CPUS)
		return;
	e->nr_awaited += awaited - e->awaited[ev->cpu];
	e->awaited[ev->cpu] = awaited;
}

static int take(void *ctx, const struct pfs_event *ev)
{
	struct loss_drain *e = ctx;
	int ret = 0;

	if (!e->over || ev->kind == PFS_LOST)
		ret = pfs_emit(e->to, ev);
	if (ret && ret != -ECANCELED)
		return ret;
	e->over |= ret == -ECANCELED;
	await(e, ev, !e->over);
	return e->over && !e->nr_awaited ? -ECANCELED : 0;
}

/* Batching sinks have no time filter, so there is nothing to drain. */
static int take_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	const struct loss_drain *e = ctx;

	return e->to->faults(e->to->ctx, runs, nr);
}

struct pfs_sink loss_drain_sink(struct loss_drain *drain, const struct pfs_sink *to)
{
	*drain = (struct loss_drain){ .to = to };
	return (struct pfs_sink){ .fn = take, .ctx = drain, .faults = to->faults ? take_faults : NULL };
}
