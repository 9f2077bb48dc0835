/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the recording with the kernel's own counts of page faults, and explains each difference.
 *
 * Every recording of `run` has rusage: the faults that got a page, and the pages that the kernel faulted in without an
 * exception. The recording contains the reasons for both differences; a remainder has no explanation.
 *
 * With `run --count` there are three counts: perf's page-faults (exceptions that the kernel started to handle), perf's
 * minor and major faults (those that got a page), and rusage. Each difference is then exact.
 *
 * A recording of `attach` has the counts of the processes instead of rusage.
 */
#include "view/check_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The kernel's counts: of a command from its start to its end, or of all processes while they were recorded. */
struct kernel_counts {
	bool perf; /* it has those of the next line */
	uint64_t faults, minor, major;
	uint64_t rusage;       /* minor + major, less those before the start */
	unsigned int nr_procs; /* whose counts that is; 0: the command's */
};

static bool kernel_counts(const struct pfs_model *model, struct kernel_counts *k)
{
	struct pfs_fact usage, before, counters;

	k->perf = pfs_model_fact(model, PFS_NOTE_COUNTERS, &counters);
	if (k->perf) {
		k->faults = counters.faults;
		k->minor = counters.minor;
		k->major = counters.major;
	}
	k->nr_procs = 0;
	if (!pfs_model_fact(model, PFS_NOTE_RUSAGE, &usage))
		return check_accounts(model, &k->rusage, &k->nr_procs);
	if (!pfs_model_fact(model, PFS_NOTE_COUNTED_BEFORE, &before) ||
	    usage.minor + usage.major < before.minor + before.major)
		return false;
	k->rusage = usage.minor + usage.major - before.minor - before.major;
	return true;
}

/*
 * Prints a difference and returns the part of it that `reasons` do not explain. More reasons than faults are an error.
 */
static uint64_t left_over(struct check *c, uint64_t difference, uint64_t reasons, enum check_line line)
{
	check_line(c, difference, line);
	if (reasons <= difference)
		return difference - reasons;
	c->nr_unexplained++;
	fprintf(c->out, "%16s  UNEXPLAINED: the recording shows %" PRIu64 " of them\n", "", reasons);
	return 0;
}

/* There are at least as many of one as of the other. */
static bool no_less(struct check *c, uint64_t more, uint64_t less, const char *what)
{
	if (more < less)
		check_differs(c, 12, less - more, true, &c->missing, what);
	return more >= less;
}

bool pfs_check_unasked(const struct pfs_model *model, uint64_t *nr)
{
	struct pfs_counts n = check_sum(model);
	struct kernel_counts k;
	uint64_t asked, shown = 0;

	*nr = 0;
	if (check_has_all(model))
		return true;
	if (!kernel_counts(model, &k))
		return false;
	asked = k.perf ? k.minor + k.major
		       : n.faults - n.kernel_addr - check_signals(&n) - n.vsyscall - n.retried - n.no_access;
	for (int i = 0; i < PFS_NR_BY; i++)
		shown += n.unasked_least[i];
	*nr = k.rusage > asked + shown ? k.rusage - asked - shown : 0;
	return true;
}

static void check_refused(struct check *c, const struct pfs_counts *n, uint64_t refused)
{
	uint64_t rest = left_over(c, refused, n->kernel_addr, CHECK_REFUSED);

	check_cause(c, n->kernel_addr, CHECK_KERNEL_ADDR);
	check_cause(c, n->retried < rest ? n->retried : rest, CHECK_RETRIED);
	check_cause(c, n->retried < rest ? rest - n->retried : 0, CHECK_REFUSED_OTHERWISE);
}

static void check_no_page(struct check *c, const struct pfs_counts *n, uint64_t no_page)
{
	uint64_t signals = check_signals(n);
	uint64_t rest = left_over(c, no_page, signals + n->vsyscall, CHECK_NO_PAGE);

	check_cause(c, signals, CHECK_SIGNALS);
	check_cause(c, n->vsyscall, CHECK_VSYSCALL);
	check_cause(c, n->no_access < rest ? n->no_access : rest, CHECK_NO_ACCESS);
	check_cause(c, n->no_access < rest ? rest - n->no_access : 0, CHECK_GIVEN_UP);
}

/* Without --count a part of these may be lost events, or faults without an exception: nothing distinguishes them. */
static uint64_t put_lost(struct check *c, uint64_t nr)
{
	if (!nr || !c->missing.nr || !pfs_missing_may_be(&c->missing, nr))
		return 0;
	check_line(c, nr, CHECK_LOST);
	return nr;
}

/*
 * Prints the causes of faults without an exception, `unasked` of them, and returns how many are left over if all estimates
 * are right. The causes whose numbers are estimates are one sum, with what is left: which of them it was, nothing shows.
 */
