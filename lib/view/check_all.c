/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks a recording that has every fault with its class, those without an exception included: the numbers of minor
 * and major faults must be the kernel's, of each process (note "counted", from the first event of its threads to their
 * ends) and, for a command, of its rusage. Any difference is an error.
 */
#include "view/view.h"

#include "event/notes.h"
#include "view/loss.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct pair {
	uint64_t minor, major;
};

/* What the kernel counted for a process, and how many of its threads ran when the recording began. */
struct totals {
	FILE *out;
	unsigned int nr_held; /* accounts of the kernel that were looked at */
	unsigned int nr_different;
	unsigned int nr_maybe_lost; /* of these: they may be among the lost events */
};

static struct pair recorded(const struct pfs_counts *n)
{
	return (struct pair){ n->minor + n->unasked_minor, n->major + n->unasked_major };
}

static struct pair add(struct pair a, struct pair b)
{
	return (struct pair){ a.minor + b.minor, a.major + b.major };
}

static struct pair counted(const struct pfs_fact *fact)
{
	return (struct pair){ fact->minor, fact->major };
}

static void line(FILE *out, struct pair n, const char *what)
{
	fprintf(out, "%12" PRIu64 "%12" PRIu64 "  %s\n", n.minor, n.major, what);
}

static void compare_one(struct totals *t, uint64_t ours, uint64_t kernel, const char *class,
			const struct pfs_missing *missing, const char *whose)
{
	if (ours == kernel)
		return;
	t->nr_different++;
	if (ours < kernel && missing->nr && pfs_missing_may_be(missing, kernel - ours)) {
		t->nr_maybe_lost++;
		fprintf(t->out, "%24s  MAY BE LOST: %" PRIu64 " %s faults that the kernel counted, %s\n", "",
			kernel - ours, class, whose);
		return;
	}
	fprintf(t->out, "%24s  UNEXPLAINED: %" PRIu64 " %s faults %s, %s\n", "",
		ours > kernel ? ours - kernel : kernel - ours, class,
		ours > kernel ? "recorded that the kernel did not count"
			      : "that the kernel counted and the recording lacks",
		whose);
}

static void compare(struct totals *t, struct pair ours, struct pair kernel, const struct pfs_missing *missing,
		    const char *whose)
{
	t->nr_held++;
	compare_one(t, ours.minor, kernel.minor, "minor", missing, whose);
	compare_one(t, ours.major, kernel.major, "major", missing, whose);
}

/* ---- what was recorded ---- */

static void put_recorded(FILE *out, const struct pfs_model *model, struct pair all)
{
	const struct pfs_counts *n = &model->counts, *launcher = &model->launcher;
	struct pair exceptions = { n->minor, n->major }, unasked = { n->unasked_minor, n->unasked_major };
	uint64_t no_page = n->faults - n->minor - n->major;

	fprintf(out, "%12s%12s\n", "minor", "major");
	line(out, exceptions, "page faults (exceptions) that got a page");
	line(out, unasked, "made by the kernel itself, without an exception (get_user_pages)");
	if (launcher->faults)
		line(out, recorded(launcher), "pfscope's own child, before the command");
	line(out, all, "recorded in total");
	if (no_page)
		fprintf(out,
			"%24" PRIu64 "  got no page, and are not counted (%" PRIu64 " ended in a "
			"signal)\n",
			no_page, n->signal);
}

/* ---- the kernel's accounts ---- */

