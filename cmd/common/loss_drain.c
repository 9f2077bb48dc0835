/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/loss_drain.h"

#include <errno.h>

static void await(struct loss_drain *e, int32_t cpu, bool awaited)
{
	if (cpu < 0 || cpu >= LOSS_DRAIN_CPUS)
		return;
	e->nr_awaited += awaited - e->awaited[cpu];
	e->awaited[cpu] = awaited;
}

/* The sink has returned that for something of that CPU. */
static int taken(struct loss_drain *e, int32_t cpu, int ret)
{
	if (ret && ret != -ECANCELED)
		return ret;
	e->over |= ret == -ECANCELED;
	await(e, cpu, !e->over);
	return e->over && !e->nr_awaited ? -ECANCELED : 0;
}

static int take(void *ctx, const struct pfs_event *ev)
{
	struct loss_drain *e = ctx;

	return taken(e, pfs_has(ev, PFS_F_CPU) ? ev->cpu : -1,
		     !e->over || ev->kind == PFS_LOST ? pfs_emit(e->to, ev) : 0);
}

static int take_faults(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct loss_drain *e = ctx;
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = taken(e, runs[i].cpu, e->over ? 0 : e->to->faults(e->to->ctx, &runs[i], 1));
	return ret;
}

struct pfs_sink loss_drain_sink(struct loss_drain *drain, const struct pfs_sink *to)
{
	*drain = (struct loss_drain){ .to = to };
	return (struct pfs_sink){ .fn = take, .ctx = drain, .faults = to->faults ? take_faults : NULL };
}
