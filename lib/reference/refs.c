/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which events are references. places.c finds out to which page of which object.
 */
#include "reference/refs.h"

#include "event/notes.h"
#include "base/hash.h"
#include "model/space.h"
#include "reference/places.h"
#include "reference/ref_queue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct process {
	const struct pfs_proc *proc;
	uint32_t nr;
	bool outside; /* its last fault was where nothing was mapped: */
	struct pfs_ref last;
	UT_hash_handle hh;
};

struct pfs_refs {
	const struct pfs_model *model;
	struct pfs_refs_options options;
	pfs_ref_fn fn;
	void *ctx;
	struct pfs_refs_stats stats;
	uint64_t last_ns; /* of the reference that was found last */
	struct pfs_ref_queue queue;
	struct process *processes, *hot;
	struct pfs_places places;
};

struct pfs_refs *pfs_refs_new(const struct pfs_model *model, const struct pfs_refs_options *options, pfs_ref_fn fn,
			      void *ctx)
{
	struct pfs_refs *refs = calloc(1, sizeof(*refs));

	if (!refs)
		return NULL;
	refs->model = refs->places.model = model;
	refs->options = *options;
	refs->places.no_frames = options->no_frames;
	refs->fn = fn;
	refs->ctx = ctx;
	return refs;
}

void pfs_refs_free(struct pfs_refs *refs)
{
	if (!refs)
		return;
	PFS_HASH_FREE(refs->processes);
	pfs_ref_queue_fini(&refs->queue);
	pfs_places_fini(&refs->places);
	free(refs);
}

const struct pfs_refs_stats *pfs_refs_stats(const struct pfs_refs *refs)
{
	return &refs->stats;
}

/* ---- processes ---- */

static struct process *process_of(struct pfs_refs *refs, const struct pfs_proc *proc)
{
	struct process *p = refs->hot;

	if (p && p->proc == proc)
		return p;
	return refs->hot = PFS_HASH_GET(refs->processes, proc, proc);
}

/* ---- references ---- */

static uint64_t page_of(const struct pfs_refs *refs, uint64_t addr)
{
	return addr >> refs->model->page_shift << refs->model->page_shift;
}

static bool is_wanted(const struct pfs_refs *refs, unsigned int access, const struct pfs_region *region,
		      const char *name)
{
	bool code =
		access == PFS_EXECUTE || (region && region->have & PFS_HAS(PFS_F_PERMS) && region->perms & PFS_PERM_X);

	if (refs->options.no_code && code)
		return false;
	if (!region)
		return pfs_filter_region(refs->options.filter, NULL, 0, 0);
	return pfs_filter_memory(refs->options.filter, region, name);
}

/* Completes the references of a run, and passes them on. */
static int pass_on(struct pfs_refs *refs, const struct pfs_waiting_run *run, const struct pfs_waiting_ref *waiting)
{
	struct process *process = run->process;
	struct pfs_ref ref = run->ref;
	int ret = 0;

	for (uint32_t i = 0; i < run->nr && !ret; i++) {
		ref.ts_ns = waiting[i].ts_ns;
		ref.addr = page_of(refs, waiting[i].addr);
		ref.ip = waiting[i].ip;
		ret = pfs_places_number(&refs->places, &run->spot, &ref);
		if (ret)
			break;
		if (ref.again && refs->options.first_only) {
			refs->stats.left_out++;
			continue;
		}
		if (!process->nr)
			process->nr = ++refs->stats.processes;
		refs->stats.refs++;
		refs->stats.sampled += ref.sampled;
		ref.process = process->nr;
		ret = refs->fn(refs->ctx, &ref);
	}
	refs->stats.images = refs->places.nr_images;
	refs->stats.frames = refs->places.frames.nr;
	return ret;
}

static int pass_on_decided(struct pfs_refs *refs)
{
	const struct pfs_waiting_run *run;
	const struct pfs_waiting_ref *waiting;
	int ret = 0;

	while (!ret && (run = pfs_ref_queue_next(&refs->queue, &waiting)))
		ret = pass_on(refs, run, waiting);
	return ret;
}

