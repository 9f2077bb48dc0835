/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: what the events add up to. Processes and threads by number, address spaces by exec epoch,
 * and what was touched. How regions change is space.c's; this file says whose they are.
 */
#include "model.h"

#include "intern.h"
#include "space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct thread_slot {
	struct pfs_thread thread;
	UT_hash_handle hh;
};

struct proc_slot {
	struct pfs_proc proc;
	int32_t key;		/* uthash wants the key inside; proc.pid changes when it is learned */
	UT_hash_handle hh;
};

struct pfs_model_private {
	struct thread_slot *threads;
	struct proc_slot *by_pid;	/* the newest process of each pid */
	struct pfs_proc **tail;
	struct pfs_thread *last;	/* the thread of the previous event */
	struct pfs_intern *names;
	struct thread_slot **dead;	/* replaced when their number came round again */
	unsigned int nr_dead;
	bool muted;
};

struct pfs_model *pfs_model_new(void)
{
	struct pfs_model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->page_shift = 12;
	model->priv = calloc(1, sizeof(*model->priv));
	if (!model->priv)
		goto fail;
	model->priv->tail = &model->procs;
	model->priv->names = pfs_intern_new();
	if (!model->priv->names)
		goto fail;
	return model;
fail:
	free(model->priv);
	free(model);
	return NULL;
}

static void proc_free(struct proc_slot *slot)
{
	for (unsigned int i = 0; i < slot->proc.nr_epochs; i++)
		pfs_space_put(slot->proc.epochs[i].space);
	free(slot->proc.epochs);
	free(slot);
}

static void thread_free(struct thread_slot *slot)
{
	pfs_space_put(slot->thread.forking);
	pfs_space_put(slot->thread.execing);
	free(slot);
}

void pfs_model_free(struct pfs_model *model)
{
	struct thread_slot *slot, *tmp;
	struct pfs_proc *proc, *next;

	if (!model)
		return;
	HASH_ITER(hh, model->priv->threads, slot, tmp) {
		HASH_DEL(model->priv->threads, slot);
		thread_free(slot);
	}
	HASH_CLEAR(hh, model->priv->by_pid);
	for (proc = model->procs; proc; proc = next) {
		next = proc->next;
		proc_free((struct proc_slot *)proc);
	}
	for (unsigned int i = 0; i < model->nr_notes; i++) {
		free(model->notes[i].key);
		free(model->notes[i].value);
	}
	free(model->notes);
	free(model->losses);
	pfs_intern_free(model->priv->names);
	free(model->priv);
	free(model);
}

/* ---- processes and threads ---- */

struct pfs_proc *pfs_model_proc(const struct pfs_model *model, int32_t pid)
{
	struct proc_slot *slot;

	HASH_FIND_INT(model->priv->by_pid, &pid, slot);
	return slot ? &slot->proc : NULL;
}

struct pfs_thread *pfs_model_thread(const struct pfs_model *model, int32_t tid)
{
	struct thread_slot *slot;

	HASH_FIND_INT(model->priv->threads, &tid, slot);
	return slot ? &slot->thread : NULL;
}

/* Ends the proc's current epoch and begins one with `space` (whose reference it takes). */
static int epoch_add(struct pfs_proc *proc, struct pfs_space *space, uint64_t now_ns)
{
	struct pfs_epoch *epochs;

	if (!space)
		return -ENOMEM;
	epochs = realloc(proc->epochs, (proc->nr_epochs + 1) * sizeof(*epochs));
	if (!epochs) {
		pfs_space_put(space);
		return -ENOMEM;
	}
	proc->epochs = epochs;
	epochs[proc->nr_epochs++] = (struct pfs_epoch){ .space = space, .start_ns = now_ns };
	return 0;
}

