/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes and threads by number, address spaces by exec epoch; fork, exec and exit. */
#include "model/model_priv.h"

#include "base/array.h"
#include "base/intern.h"
#include "model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- processes and threads ---- */

void model_proc_free(struct proc_slot *slot)
{
	for (unsigned int i = 0; i < slot->proc.nr_epochs; i++)
		pfs_space_put(slot->proc.epochs[i].space);
	free(slot->proc.epochs);
	free(slot);
}

void model_thread_free(struct thread_slot *slot)
{
	pfs_space_put(slot->thread.forking);
	pfs_space_put(slot->thread.execing);
	free(slot);
}

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
	struct pfs_epoch *epoch = space ? pfs_array_append(proc->epochs, proc->nr_epochs) : NULL;

	if (!epoch) {
		pfs_space_put(space);
		return -ENOMEM;
	}
	*epoch = (struct pfs_epoch){ .space = space, .start_ns = now_ns };
	return 0;
}

/* NULL: no memory. */
static struct pfs_space *space_new(const struct pfs_model *model, uint64_t now_ns)
{
	struct pfs_pages **beside = &model->priv->pages;
	struct pfs_space *space;

	if (!*beside)
		*beside = pfs_pages_new(model->page_shift);
	space = *beside ? pfs_space_new(*beside, now_ns) : NULL;
	if (!space)
		return NULL;
	space->heap_touches = model->heap_touches;
	if (model->priv->presence && pfs_space_track_presence(space)) {
		pfs_space_put(space);
		return NULL;
	}
	return space;
}

/* A new process of that pid, with `space` (reference taken; NULL: an empty one). */
static struct pfs_proc *proc_new(struct pfs_model *model, int32_t pid, struct pfs_space *space, uint64_t now_ns)
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
	if (HASH_ADD_FAILED(slot)) {
		model_proc_free(slot);
		return NULL;
	}
	*model->priv->tail = &slot->proc;
	model->priv->tail = &slot->proc.next;
	model->nr_procs++;
	return &slot->proc;
}

static struct pfs_thread *thread_new(struct pfs_model *model, int32_t tid, struct pfs_proc *proc, uint64_t now_ns)
{
	struct thread_slot *slot;

	HASH_FIND_INT(model->priv->threads, &tid, slot);
	if (slot) { /* the number is reused */
		HASH_DEL(model->priv->threads, slot);
		if (model->priv->last == &slot->thread)
			model->priv->last = NULL;
		memset(model->priv->hot, 0, sizeof(model->priv->hot));
		model_thread_free(slot);
	}
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return NULL;
	slot->thread.tid = tid;
	slot->thread.proc = proc;
	slot->thread.born_ns = now_ns;
	slot->thread.died_ns = UINT64_MAX;
	slot->thread.comm = proc->comm;
	HASH_ADD_INT(model->priv->threads, thread.tid, slot);
	if (HASH_ADD_FAILED(slot)) {
		free(slot);
		return NULL;
	}
	slot->thread.nr = ++proc->nr_threads;
	return &slot->thread;
}

struct pfs_thread *model_thread_of(struct pfs_model *model, int32_t tid, bool pid_known, int32_t pid, uint64_t ts_ns)
{
	struct pfs_thread *thread = model->priv->last;

	if (thread && thread->tid == tid && (!pid_known || (thread->proc->pid == pid && thread->proc->pid_known)))
		return thread;
	thread = pfs_model_thread(model, tid);
	if (!thread || (pid_known && thread->proc->pid != pid)) {
		struct pfs_proc *proc;

		pid = pid_known ? pid : tid;
		proc = pfs_model_proc(model, pid) ?: proc_new(model, pid, NULL, ts_ns);
		if (proc && thread) { /* it was taken for a process of its own */
			thread->proc = proc;
			thread->nr = ++proc->nr_threads;
		} else {
			thread = proc ? thread_new(model, tid, proc, ts_ns) : NULL;
		}
		if (!thread)
			return NULL;
	}
	if (pid_known)
		thread->proc->pid_known = true;
	model->priv->last = thread;
	return thread;
}

struct pfs_space *model_space_of_region(struct pfs_model *model, const struct pfs_event *ev)
{
	const struct pfs_thread *target = pfs_has(ev, PFS_F_TARGET) ? pfs_model_thread(model, ev->target) : NULL;

	if (target)
		return pfs_proc_space(target->proc);
	for (struct pfs_proc *proc = model->procs; proc; proc = proc->next) {
		struct pfs_space *space = pfs_proc_space(proc);

		for (unsigned int i = pfs_space_lower(space, ev->start);
		     i < space->nr_live && space->live[i]->start < ev->end; i++)
			if (space->live[i]->have & PFS_HAS(PFS_F_ID) && space->live[i]->id == ev->id)
				return space;
	}
	return NULL;
}

