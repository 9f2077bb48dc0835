/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model's entrance, and notes. Processes and threads are in model/life.c, layouts in model/layout.c, faults and
 * other touches in model/touch.c, gaps in model/losses.c.
 */
#include "model/model_priv.h"

#include "base/array.h"
#include "base/intern.h"
#include "model/cache.h"
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
	if (!model->priv) {
		free(model);
		return NULL;
	}
	model->priv->tail = &model->procs;
	return model;
}

void pfs_model_free(struct pfs_model *model)
{
	struct thread_slot *slot, *tmp;
	struct pfs_proc *proc, *next;

	if (!model)
		return;
	cache_free(model->priv);
	pfs_pages_free(model->priv->populated);
	free(model->priv->locked.now);
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
	free(model->quiet);
	pfs_intern_free(model->priv->names);
	free(model->priv);
	free(model);
}

/* ---- notes ---- */

static int keep_note(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_note *note = pfs_array_append(model->notes, model->nr_notes);

	if (!note)
		return -ENOMEM;
	*note = (struct pfs_note){ strdup(ev->key), strdup(ev->value), ev->ts_ns,
				   pfs_has(ev, PFS_F_PID) ? ev->pid : 0 };
	if (!note->key || !note->value) {
		free(note->key);
		free(note->value);
		model->nr_notes--;
		return -ENOMEM;
	}
	return 0;
}

static int apply_fact(struct pfs_model *model, const struct pfs_fact *fact, uint64_t now_ns)
{
	switch (fact->key) {
	case PFS_NOTE_REFAULT_TICK:
		pfs_refault_sum(&model->refaults, &fact->tick);
		return stay_tick(model, &fact->tick, now_ns);
	case PFS_NOTE_REFAULT_STAYED:
		return stay_apply(model, fact, now_ns);
	case PFS_NOTE_MISSED:
		model->missed++;
		return 0;
	case PFS_NOTE_PAGE_SIZE:
		if (!model->procs && fact->count >= 1024 && fact->count <= (1UL << 24) &&
		    !(fact->count & (fact->count - 1)))
			model->page_shift = __builtin_ctzl(fact->count);
		return 0;
	case PFS_NOTE_KERNEL:
		/* 6.7, and 6.6 later on, no longer call neighbours of the heap [heap] */
		model->heap_touches = pfs_kernel_before(fact->text, 6, 6);
		model->priv->removed_rows = pfs_kernel_before(fact->text, 6, 6);
		model->priv->whole_folios = !pfs_kernel_before(fact->text, 6, 18);
		return 0;
	case PFS_NOTE_MACHINE:
		model->priv->x86 = !strcmp(fact->text, "x86_64") || !strcmp(fact->text, "i686");
		return 0;
	case PFS_NOTE_HUGE_PAGES:
		doubt_settings(model, fact);
		return 0;
	case PFS_NOTE_ZERO_PAGE:
		model->priv->no_zero_page = !strcmp(fact->text, "no");
		return 0;
	case PFS_NOTE_SOURCE:
		model->priv->sees_handlers = !strcmp(fact->text, "stap");
		model->polled = !strcmp(fact->text, "perf");
		return 0;
	case PFS_NOTE_LACKS: /* the tracepoint, or the function */
		model->priv->lacks_around |= fact->what && strstr(fact->what, "map_pages");
		model->user_mode_only |= fact->what && !strcmp(fact->what, "exclude_kernel");
		return 0;
	case PFS_NOTE_START:
		model->start_ns = now_ns;
		return 0;
	case PFS_NOTE_LOST:
		return loss_total(model, fact->cpu, fact->count);
	default:
		return 0;
	}
}

static int apply_note(struct pfs_model *model, const struct pfs_event *ev)
{
	struct pfs_fact fact;
	bool known, summed_up;

	if (!pfs_has(ev, PFS_F_KEY) || !pfs_has(ev, PFS_F_VALUE))
		return 0;
	known = pfs_note_read(&fact, ev->key, ev->value);
	summed_up = known && (fact.key == PFS_NOTE_REFAULT_TICK || fact.key == PFS_NOTE_REFAULT_STAYED ||
			      fact.key == PFS_NOTE_MISSED || fact.key == PFS_NOTE_ARGS);
	if (!summed_up && keep_note(model, ev))
		return -ENOMEM;
	return known ? apply_fact(model, &fact, ev->ts_ns) : 0;
}