/* A new process of that pid, with `space` (reference taken; NULL: an empty one). */
static struct pfs_proc *proc_new(struct pfs_model *model, int32_t pid, struct pfs_space *space,
				 uint64_t now_ns)
{
	struct proc_slot *slot = calloc(1, sizeof(*slot)), *old;

	if (!slot || epoch_add(&slot->proc, space ? space : pfs_space_new(model->page_shift, now_ns),
			       now_ns)) {
		free(slot);
		return NULL;
	}
	slot->proc.pid = slot->key = pid;
	slot->proc.born_ns = now_ns;
	slot->proc.died_ns = UINT64_MAX;
	HASH_FIND_INT(model->priv->by_pid, &pid, old);
	if (old)
		HASH_DEL(model->priv->by_pid, old);
	HASH_ADD_INT(model->priv->by_pid, key, slot);
	*model->priv->tail = &slot->proc;
	model->priv->tail = &slot->proc.next;
	model->nr_procs++;
	return &slot->proc;
}

static struct pfs_thread *thread_new(struct pfs_model *model, int32_t tid, struct pfs_proc *proc,
				     uint64_t now_ns)
{
	struct thread_slot *slot;

	HASH_FIND_INT(model->priv->threads, &tid, slot);
	if (slot) {	/* the number came round again */
		HASH_DEL(model->priv->threads, slot);
		if (model->priv->last == &slot->thread)
			model->priv->last = NULL;
		thread_free(slot);
	}
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return NULL;
	slot->thread.tid = tid;
	slot->thread.proc = proc;
	slot->thread.born_ns = now_ns;
	slot->thread.died_ns = UINT64_MAX;
	slot->thread.comm = proc->comm;
	proc->nr_threads++;
	HASH_ADD_INT(model->priv->threads, thread.tid, slot);
	return &slot->thread;
}

/* A record names the process of a thread that stood for itself until now: move it over. */
static int thread_rebind(struct pfs_model *model, struct pfs_thread *thread, int32_t pid,
			 uint64_t now_ns)
{
	struct pfs_proc *proc = pfs_model_proc(model, pid);

	if (!proc) {
		proc = proc_new(model, pid, NULL, now_ns);
		if (!proc)
			return -ENOMEM;
		proc->pid_known = true;
	}
	thread->proc = proc;
	proc->nr_threads++;
	return 0;
}

/* The thread of an event, made if it is new. NULL: no memory. */
static struct pfs_thread *thread_of(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_thread *thread = model->priv->last;
	bool known = pfs_has(ev, PFS_F_PID);
	int32_t pid = known ? ev->pid : ev->tid;

	if (thread && thread->tid == ev->tid && (!known || thread->proc->pid == pid))
		return thread;
	thread = pfs_model_thread(model, ev->tid);
	if (!thread) {
		struct pfs_proc *proc = pfs_model_proc(model, pid);

		if (!proc)
			proc = proc_new(model, pid, NULL, ev->ts_ns);
		thread = proc ? thread_new(model, ev->tid, proc, ev->ts_ns) : NULL;
		if (!thread)
			return NULL;
	} else if (known && thread->proc->pid != pid) {
		if (thread_rebind(model, thread, pid, ev->ts_ns))
			return NULL;
	}
	if (known)
		thread->proc->pid_known = true;
	model->priv->last = thread;
	return thread;
}

/* The space that has the region of that identity in that range; NULL: none. */
static struct pfs_space *space_of_region(struct pfs_model *model, const struct pfs_event *ev)
{
	for (struct pfs_proc *proc = model->procs; proc; proc = proc->next) {
		struct pfs_space *space = pfs_proc_space(proc);

		for (unsigned int i = pfs_space_lower(space, ev->start);
		     i < space->nr_live && space->live[i]->start < ev->end; i++)
			if (space->live[i]->have & PFS_HAS(PFS_F_ID) &&
			    space->live[i]->id == ev->id)
				return space;
	}
	return NULL;
}

/* The space that the event speaks of. NULL: no memory. */
static struct pfs_space *space_of(struct pfs_model *model, struct pfs_thread *thread,
				  const struct pfs_event *ev)
{
	if (!pfs_has(ev, PFS_F_SPACE) || ev->space == PFS_SPACE_CURRENT)
		return pfs_proc_space(thread->proc);
	if (ev->space == PFS_SPACE_EXEC) {
		if (!thread->execing)
			thread->execing = pfs_space_new(model->page_shift, ev->ts_ns);
		return thread->execing;
	}
	if (!thread->forking)
		thread->forking = pfs_space_copy(pfs_proc_space(thread->proc), ev->ts_ns);
	return thread->forking;
}