/* Counts pages that the kernel mapped, or may have mapped, without a fault. Of a huge page, the page that faulted is a reference. */
static void count_unasked(struct pfs_refs *refs, const struct pfs_space *space, const struct pfs_region *region)
{
	const uint32_t unasked = PFS_PAGE_AROUND | PFS_PAGE_MAYBE_AROUND | PFS_PAGE_POPULATED;
	struct pfs_page_walk walk;
	uint32_t flags;
	uint64_t nr;

	if (!region->pages || !is_wanted(refs, 0, region, pfs_region_name(space, region)))
		return;
	pfs_page_walk_start(&walk, region->pages, region->start, region->end);
	while (pfs_page_walk_flags(&walk, 0, &flags, &nr)) {
		bool huge = flags & PFS_PAGE_HUGE && !(flags & PFS_PAGE_TOUCHED);

		refs->stats.unasked_huge += huge ? nr : 0;
		refs->stats.unasked += huge || flags & unasked ? nr : 0;
	}
}

static void count_all_unasked(struct pfs_refs *refs)
{
	for (const struct pfs_proc *proc = refs->model->procs; proc; proc = proc->next) {
		for (unsigned int i = 0; i < proc->nr_epochs; i++) {
			const struct pfs_space *space = proc->epochs[i].space;

			if (proc->epochs[i].shared || space->launcher)
				continue;
			for (unsigned int j = 0; j < space->nr_live; j++)
				count_unasked(refs, space, space->live[j]);
			for (unsigned int j = 0; j < space->nr_retired; j++)
				count_unasked(refs, space, space->retired[j]);
		}
	}
}

int pfs_refs_end(struct pfs_refs *refs)
{
	refs->stats.unasked = refs->stats.unasked_huge = 0;
	count_all_unasked(refs);
	pfs_ref_queue_decide_all(&refs->queue);
	return pass_on_decided(refs);
}

/*
 * References of a thread to one region (NULL: none is known) that differ in time, address and instruction only, which
 * are in the run. All but the last were served, since another fault of the thread followed; the last one has that fate.
 */
struct alike {
	const struct pfs_thread *thread;
	struct pfs_space *space;
	const struct pfs_region *region;
	struct process *process;
	struct pfs_fault_run run;
	enum pfs_ref_fate fate;
};

/* Finds the place of each reference in the layout as it is now, and queues it. */
static int refer_to_places(struct pfs_refs *refs, const struct alike *a, const char *name,
			   struct pfs_waiting_run *waiting)
{
	const struct pfs_fault_run *run = &a->run;
	int ret = 0;

	for (uint32_t from = 0, to; from < run->nr && !ret; from = to) {
		ret = pfs_places_find(&refs->places, a->space, a->region, name, page_of(refs, run->addr[from]),
				      &waiting->spot);
		if (ret)
			return ret;
		for (to = from + 1; to < run->nr && pfs_spot_holds(&waiting->spot, page_of(refs, run->addr[to]));)
			to++;
		waiting->nr = to - from;
		waiting->fate = to < run->nr ? PFS_REF_SERVED : a->fate;
		ret = pfs_ref_queue_add(&refs->queue, waiting, run, from);
	}
	return ret;
}

/* Queues all of them if they are references, or counts why they are not. */
static int in_region(struct pfs_refs *refs, const struct alike *a, const struct pfs_ref *ref)
{
	const char *name = a->region ? pfs_region_name(a->space, a->region) : NULL;
	struct pfs_waiting_run waiting = { .ref = *ref, .process = a->process };

	if (!a->region && a->space->complete) {
		refs->stats.outside += a->run.nr;
		return 0;
	}
	if (a->region && pfs_region_forbids(a->region, ref->access)) {
		refs->stats.refused += a->run.nr;
		return 0;
	}
	if (!is_wanted(refs, ref->access, a->region, name)) {
		refs->stats.left_out += a->run.nr;
		return 0;
	}
	waiting.ref.by_address = !a->region;
	waiting.ref.thread = a->thread->nr;
	waiting.ref.comm = a->thread->comm;
	refs->last_ns = a->run.ts_ns[a->run.nr - 1];
	return refer_to_places(refs, a, name, &waiting);
}

/* Faults of a run, or one touch alone; `ref` is what they have in common. */
static int touched(struct pfs_refs *refs, const struct pfs_outcome *outcome, const struct pfs_fault_run *run,
		   struct pfs_ref *ref)
{
	struct pfs_space *space = outcome->space;
	struct alike a = {
		.thread = outcome->thread,
		.space = space,
		.region = outcome->region,
		.process = process_of(refs, outcome->thread->proc),
		.run = *run,
		.fate = ref->sampled ? PFS_REF_SERVED : PFS_REF_HELD,
	};
	uint64_t last = run->addr[run->nr - 1];

