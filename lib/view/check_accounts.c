/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's counts of processes: notes "counted", each of the time when its process ended or the recording did.
 */
#include "view/check_priv.h"

#include <string.h>

/* The newest process of that number at that time. */
static const struct pfs_proc *proc_at(const struct pfs_model *model, int32_t pid, uint64_t ts_ns)
{
	const struct pfs_proc *found = NULL;

	for (const struct pfs_proc *proc = model->procs; proc; proc = proc->next)
		if (proc->pid == pid && proc->born_ns <= ts_ns)
			found = proc;
	return found;
}

/* Two threads that end at once may both account for the process: the second has all. */
static bool is_newest(const struct pfs_model *model, unsigned int i, const struct pfs_proc *proc)
{
	const struct pfs_note *note = &model->notes[i];

	while (++i < model->nr_notes)
		if (!strcmp(model->notes[i].key, "counted") && model->notes[i].pid == note->pid &&
		    proc_at(model, note->pid, model->notes[i].ts_ns) == proc)
			return false;
	return true;
}

const struct pfs_proc *check_account(const struct pfs_model *model, unsigned int i, struct pfs_fact *fact)
{
	const struct pfs_note *note = &model->notes[i];
	const struct pfs_proc *proc;

	if (strcmp(note->key, "counted") || !pfs_note_read(fact, note->key, note->value))
		return NULL;
	proc = proc_at(model, note->pid, note->ts_ns);
	return proc && is_newest(model, i, proc) ? proc : NULL;
}

bool check_accounts(const struct pfs_model *model, uint64_t *sum, unsigned int *nr)
{
	unsigned int nr_procs = 0;

	*sum = *nr = 0;
	for (const struct pfs_proc *proc = model->procs; proc; proc = proc->next)
		nr_procs++;
	for (unsigned int i = 0; i < model->nr_notes; i++) {
		struct pfs_fact fact;

		if (!check_account(model, i, &fact))
			continue;
		if (fact.running)
			return false;
		*sum += fact.minor + fact.major;
		++*nr;
	}
	return nr_procs && *nr == nr_procs;
}