/* ---- touches ---- */

static uint64_t page_size(const struct pfs_model *model)
{
	return UINT64_C(1) << model->page_shift;
}

/* Does pfscope's own child, not yet the command, own this space? Its touches are kept apart. */
static bool in_launcher(const struct pfs_thread *thread, const struct pfs_space *space)
{
	return space->launcher || (thread && space == thread->execing &&
				   pfs_proc_space(thread->proc)->launcher);
}

static struct pfs_counts *model_counts(struct pfs_model *model, const struct pfs_space *space)
{
	return space->launcher ? &model->launcher : &model->counts;
}

/* 0 if it is absent, or nothing that this version knows. */
static unsigned int access_of(const struct pfs_event *ev)
{
	return pfs_has(ev, PFS_F_ACCESS) && ev->access <= PFS_EXECUTE ? ev->access : 0;
}

static void count_fault(struct pfs_counts *counts, const struct pfs_event *ev, bool outside)
{
	counts->faults++;
	switch (access_of(ev)) {
	case PFS_READ: counts->read++; break;
	case PFS_WRITE: counts->write++; break;
	case PFS_EXECUTE: counts->exec++; break;
	default: counts->access_unknown++;
	}
	if (pfs_has(ev, PFS_F_MODE))
		*(ev->mode == PFS_USER ? &counts->user : &counts->kernel) += 1;
	if (pfs_has(ev, PFS_F_CLASS))
		*(ev->class == PFS_MINOR ? &counts->minor : &counts->major) += 1;
	counts->outside += outside;
}

static uint32_t fault_flags(const struct pfs_event *ev)
{
	static const uint32_t by_access[] = {
		[0] = PFS_PAGE_ACCESS_UNKNOWN,
		[PFS_READ] = PFS_PAGE_READ,
		[PFS_WRITE] = PFS_PAGE_WRITE,
		[PFS_EXECUTE] = PFS_PAGE_EXEC,
	};
	uint32_t flags = by_access[access_of(ev)];

	if (pfs_has(ev, PFS_F_MODE))
		flags |= ev->mode == PFS_USER ? PFS_PAGE_USER : PFS_PAGE_KERNEL;
	if (pfs_has(ev, PFS_F_CLASS))
		flags |= ev->class == PFS_MINOR ? PFS_PAGE_MINOR : PFS_PAGE_MAJOR;
	return flags;
}

/* The page at addr, marked with flags and seen now. NULL: no memory. */
static struct pfs_page *touch(struct pfs_space *space, uint64_t addr, uint32_t flags,
			      uint64_t now_ns)
{
	struct pfs_page *page = pfs_pages_get(space->pages, addr);

	if (!page)
		return NULL;
	if (!page->flags)
		page->first_ns = now_ns;
	page->last_ns = now_ns;
	page->flags |= flags;
	return page;
}

static int apply_fault(struct pfs_model *model, struct pfs_thread *thread,
		       const struct pfs_event *ev)
{
	struct pfs_space *space = space_of(model, thread, ev);
	unsigned int access = access_of(ev);
	struct pfs_region *region;
	struct pfs_page *page;
	bool outside;

	thread->fault_space = NULL;
	if (!space)
		return -ENOMEM;
	/* What a region is, does not depend on what is to be seen of it. */
	region = pfs_space_find(space, ev->addr);
	if (region && access == PFS_WRITE && region->perms & PFS_PERM_W)
		region->written = true;
	if (model->priv->muted)
		return 0;
	page = touch(space, ev->addr, fault_flags(ev), ev->ts_ns);
	if (!page)
		return -ENOMEM;
	if (!page->nr_faults++)
		page->first_tid = ev->tid;
	page->nr_read += access == PFS_READ;
	page->nr_write += access == PFS_WRITE;
	page->nr_exec += access == PFS_EXECUTE;
	page->nr_kernel += pfs_has(ev, PFS_F_MODE) && ev->mode != PFS_USER;
	outside = !region;
	thread->fault_space = space;
	thread->fault_addr = ev->addr;
	thread->fault_ns = ev->ts_ns;
	thread->nr_faults++;
	if (!in_launcher(NULL, space))
		count_fault(&thread->proc->counts, ev, outside);
	count_fault(model_counts(model, space), ev, outside);
	return 0;
}

