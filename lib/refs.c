/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References out of events: which events are one. Of what, places.c says.
 */
#include "refs.h"

#include "hash.h"
#include "places.h"
#include "space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct process {
	const struct pfs_proc *proc;
	uint32_t nr;
	uint64_t retried, no_access;	/* of its counts, as they were */
	bool below_stack;		/* its last fault was, where nothing was mapped: */
	struct pfs_ref last;
	UT_hash_handle hh;
};

struct pfs_refs {
	const struct pfs_model *model;
	struct pfs_refs_options options;
	pfs_ref_fn fn;
	void *ctx;
	struct pfs_refs_stats stats;
	uint64_t last_ns;	/* of the reference told last */
	struct process *processes;
	struct pfs_places places;
};

struct pfs_refs *pfs_refs_new(const struct pfs_model *model, const struct pfs_refs_options *options,
			      pfs_ref_fn fn, void *ctx)
{
	struct pfs_refs *refs = calloc(1, sizeof(*refs));

	if (!refs)
		return NULL;
	refs->model = refs->places.model = model;
	refs->options = *options;
	refs->fn = fn;
	refs->ctx = ctx;
	return refs;
}

void pfs_refs_free(struct pfs_refs *refs)
{
	struct process *process, *next_process;

	if (!refs)
		return;
	HASH_ITER(hh, refs->processes, process, next_process) {
		HASH_DEL(refs->processes, process);
		free(process);
	}
	pfs_places_fini(&refs->places);
	free(refs);
}

const struct pfs_refs_stats *pfs_refs_stats(const struct pfs_refs *refs)
{
	return &refs->stats;
}

/* ---- who ---- */

static struct process *process_of(struct pfs_refs *refs, const struct pfs_proc *proc)
{
	struct process *p;

	HASH_FIND_PTR(refs->processes, &proc, p);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->proc = proc;
	HASH_ADD_PTR(refs->processes, proc, p);
	if (!HASH_ADD_FAILED(p))
		return p;
	free(p);
	return NULL;
}

/* ---- references ---- */

static bool is_wanted(const struct pfs_refs *refs, const struct pfs_ref *ref)
{
	const struct pfs_region *region = ref->region;
	bool code = ref->access == PFS_EXECUTE ||
		(region && region->have & PFS_HAS(PFS_F_PERMS) && region->perms & PFS_PERM_X);

	if (refs->options.no_code && code)
		return false;
	if (!region)
		return pfs_filter_region(refs->options.filter, NULL, 0, 0);
	return pfs_filter_memory(refs->options.filter, region, ref->region_name);
}

/* Completes the reference, and passes it on. */
static int refer(struct pfs_refs *refs, const struct pfs_thread *thread, const struct pfs_space *space,
		 struct process *process, struct pfs_ref *ref)
{
	int ret = pfs_places_find(&refs->places, space, ref);

	refs->stats.images = refs->places.nr_images;
	refs->stats.frames = refs->places.frames.nr;
	if (ret)
		return ret;
	if (ref->again && refs->options.first_only) {
		refs->stats.left_out++;
		return 0;
	}
	if (!process->nr)
		process->nr = ++refs->stats.processes;
	refs->stats.refs++;
	refs->last_ns = ref->ts_ns;
	refs->stats.sampled += ref->interval_ns != 0;
	ref->process = process->nr;
	ref->thread = thread->nr;
	ref->comm = thread->comm;
	return refs->fn(refs->ctx, ref);
}

/* Did the model take this fault for one that was not served? */
static bool was_refused(struct pfs_refs *refs, struct process *process)
{
	const struct pfs_counts *counts = &process->proc->counts;
	bool retried = counts->retried != process->retried, refused = counts->no_access != process->no_access;

	process->retried = counts->retried;
	process->no_access = counts->no_access;
	refs->stats.tried_again += retried;
	refs->stats.refused += refused && !retried;
	return retried || refused;
}

