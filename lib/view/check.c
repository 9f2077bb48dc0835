/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the recording with the kernel's own counts of page faults, and explains each difference.
 *
 * Every recording of `run` has rusage: the faults that got a page, and the pages that the kernel faulted in without an
 * exception. The recording contains the reasons for both differences; a remainder has no explanation.
 *
 * With `run --count` there are three counts: perf's page-faults (exceptions that the kernel started to handle), perf's
 * minor and major faults (those that got a page), and rusage. Each difference is then exact.
 */
#include "view/view.h"

#include "view/loss.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The kernel's counts from the notes of `run`, from the command's start to its end. */
struct kernel_counts {
	bool perf; /* it has those of the next line */
	uint64_t faults, minor, major;
	uint64_t rusage; /* minor + major, less those before the start */
};

struct check {
	FILE *out;
	struct pfs_missing missing;
	unsigned int nr_unexplained;
	unsigned int nr_maybe_lost; /* of these: they may be among the lost events */
	uint64_t unclear;	    /* faults that only the kernel's counters could explain */
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
	if (!pfs_model_fact(model, PFS_NOTE_RUSAGE, &usage) ||
	    !pfs_model_fact(model, PFS_NOTE_COUNTED_BEFORE, &before) ||
	    usage.minor + usage.major < before.minor + before.major)
		return false;
	k->rusage = usage.minor + usage.major - before.minor - before.major;
	return true;
}

static void line(struct check *c, uint64_t n, const char *what)
{
	fprintf(c->out, "%12" PRIu64 "  %s\n", n, what);
}

/* One reason for a difference; 0 is not printed. */
static void reason(struct check *c, uint64_t n, const char *what)
{
	if (n)
		fprintf(c->out, "%16" PRIu64 "  %s\n", n, what);
}

/*
 * Prints a difference and returns the part of it that `reasons` do not explain. More reasons than faults are an error.
 */
static uint64_t left_over(struct check *c, uint64_t difference, uint64_t reasons, const char *what)
{
	fprintf(c->out, "%12" PRIu64 "  %s\n", difference, what);
	if (reasons <= difference)
		return difference - reasons;
	c->nr_unexplained++;
	fprintf(c->out, "%16s  UNEXPLAINED: the recording shows %" PRIu64 " of them\n", "", reasons);
	return 0;
}

static bool may_be_lost(const struct check *c, uint64_t nr)
{
	return c->missing.nr && pfs_missing_may_be(&c->missing, nr);
}

/* There are at least as many of one as of the other. */
static bool no_less(struct check *c, uint64_t more, uint64_t less, const char *what)
{
	if (more >= less)
		return true;
	c->nr_unexplained++;
	c->nr_maybe_lost += may_be_lost(c, less - more);
	fprintf(c->out, "%12" PRIu64 "  UNEXPLAINED: %s\n", less - more, what);
	return false;
}

static void sum(struct pfs_counts *to, const struct pfs_model *model)
{
	*to = model->counts;
	to->faults += model->launcher.faults;
	to->signal += model->launcher.signal;
	to->retried += model->launcher.retried;
	to->no_access += model->launcher.no_access;
	to->vsyscall += model->launcher.vsyscall;
	to->kernel_addr += model->launcher.kernel_addr;
}

/* Signals at addresses of the kernel's are refused before they are counted. */
static uint64_t signals_counted(const struct pfs_counts *n)
{
	return n->signal > n->kernel_addr ? n->signal - n->kernel_addr : 0;
}

bool pfs_check_unasked(const struct pfs_model *model, uint64_t *nr)
{
	struct kernel_counts k;
	struct pfs_counts n;
	uint64_t asked, shown = 0;

	if (!kernel_counts(model, &k))
		return false;
	sum(&n, model);
	asked = k.perf ? k.minor + k.major
		       : n.faults - n.kernel_addr - signals_counted(&n) - n.vsyscall - n.retried - n.no_access;
	for (int i = 0; i < PFS_NR_BY; i++)
		shown += n.unasked[i];
	*nr = k.rusage > asked + shown ? k.rusage - asked - shown : 0;
	return true;
}

