/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: what the events add up to. Processes and threads by number, address spaces by exec epoch.
 * How regions change is space.c's, what was touched is model_touch.c's; this file says whose they are.
 */
#include "model_priv.h"

#include "intern.h"
#include "space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

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

/* As the kernel of the recording has them. NULL: no memory. */
static struct pfs_space *space_new(const struct pfs_model *model, uint64_t now_ns)
{
	struct pfs_space *space = pfs_space_new(model->page_shift, now_ns);

	if (space)
		space->heap_touches = model->heap_touches;
	return space;
}

/* A new process of that pid, with `space` (reference taken; NULL: an empty one). */
static struct pfs_proc *proc_new(struct pfs_model *model, int32_t pid, struct pfs_space *space,
				 uint64_t now_ns)
{
	struct proc_slot *slot = calloc(1, sizeof(*slot)), *old;

	if (!slot || epoch_add(&slot->proc, space ? space : space_new(model, now_ns), now_ns)) {
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

struct pfs_space *model_space_of_region(struct pfs_model *model, const struct pfs_event *ev)
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

struct pfs_space *model_space_of(struct pfs_model *model, struct pfs_thread *thread,
				 const struct pfs_event *ev)
{
	if (!pfs_has(ev, PFS_F_SPACE) || ev->space == PFS_SPACE_CURRENT)
		return pfs_proc_space(thread->proc);
	if (ev->space == PFS_SPACE_EXEC) {
		if (!thread->execing)
			thread->execing = space_new(model, ev->ts_ns);
		return thread->execing;
	}
	if (!thread->forking)
		thread->forking = pfs_space_copy(pfs_proc_space(thread->proc), ev->ts_ns);
	return thread->forking;
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
	uint64_t mask = model_page_size(model) - 1;
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

	if (!pfs_has(ev, PFS_F_BY)) {
		thread->ring = ev->start;
		return pfs_space_destroy_ring(space, ev->start, ev->ts_ns);
	}
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

/* A fork may still copy a ring whose io_destroy has begun. What it was, the parent's space knows. */
static void describe_leaving_ring(const struct pfs_thread *thread, struct pfs_event *map)
{
	const struct pfs_region *ring;

	if (pfs_has(map, PFS_F_NAME) || pfs_space_find(thread->forking, map->start))
		return;
	ring = pfs_space_gone_ring(pfs_proc_space(thread->proc), map->start);
	if (!ring || ring->end != map->end)
		return;
	map->perms = ring->perms;
	map->off = ring->off;
	map->dev = ring->dev;
	map->ino = ring->ino;
	map->name = ring->name;
	map->have |= ring->have & (PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_OFF) | PFS_HAS(PFS_F_DEV) |
				   PFS_HAS(PFS_F_INO) | PFS_HAS(PFS_F_NAME));
}

/* A region of the copy that a fork is making, as the kernel tells them one by one. */
static int map_copied(struct pfs_thread *thread, struct pfs_event *map)
{
	struct pfs_region *region;
	int err;

	describe_leaving_ring(thread, map);
	err = pfs_space_map(thread->forking, map);
	region = pfs_space_find(thread->forking, map->start);
	if (region)
		region->inherited = true;
	return err;
}

static int apply_layout(struct pfs_model *model, struct pfs_thread *thread,
			const struct pfs_event *said)
{
	const struct pfs_event whole = in_whole_pages(model, said), *ev = &whole;
	bool other = pfs_has(ev, PFS_F_SPACE) && ev->space == PFS_SPACE_OTHER;
	struct pfs_space *space = other ? model_space_of_region(model, ev) :
					  model_space_of(model, thread, ev);
	struct pfs_counts *counts = &thread->proc->counts, *all;
	struct pfs_event map;

	if (!space)
		return other ? 0 : -ENOMEM;
	thread->ring = 0;
	all = model_counts(model, space);
	map = *ev;
	if (pfs_has(ev, PFS_F_NAME)) {
		map.name = pfs_intern(model->priv->names, ev->name);
		if (!map.name)
			return -ENOMEM;
	}
	switch (ev->kind) {
	case PFS_MAP:
		counts->maps += !space->launcher;
		all->maps++;
		return space == thread->forking ? map_copied(thread, &map) :
						  pfs_space_map(space, &map);
	case PFS_UNMAP:
		counts->unmaps += !space->launcher;
		all->unmaps++;
		if (!pfs_has(ev, PFS_F_END))
			return apply_detach(thread, space, ev);
		if (pfs_has(ev, PFS_F_BY))
			return pfs_space_unmap_moved(space, ev);
		if (pfs_has(ev, PFS_F_LEN))
			return pfs_space_replace(space, ev);
		if (pfs_has(ev, PFS_F_FROM) && !pfs_space_find(space, ev->from))
			return 0;
		if (ev->start == 0 && ev->end == UINT64_MAX)
			return clear_space(thread, space, ev);
		return pfs_space_unmap(space, ev->start, ev->end, ev->ts_ns);
	case PFS_PROTECT:
		return pfs_space_protect(space, &map);
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
	if (space) {
		space->complete = true;
		pfs_space_begin(space);
	} else {
		space = space_new(model, ev->ts_ns);
	}
	if (!space)
		return -ENOMEM;
	space->exe = pfs_has(ev, PFS_F_NAME) ? pfs_intern(model->priv->names, ev->name) : NULL;
	err = leave_space(proc, ev->ts_ns);
	if (err) {
		pfs_space_put(space);
		return err;
	}
	thread->fault_space = NULL;
	thread->died_ns = UINT64_MAX;	/* of the first one: another took over its number */
	err = epoch_add(proc, space, ev->ts_ns);
	if (!err && pfs_has(ev, PFS_F_COMM))
		err = set_comm(model, thread, ev->comm);
	return err;
}

/* What a thread does may be told before it is told that it was made. */
static struct pfs_thread *thread_begins(struct pfs_model *model, struct pfs_thread *maker,
					const struct pfs_event *ev)
{
	struct pfs_thread *child = pfs_model_thread(model, ev->child);

	if (child && child->proc == maker->proc && child->died_ns == UINT64_MAX && child != maker)
		return child;
	return thread_new(model, ev->child, maker->proc, ev->ts_ns);
}

/* The address space may outlive its last thread by a little: an `unmap` of all of it says when. */
static void apply_exit(struct pfs_thread *thread, const struct pfs_event *ev)
{
	thread->died_ns = ev->ts_ns;
	if (ev->last)
		thread->proc->died_ns = ev->ts_ns;
}

/* "6.1.0-56-cloud-amd64"? Linux 6.7, and 6.6 later on, no longer call neighbours of the heap [heap]. */
static bool before_6_6(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < 6 || (major == 6 && minor < 6);
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
	} else if (!strcmp(note->key, "kernel")) {
		model->heap_touches = before_6_6(note->value);
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

/* The exec that ends a launch may be among what was lost: better too much of it shown than nothing. */
static void launches_end(struct pfs_model *model)
{
	for (struct pfs_proc *proc = model->procs; proc; proc = proc->next)
		pfs_proc_space(proc)->launcher = false;
}

static int apply_lost(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_loss *loss = loss_of(model, pfs_has(ev, PFS_F_CPU) ? ev->cpu : -1, ev->ts_ns);

	if (!loss)
		return -ENOMEM;
	launches_end(model);
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
	case PFS_FAULT:
		return pfs_has(ev, PFS_F_COUNT) ? touch_counted(model, thread, ev) :
						  touch_fault(model, thread, ev);
	case PFS_AROUND: return touch_around(model, thread, ev);
	case PFS_HUGE: return touch_huge(model, thread, ev);
	case PFS_MAJOR: return touch_major(model, thread, ev);
	case PFS_SIGNAL: return touch_signal(model, thread);
	case PFS_POPULATE: return touch_populate(model, thread, ev);
	case PFS_ACCESS: return touch_access(model, thread, ev);
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
		child = pfs_has(ev, PFS_F_CHILD) ? thread_begins(model, thread, ev) : thread;
		return child ? 0 : -ENOMEM;
	case PFS_NOTE: return apply_proc_note(model, thread, ev);
	default: return 0;
	}
}

int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev)
{
	int err = 0;

	model->nr_events++;
	/* Notes may be older than what they are about. */
	if (ev->kind != PFS_NOTE && (!model->first_ns || ev->ts_ns < model->first_ns))
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