/* The region of the fault under way, or NULL. */
static struct pfs_region *fault_region(struct pfs_thread *thread)
{
	return thread->fault_space ? pfs_space_find(thread->fault_space, thread->fault_addr) : NULL;
}

/* The file offset of the fault under way lies in [off, end_off): the same file, surely enough. */
static bool beside_fault(const struct pfs_region *region, const struct pfs_thread *thread,
			 uint64_t off, uint64_t end_off)
{
	uint64_t at = region->off + (thread->fault_addr - region->start);

	return at >= off && at < end_off;
}

static int mark_range(struct pfs_model *model, struct pfs_space *space, uint64_t start,
		      uint64_t end, uint32_t flags, uint64_t now_ns, uint64_t *marked)
{
	for (uint64_t addr = start; addr < end; addr += page_size(model)) {
		struct pfs_page *page = touch(space, addr, flags, now_ns);

		if (!page)
			return -ENOMEM;
		(*marked)++;
	}
	return 0;
}

static int mark_around(struct pfs_model *model, struct pfs_thread *thread,
		       struct pfs_space *space, struct pfs_region *region,
		       const struct pfs_event *ev)
{
	uint64_t off = ev->off > region->off ? ev->off : region->off;
	uint64_t len = region->end - region->start, start, end, addr;
	uint64_t marked = 0;
	int err = 0;

	if (ev->end_off <= off || off - region->off >= len)
		return 0;
	start = region->start + (off - region->off);
	end = region->start + (ev->end_off - region->off < len ? ev->end_off - region->off : len);
	for (addr = start; !err && addr < end; addr += page_size(model)) {
		struct pfs_page *page = pfs_pages_find(space->pages, addr);

		if (!page || !(page->flags & (PFS_PAGE_TOUCHED | PFS_PAGE_AROUND)))
			err = mark_range(model, space, addr, addr + page_size(model),
					 PFS_PAGE_AROUND, ev->ts_ns, &marked);
	}
	if (!space->launcher)
		thread->proc->counts.around += marked;
	model_counts(model, space)->around += marked;
	return err;
}

/* Fault-around: by file and offset; where that is in memory, the fault under way tells. */
static int apply_around(struct pfs_model *model, struct pfs_thread *thread,
			const struct pfs_event *ev)
{
	struct pfs_region *region = fault_region(thread);
	struct pfs_space *space;
	int err = 0;

	if (model->priv->muted)
		return 0;
	if (!pfs_has(ev, PFS_F_START)) {
		if (region && beside_fault(region, thread, ev->off, ev->end_off))
			err = mark_around(model, thread, thread->fault_space, region, ev);
		return err;
	}
	/* The kernel populates [start, end): each mapping of that file part in it may be meant. */
	space = space_of(model, thread, ev);
	if (!space)
		return -ENOMEM;
	for (unsigned int i = pfs_space_lower(space, ev->start); !err && i < space->nr_live; i++) {
		region = space->live[i];
		if (region->start >= ev->end)
			break;
		if (region->have & PFS_HAS(PFS_F_INO) && region->ino == ev->ino &&
		    region->dev == ev->dev)
			err = mark_around(model, thread, space, region, ev);
	}
	return err;
}

static int apply_huge(struct pfs_model *model, struct pfs_thread *thread,
		      const struct pfs_event *ev)
{
	struct pfs_region *region = fault_region(thread);
	uint64_t size, start, marked = 0;

	if (model->priv->muted || !region || ev->order > 18)
		return 0;
	size = page_size(model) << ev->order;
	start = thread->fault_addr & ~(size - 1);
	if (start < region->start || start + size > region->end)
		return 0;	/* not for this fault's own page */
	if (!thread->fault_space->launcher)
		thread->proc->counts.huge++;
	model_counts(model, thread->fault_space)->huge++;
	return mark_range(model, thread->fault_space, start, start + size, PFS_PAGE_HUGE,
			  ev->ts_ns, &marked);
}