/* Why there are more exceptions than pages. */
#define KERNEL_ADDR "at addresses of the kernel"
#define SIGNALS	    "ended in a signal (SIGSEGV, SIGBUS)"
#define VSYSCALL    "calls into [vsyscall], emulated"
#define RETRIED	    "in kernel mode with page faults disabled, then retried"
#define NO_ACCESS   "system calls on inaccessible memory (EFAULT)"

static void check_refused(struct check *c, const struct pfs_counts *n, uint64_t refused)
{
	uint64_t rest = left_over(c, refused, n->kernel_addr, "rejected at once, not counted by the kernel:");

	reason(c, n->kernel_addr, KERNEL_ADDR);
	reason(c, n->retried < rest ? n->retried : rest, RETRIED);
	reason(c, n->retried < rest ? rest - n->retried : 0,
	       "in kernel mode with page faults disabled, then handled otherwise (futex, signal frame)");
}

static void check_no_page(struct check *c, const struct pfs_counts *n, uint64_t no_page)
{
	uint64_t signals = signals_counted(n);
	uint64_t rest = left_over(c, no_page, signals + n->vsyscall, "got no page:");

	reason(c, signals, SIGNALS);
	reason(c, n->vsyscall, VSYSCALL);
	reason(c, n->no_access < rest ? n->no_access : rest, NO_ACCESS);
	reason(c, n->no_access < rest ? rest - n->no_access : 0, "given up: killed meanwhile, or EFAULT");
}

#define EXEC "arguments and environment copied by exec (exec-time copies)"

#define OTHERS "other get_user_pages (direct I/O, process_vm_writev, futex, vmsplice, populated again)"

/*
 * Prints who faulted pages in without an exception, and returns how many are left over if all estimates are right. The
 * causes whose numbers are estimates are one sum, with what is left: which of them it was, nothing shows.
 */
static uint64_t put_unasked(struct check *c, const struct pfs_counts *n, uint64_t unasked)
{
	static const char *const by[PFS_NR_BY] = {
		[0] = "populated by an unknown call",
		[PFS_BY_MMAP] = "mmap with MAP_POPULATE (populate)",
		[PFS_BY_MADVISE] = "madvise with MADV_POPULATE_* (populate)",
		[PFS_BY_MLOCK] = "mlock, mlockall, and mappings made under it (mlock)",
		[PFS_BY_MREMAP] = "mremap of locked memory (mlock)",
		[PFS_BY_SHMAT] = "shmat under mlockall (mlock)",
	};
	uint64_t sure = 0, estimated = 0, rest;
	char sum[512] = "";

	for (int i = 0; i < PFS_NR_BY; i++)
		if (i != PFS_BY_EXEC && !n->unasked_unsure[i])
			sure += n->unasked[i];
	reason(c, n->unasked[PFS_BY_EXEC], EXEC);
	for (int i = 0; i < PFS_NR_BY; i++) {
		if (!by[i] || !n->unasked[i])
			continue;
		if (!n->unasked_unsure[i] && sure <= unasked) {
			reason(c, n->unasked[i], by[i]);
			continue;
		}
		estimated += n->unasked[i];
		strcat(strcat(sum, *sum ? "; " : "in one sum: "), by[i]);
	}
	rest = sure <= unasked ? unasked - sure : unasked;
	if (*sum)
		strcat(sum, "; " OTHERS);
	reason(c, rest, *sum ? sum : OTHERS);
	return rest > estimated ? rest - estimated : 0;
}

#define UNASKED "made by the kernel itself, without an exception (get_user_pages):"

static void check_unasked(struct check *c, const struct pfs_counts *n, uint64_t unasked)
{
	put_unasked(c, n, left_over(c, unasked, n->unasked[PFS_BY_EXEC], UNASKED));
}

