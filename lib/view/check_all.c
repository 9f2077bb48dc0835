/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks a recording that has every fault with its class, those without an exception included: the numbers of minor
 * and major faults must be the kernel's, of each process (note "counted", from the first event of its threads to their
 * ends) and, for a command, of its rusage. Any difference is an error.
 */
#include "view/check_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct pair {
	uint64_t minor, major;
};

static uint64_t both(struct pair n)
{
	return n.minor + n.major;
}

static struct pair recorded(const struct pfs_counts *n)
{
	return (struct pair){ n->minor + n->unasked_minor, n->major + n->unasked_major };
}

static void compare_one(struct check *c, uint64_t ours, uint64_t kernel, const char *class,
			const struct pfs_missing *missing, const char *whose)
{
	char what[128];

	snprintf(what, sizeof(what), "%s faults %s, %s", class,
		 ours > kernel ? "recorded that the kernel did not count"
			       : "that the kernel counted and the recording lacks",
		 whose);
	if (ours != kernel)
		check_differs(c, 12, ours > kernel ? ours - kernel : kernel - ours, ours < kernel, missing, what);
}

static void compare(struct check *c, struct pair ours, struct pair kernel, const struct pfs_missing *missing,
		    const char *whose)
{
	compare_one(c, ours.minor, kernel.minor, "minor", missing, whose);
	compare_one(c, ours.major, kernel.major, "major", missing, whose);
}

/* ---- what was recorded ---- */

static void put_recorded(const struct check *c, const struct pfs_counts *n, bool of_command)
{
	uint64_t no_page = n->faults - n->minor - n->major, signals = check_signals(n), rest = no_page;
	const struct {
		enum check_cause cause;
		uint64_t nr;
	} causes[] = {
		{ CHECK_KERNEL_ADDR, n->kernel_addr }, { CHECK_SIGNALS, signals },
		{ CHECK_VSYSCALL, n->vsyscall },       { CHECK_RETRIED, n->retried },
		{ CHECK_NO_ACCESS, n->no_access },     { CHECK_OTHERWISE, UINT64_MAX },
	};

	check_line(c, n->faults, of_command ? CHECK_RECORDED_OF_COMMAND : CHECK_RECORDED);
	check_line(c, no_page, CHECK_NO_PAGE_OR_RETRIED);
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		uint64_t nr = causes[i].nr < rest ? causes[i].nr : rest;

		check_cause(c, nr, causes[i].cause);
		rest -= nr;
	}
	check_line(c, n->unasked_minor + n->unasked_major, CHECK_UNASKED);
	for (int i = 0; i < PFS_NR_BY; i++)
		if (check_cause_text(CHECK_BY + i))
			check_cause(c, n->unasked[i], CHECK_BY + i);
}

/* ---- the kernel's accounts ---- */

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
	struct pair n = recorded(&proc->counts), before = recorded(&model->launcher);

	return was_launched(model, proc) ? (struct pair){ n.minor + before.minor, n.major + before.major } : n;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Of a thread that runs, its count is read a moment after it is recorded, and a fault that is under way
 * then is not: there may be one too few or too many.
 */
static void compare_process(struct check *c, const struct pfs_model *model, const struct pfs_proc *proc,
			    const struct pfs_fact *kernel)
{
	struct pair ours = recorded_of(model, proc);
	uint64_t off = distance(ours.minor, kernel->minor) + distance(ours.major, kernel->major);
	struct pfs_epochs life = pfs_whole_life(model, proc);
	struct pfs_missing missing = pfs_gaps_sum(pfs_gaps_of(pfs_gaps_shown(model, NULL), &life, NULL));
	char whose[64];

	snprintf(whose, sizeof(whose), "in process %d", proc->pid);
	if (!off || off > kernel->running)
		compare(c, ours, (struct pair){ kernel->minor, kernel->major }, &missing, whose);
	else
		fprintf(c->out, "%16" PRIu64 "  in progress when the recording began, %s\n", off, whose);
}

/* Returns their number. */
static unsigned int check_processes(struct check *c, const struct pfs_model *model)
{
	unsigned int nr = 0;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < model->nr_notes; i++) {
		struct pfs_fact kernel;
		const struct pfs_proc *proc = check_account(model, i, &kernel);

		if (!proc)
			continue;
		compare_process(c, model, proc, &kernel);
		sum += kernel.minor + kernel.major;
		nr++;
	}
	if (nr)
		check_line_of(c, sum, nr);
	return nr;
}

static bool check_rusage(struct check *c, const struct pfs_model *model, struct pair all)
{
	struct pfs_fact usage, before;
	struct pair kernel;

	if (!pfs_model_fact(model, PFS_NOTE_RUSAGE, &usage) ||
	    !pfs_model_fact(model, PFS_NOTE_COUNTED_BEFORE, &before) || usage.minor < before.minor ||
	    usage.major < before.major)
		return false;
	kernel = (struct pair){ usage.minor - before.minor, usage.major - before.major };
	compare(c, all, kernel, &c->missing, "in the command's rusage");
	check_line(c, both(kernel), CHECK_RUSAGE);
	return true;
}

bool check_has_all(const struct pfs_model *model)
{
	const char *source = pfs_model_note(model, "source");

	return source && !strncmp(source, "stap", 4);
}

int pfs_check_all_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct check c = { .out = options->out, .missing = pfs_gaps_sum(pfs_gaps_shown(model, NULL)) };
	struct pfs_counts n = check_sum(model);
	struct pfs_fact usage;
	bool compared;

	put_recorded(&c, &n, pfs_model_fact(model, PFS_NOTE_RUSAGE, &usage));
	compared = check_processes(&c, model);
	compared |= check_rusage(&c, model, recorded(&n));
	if (compared)
		return check_end(&c, model, err);
	pfs_put_losses(model, c.out);
	return pfs_err_set(err, -ENOENT,
			   "this recording has no kernel counts to compare "
			   "against: no process of it has ended");
}
