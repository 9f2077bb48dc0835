/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: what the events add up to. Here is the one entrance, and what is of no process: notes.
 * Whose events they are is model_life.c's, layouts are model_layout.c's, what was touched is model_touch.c's, what
 * is missing is model_loss.c's.
 */
#include "model_priv.h"

#include "intern.h"
#include "space.h"

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
	HASH_ITER(hh, model->priv->threads, slot, tmp) {
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

/* "6.1.0-56-cloud-amd64"? Linux 6.7, and 6.6 later on, no longer call neighbours of the heap [heap]. */
static bool before_6_6(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < 6 || (major == 6 && minor < 6);
}

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
	} else if (!strcmp(note->key, "lost")) {
		return loss_total(model, ev);
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
	case PFS_BRK: return layout_apply(model, thread, ev);
	case PFS_FORK: return life_fork(model, thread, ev);
	case PFS_EXEC: return life_exec(model, thread, ev);
	case PFS_EXIT:
		life_exit(thread, ev);
		return 0;
	case PFS_THREAD:
		child = pfs_has(ev, PFS_F_CHILD) ? life_thread(model, thread, ev) : thread;
		return child ? 0 : -ENOMEM;
	case PFS_NOTE: return apply_proc_note(model, thread, ev);
	default: return 0;
	}
}

static void see(struct pfs_model *model, uint64_t now_ns)
{
	model->nr_events++;
	if (!model->first_ns || now_ns < model->first_ns)
		model->first_ns = now_ns;
	if (now_ns > model->last_ns)
		model->last_ns = now_ns;
}

int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev)
{
	uint64_t first_ns = model->first_ns;
	int err = 0;

	see(model, ev->ts_ns);
	if (ev->kind == PFS_NOTE)	/* may be older than what it is about */
		model->first_ns = first_ns;
	if (ev->kind == PFS_LOST)
		return loss_apply(model, ev);
	if (ev->kind == PFS_NOTE)
		err = apply_note(model, ev);
	if (!err && pfs_has(ev, PFS_F_TID))
		err = apply_of_thread(model, ev);
	return err;
}

int pfs_model_apply_faults(struct pfs_model *model, const struct pfs_plain_fault *faults, unsigned int nr)
{
	struct plain_run run = { 0 };
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++) {
		const struct pfs_plain_fault *f = &faults[i];
		struct pfs_thread **hot = &model->priv->hot[(unsigned int)f->cpu % NR_HOT], *t = *hot;
		struct pfs_event ev;

		if (t && t->tid == f->tid && t->proc->pid == f->pid) {
			err = touch_plain(model, &run, t, f);
			if (err <= 0) {
				see(model, f->ts_ns);
				continue;
			}
		}
		touch_plain_end(model, &run);
		pfs_plain_event(&ev, f);
		err = pfs_model_apply(model, &ev);
		*hot = model->priv->last;
	}
	touch_plain_end(model, &run);
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