const char *pfs_model_note(const struct pfs_model *model, const char *key)
{
	for (unsigned int i = model->nr_notes; i-- > 0;)
		if (!strcmp(model->notes[i].key, key))
			return model->notes[i].value;
	return NULL;
}

const char *pfs_model_polled(const struct pfs_model *model)
{
	return model->polled
		       ? "layouts were read now and then: what was removed or moved since the last time is not known"
		       : NULL;
}

bool pfs_model_is_x86(const struct pfs_model *model)
{
	return model->priv->x86;
}

bool pfs_model_has_zero_page(const struct pfs_model *model)
{
	return !model->priv->no_zero_page;
}

bool pfs_model_fact(const struct pfs_model *model, enum pfs_note_key key, struct pfs_fact *fact)
{
	const char *value = pfs_model_note(model, pfs_note_key(key));

	return value && pfs_note_read(fact, pfs_note_key(key), value);
}

uint64_t pfs_counts_hidden(const struct pfs_counts *counts)
{
	uint64_t nr = 0;

	for (unsigned int class = 0; class <= PFS_MAJOR_CLASS; class ++)
		nr += counts->handling[PFS_HOW_HIDDEN][class].exceptions;
	return nr;
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

/* Notes about a process. */
static int apply_proc_note(struct pfs_model *model, struct pfs_thread *thread, const struct pfs_event *ev,
			   struct pfs_outcome *outcome)
{
	struct pfs_space *space = pfs_proc_space(thread->proc);
	int key = pfs_has(ev, PFS_F_KEY) ? pfs_note_find(ev->key) : -1;
	struct pfs_fact fact;

	if (key == PFS_NOTE_LAUNCH)
		space->launcher = true;
	else if (key == PFS_NOTE_ARGS && pfs_note_read(&fact, ev->key, ev->value))
		return life_args(model, thread->proc, &fact);
	else if (key == PFS_NOTE_SNAPSHOT && pfs_note_read(&fact, ev->key, ev->value) && fact.op == PFS_SNAPSHOT_END)
		pfs_space_older(space, ev->ts_ns);
	else if (key == PFS_NOTE_SNAPSHOT)
		pfs_space_found(space);
	return 0;
}

/* What a kind of event does to its thread; NULL: nothing. The name that comes with it is applied first. */
static apply_fn *const apply_kind[PFS_NR_KINDS] = {
	[PFS_FAULT] = touch_fault,	 [PFS_AROUND] = touch_around,  [PFS_POPULATE] = touch_populate,
	[PFS_MAP] = layout_apply,	 [PFS_UNMAP] = layout_apply,   [PFS_PROTECT] = layout_apply,
	[PFS_MOVE] = layout_apply,	 [PFS_BRK] = layout_apply,     [PFS_FORK] = life_fork,
	[PFS_THREAD] = life_thread,	 [PFS_EXEC] = life_exec,       [PFS_EXIT] = life_exit,
	[PFS_SIGNAL] = touch_signal,	 [PFS_HUGE] = touch_huge,      [PFS_MAJOR] = touch_major,
	[PFS_ACCESS] = touch_access,	 [PFS_NOTE] = apply_proc_note, [PFS_ADVISE] = advise_apply,
	[PFS_REACHED] = touch_reached,	 [PFS_REMOTE] = advise_remote, [PFS_EVICT] = advise_evict,
	[PFS_RESIDENT] = touch_resident,
};

static int apply_of_thread(struct pfs_model *model, const struct pfs_event *ev, struct pfs_outcome *outcome)
{
	struct pfs_thread *thread = model_thread_of(model, ev->tid, pfs_has(ev, PFS_F_PID), ev->pid, ev->ts_ns);
	apply_fn *apply = apply_kind[ev->kind];

	if (!thread)
		return -ENOMEM;
	/* The name that comes with an exec is the new image's. */
	if (pfs_has(ev, PFS_F_COMM) && ev->kind != PFS_EXEC && life_comm(model, thread, ev->comm))
		return -ENOMEM;
	if (ev->kind == PFS_FAULT && pfs_has(ev, PFS_F_COUNT))
		apply = touch_counted;
	if (pfs_kind_is(ev, PFS_KIND_ENDS_FAULT) && ev->kind != PFS_FAULT) {
		locked_goes_on(model, thread, ev->ts_ns);
		if (ev->kind != PFS_EXIT && touch_conclude(model, thread))
			return -ENOMEM;
	}
	return apply ? apply(model, thread, ev, outcome) : 0;
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

int pfs_model_apply(struct pfs_model *model, const struct pfs_event *ev, struct pfs_outcome *outcome)
{
	struct pfs_outcome unwanted;
	uint64_t first_ns = model->first_ns;
	int err = 0;

	if (!outcome)
		outcome = &unwanted;
	*outcome = (struct pfs_outcome){ 0 };
	if (!pfs_kind_is(ev, PFS_KIND_THREAD | PFS_KIND_RECORDING)) {
		outcome->muted = model->priv->muted;
		return 0;
	}
	if (ev->kind == PFS_CACHED) /* happens to a file, or is found when all is over */
		return around_cached(model, ev);
	see(model, 1, ev->ts_ns, ev->ts_ns);
	if (ev->kind == PFS_NOTE) /* may be older than what it is about */
		model->first_ns = first_ns;
	if (ev->kind == PFS_LOST)
		err = loss_apply(model, ev);
	else if (ev->kind == PFS_NOTE)
		err = apply_note(model, ev);
	if (err || !pfs_has(ev, PFS_F_TID))
		return err;
	if (ev->kind != PFS_LOST)
		err = apply_of_thread(model, ev, outcome);
	outcome->muted |= model->priv->muted;
	/* A new thread may have been given the number of this one. */
	outcome->thread = model->priv->last && model->priv->last->tid == ev->tid ? model->priv->last
										 : pfs_model_thread(model, ev->tid);
	return err;
}

/* The thread of a run: the one that had the last run of that CPU, most often. NULL: no memory. */
static struct pfs_thread *thread_of_run(struct pfs_model *model, const struct pfs_fault_run *run)
{
	struct pfs_thread **hot = &model->priv->hot[(unsigned int)run->cpu % NR_HOT], *t = *hot;

	if (!t || t->tid != run->tid || (run->pid && (t->proc->pid != run->pid || !t->proc->pid_known)))
		*hot = t = model_thread_of(model, run->tid, run->pid, run->pid, run->ts_ns[0]);
	return t;
}

int pfs_model_apply_faults(struct pfs_model *model, const struct pfs_fault_run *run,
			   const struct pfs_observer *observer)
{
	struct pfs_thread *thread = thread_of_run(model, run);
	struct pfs_fault_run part = *run;
	struct pfs_outcome outcome;
	int nr, err = 0;

	if (!thread)
		return -ENOMEM;
	for (uint32_t rest = run->nr; rest && !err; rest -= nr) {
		const struct fault_batch batch = {
			.addr = part.addr,
			.ts_ns = part.ts_ns,
			.nr = rest,
			.access = run->access <= PFS_EXECUTE ? run->access : 0,
			.mode = run->mode,
			.mapped = fault_on(model, true, run->code),
		};

		nr = touch_faults(model, thread, pfs_proc_space(thread->proc), &batch, &outcome);
		if (nr < 0)
			return nr;
		see(model, nr, part.ts_ns[0], part.ts_ns[nr - 1]);
		part.nr = nr;
		if (observer)
			err = observer->faults(observer->ctx, &part, &outcome);
		part.addr += nr;
		part.ts_ns += nr;
		part.ip += nr;
	}
	return err;
}

void pfs_model_mute(struct pfs_model *model, bool muted)
{
	model->priv->muted = muted && !model->priv->presence;
}

void pfs_model_track_presence(struct pfs_model *model)
{
	model->priv->presence = true;
}
