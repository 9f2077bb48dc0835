/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events to the functions of a format: see viewer_priv.h.
 *
 * What came of a fault (a read from disk, a signal, a stack that grew) is known by later events of its thread. So faults
 * wait in a queue, in order of time, until as many others have followed; those that end later are written without it.
 */
#include "export/walk_priv.h"

#include "base/array.h"
#include "model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 1 << 14 };
#define NO_REGION "(no known region)"

const char *const viewer_access[4] = { "", "read", "write", "execute" };

struct viewer_walk *viewer_walk_new(struct pfs_viewer *viewer)
{
	struct viewer_walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return NULL;
	walk->viewer = viewer;
	walk->stacks = pfs_stacks_new();
	walk->queue = calloc(QUEUE, sizeof(*walk->queue));
	walk->writer = viewer_writer_new(viewer);
	if (walk->stacks && walk->queue && walk->writer && !viewer_walk_named_paths(walk))
		return walk;
	viewer_walk_free(walk);
	return NULL;
}

void viewer_walk_free(struct viewer_walk *walk)
{
	if (!walk)
		return;
	PFS_HASH_FREE(walk->threads);
	PFS_HASH_FREE(walk->procs);
	PFS_HASH_FREE(walk->pids);
	PFS_HASH_FREE(walk->spaces);
	PFS_HASH_FREE(walk->other_stack_paths);
	PFS_HASH_FREE(walk->memory_paths);
	free(walk->stack_paths);
	free(walk->own_paths);
	free(walk->path_calls);
	free(walk->paths);
	viewer_pages_fini(&walk->pages);
	pfs_stacks_free(walk->stacks);
	viewer_writer_free(walk->writer);
	free(walk->queue);
	free(walk);
}

void viewer_walk_stop(struct viewer_walk *walk)
{
	viewer_writer_stop(walk->writer);
}

/* ---- numbers ---- */

/* The number of the process; UINT32_MAX: no memory. */
uint32_t viewer_proc_number(struct viewer_walk *walk, const struct pfs_proc *proc)
{
	struct pfs_viewer *v = walk->viewer;
	struct number_slot *slot = viewer_slot_of(&walk->procs, (uintptr_t)proc, 0), *pid;
	struct viewer_proc *added;

	if (slot && !slot->nr) {
		pid = viewer_slot_of(&walk->pids, (uint32_t)proc->pid, 0);
		added = pid ? pfs_array_add_new(v->procs, v->nr_procs, v->max_procs) : NULL;
		if (!added)
			return UINT32_MAX;
		*added = (struct viewer_proc){
			.pid = proc->pid, .again = pid->nr++, .first_ns = UINT64_MAX, .died_ns = UINT64_MAX
		};
		slot->nr = v->nr_procs;
	}
	return slot ? slot->nr - 1 : UINT32_MAX;
}

/* What the thread is called now. */
static int name_thread(struct viewer_walk *walk, struct viewer_thread *thread, const struct pfs_thread *of)
{
	struct viewer_proc *proc = walk->viewer->procs[thread->proc];
	const char *comm = viewer_text(&walk->viewer->calls, of->comm ? of->comm : "?");
	const char *name = comm && of->proc->comm ? viewer_text(&walk->viewer->calls, of->proc->comm) : comm;
	int ret = name ? 0 : -ENOMEM;

	if (ret || (thread->comm == comm && proc->name == name))
		return ret;
	ret = viewer_writer_wait(walk->writer);
	thread->comm = comm;
	proc->name = name;
	return ret;
}

static int add_thread(struct viewer_walk *walk, struct number_slot *slot, const struct pfs_thread *thread)
{
	struct pfs_viewer *v = walk->viewer;
	int ret = viewer_writer_wait(walk->writer);
	uint32_t proc = ret ? UINT32_MAX : viewer_proc_number(walk, thread->proc);
	struct viewer_thread *added =
		proc == UINT32_MAX ? NULL : pfs_array_add(v->threads, v->nr_threads, v->max_threads);

	if (!added)
		return ret ? ret : -ENOMEM;
	*added = (struct viewer_thread){
		.pid = thread->proc->pid,
		.tid = thread->tid,
		.proc = proc,
		.born_ns = thread->born_ns,
		.died_ns = UINT64_MAX,
	};
	slot->nr = v->nr_threads;
	if (!v->procs[proc]->main)
		v->procs[proc]->main = slot->nr;
	return 0;
}