/* A page of the file was read while the fault was under way: it is major if it is its own page. */
static int apply_major(struct pfs_model *model, struct pfs_thread *thread,
		       const struct pfs_event *ev)
{
	struct pfs_region *region = fault_region(thread);
	struct pfs_page *page;

	if (model->priv->muted || !region || !(region->have & PFS_HAS(PFS_F_INO)) ||
	    region->ino != ev->ino || region->dev != ev->dev ||
	    !beside_fault(region, thread, ev->off, ev->end_off))
		return 0;
	page = pfs_pages_find(thread->fault_space->pages, thread->fault_addr);
	if (page)
		page->flags |= PFS_PAGE_MAJOR;
	if (!thread->fault_space->launcher)
		thread->proc->counts.major++;
	model_counts(model, thread->fault_space)->major++;
	return 0;
}

static int apply_signal(struct pfs_model *model, struct pfs_thread *thread)
{
	struct pfs_page *page;

	if (model->priv->muted || !thread->fault_space)
		return 0;
	page = pfs_pages_find(thread->fault_space->pages, thread->fault_addr);
	if (page) {
		page->flags |= PFS_PAGE_SIGNAL;
		page->nr_signal++;
	}
	if (!thread->fault_space->launcher)
		thread->proc->counts.signal++;
	model_counts(model, thread->fault_space)->signal++;
	thread->fault_space = NULL;
	return 0;
}

/* Pages of [start, end) that nothing is known to have mapped yet. */
static int populate_region(struct pfs_model *model, struct pfs_space *space, uint64_t start,
			   uint64_t end, uint64_t now_ns, uint64_t *marked)
{
	int err = 0;

	for (uint64_t addr = start; !err && addr < end; addr += page_size(model)) {
		struct pfs_page *page = pfs_pages_find(space->pages, addr);

		if (page && page->flags & (PFS_PAGE_TOUCHED | PFS_PAGE_POPULATED))
			continue;
		err = mark_range(model, space, addr, addr + page_size(model), PFS_PAGE_POPULATED,
				 now_ns, marked);
	}
	return err;
}

static int apply_populate(struct pfs_model *model, struct pfs_thread *thread,
			  const struct pfs_event *ev)
{
	struct pfs_space *space = space_of(model, thread, ev);
	uint64_t marked = 0;
	int err = 0;

	thread->fault_space = NULL;
	if (!space)
		return -ENOMEM;
	for (unsigned int i = pfs_space_lower(space, ev->start);
	     !err && i < space->nr_live && space->live[i]->start < ev->end; i++) {
		struct pfs_region *r = space->live[i];
		uint64_t start = r->start > ev->start ? r->start : ev->start;
		uint64_t end = r->end < ev->end ? r->end : ev->end;

		/* The kernel cannot populate what may not be accessed. */
		if (r->have & PFS_HAS(PFS_F_PERMS) && !(r->perms & ~PFS_PERM_SHARED))
			continue;
		r->written |= !!(r->perms & PFS_PERM_W);
		if (!model->priv->muted)
			err = populate_region(model, space, start, end, ev->ts_ns,
					      &marked);
	}
	if (!space->launcher)
		thread->proc->counts.populated += marked;
	model_counts(model, space)->populated += marked;
	return err;
}

static int apply_access(struct pfs_model *model, struct pfs_thread *thread,
			const struct pfs_event *ev)
{
	if (model->priv->muted)
		return 0;
	return touch(pfs_proc_space(thread->proc), ev->addr, PFS_PAGE_REFERENCED, ev->ts_ns) ?
		0 : -ENOMEM;
}

/* ---- regions ---- */

/* The end of an address space, or of an exec that failed. */
static int clear_space(struct pfs_thread *thread, struct pfs_space *space,
		       const struct pfs_event *ev)
{
	if (space != thread->execing)
		return pfs_space_clear(space, ev->ts_ns);
	pfs_space_put(space);
	thread->execing = NULL;
	thread->fault_space = NULL;
	return 0;
}

/* The kernel's ranges are whole pages. What a file claims may be anything: make it so. */
static struct pfs_event in_whole_pages(const struct pfs_model *model, const struct pfs_event *ev)
{
	uint64_t mask = page_size(model) - 1;
	struct pfs_event whole = *ev;

