/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: what the events add up to. Here is the one entrance, and what is of no process: notes.
 * Whose events they are is model/life.c's, layouts are model/layout.c's, what was touched is model/touch.c's, what
 * is missing is model/losses.c's.
 */
#include "model/model_priv.h"

#include "base/intern.h"
#include "model/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void pfs_model_free(struct pfs_model *model)
{
	struct thread_slot *slot, *tmp;
	struct pfs_proc *proc, *next;

	if (!model)
		return;
	pfs_pages_free_all(model->priv->pages);
	HASH_ITER (hh, model->priv->threads, slot, tmp) {
		HASH_DEL(model->priv->threads, slot);
		model_thread_free(slot);
	}
	HASH_CLEAR(hh, model->priv->by_pid);
	for (proc = model->procs; proc; proc = next) {
		next = proc->next;
		model_proc_free((struct proc_slot *)proc);
	}
	for (unsigned int i = 0; i < model->nr_notes; i++) {
		free(model->notes[i].key);
		free(model->notes[i].value);
	}
	free(model->notes);
	free(model->lost_on);
	free(model->losses);
	pfs_intern_free(model->priv->names);
	free(model->priv);
	free(model);
}

/* ---- notes ---- */

static int apply_note(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_note *notes, *note;
	struct pfs_fact fact;
	bool known;

	if (!pfs_has(ev, PFS_F_KEY) || !pfs_has(ev, PFS_F_VALUE))
		return 0;
	known = pfs_note_read(&fact, ev->key, ev->value);
	if (known && fact.key == PFS_NOTE_REFAULT_TICK) {
		pfs_refault_sum(&model->refaults, &fact.tick);
		return 0;
	}
	if (known && fact.key == PFS_NOTE_MISSED) {
		model->missed++;
		return 0;
	}
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
	switch (known ? fact.key : PFS_NR_NOTES) {
	case PFS_NOTE_PAGE_SIZE:
		if (!model->procs && fact.count >= 1024 && fact.count <= (1UL << 24) &&
		    !(fact.count & (fact.count - 1)))
			model->page_shift = __builtin_ctzl(fact.count);
		return 0;
	case PFS_NOTE_KERNEL: /* 6.7, and 6.6 later on, no longer call neighbours of the heap [heap] */
		model->heap_touches = pfs_kernel_before(fact.text, 6, 6);
		return 0;
	case PFS_NOTE_START:
		model->start_ns = ev->ts_ns;
		return 0;
	case PFS_NOTE_LOST:
		return loss_total(model, fact.cpu, fact.count);
	default:
		return 0;
	}
}

/* Notes that speak of a process. */
static int apply_proc_note(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev)
{
	struct pfs_space *space = pfs_proc_space(thread->proc);

	if (!pfs_has(ev, PFS_F_KEY))
		return 0;
	if (!strcmp(ev->key, "launch"))
		space->launcher = true;
	else if (!strcmp(ev->key, "snapshot"))
		pfs_space_found(space);
	return 0;
}

const char *pfs_model_note(const struct pfs_model *model, const char *key)
{
	for (unsigned int i = model->nr_notes; i-- > 0;)
		if (!strcmp(model->notes[i].key, key))
			return model->notes[i].value;
	return NULL;
}

bool pfs_model_fact(const struct pfs_model *model, enum pfs_note_key key, struct pfs_fact *fact)
{
	const char *value = pfs_model_note(model, pfs_note_key(key));

	return value && pfs_note_read(fact, pfs_note_key(key), value);
}

bool pfs_model_refault(const struct pfs_model *model, struct pfs_refault_how *how)
{
	struct pfs_fact fact;

	if (!pfs_model_fact(model, PFS_NOTE_REFAULT, &fact) || fact.method == PFS_REFAULT_AUTO)
		return false;
	*how = (struct pfs_refault_how){ .method = fact.method, .interval_ns = fact.interval_ns };
	pfs_refault_how(how, &model->refaults);
	return true;
}

/* ---- the one entrance ---- */