/* NULL: no memory. */
static struct number_slot *thread_slot(struct viewer_walk *walk, const struct pfs_thread *thread)
{
	struct pfs_viewer *v = walk->viewer;
	struct number_slot *slot;

	if (walk->thread == thread && walk->thread_born_ns == thread->born_ns)
		return walk->thread_slot;
	slot = viewer_slot_of(&walk->threads, (uintptr_t)thread, thread->born_ns);
	if (!slot)
		return NULL;
	if ((!slot->nr && add_thread(walk, slot, thread)) || name_thread(walk, &v->threads[slot->nr - 1], thread))
		return NULL;
	walk->thread = thread;
	walk->thread_born_ns = thread->born_ns;
	return walk->thread_slot = slot;
}

static struct number_slot *space_slot(struct viewer_walk *walk, struct pfs_space *space)
{
	if (walk->space == space)
		return walk->space_slot;
	walk->space_slot = viewer_slot_of(&walk->spaces, (uintptr_t)space, 0);
	if (!walk->space_slot)
		return NULL;
	if (!walk->space_slot->nr) {
		walk->space_slot->nr = ++walk->nr_spaces;
		walk->space_slot->nr_retired = space->nr_retired;
	}
	walk->space = space;
	return walk->space_slot;
}

/* ---- the queue ---- */

int viewer_put_oldest(struct viewer_walk *walk)
{
	struct item *item = &walk->queue[walk->head++ % QUEUE];
	int ret = item->hidden
			  ? 0
			  : viewer_walk_call(walk, item->path, item->is_page ? &item->page.call : &item->fault.call);

	return ret || item->hidden ? ret : viewer_writer_put(walk->writer, item);
}

/* The next item of the queue, its content undefined. 0 or -errno. */
static int queue_add(struct viewer_walk *walk, struct item **item)
{
	struct pfs_viewer *v = walk->viewer;
	int ret = walk->tail - walk->head == QUEUE ? viewer_put_oldest(walk) : 0;

	if (!walk->tail) {
		v->base_ns = pfs_model_base_ns(v->model);
		v->page_shift = v->model->page_shift;
	}
	*item = &walk->queue[walk->tail++ % QUEUE];
	return ret;
}

/* The thread's last fault, if it still waits; or NULL. */
static struct item *waiting(struct viewer_walk *walk, const struct number_slot *thread)
{
	return thread->last > walk->head ? &walk->queue[(thread->last - 1) % QUEUE] : NULL;
}

/* ---- resident pages ---- */

static int queue_page(struct viewer_walk *walk, uint32_t space, uint64_t page, const struct viewer_resident *what,
		      uint64_t ts_ns, bool came)
{
	struct item *item;
	int ret = queue_add(walk, &item);

	*item = (struct item){ .is_page = true,
			       .path = what->path,
			       .page = { .ts_ns = ts_ns,
					 .addr = page << walk->viewer->model->page_shift,
					 .region = what->region,
					 .proc = walk->viewer->threads[what->thread].proc,
					 .thread = what->thread,
					 .space = space,
					 .came = came,
					 .ended = !came && walk->ending } };
	return ret;
}

static int page_goes(void *ctx, uint32_t space, uint64_t page, const struct viewer_resident *was, uint64_t ts_ns)
{
	return queue_page(ctx, space, page, was, ts_ns, false);
}

/* Pages that something else than a fault of their own has mapped. */
static int page_comes(struct viewer_walk *walk, uint32_t space, uint64_t addr, const struct viewer_resident *what,
		      uint64_t ts_ns)
{
	uint64_t page = addr >> walk->viewer->model->page_shift;
	int ret = viewer_pages_add(&walk->pages, space, page, what);

	return ret <= 0 ? ret : queue_page(walk, space, page, what, ts_ns, true);
}