	if (!a.process)
		return -ENOMEM;
	if (outcome->fate != PFS_SERVED) {
		*(outcome->fate == PFS_RETRIED ? &refs->stats.tried_again : &refs->stats.refused) += run->nr;
		return 0;
	}
	ref->pid = outcome->thread->proc->pid;
	ref->tid = outcome->thread->tid;
	a.process->outside = !ref->sampled && space->complete && !a.region;
	a.process->last = *ref;
	a.process->last.ts_ns = run->ts_ns[run->nr - 1];
	a.process->last.addr = page_of(refs, last);
	a.process->last.ip = run->ip[run->nr - 1];
	return in_region(refs, &a, ref);
}

static int touched_once(struct pfs_refs *refs, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	uint64_t ip = pfs_has(ev, PFS_F_IP) ? ev->ip : 0;
	const struct pfs_fault_run run = { .ts_ns = &ev->ts_ns, .addr = &ev->addr, .ip = &ip, .nr = 1 };
	struct pfs_ref ref = {
		.access = pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0,
		.mode = pfs_has(ev, PFS_F_MODE) ? ev->mode : 0,
		.interval_ns = pfs_has(ev, PFS_F_INTERVAL) ? ev->interval_ns : 0,
		.sampled = ev->kind == PFS_ACCESS,
	};

	return touched(refs, outcome, &run, &ref);
}

/* The thread's last fault made the stack grow: it was a reference. Until now it might have been the end of the process. */
static int grown(struct pfs_refs *refs, const struct pfs_outcome *outcome)
{
	struct process *process = process_of(refs, outcome->thread->proc);
	struct alike a = { .thread = outcome->thread,
			   .space = outcome->space,
			   .region = outcome->region,
			   .process = process,
			   .fate = PFS_REF_HELD };
	struct pfs_ref *ref;

	if (!process)
		return -ENOMEM;
	ref = &process->last;
	if (!process->outside || ref->tid != outcome->thread->tid)
		return 0;
	process->outside = false;
	refs->stats.outside--;
	if (ref->ts_ns < refs->last_ns) /* there has been another thread's reference meanwhile */
		ref->ts_ns = refs->last_ns;
	a.run = (struct pfs_fault_run){ .ts_ns = &ref->ts_ns, .addr = &ref->addr, .ip = &ref->ip, .nr = 1 };
	return in_region(refs, &a, ref);
}

static void note_said(struct pfs_refs *refs, const struct pfs_event *ev)
{
	struct pfs_refault_how how;
	int key = pfs_has(ev, PFS_F_KEY) ? pfs_note_find(ev->key) : -1;

	if ((key == PFS_NOTE_REFAULT || key == PFS_NOTE_REFAULT_TICK) && pfs_model_refault(refs->model, &how))
		refs->stats.refault = how;
}

/* The thread's last fault ended in a signal: it was no reference. */
static int refused_by_signal(struct pfs_refs *refs, const struct pfs_thread *thread)
{
	struct process *process = process_of(refs, thread->proc);

	if (!process)
		return -ENOMEM;
	process->outside = false;
	refs->stats.refused += pfs_ref_queue_decide(&refs->queue, thread->tid, PFS_REF_REFUSED);
	return 0;
}

/* Faults that were only counted. The filter applies where their address is still mapped. */
static int count(struct pfs_refs *refs, const struct pfs_event *ev, const struct pfs_thread *thread)
{
	struct pfs_space *space = pfs_proc_space(thread->proc);
	const struct pfs_region *region = pfs_space_find(space, ev->addr);
	bool wanted = !region || is_wanted(refs, pfs_has(ev, PFS_F_ACCESS) ? ev->access : 0, region,
					   pfs_region_name(space, region));

	if (!space->launcher)
		*(wanted ? &refs->stats.counted : &refs->stats.left_out) += ev->count;
	return 0;
}

/* If the op has no range, the mappings stay until others replace them. */
static int unmap(struct pfs_refs *refs, struct pfs_space *space, const struct pfs_event *ev)
{
	if (pfs_event_op(ev) == PFS_OP_CLEAR)
		return pfs_places_unmap(&refs->places, space, 0, UINT64_MAX);
	return pfs_has(ev, PFS_F_END) ? pfs_places_unmap(&refs->places, space, ev->start, ev->end) : 0;
}