	if (ev->kind == PFS_BRK || (ev->kind == PFS_UNMAP && ev->end == UINT64_MAX))
		return whole;
	whole.start = ev->start & ~mask;
	whole.end = ev->end > ~mask ? ~mask : (ev->end + mask) & ~mask;
	whole.from = ev->from & ~mask;
	whole.len = ev->len > ~mask ? ~mask : (ev->len + mask) & ~mask;
	return whole;
}

/* Of shmdt two events come: before it, to remember what there is, and (last) when it has succeeded. */
static int apply_detach(struct pfs_thread *thread, struct pfs_space *space,
			const struct pfs_event *ev)
{
	struct pfs_segment segment;

	if (!pfs_has(ev, PFS_F_BY))
		return pfs_space_destroy_ring(space, ev->start, ev->ts_ns);
	if (!pfs_has(ev, PFS_F_LAST) || !ev->last) {
		pfs_space_segment(space, ev->start, &segment);
		thread->shmdt_first = segment.first;
		thread->shmdt_len = segment.len;
		thread->shmdt_ino = segment.ino;
		return 0;
	}
	segment = (struct pfs_segment){ ev->start, thread->shmdt_first, thread->shmdt_len,
					thread->shmdt_ino };
	return pfs_space_detach(space, &segment, ev->ts_ns);
}

static int apply_layout(struct pfs_model *model, struct pfs_thread *thread,
			const struct pfs_event *said)
{
	const struct pfs_event whole = in_whole_pages(model, said), *ev = &whole;
	bool other = pfs_has(ev, PFS_F_SPACE) && ev->space == PFS_SPACE_OTHER;
	struct pfs_space *space = other ? space_of_region(model, ev) :
					  space_of(model, thread, ev);
	struct pfs_counts *counts = &thread->proc->counts, *all;
	struct pfs_event map;

	if (!space)
		return other ? 0 : -ENOMEM;
	all = model_counts(model, space);
	switch (ev->kind) {
	case PFS_MAP:
		map = *ev;
		if (pfs_has(ev, PFS_F_NAME)) {
			map.name = pfs_intern(model->priv->names, ev->name);
			if (!map.name)
				return -ENOMEM;
		}
		counts->maps += !space->launcher;
		all->maps++;
		return pfs_space_map(space, &map);
	case PFS_UNMAP:
		counts->unmaps += !space->launcher;
		all->unmaps++;
		if (!pfs_has(ev, PFS_F_END))
			return apply_detach(thread, space, ev);
		if (pfs_has(ev, PFS_F_BY))
			return pfs_space_unmap_moved(space, ev);
		if (ev->start == 0 && ev->end == UINT64_MAX)
			return clear_space(thread, space, ev);
		return pfs_space_unmap(space, ev->start, ev->end, ev->ts_ns);
	case PFS_PROTECT:
		return pfs_space_protect(space, ev);
	case PFS_MOVE:
		return pfs_space_move(space, ev);
	default:	/* PFS_BRK */
		if (pfs_has(ev, PFS_F_START))
			space->start_brk = ev->start;
		else if (!space->brk)
			space->start_brk = ev->end;
		space->brk = ev->end;
		return 0;
	}
}

/* ---- process life ---- */

static int set_comm(struct pfs_model *model, struct pfs_thread *thread, const char *comm)
{
	const char *name = pfs_intern(model->priv->names, comm);

	if (!name)
		return -ENOMEM;
	thread->comm = name;
	if (thread->tid == thread->proc->pid || !thread->proc->comm) {
		thread->proc->comm = name;
		thread->proc->epochs[thread->proc->nr_epochs - 1].comm = name;
	}
	return 0;
}

