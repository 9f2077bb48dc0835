/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of both checks: see check_priv.h. */
#include "view/check_priv.h"

#include <errno.h>
#include <inttypes.h>

static const char *const lines[] = {
	[CHECK_RECORDED] = "page faults recorded",
	[CHECK_RECORDED_OF_COMMAND] = "page faults recorded, from the command's start to its end",
	[CHECK_REFUSED] = "rejected at once, not counted by the kernel:",
	[CHECK_STARTED] = "page faults that the kernel started to handle (perf page-faults)",
	[CHECK_NO_PAGE] = "got no page:",
	[CHECK_NO_PAGE_OR_RETRIED] = "got no page, or were retried:",
	[CHECK_GOT_PAGE] = "page faults that got a page (perf minor-faults + major-faults)",
	[CHECK_UNASKED] = "made by the kernel itself, without an exception (get_user_pages):",
	[CHECK_UNSEEN] = "in kernel mode, which was not recorded, or made by the kernel itself (get_user_pages)",
	[CHECK_LOST] = "lost, or made by the kernel itself: the recording is not complete",
	[CHECK_RUSAGE] = "page faults as the kernel accounts them (rusage minor + major)",
};

static const char *const causes[CHECK_BY + PFS_NR_BY] = {
	[CHECK_KERNEL_ADDR] = "at addresses of the kernel",
	[CHECK_SIGNALS] = "ended in a signal (SIGSEGV, SIGBUS)",
	[CHECK_VSYSCALL] = "calls into [vsyscall], emulated",
	[CHECK_RETRIED] = "in kernel mode with page faults disabled, then retried",
	[CHECK_NO_ACCESS] = "system calls on inaccessible memory (EFAULT)",
	[CHECK_REFUSED_OTHERWISE] =
		"in kernel mode with page faults disabled, then handled otherwise (futex, signal frame)",
	[CHECK_GIVEN_UP] = "given up: killed meanwhile, or EFAULT",
	[CHECK_OTHERWISE] = "handled otherwise or given up (futex, signal frame, killed meanwhile)",
	[CHECK_OTHER_UNASKED] =
		"other get_user_pages (direct I/O, process_vm_writev, futex, vmsplice, populated again)",
	[CHECK_BY] = "populated by an unknown call",
	[CHECK_BY + PFS_BY_MMAP] = "mmap with MAP_POPULATE (populate)",
	[CHECK_BY + PFS_BY_MADVISE] = "madvise with MADV_POPULATE_* (populate)",
	[CHECK_BY + PFS_BY_MLOCK] = "mlock, mlockall, and mappings made under it (mlock)",
	[CHECK_BY + PFS_BY_MREMAP] = "mremap of locked memory (mlock)",
	[CHECK_BY + PFS_BY_MPROTECT] = "mprotect of locked memory that becomes writable (mlock)",
	[CHECK_BY + PFS_BY_SHMAT] = "shmat under mlockall (mlock)",
	[CHECK_BY + PFS_BY_EXEC] = "arguments and environment copied by exec (exec-time copies)",
	[CHECK_BY + PFS_BY_GUP] = "get_user_pages by a call that is not recorded",
};

void check_line(const struct check *c, uint64_t n, enum check_line line)
{
	fprintf(c->out, "%12" PRIu64 "  %s\n", n, lines[line]);
}

void check_line_of(const struct check *c, uint64_t n, unsigned int nr_procs)
{
	fprintf(c->out, "%12" PRIu64 "  page faults as the kernel accounts them, of %u process%s\n", n, nr_procs,
		nr_procs == 1 ? "" : "es");
}

void check_cause(const struct check *c, uint64_t n, enum check_cause cause)
{
	if (n)
		fprintf(c->out, "%16" PRIu64 "  %s\n", n, causes[cause]);
}

const char *check_cause_text(enum check_cause cause)
{
	return causes[cause];
}

void check_differs(struct check *c, int column, uint64_t nr, bool less, const struct pfs_missing *missing,
		   const char *what)
{
	bool maybe_lost = less && missing->nr && pfs_missing_may_be(missing, nr);

	c->nr_unexplained++;
	c->nr_maybe_lost += maybe_lost;
	fprintf(c->out, "%*" PRIu64 "  %s: %s\n", column, nr, maybe_lost ? "MAY BE LOST" : "UNEXPLAINED", what);
}

int check_end(struct check *c, const struct pfs_model *model, struct pfs_err *err)
{
	bool lost = c->missing.nr && pfs_missing_may_be(&c->missing, c->unclear);

	pfs_put_losses(model, c->out);
	if (pfs_model_polled(model))
		fputs("no cause was concluded from layouts, which were read now and then\n", c->out);
	if (c->nr_unexplained)
		return pfs_err_set(err, -ERANGE, "%u unexplained difference%s from the kernel's counts%s",
				   c->nr_unexplained, c->nr_unexplained == 1 ? "" : "s",
				   c->nr_maybe_lost == c->nr_unexplained ? ", possibly lost events" : "");
	if (c->unclear)
		return pfs_err_set(err, -ERANGE,
				   "%" PRIu64 " page fault%s that only the kernel's own counters can "
				   "distinguish%s: `pfscope run %s--count' records these",
				   c->unclear, c->unclear == 1 ? "" : "s", lost ? ", lost events among them" : "",
				   pfs_model_polled(model) ? "--source=ftrace " : "");
	if (c->unseen)
		return pfs_err_set(err, -ERANGE,
				   "%" PRIu64 " page fault%s may have been in kernel mode, which only root can record",
				   c->unseen, c->unseen == 1 ? "" : "s");
	fprintf(c->out, "every fault is accounted for\n");
	return 0;
}

struct pfs_counts check_sum(const struct pfs_model *model)
{
	const struct pfs_counts *launcher = &model->launcher;
	struct pfs_counts n = model->counts;

	n.faults += launcher->faults;
	n.minor += launcher->minor;
	n.major += launcher->major;
	n.signal += launcher->signal;
	n.retried += launcher->retried;
	n.no_access += launcher->no_access;
	n.vsyscall += launcher->vsyscall;
	n.kernel_addr += launcher->kernel_addr;
	n.unasked_minor += launcher->unasked_minor;
	n.unasked_major += launcher->unasked_major;
	return n;
}

uint64_t check_signals(const struct pfs_counts *n)
{
	return n->signal > n->kernel_addr ? n->signal - n->kernel_addr : 0;
}