/* The process that was of that number at that time. */
static const struct pfs_proc *proc_at(const struct pfs_model *model, int32_t pid, uint64_t ts_ns)
{
	for (const struct pfs_proc *proc = model->procs; proc; proc = proc->next)
		if (proc->pid == pid && proc->born_ns <= ts_ns && ts_ns <= proc->died_ns)
			return proc;
	return NULL;
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

/* pfscope's own child becomes the command's first process: the kernel knows no difference. */
static bool was_launched(const struct pfs_model *model, const struct pfs_proc *proc)
{
	for (unsigned int i = 0; i < model->nr_notes; i++)
		if (!strcmp(model->notes[i].key, "launch") && model->notes[i].pid == proc->pid)
			return !proc->ppid;
	return false;
}

static struct pair recorded_of(const struct pfs_model *model, const struct pfs_proc *proc)
{
	struct pair n = recorded(&proc->counts);

	return was_launched(model, proc) ? add(n, recorded(&model->launcher)) : n;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Of a thread that runs, its count is read a moment after it is recorded, and a fault that is under way
 * then is not: there may be one too few or too many.
 */
static void compare_process(struct totals *t, const struct pfs_model *model, const struct pfs_proc *proc,
			    const struct pfs_fact *kernel)
{
	struct pair ours = recorded_of(model, proc);
	uint64_t off = distance(ours.minor, kernel->minor) + distance(ours.major, kernel->major);
	struct pfs_epochs life = pfs_whole_life(model, proc);
	struct pfs_missing missing = pfs_gaps_sum(pfs_gaps_of(pfs_gaps_shown(model, NULL), &life, NULL));
	char whose[64];

	snprintf(whose, sizeof(whose), "in process %d", proc->pid);
	if (!off || off > kernel->running) {
		compare(t, ours, counted(kernel), &missing, whose);
		return;
	}
	t->nr_held++;
	fprintf(t->out, "%24" PRIu64 "  in progress when the recording began, %s\n", off, whose);
}

static void check_processes(struct totals *t, const struct pfs_model *model)
{
	struct pair sum = { 0 };
	unsigned int nr = 0;

	for (unsigned int i = 0; i < model->nr_notes; i++) {
		const struct pfs_note *note = &model->notes[i];
		const struct pfs_proc *proc;
		struct pfs_fact kernel;

		if (strcmp(note->key, "counted") || !pfs_note_read(&kernel, note->key, note->value))
			continue;
		proc = proc_at(model, note->pid, note->ts_ns);
		if (!proc || !is_newest(model, i, proc))
			continue;
		compare_process(t, model, proc, &kernel);
		sum = add(sum, counted(&kernel));
		nr++;
	}
	if (nr) {
		char what[96];

		snprintf(what, sizeof(what), "counted by the kernel for %u process%s that ended", nr,
			 nr == 1 ? "" : "es");
		line(t->out, sum, what);
	}
}

static void check_rusage(struct totals *t, const struct pfs_model *model, struct pair all)
{
	struct pfs_missing missing = pfs_gaps_sum(pfs_gaps_shown(model, NULL));
	struct pfs_fact usage, before;
	struct pair kernel;

	if (!pfs_model_fact(model, PFS_NOTE_RUSAGE, &usage) ||
	    !pfs_model_fact(model, PFS_NOTE_COUNTED_BEFORE, &before) || usage.minor < before.minor ||
	    usage.major < before.major)
		return;
	kernel = (struct pair){ usage.minor - before.minor, usage.major - before.major };
	line(t->out, kernel, "accounted by the kernel to the command (rusage)");
	compare(t, all, kernel, &missing, "in the command's rusage");
}

int pfs_check_verdict(FILE *out, unsigned int nr, unsigned int nr_maybe_lost, struct pfs_err *err)
{
	if (nr)
		return pfs_err_set(err, -ERANGE, "%u unexplained difference%s from the kernel's counts%s", nr,
				   nr == 1 ? "" : "s", nr_maybe_lost == nr ? ", possibly lost events" : "");
	fprintf(out, "every fault is accounted for\n");
	return 0;
}

int pfs_check_all_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct totals t = { .out = options->out };
	struct pair all = add(recorded(&model->counts), recorded(&model->launcher));

	put_recorded(t.out, model, all);
	check_processes(&t, model);
	check_rusage(&t, model, all);
	pfs_put_losses(model, t.out);
	if (!t.nr_held)
		return pfs_err_set(err, -ENOENT,
				   "this recording has no kernel counts to compare "
				   "against: no process of it has ended");
	return pfs_check_verdict(t.out, t.nr_different, t.nr_maybe_lost, err);
}