/* Those of regions that were unmapped since the last look at the space. */
static int pages_unmapped(struct viewer_walk *walk, struct pfs_space *space, uint64_t ts_ns)
{
	struct number_slot *slot = space_slot(walk, space);
	unsigned int shift = walk->viewer->model->page_shift;
	int ret = slot ? 0 : -ENOMEM;

	for (unsigned int i = slot ? slot->nr_retired : 0; !ret && i < space->nr_retired; i++) {
		const struct pfs_region *region = space->retired[i];

		ret = viewer_pages_remove(&walk->pages, slot->nr - 1, region->start >> shift,
					  (region->end - region->start) >> shift, ts_ns, page_goes, walk);
	}
	if (slot)
		slot->nr_retired = space->nr_retired;
	return ret;
}

static int pages_discarded(struct viewer_walk *walk, struct pfs_space *space, const struct pfs_event *ev)
{
	struct number_slot *slot = space_slot(walk, space);
	unsigned int shift = walk->viewer->model->page_shift;

	if (!slot)
		return -ENOMEM;
	if (!pfs_has(ev, PFS_F_ADVICE) || ev->advice != PFS_ADVICE_DONTNEED || ev->end <= ev->start)
		return 0;
	return viewer_pages_remove(&walk->pages, slot->nr - 1, ev->start >> shift, (ev->end - ev->start) >> shift,
				   ev->ts_ns, page_goes, walk);
}

/* ---- faults ---- */

/* The region's name, and whether the filter shows it; that of the last fault often. 0 or -ENOMEM. */
static int look_at(struct viewer_walk *walk, struct pfs_space *space, const struct pfs_region *region, uint64_t addr)
{
	struct pfs_viewer *v = walk->viewer;
	const struct pfs_filter *filter = v->options.filter;
	const char *name, *kind;
	uint64_t page = addr >> v->model->page_shift << v->model->page_shift;

	if (region && walk->place.region == region && walk->place.layout == walk->layout)
		return 0;
	walk->place.region = region;
	walk->place.layout = walk->layout;
	name = region ? pfs_region_name(space, region) : NULL;
	kind = region ? pfs_region_kind(region, name) : NO_REGION;
	walk->place.wanted = region ? pfs_filter_memory(filter, region, name)
				    : pfs_filter_region(filter, NO_REGION, page, page + (1 << v->model->page_shift));
	walk->place.name = viewer_text(&v->calls, kind ? kind : name);
	return walk->place.name ? 0 : -ENOMEM;
}

static void place_in(struct viewer_fault *f, const struct pfs_region *region)
{
	if (!region || !pfs_region_is_file(region) || !(region->have & PFS_HAS(PFS_F_OFF)))
		return;
	f->has_off = true;
	f->off = region->off + (f->addr - region->start);
}

/* The page of the fault is resident now. 0 or -ENOMEM. */
static int come(struct viewer_walk *walk, struct viewer_fault *f, uint32_t path)
{
	struct viewer_resident what = { f->region, f->thread, path };
	int ret = 0;

	if (walk->viewer->format->page)
		ret = viewer_pages_add(&walk->pages, f->space, f->addr >> walk->viewer->model->page_shift, &what);
	f->came = ret > 0;
	return ret < 0 ? ret : 0;
}

/* Whether the fault just looked at is not shown, whatever follows: what comes of it is not that of the one before then. */
static bool leave_out(const struct viewer_walk *walk, struct number_slot *thread, const struct pfs_outcome *outcome)
{
	if (walk->place.wanted || !outcome->region)
		return false;
	thread->last = 0;
	return true;
}