/* Takes the space that an exec by another thread of the process began to build. NULL: there is none. */
static struct pfs_space *take_execing(struct pfs_model *model, const struct pfs_proc *proc)
{
	struct pfs_space *space = NULL;
	struct thread_slot *slot, *next;

	HASH_ITER (hh, model->priv->threads, slot, next)
		if (!space && slot->thread.proc == proc && slot->thread.execing) {
			space = slot->thread.execing;
			slot->thread.execing = slot->thread.fault_space = NULL;
		}
	return space;
}

struct pfs_space *model_space_of(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev)
{
	if (!pfs_has(ev, PFS_F_SPACE) || ev->space == PFS_SPACE_CURRENT)
		return pfs_proc_space(thread->proc);
	if (ev->space == PFS_SPACE_EXEC) {
		if (!thread->execing && thread->died_ns != UINT64_MAX) /* the first one: another took over its number */
			thread->execing = take_execing(model, thread->proc);
		if (!thread->execing)
			thread->execing = space_new(model, ev->ts_ns);
		return thread->execing;
	}
	if (!thread->forking)
		thread->forking = pfs_space_copy(pfs_proc_space(thread->proc), ev->ts_ns);
	return thread->forking;
}

/* ---- process life ---- */

int life_comm(struct pfs_model *model, struct pfs_thread *thread, const char *comm)
{
	const char *name = pfs_intern(&model->priv->names, comm);

	if (!name)
		return -ENOMEM;
	thread->comm = name;
	if (thread->tid == thread->proc->pid || !thread->proc->comm) {
		thread->proc->comm = name;
		thread->proc->epochs[thread->proc->nr_epochs - 1].comm = name;
	}
	return 0;
}

/* The command line of an exec may be read before the event that ends it. */
int life_args(struct pfs_model *model, struct pfs_proc *proc, const struct pfs_fact *fact)
{
	const struct pfs_epoch *epoch = &proc->epochs[proc->nr_epochs - 1];
	const char *args = pfs_intern(&model->priv->names, fact->text);

	*(fact->since_ns > epoch->start_ns ? &proc->next_args : &epoch->space->args) = args;
	return args ? 0 : -ENOMEM;
}

int life_fork(struct pfs_model *model, struct pfs_thread *parent, const struct pfs_event *ev,
	      struct pfs_outcome *outcome)
{
	struct pfs_space *current = pfs_proc_space(parent->proc), *space;
	struct pfs_thread *thread;
	struct pfs_proc *child;

	if (!pfs_has(ev, PFS_F_CHILD)) { /* the copy begins; its regions follow */
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
		if (parent->forking && pfs_space_confirm(space))
			return -ENOMEM;
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

int life_exec(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
	      struct pfs_outcome *outcome)
{
	struct pfs_proc *proc = thread->proc;
	struct pfs_space *space = thread->execing;
	int err;

	thread->execing = NULL;
	loss_exec(model, proc->pid, ev->ts_ns);
	/* A thread that is not the first one takes over the first one's number by its exec. */
	if (!space && pfs_has(ev, PFS_F_CHILD_TID) && ev->child_tid != ev->tid)
		space = take_execing(model, proc);
	if (space) {
		space->complete = true;
		pfs_space_begin(space);
	} else {
		space = space_new(model, ev->ts_ns);
	}
	if (!space)
		return -ENOMEM;
	space->args = proc->next_args;
	proc->next_args = NULL;
	space->exe = pfs_has(ev, PFS_F_NAME) ? pfs_intern(&model->priv->names, ev->name) : NULL;
	err = pfs_has(ev, PFS_F_NAME) && ev->name && !space->exe ? -ENOMEM : leave_space(proc, ev->ts_ns);
	if (err) {
		pfs_space_put(space);
		return err;
	}
	thread->fault_space = NULL;
	thread->died_ns = UINT64_MAX; /* of the first one: another took over its number */
	err = epoch_add(proc, space, ev->ts_ns);
	if (!err && pfs_has(ev, PFS_F_COMM))
		err = life_comm(model, thread, ev->comm);
	return err;
}

/* The first events of a thread may come before the one of its start. */
int life_thread(struct pfs_model *model, struct pfs_thread *maker, const struct pfs_event *ev,
		struct pfs_outcome *outcome)
{
	const struct pfs_thread *child = pfs_model_thread(model, ev->child);

	if (!pfs_has(ev, PFS_F_CHILD))
		return 0;
	if (child && child->proc == maker->proc && child->died_ns == UINT64_MAX && child != maker)
		return 0;
	return thread_new(model, ev->child, maker->proc, ev->ts_ns) ? 0 : -ENOMEM;
}

/* The address space may outlive its last thread, until an `unmap` of all of it. */
int life_exit(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
	      struct pfs_outcome *outcome)
{
	thread->died_ns = ev->ts_ns;
	pfs_space_put(thread->execing); /* it was killed in the middle of an exec */
	thread->execing = thread->fault_space = NULL;
	if (ev->last)
		thread->proc->died_ns = ev->ts_ns;
	return 0;
}