/*
 * With rusage alone: faults that got no page, and pages that came without a fault. Some are certain; of the others, as
 * many are printed as there must have been.
 */
static void check_accounted(struct check *c, const struct pfs_counts *n, uint64_t accounted)
{
	uint64_t signals = signals_counted(n), certain = n->kernel_addr + signals + n->vsyscall;
	uint64_t exec = n->unasked[PFS_BY_EXEC], most, asked, refused, unasked, retried, no_access, other;

	if (!no_less(c, accounted, exec, "more " EXEC " than the kernel accounts"))
		return;
	most = n->faults - certain; /* each of these is one of them */
	asked = accounted - exec;
	refused = most > asked ? most - asked : 0;
	unasked = asked > most ? asked - most : 0;
	retried = n->retried < refused ? n->retried : refused;
	no_access = n->no_access < refused - retried ? n->no_access : refused - retried;
	other = refused - retried - no_access;

	line(c, certain + refused, "got no page, or were retried:");
	reason(c, n->kernel_addr, KERNEL_ADDR);
	reason(c, signals, SIGNALS);
	reason(c, n->vsyscall, VSYSCALL);
	reason(c, retried, RETRIED);
	reason(c, no_access, NO_ACCESS);
	reason(c, other, "handled otherwise or given up (futex, signal frame, killed meanwhile)");
	line(c, exec + unasked, UNASKED);
	c->unclear = other + put_unasked(c, n, unasked);
}

static int verdict(struct check *c, const struct pfs_model *model, struct pfs_err *err)
{
	pfs_put_losses(model, c->out);
	if (c->nr_unexplained || !c->unclear)
		return pfs_check_verdict(c->out, c->nr_unexplained, c->nr_maybe_lost, err);
	return pfs_err_set(err, -ERANGE,
			   "%" PRIu64 " page fault%s that only the kernel's own counters can "
			   "distinguish%s: `pfscope run --count' records these",
			   c->unclear, c->unclear == 1 ? "" : "s",
			   may_be_lost(c, c->unclear) ? ", lost events among them" : "");
}

#define RUSAGE "page faults as the kernel accounts them (rusage minor + major)"

int pfs_view_check_draw(const struct pfs_model *model, const struct pfs_view_options *options, struct pfs_err *err)
{
	struct check c = { .out = options->out, .missing = pfs_gaps_sum(pfs_gaps_shown(model, NULL)) };
	struct kernel_counts k;
	struct pfs_counts n;
	const char *source = pfs_model_note(model, "source");
	uint64_t handled;

	if (source && !strncmp(source, "stap", 4))
		return pfs_check_all_draw(model, options, err);
	if (!kernel_counts(model, &k))
		return pfs_err_set(err, -ENOENT,
				   "this recording has no kernel counts to compare "
				   "against: only those of a finished `pfscope run` have");
	sum(&n, model);
	line(&c, n.faults, "page faults recorded, from the command's start to its end");
	if (!k.perf) {
		check_accounted(&c, &n, k.rusage);
		line(&c, k.rusage, RUSAGE);
		return verdict(&c, model, err);
	}
	handled = k.minor + k.major;
	if (no_less(&c, n.faults, k.faults, "faults that the kernel counted and the recording lacks"))
		check_refused(&c, &n, n.faults - k.faults);
	line(&c, k.faults, "page faults that the kernel started to handle (perf page-faults)");
	if (no_less(&c, k.faults, handled, "more faults handled than started"))
		check_no_page(&c, &n, k.faults - handled);
	line(&c, handled, "page faults that got a page (perf minor-faults + major-faults)");
	if (no_less(&c, k.rusage, handled, "faults of children that were not waited for"))
		check_unasked(&c, &n, k.rusage - handled);
	line(&c, k.rusage, RUSAGE);
	return verdict(&c, model, err);
}