/* A fault whose thread and facts are in *f: into the queue. 0 or -errno. */
static int add_fault(struct viewer_walk *walk, struct viewer_fault *f, uint32_t path, struct number_slot *thread,
		     const struct pfs_outcome *outcome)
{
	struct number_slot *space = space_slot(walk, outcome->space);
	struct item *item;
	int ret = space ? 0 : -ENOMEM;

	if (ret)
		return ret;
	f->region = walk->place.name;
	f->comm = walk->viewer->threads[f->thread].comm;
	f->space = space->nr - 1;
	place_in(f, outcome->region);
	if (outcome->region && outcome->fate == PFS_SERVED)
		ret = come(walk, f, path);
	if (ret)
		return ret;
	ret = queue_add(walk, &item);
	item->is_page = false;
	item->hidden = !walk->place.wanted;
	item->path = path;
	item->fault = *f;
	thread->last = walk->tail;
	return ret;
}

static int take_fault(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	const struct pfs_filter *filter = walk->viewer->options.filter;
	struct number_slot *thread = thread_slot(walk, outcome->thread);
	struct viewer_fault f = {
		.ts_ns = ev->ts_ns,
		.addr = ev->addr,
		.access = pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0,
		.mode = pfs_has(ev, PFS_F_MODE) && ev->mode <= PFS_KERNEL ? ev->mode : 0,
		.class = pfs_has(ev, PFS_F_CLASS) && ev->class <= PFS_MAJOR_CLASS ? ev->class : 0,
		.how = pfs_has(ev, PFS_F_HOW) && ev->how < PFS_NR_HOW ? ev->how : 0,
		.label = filter ? pfs_labels_last(filter->labelled) : 0,
		.latency_ns = pfs_has(ev, PFS_F_LATENCY) ? ev->latency_ns : 0,
		.pfn = pfs_has(ev, PFS_F_PFN) ? ev->pfn : 0,
	};
	bool has_ip = pfs_has(ev, PFS_F_IP);
	int32_t pid = outcome->thread->proc->pid;
	uint32_t path = PATH_UNKNOWN;
	int ret = thread ? look_at(walk, outcome->space, outcome->region, ev->addr) : -ENOMEM;

	if (ret || leave_out(walk, thread, outcome))
		return ret;
	f.thread = thread->nr - 1;
	f.ip = has_ip ? ev->ip : 0;
	if (!(pfs_has(ev, PFS_F_STACK) && viewer_walk_stack_path(walk, ev, pid, &path, &ret)) && !ret && has_ip)
		ret = viewer_walk_own_path(walk, outcome->space, &f, pid, &path);
	return ret ? ret : add_fault(walk, &f, path, thread, outcome);
}

static bool is_shown(const struct pfs_outcome *outcome)
{
	return outcome->space && !outcome->space->launcher;
}

int viewer_walk_faults(void *ctx, const struct pfs_fault_run *run, const struct pfs_outcome *outcome)
{
	struct viewer_walk *walk = ctx;
	struct number_slot *thread = thread_slot(walk, outcome->thread);
	struct viewer_fault f = {
		.access = run->access <= PFS_EXECUTE ? run->access : 0,
		.mode = run->mode <= PFS_KERNEL ? run->mode : 0,
	};
	uint32_t path;
	int ret = thread ? 0 : -ENOMEM;

	if (ret || !is_shown(outcome))
		return ret;
	f.thread = thread->nr - 1;
	for (uint32_t i = 0; !ret && i < run->nr; i++) {
		f.ts_ns = run->ts_ns[i];
		f.addr = run->addr[i];
		f.ip = run->ip[i];
		f.came = false;
		ret = look_at(walk, outcome->space, outcome->region, f.addr);
		if (ret || leave_out(walk, thread, outcome))
			continue;
		ret = viewer_walk_own_path(walk, outcome->space, &f, outcome->thread->proc->pid, &path);
		if (!ret)
			ret = add_fault(walk, &f, path, thread, outcome);
	}
	return ret;
}