static int apply_fork(struct pfs_model *model, struct pfs_thread *parent,
		      const struct pfs_event *ev)
{
	struct pfs_space *current = pfs_proc_space(parent->proc), *space;
	struct pfs_thread *thread;
	struct pfs_proc *child;

	if (!pfs_has(ev, PFS_F_CHILD)) {	/* the copy begins; its regions follow */
		if (parent->fault_space == parent->forking)
			parent->fault_space = NULL;
		pfs_space_put(parent->forking);
		parent->forking = pfs_space_copy(current, ev->ts_ns);
		return parent->forking ? 0 : -ENOMEM;
	}
	if (ev->shared) {
		space = pfs_space_get(current);
	} else {
		space = parent->forking ? parent->forking : pfs_space_copy(current, ev->ts_ns);
		if (parent->forking)
			pfs_space_confirm(space);
		parent->forking = NULL;
		if (space)
			space->launcher = current->launcher;
	}
	child = space ? proc_new(model, ev->child, space, ev->ts_ns) : NULL;
	if (!child)
		return -ENOMEM;
	child->ppid = parent->proc->pid;
	child->pid_known = true;
	child->comm = parent->comm;
	child->epochs[0].comm = parent->comm;
	child->epochs[0].shared = ev->shared;
	thread = thread_new(model, ev->child, child, ev->ts_ns);
	return thread ? 0 : -ENOMEM;
}

/* The old image of a process ends. One that it shares (vfork) goes on without it. */
static int leave_space(struct pfs_proc *proc, uint64_t now_ns)
{
	struct pfs_epoch *epoch = &proc->epochs[proc->nr_epochs - 1];

	if (epoch->shared || epoch->space->empty)
		return 0;
	return pfs_space_clear(epoch->space, now_ns);
}

static int apply_exec(struct pfs_model *model, struct pfs_thread *thread,
		      const struct pfs_event *ev)
{
	struct pfs_proc *proc = thread->proc;
	struct pfs_thread *builder = thread;
	struct pfs_space *space;
	int err;

	/* A thread that is not the first one takes over the first one's number by its exec. */
	if (pfs_has(ev, PFS_F_CHILD_TID) && ev->child_tid != ev->tid) {
		struct pfs_thread *old = pfs_model_thread(model, ev->child_tid);

		if (old && old->proc == proc && old->execing)
			builder = old;
	}
	space = builder->execing;
	builder->execing = NULL;
	if (space)
		space->complete = true;
	else
		space = pfs_space_new(model->page_shift, ev->ts_ns);
	if (!space)
		return -ENOMEM;
	space->exe = pfs_has(ev, PFS_F_NAME) ? pfs_intern(model->priv->names, ev->name) : NULL;
	err = leave_space(proc, ev->ts_ns);
	if (err) {
		pfs_space_put(space);
		return err;
	}
	thread->fault_space = NULL;
	err = epoch_add(proc, space, ev->ts_ns);
	if (!err && pfs_has(ev, PFS_F_COMM))
		err = set_comm(model, thread, ev->comm);
	return err;
}

/* The address space may outlive its last thread by a little: an `unmap` of all of it says when. */
static void apply_exit(struct pfs_thread *thread, const struct pfs_event *ev)
{
	thread->died_ns = ev->ts_ns;
	if (ev->last)
		thread->proc->died_ns = ev->ts_ns;
}

/* ---- notes ---- */

