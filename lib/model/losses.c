/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost events: the gaps of each CPU and their number in all. view/loss.c computes what a gap may affect. */
#include "model/model_priv.h"

#include "base/array.h"

#include <errno.h>

/* Further gaps of a CPU are merged into its last one. */
enum { MAX_GAPS = 4096 };

/* The account of that CPU, created if it is new. */
static struct pfs_lost_cpu *account_of(struct pfs_model *model, int32_t cpu)
{
	struct pfs_lost_cpu *account;

	for (unsigned int i = 0; i < model->nr_lost_on; i++)
		if (model->lost_on[i].cpu == cpu || i == PFS_MAX_LOST_ON - 1)
			return &model->lost_on[i];
	account = pfs_array_append(model->lost_on, model->nr_lost_on);
	if (account)
		*account = (struct pfs_lost_cpu){ .cpu = cpu };
	return account;
}

/* The newest gap of that CPU, or NULL. */
static struct pfs_loss *last_gap(struct pfs_model *model, int32_t cpu)
{
	for (unsigned int i = model->nr_losses; i-- > 0;)
		if (model->losses[i].cpu == cpu)
			return &model->losses[i];
	return NULL;
}

static int add_gap(struct pfs_model *model, struct pfs_lost_cpu *account, const struct pfs_loss *gap)
{
	struct pfs_loss *last = model->nr_losses < MAX_GAPS ? NULL : last_gap(model, gap->cpu), *added;

	if (last) {
		last->count += gap->count;
		last->unknown += gap->unknown;
		last->to_ns = gap->to_ns > last->to_ns ? gap->to_ns : last->to_ns;
		last->from_ns = gap->from_ns < last->from_ns ? gap->from_ns : last->from_ns;
		return 0;
	}
	added = pfs_array_append(model->losses, model->nr_losses);
	if (!added)
		return -ENOMEM;
	*added = *gap;
	added->on = account - model->lost_on;
	account->nr_gaps++;
	return 0;
}

/* The exec that ends a launch may be lost; then the launch is shown as a part of the command. */
static void launches_end(struct pfs_model *model)
{
	for (struct pfs_proc *proc = model->procs; proc; proc = proc->next)
		pfs_proc_space(proc)->launcher = false;
}

int loss_apply(struct pfs_model *model, const struct pfs_event *ev)
{
	bool counted = pfs_has(ev, PFS_F_COUNT), calls = pfs_has(ev, PFS_F_PID);
	struct pfs_loss gap = {
		.cpu = pfs_has(ev, PFS_F_CPU) ? ev->cpu : -1,
		.count = counted ? ev->count : 0,
		.unknown = !counted,
		.to_ns = ev->ts_ns,
	};
	struct pfs_lost_cpu *account;

	if (calls) {
		gap.cpu = PFS_LOST_CALLS;
		gap.pid = ev->pid;
		gap.from_ns = ev->ts_ns;
		gap.to_ns = UINT64_MAX;
	}
	account = account_of(model, gap.cpu);
	if (!account)
		return -ENOMEM;
	if (!calls && pfs_has(ev, PFS_F_INTERVAL) && ev->interval_ns < ev->ts_ns)
		gap.from_ns = ev->ts_ns - ev->interval_ns;
	if (!calls)
		launches_end(model);
	account->count += gap.count;
	account->unknown += gap.unknown;
	model->lost += gap.count;
	model->lost_unknown += gap.unknown;
	return add_gap(model, account, &gap);
}

void loss_exec(struct pfs_model *model, int32_t pid, uint64_t now_ns)
{
	for (unsigned int i = 0; i < model->nr_losses; i++)
		if (model->losses[i].pid == pid && model->losses[i].to_ns == UINT64_MAX)
			model->losses[i].to_ns = now_ns - 1;
}

/* That CPU lost `rest` events more than its gaps count: adds them to the gap they belong to. */
static int place_rest(struct pfs_model *model, struct pfs_lost_cpu *account, uint64_t rest)
{
	struct pfs_loss *only = NULL;

	for (unsigned int i = 0; i < model->nr_losses; i++) {
		struct pfs_loss *gap = &model->losses[i];

		if (gap->on != account - model->lost_on || !gap->unknown)
			continue;
		if (only || gap->unknown > 1) /* they belong to several */
			return 0;
		only = gap;
	}
	if (!only) /* at an unknown time */
		return add_gap(model, account,
			       &(struct pfs_loss){ .cpu = account->cpu, .count = rest, .to_ns = UINT64_MAX });
	only->count += rest;
	only->unknown = 0;
	return 0;
}

/* The source's own count of all events that the CPU lost, including those of `lost` events without a count. */
int loss_total(struct pfs_model *model, int32_t cpu, uint64_t total)
{
	struct pfs_lost_cpu *account;
	uint64_t rest;

	if (!total)
		return 0;
	account = account_of(model, cpu);
	if (!account)
		return -ENOMEM;
	launches_end(model);
	model->lost_unknown -= account->unknown;
	account->unknown = 0;
	if (total <= account->count)
		return 0;
	rest = total - account->count;
	account->count = total;
	model->lost += rest;
	return place_rest(model, account, rest);
}