static uint64_t put_unasked(struct check *c, const struct pfs_counts *n, uint64_t unasked)
{
	uint64_t sure = 0, estimated = 0, rest;
	char sum[512] = "";

	for (int i = 0; i < PFS_NR_BY; i++)
		if (i != PFS_BY_EXEC && !n->unasked_unsure[i])
			sure += n->unasked[i];
	check_cause(c, n->unasked[PFS_BY_EXEC], CHECK_BY + PFS_BY_EXEC);
	for (int i = 0; i < PFS_NR_BY; i++) {
		if (i == PFS_BY_EXEC || !check_cause_text(CHECK_BY + i) || !n->unasked[i])
			continue;
		if (!n->unasked_unsure[i] && sure <= unasked) {
			check_cause(c, n->unasked[i], CHECK_BY + i);
			continue;
		}
		estimated += n->unasked[i];
		strcat(strcat(sum, *sum ? "; " : "in one sum: "), check_cause_text(CHECK_BY + i));
	}
	rest = sure <= unasked ? unasked - sure : unasked;
	if (*sum && rest)
		fprintf(c->out, "%16" PRIu64 "  %s; %s\n", rest, sum, check_cause_text(CHECK_OTHER_UNASKED));
	else
		check_cause(c, rest, CHECK_OTHER_UNASKED);
	return rest > estimated ? rest - estimated : 0;
}

static void check_unasked(struct check *c, const struct pfs_counts *n, uint64_t unasked)
{
	put_unasked(c, n, left_over(c, unasked, n->unasked[PFS_BY_EXEC], CHECK_UNASKED));
}

/* Those of which the recording has a cause, other than exec's. */
static uint64_t with_cause(const struct pfs_counts *n)
{
	uint64_t nr = 0;

	for (int i = 0; i < PFS_NR_BY; i++)
		nr += i == PFS_BY_EXEC ? 0 : n->unasked[i];
	return nr;
}

/*
 * With rusage alone: faults that got no page, and pages that came without a fault. Some are certain; of the others, as
 * many are printed as there must have been.
 */
static void check_accounted(struct check *c, const struct pfs_model *model, const struct pfs_counts *n,
			    uint64_t accounted)
{
	uint64_t signals = check_signals(n), certain = n->kernel_addr + signals + n->vsyscall;
	uint64_t exec = n->unasked[PFS_BY_EXEC], caused = with_cause(n);
	uint64_t most, asked, refused, unasked, retried, no_access, other, lost = 0;
	char what[128];

	snprintf(what, sizeof(what), "more %s than the kernel accounts", check_cause_text(CHECK_BY + PFS_BY_EXEC));
	if (!no_less(c, accounted, exec, what))
		return;
	most = n->faults - certain; /* each of these is one of them */
	asked = accounted - exec;
	refused = most > asked ? most - asked : 0;
	unasked = asked > most ? asked - most : 0;
	retried = n->retried < refused ? n->retried : refused;
	no_access = n->no_access < refused - retried ? n->no_access : refused - retried;
	other = refused - retried - no_access;

	check_line(c, certain + refused, CHECK_NO_PAGE_OR_RETRIED);
	check_cause(c, n->kernel_addr, CHECK_KERNEL_ADDR);
	check_cause(c, signals, CHECK_SIGNALS);
	check_cause(c, n->vsyscall, CHECK_VSYSCALL);
	check_cause(c, retried, CHECK_RETRIED);
	check_cause(c, no_access, CHECK_NO_ACCESS);
	check_cause(c, other, CHECK_OTHERWISE);
	if (unasked > caused)
		lost = put_lost(c, unasked - caused);
	if (model->user_mode_only) {
		c->unseen = exec + unasked - lost;
		c->unclear = other + lost;
		check_line(c, c->unseen, CHECK_UNSEEN);
		return;
	}
	check_line(c, exec + unasked - lost, CHECK_UNASKED);
	c->unclear = other + lost + put_unasked(c, n, unasked - lost);
}

static void put_kernel(const struct check *c, const struct kernel_counts *k)
{
	if (k->nr_procs)
		check_line_of(c, k->rusage, k->nr_procs);
	else
		check_line(c, k->rusage, CHECK_RUSAGE);
}

int pfs_view_check_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct check c = { .out = options->out, .missing = pfs_gaps_sum(pfs_gaps_shown(model, NULL)) };
	struct pfs_counts n = check_sum(model);
	struct kernel_counts k;
	uint64_t handled;

	if (check_has_all(model))
		return pfs_check_all_draw(model, options, err);
	if (!kernel_counts(model, &k))
		return pfs_err_set(
			err, -ENOENT,
			"this recording has no kernel counts to compare against: only those of a finished "
			"`pfscope run' have, and of `pfscope attach' if each process slept when the recording "
			"began and ended");
	check_line(&c, n.faults, k.nr_procs ? CHECK_RECORDED : CHECK_RECORDED_OF_COMMAND);
	if (!k.perf) {
		check_accounted(&c, model, &n, k.rusage);
		put_kernel(&c, &k);
		return check_end(&c, model, err);
	}
	handled = k.minor + k.major;
	if (no_less(&c, n.faults, k.faults, "faults that the kernel counted and the recording lacks"))
		check_refused(&c, &n, n.faults - k.faults);
	check_line(&c, k.faults, CHECK_STARTED);
	if (no_less(&c, k.faults, handled, "more faults handled than started"))
		check_no_page(&c, &n, k.faults - handled);
	check_line(&c, handled, CHECK_GOT_PAGE);
	if (no_less(&c, k.rusage, handled, "faults of children that were not waited for"))
		check_unasked(&c, &n, k.rusage - handled);
	put_kernel(&c, &k);
	return check_end(&c, model, err);
}