/* What came of the thread's last fault. */
static int learn(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct number_slot *thread = thread_slot(walk, outcome->thread);
	struct item *item = thread ? waiting(walk, thread) : NULL;
	struct viewer_fault *f;
	int ret;

	if (!item)
		return thread ? 0 : -ENOMEM;
	f = &item->fault;
	switch (ev->kind) {
	case PFS_MAJOR:
		f->class = PFS_MAJOR_CLASS;
		return 0;
	case PFS_SIGNAL:
		f->sig = pfs_has(ev, PFS_F_SIG) ? ev->sig : -1;
		if (f->came)
			viewer_pages_forget(&walk->pages, f->space, f->addr >> walk->viewer->model->page_shift);
		f->came = false;
		return 0;
	default: /* the stack grew, so the fault lies in it */
		if (strcmp(f->region, NO_REGION))
			return 0;
		ret = look_at(walk, outcome->space, outcome->region, f->addr);
		item->hidden = !walk->place.wanted;
		if (ret || item->hidden)
			return ret;
		f->region = walk->place.name;
		return come(walk, f, item->path);
	}
}

/* ---- pages without faults of their own ---- */

/* The pages of [start, end) that have the flag in the model become resident by that path. */
static int mapped(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_thread *of, uint64_t start,
		  uint64_t end, uint32_t flag, uint32_t path)
{
	enum { MOST = 1 << 22 }; /* a damaged event may have any number of pages */
	struct pfs_space *space = pfs_proc_space(of->proc);
	struct number_slot *thread = thread_slot(walk, of), *at = thread ? space_slot(walk, space) : NULL;
	struct pfs_page_walk pages;
	const struct pfs_page *page;
	int ret = at ? 0 : -ENOMEM;

	if (ret || space->launcher || end <= start || (end - start) >> walk->viewer->model->page_shift > MOST)
		return ret;
	pfs_page_walk_start(&pages, space->pages, start, end);
	while (!ret && (page = pfs_page_walk_next(&pages))) {
		const struct pfs_region *region = page->flags & flag ? pfs_space_find(space, pages.addr) : NULL;

		if (!region)
			continue;
		ret = look_at(walk, space, region, pages.addr);
		if (!ret && walk->place.wanted)
			ret = page_comes(walk, at->nr - 1, pages.addr,
					 &(struct viewer_resident){ walk->place.name, thread->nr - 1, path },
					 ev->ts_ns);
	}
	return ret;
}

/* Fault-around has mapped that part of the file, in the region of the thread's last fault. */
static int mapped_around(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_thread *of)
{
	struct number_slot *thread = thread_slot(walk, of);
	const struct item *item = thread ? waiting(walk, thread) : NULL;
	const struct pfs_region *region = item ? pfs_space_find(pfs_proc_space(of->proc), item->fault.addr) : NULL;
	uint64_t start = region ? region->start + (ev->off - region->off) : 0;

	if (!region || !(region->have & PFS_HAS(PFS_F_OFF)) || ev->end_off <= ev->off)
		return thread ? 0 : -ENOMEM;
	return mapped(walk, ev, of, start, start + (ev->end_off - ev->off), PFS_PAGE_AROUND, item->path);
}

/* The fault has got a huge page. */
static int mapped_huge(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_thread *of)
{
	struct number_slot *thread = thread_slot(walk, of);
	const struct item *item = thread ? waiting(walk, thread) : NULL;
	unsigned int shift = walk->viewer->model->page_shift + (pfs_has(ev, PFS_F_ORDER) ? ev->order : 0);
	uint64_t start = item && shift < 48 ? item->fault.addr >> shift << shift : 0;

	if (!item || shift >= 48)
		return thread ? 0 : -ENOMEM;
	return mapped(walk, ev, of, start, start + (UINT64_C(1) << shift), PFS_PAGE_HUGE, item->path);
}

static int mapped_on_request(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_thread *of)
{
	if (!pfs_has(ev, PFS_F_START) || !pfs_has(ev, PFS_F_END))
		return 0;
	return mapped(walk, ev, of, ev->start, ev->end, PFS_PAGE_POPULATED, PATH_POPULATED);
}

/* The model has moved the pages. */
static int moved(struct viewer_walk *walk, struct pfs_space *space, const struct pfs_event *ev)
{
	struct number_slot *slot = space_slot(walk, space);
	unsigned int shift = walk->viewer->model->page_shift;

	if (!slot)
		return -ENOMEM;
	return viewer_pages_move(&walk->pages, slot->nr - 1, ev->from >> shift, ev->len >> shift, ev->start >> shift);
}