static int apply_of_thread(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_thread *thread = model_thread_of(model, ev), *child;

	if (!thread)
		return -ENOMEM;
	/* The name that comes with an exec is the new image's. */
	if (pfs_has(ev, PFS_F_COMM) && ev->kind != PFS_EXEC && life_comm(model, thread, ev->comm))
		return -ENOMEM;
	switch (ev->kind) {
	case PFS_FAULT:
		return pfs_has(ev, PFS_F_COUNT) ? touch_counted(model, thread, ev) : touch_fault(model, thread, ev);
	case PFS_AROUND:
		return touch_around(model, thread, ev);
	case PFS_HUGE:
		return touch_huge(model, thread, ev);
	case PFS_MAJOR:
		return touch_major(model, thread, ev);
	case PFS_SIGNAL:
		return touch_signal(model, thread);
	case PFS_POPULATE:
		return touch_populate(model, thread, ev);
	case PFS_ACCESS:
		return touch_access(model, thread, ev);
	case PFS_MAP:
	case PFS_UNMAP:
	case PFS_PROTECT:
	case PFS_MOVE:
	case PFS_BRK:
		return layout_apply(model, thread, ev);
	case PFS_FORK:
		return life_fork(model, thread, ev);
	case PFS_EXEC:
		return life_exec(model, thread, ev);
	case PFS_EXIT:
		life_exit(thread, ev);
		return 0;
	case PFS_THREAD:
		child = pfs_has(ev, PFS_F_CHILD) ? life_thread(model, thread, ev) : thread;
		return child ? 0 : -ENOMEM;
	case PFS_NOTE:
		return apply_proc_note(model, thread, ev);
	default:
		return 0;
	}
}

/* Events, the first of them and the last at those times. */
static void see(struct pfs_model *model, uint64_t nr, uint64_t from_ns, uint64_t to_ns)
{
	model->nr_events += nr;
	if (!model->first_ns || from_ns < model->first_ns)
		model->first_ns = from_ns;
	if (to_ns > model->last_ns)
		model->last_ns = to_ns;
}

int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev)
{
	uint64_t first_ns = model->first_ns;
	int err = 0;

	if (ev->kind == PFS_TRACE)
		return 0;
	see(model, 1, ev->ts_ns, ev->ts_ns);
	if (ev->kind == PFS_NOTE) /* may be older than what it is about */
		model->first_ns = first_ns;
	if (ev->kind == PFS_LOST)
		return loss_apply(model, ev);
	if (ev->kind == PFS_NOTE)
		err = apply_note(model, ev);
	if (!err && pfs_has(ev, PFS_F_TID))
		err = apply_of_thread(model, ev);
	return err;
}

/* As many faults of the run, from `at` on, as there is nothing else to know about. Their number, or -ENOMEM. */
static int apply_plain(struct pfs_model *model, const struct pfs_fault_run *run, uint32_t at)
{
	struct pfs_thread *t = model->priv->hot[(unsigned int)run->cpu % NR_HOT];
	int nr;

	if (!t || t->tid != run->tid || (run->pid && (t->proc->pid != run->pid || !t->proc->pid_known)))
		return 0;
	nr = touch_run(model, t, run, at);
	if (nr > 0)
		see(model, nr, run->ts_ns[at], run->ts_ns[at + nr - 1]);
	return nr;
}

static int apply_run(struct pfs_model *model, const struct pfs_fault_run *run)
{
	for (uint32_t i = 0; i < run->nr; i++) {
		struct pfs_event ev;
		int nr = apply_plain(model, run, i), err;

		if (nr < 0)
			return nr;
		i += nr;
		if (i == run->nr)
			break;
		pfs_run_event(&ev, run, i);
		err = pfs_model_apply(model, &ev);
		if (err)
			return err;
		model->priv->hot[(unsigned int)run->cpu % NR_HOT] = model->priv->last;
	}
	return 0;
}

int pfs_model_apply_faults(struct pfs_model *model, const struct pfs_fault_run *runs, unsigned int nr)
{
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		err = apply_run(model, &runs[i]);
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