/* Changes of the thread's current layout, and forks. The layout that an exec builds counts from the exec event on. */
static int feed_layout(struct pfs_refs *refs, const struct pfs_event *ev, const struct pfs_thread *thread)
{
	struct pfs_space *space = pfs_proc_space(thread->proc);
	const struct pfs_thread *child;

	if (pfs_has(ev, PFS_F_SPACE) && ev->space != PFS_SPACE_CURRENT)
		return 0;
	if (pfs_has(ev, PFS_F_START) && pfs_has(ev, PFS_F_END) && ev->start >= ev->end)
		return 0; /* an empty range, as for the model */
	if (ev->kind == PFS_FORK) {
		child = pfs_has(ev, PFS_F_CHILD) ? pfs_model_thread(refs->model, ev->child) : NULL;
		return child ? pfs_places_fork(&refs->places, space, pfs_proc_space(child->proc)) : 0;
	}
	if (space->launcher)
		return 0;
	switch (ev->kind) {
	case PFS_MAP:
		return pfs_places_map(&refs->places, space, ev);
	case PFS_UNMAP:
		return unmap(refs, space, ev);
	case PFS_MOVE:
		return pfs_places_move(&refs->places, space, ev);
	case PFS_EXEC:
		return pfs_places_found(&refs->places, space);
	default:
		return 0;
	}
}

static bool is_shown(const struct pfs_space *space)
{
	return space && !space->launcher;
}

static int feed_of_thread(struct pfs_refs *refs, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	const struct pfs_thread *thread = outcome->thread;
	int ret;

	if (pfs_kind_is(ev, PFS_KIND_ENDS_FAULT))
		pfs_ref_queue_decide(&refs->queue, ev->tid, PFS_REF_SERVED);
	if (ev->kind == PFS_EXEC && pfs_has(ev, PFS_F_CHILD_TID))
		pfs_ref_queue_decide(&refs->queue, ev->child_tid, PFS_REF_SERVED);
	if (!thread)
		return 0;
	ret = feed_layout(refs, ev, thread);
	if (ret)
		return ret;
	switch (ev->kind) {
	case PFS_SIGNAL:
		return is_shown(outcome->space) ? refused_by_signal(refs, thread) : 0;
	case PFS_FAULT:
		if (pfs_has(ev, PFS_F_COUNT))
			return count(refs, ev, thread);
		/* fallthrough */
	case PFS_ACCESS:
		return is_shown(outcome->space) ? touched_once(refs, ev, outcome) : 0;
	case PFS_MAP:
		return is_shown(outcome->space) ? grown(refs, outcome) : 0;
	default:
		return 0;
	}
}

static int feed(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pfs_refs *refs = ctx;
	int ret;

	if (ev->kind == PFS_NOTE)
		note_said(refs, ev);
	ret = pfs_has(ev, PFS_F_TID) ? feed_of_thread(refs, ev, outcome) : 0;
	return ret ? ret : pass_on_decided(refs);
}

static int feed_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	struct pfs_ref ref = { .access = run->access <= PFS_EXECUTE ? run->access : 0, .mode = run->mode };
	struct pfs_refs *refs = ctx;
	int ret;

	pfs_ref_queue_decide(&refs->queue, run->tid, PFS_REF_SERVED);
	ret = is_shown(outcome->space) ? touched(refs, outcome, run, &ref) : 0;
	return ret ? ret : pass_on_decided(refs);
}

struct pfs_observer pfs_refs_observer(struct pfs_refs *refs)
{
	return (struct pfs_observer){ feed, feed_faults, refs };
}

int pfs_refs_none(const struct pfs_refs_stats *stats, struct pfs_err *err)
{
	if (stats->counted)
		return pfs_err_set(err, -ENOENT,
				   "no references: %" PRIu64 " faults were only counted (--histogram), in "
				   "which order is not known",
				   stats->counted);
	if (!(stats->outside + stats->refused + stats->tried_again + stats->left_out))
		return pfs_err_set(err, -ENOENT, "no references: nothing of what was asked for touched a page");
	return pfs_err_set(err, -ENOENT,
			   "no references: %" PRIu64 " faults were where nothing was mapped, "
			   "%" PRIu64 " forbidden or ended in a signal, %" PRIu64 " left out by the options",
			   stats->outside, stats->refused + stats->tried_again, stats->left_out);
}