/* What events of a thread that are no faults do to resident pages. */
static int change_pages(struct viewer_walk *walk, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct pfs_space *space = pfs_proc_space(outcome->thread->proc);
	bool current = !pfs_has(ev, PFS_F_SPACE) || ev->space == PFS_SPACE_CURRENT;
	struct number_slot *proc;
	int ret = 0;

	if (!walk->viewer->format->page)
		return 0;
	if (outcome->muted && pfs_kind_is(ev, PFS_KIND_FILTERED))
		return 0;
	if (ev->kind == PFS_MOVE && current && ev->len)
		ret = moved(walk, space, ev);
	else if (ev->kind == PFS_AROUND)
		ret = mapped_around(walk, ev, outcome->thread);
	else if (ev->kind == PFS_HUGE)
		ret = mapped_huge(walk, ev, outcome->thread);
	else if (ev->kind == PFS_POPULATE && current)
		ret = mapped_on_request(walk, ev, outcome->thread);
	else if (ev->kind == PFS_ADVISE && current)
		ret = pages_discarded(walk, space, ev);
	proc = ret ? NULL : viewer_slot_of(&walk->procs, (uintptr_t)outcome->thread->proc, 0);
	if (proc && proc->space && proc->space != space) /* an exec has replaced it */
		ret = pages_unmapped(walk, proc->space, ev->ts_ns);
	if (proc)
		proc->space = space;
	else if (!ret)
		ret = -ENOMEM;
	return ret ? ret : pages_unmapped(walk, space, ev->ts_ns);
}

/* 0 or -ENOMEM. */
static int note_exit(struct viewer_walk *walk, const struct pfs_thread *of, uint64_t ts_ns)
{
	struct pfs_viewer *v = walk->viewer;
	struct number_slot *thread = viewer_slot_of(&walk->threads, (uintptr_t)of, of->born_ns);
	struct number_slot *proc = viewer_slot_of(&walk->procs, (uintptr_t)of->proc, 0);

	if (!thread || !proc)
		return -ENOMEM;
	if (thread->nr)
		v->threads[thread->nr - 1].died_ns = ts_ns;
	if (proc->nr)
		v->procs[proc->nr - 1]->died_ns = of->proc->died_ns;
	return 0;
}

int viewer_walk_event(void *ctx, const struct pfs_event *ev, const struct pfs_outcome *outcome)
{
	struct viewer_walk *walk = ctx;
	int32_t pid = outcome->thread ? outcome->thread->proc->pid : 0;
	int ret = pfs_stacks_event(walk->stacks, ev, outcome);

	if (!ret && ev->kind != PFS_FAULT)
		ret = viewer_calls_event(&walk->viewer->calls, ev, pid);
	walk->layout += !pfs_kind_is(ev, PFS_KIND_FILTERED);
	if (ret || !outcome->thread)
		return ret;
	if (ev->kind == PFS_FAULT)
		return is_shown(outcome) && !pfs_has(ev, PFS_F_COUNT) ? take_fault(walk, ev, outcome) : 0;
	if ((ev->kind == PFS_MAJOR || ev->kind == PFS_SIGNAL || ev->kind == PFS_MAP) && is_shown(outcome))
		ret = learn(walk, ev, outcome);
	if (!ret && (ev->kind == PFS_COMM || ev->kind == PFS_EXEC)) {
		walk->thread = NULL;
		ret = thread_slot(walk, outcome->thread) ? 0 : -ENOMEM;
	}
	if (!ret && ev->kind == PFS_EXIT)
		ret = note_exit(walk, outcome->thread, ev->ts_ns);
	walk->ending = ev->kind == PFS_EXIT || ev->kind == PFS_EXEC ||
		       (ev->kind == PFS_UNMAP && pfs_event_op(ev) == PFS_OP_CLEAR);
	return ret ? ret : change_pages(walk, ev, outcome);
}