/* Where the reference is, now; and on, if it is wanted. */
static int in_region(struct pfs_refs *refs, const struct pfs_thread *thread, struct pfs_space *space,
		     struct process *process, struct pfs_ref *ref)
{
	ref->region = pfs_space_find(space, ref->addr);
	if (!ref->region && space->complete) {
		refs->stats.outside++;
		return 0;
	}
	if (ref->region && pfs_region_forbids(ref->region, ref->access)) {
		refs->stats.refused++;
		return 0;
	}
	ref->region_name = ref->region ? pfs_region_name(space, ref->region) : NULL;
	if (!is_wanted(refs, ref)) {
		refs->stats.left_out++;
		return 0;
	}
	return refer(refs, thread, space, process, ref);
}

static int touched(struct pfs_refs *refs, const struct pfs_event *ev, const struct pfs_thread *thread,
		   struct pfs_space *space)
{
	uint64_t mask = ((uint64_t)1 << refs->model->page_shift) - 1;
	struct pfs_ref ref = {
		.ts_ns = ev->ts_ns, .addr = ev->addr & ~mask, .pid = thread->proc->pid, .tid = thread->tid,
		.ip = pfs_has(ev, PFS_F_IP) ? ev->ip : 0,
		.access = pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0,
		.mode = pfs_has(ev, PFS_F_MODE) ? ev->mode : 0,
		.interval_ns = pfs_has(ev, PFS_F_INTERVAL) ? ev->interval_ns : 0,
	};
	struct process *process = process_of(refs, thread->proc);

	if (!process)
		return -ENOMEM;
	if (was_refused(refs, process))
		return 0;
	process->below_stack = ev->kind == PFS_FAULT && space->complete && !pfs_space_find(space, ev->addr) &&
			       pfs_space_below_stack(space, ev->addr);
	process->last = ref;
	return in_region(refs, thread, space, process, &ref);
}

/*
 * A region was made. If the stack reaches to where the thread has just faulted below it, that was a reference to the
 * stack: told now, since until now it might have been the end of the process.
 */
static int grown(struct pfs_refs *refs, const struct pfs_thread *thread, struct pfs_space *space)
{
	struct process *process = process_of(refs, thread->proc);
	struct pfs_ref *ref;

	if (!process)
		return -ENOMEM;
	ref = &process->last;
	if (!process->below_stack || ref->tid != thread->tid || !pfs_space_below_stack(space, ref->addr) ||
	    !pfs_space_find(space, ref->addr))
		return 0;
	process->below_stack = false;
	refs->stats.outside--;
	if (ref->ts_ns < refs->last_ns)	/* another thread's reference has been told meanwhile */
		ref->ts_ns = refs->last_ns;
	return in_region(refs, thread, space, process, ref);
}

static void note_said(struct pfs_refs *refs, const struct pfs_event *ev)
{
	enum pfs_refault_method method;
	uint64_t interval_ns;

	if (!pfs_has(ev, PFS_F_KEY) || !pfs_has(ev, PFS_F_VALUE) || strcmp(ev->key, PFS_REFAULT_NOTE) ||
	    !pfs_refault_note_read(ev->value, &method, &interval_ns))
		return;
	refs->stats.refault = method;
	refs->stats.refault_ns = interval_ns;
}

int pfs_refs_feed(struct pfs_refs *refs, const struct pfs_event *ev)
{
	const struct pfs_thread *thread;
	struct pfs_space *space;

	if (ev->kind == PFS_AROUND || ev->kind == PFS_POPULATE)
		refs->stats.unasked = refs->model->counts.around + refs->model->counts.populated;
	if (ev->kind == PFS_NOTE)
		note_said(refs, ev);
	if (ev->kind != PFS_FAULT && ev->kind != PFS_ACCESS && ev->kind != PFS_MAP)
		return 0;
	thread = pfs_has(ev, PFS_F_TID) ? pfs_model_thread(refs->model, ev->tid) : NULL;
	if (!thread)
		return 0;
	space = ev->kind == PFS_ACCESS ? pfs_proc_space(thread->proc) : thread->fault_space;
	if (!space || space->launcher)
		return 0;
	return ev->kind == PFS_MAP ? grown(refs, thread, space) : touched(refs, ev, thread, space);
}

static int feed(void *ctx, const struct pfs_event *ev)
{
	return pfs_refs_feed(ctx, ev);
}

struct pfs_sink pfs_refs_sink(struct pfs_refs *refs)
{
	return (struct pfs_sink){ .fn = feed, .ctx = refs };
}