static int apply_note(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_note *notes, *note;

	if (!pfs_has(ev, PFS_F_KEY) || !pfs_has(ev, PFS_F_VALUE))
		return 0;
	notes = realloc(model->notes, (model->nr_notes + 1) * sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	model->notes = notes;
	note = &notes[model->nr_notes];
	note->key = strdup(ev->key);
	note->value = strdup(ev->value);
	note->ts_ns = ev->ts_ns;
	note->pid = pfs_has(ev, PFS_F_PID) ? ev->pid : 0;
	if (!note->key || !note->value) {
		free(note->key);
		free(note->value);
		return -ENOMEM;
	}
	model->nr_notes++;
	if (!strcmp(note->key, "page_size") && !model->procs) {
		unsigned long size = strtoul(note->value, NULL, 10);

		if (size >= 1024 && size <= (1UL << 24) && !(size & (size - 1)))
			model->page_shift = __builtin_ctzl(size);
	} else if (!strcmp(note->key, "start")) {
		model->start_ns = ev->ts_ns;
	}
	return 0;
}

/* Notes that speak of a process. */
static int apply_proc_note(struct pfs_model *model, struct pfs_thread *thread,
			   const struct pfs_event *ev)
{
	struct pfs_space *space = pfs_proc_space(thread->proc);

	if (!pfs_has(ev, PFS_F_KEY))
		return 0;
	if (!strcmp(ev->key, "launch"))
		space->launcher = true;
	else if (!strcmp(ev->key, "snapshot"))
		space->complete = true;
	return 0;
}

const char *pfs_model_note(const struct pfs_model *model, const char *key)
{
	for (unsigned int i = model->nr_notes; i-- > 0;)
		if (!strcmp(model->notes[i].key, key))
			return model->notes[i].value;
	return NULL;
}

/* ---- losses ---- */

/* The account of that cpu, made if it is new. More cpus than any machine has share the last one. */
static struct pfs_loss *loss_of(struct pfs_model *model, int32_t cpu, uint64_t now_ns)
{
	struct pfs_loss *losses;

	for (unsigned int i = 0; i < model->nr_losses; i++)
		if (model->losses[i].cpu == cpu || i == 8192)
			return &model->losses[i];
	losses = realloc(model->losses, (model->nr_losses + 1) * sizeof(*losses));
	if (!losses)
		return NULL;
	model->losses = losses;
	losses += model->nr_losses++;
	*losses = (struct pfs_loss){ .cpu = cpu, .first_ns = now_ns };
	return losses;
}

static int apply_lost(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_loss *loss = loss_of(model, pfs_has(ev, PFS_F_CPU) ? ev->cpu : -1, ev->ts_ns);

	if (!loss)
		return -ENOMEM;
	loss->last_ns = ev->ts_ns;
	if (pfs_has(ev, PFS_F_COUNT)) {
		loss->count += ev->count;
		model->lost += ev->count;
	} else {
		loss->unknown++;
		model->lost_unknown++;
	}
	return 0;
}

/* ---- the one entrance ---- */

static int apply_of_thread(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_thread *thread = thread_of(model, ev), *child;

	if (!thread)
		return -ENOMEM;
	/* The name that comes with an exec is the new image's. */
	if (pfs_has(ev, PFS_F_COMM) && ev->kind != PFS_EXEC && set_comm(model, thread, ev->comm))
		return -ENOMEM;
	switch (ev->kind) {
	case PFS_FAULT: return apply_fault(model, thread, ev);
	case PFS_AROUND: return apply_around(model, thread, ev);
	case PFS_HUGE: return apply_huge(model, thread, ev);
	case PFS_MAJOR: return apply_major(model, thread, ev);
	case PFS_SIGNAL: return apply_signal(model, thread);
	case PFS_POPULATE: return apply_populate(model, thread, ev);
	case PFS_ACCESS: return apply_access(model, thread, ev);
	case PFS_MAP:
	case PFS_UNMAP:
	case PFS_PROTECT:
	case PFS_MOVE:
	case PFS_BRK: return apply_layout(model, thread, ev);
	case PFS_FORK: return apply_fork(model, thread, ev);
	case PFS_EXEC: return apply_exec(model, thread, ev);
	case PFS_EXIT:
		apply_exit(thread, ev);
		return 0;
	case PFS_THREAD:
		child = pfs_has(ev, PFS_F_CHILD) ?
			thread_new(model, ev->child, thread->proc, ev->ts_ns) : thread;
		return child ? 0 : -ENOMEM;
	case PFS_NOTE: return apply_proc_note(model, thread, ev);
	default: return 0;
	}
}

int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev)
{
	int err = 0;

	model->nr_events++;
	if (!model->first_ns || ev->ts_ns < model->first_ns)
		model->first_ns = ev->ts_ns;
	if (ev->ts_ns > model->last_ns)
		model->last_ns = ev->ts_ns;
	if (ev->kind == PFS_LOST)
		return apply_lost(model, ev);
	if (ev->kind == PFS_NOTE)
		err = apply_note(model, ev);
	if (!err && pfs_has(ev, PFS_F_TID))
		err = apply_of_thread(model, ev);
	return err;
}

int pfs_model_apply_muted(struct pfs_model *model, const struct pfs_event *ev)
{
	int err;

	model->priv->muted = true;
	err = pfs_model_apply(model, ev);
	model->priv->muted = false;
	return err;
}
