/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The check of a recording against the kernel's counts: every difference has its line and its
 * reasons, and what no reason explains is an error.
 */
#include "support/draw.h"

static const struct pfs_view_options plain = { .width = 80 };

/* Two faults that got a page, one of them in kernel mode. */
static struct feed two_faults(void)
{
	struct feed f = feed_new(1);

	feed_note(&f, "snapshot", "first", true);
	feed_map(&f, 0x400000, 0x410000, RW, "");
	feed_map(&f, 0x500000, 0x501000, 0, "");
	feed_fault(&f, 0x400000, PFS_WRITE);
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL);
	return f;
}

static void kernel_said(struct feed *f, const char *counters, const char *rusage)
{
	feed_note(f, "counters", counters, false);
	feed_note(f, "counted_before", "minor 10 major 1", false);
	feed_note(f, "rusage", rusage, false);
}

static struct drawing check(const struct feed *f)
{
	return draw(f, "check", plain);
}

static void assert_line(const char *text, const char *line)
{
	if (strstr(text, line))
		return;
	print_error("no \"%s\" in:\n%s\n", line, text);
	fail();
}

/* It says so, and that every fault is accounted for. */
static void assert_explained(struct feed *f, const char *line)
{
	struct drawing d = check(f);

	assert_line(d.text, line);
	assert_int_equal(d.ret, 0);
	assert_line(d.text, "\nevery fault is accounted for\n");
	assert_null(strstr(d.text, "UNEXPLAINED"));
	free(d.text);
	feed_free(f);
}

static void assert_unexplained(struct feed *f, const char *line, const char *verdict)
{
	struct drawing d = check(f);

	assert_line(d.text, line);
	assert_int_equal(d.ret, -ERANGE);
	assert_string_equal(d.err.msg, verdict);
	assert_null(strstr(d.text, "accounted for"));
	free(d.text);
	feed_free(f);
}

static const char one_difference[] = "1 unexplained difference from the kernel's counts";

static void test_all_of_it(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 2 minor 1 major 1", "minor 11 major 2");
	assert_drawn(&f, "check", plain,
		     "           2  page faults recorded, from the command's start to its end\n"
		     "           0  rejected at once, not counted by the kernel:\n"
		     "           2  page faults that the kernel started to handle (perf page-faults)\n"
		     "           0  got no page:\n"
		     "           2  page faults that got a page (perf minor-faults + major-faults)\n"
		     "           0  made by the kernel itself, without an exception (get_user_pages):\n"
		     "           2  page faults as the kernel accounts them (rusage minor + major)\n"
		     "every fault is accounted for\n");
	feed_free(&f);
}

static void test_without_counts(void **state)
{
	static const char *const keys[] = { "rusage", "counted_before" };

	for (int missing = 0; missing < 2; missing++) {
		struct feed f = two_faults();
		struct drawing d;

		feed_note(&f, "counters", "faults 2 minor 1 major 1", false);
		feed_note(&f, keys[!missing], "minor 1 major 0", false);
		d = check(&f);
		assert_int_equal(d.ret, -ENOENT);
		assert_string_equal(d.text, "");
		assert_line(d.err.msg, "no kernel counts");
		free(d.text);
		feed_free(&f);
	}
}

/* By what the kernel accounts in the end alone. */
static struct feed accounted(const char *rusage)
{
	struct feed f = two_faults();

	feed_note(&f, "counted_before", "minor 10 major 1", false);
	feed_note(&f, "rusage", rusage, false);
	return f;
}

static void test_accounted(void **state)
{
	struct feed f = accounted("minor 11 major 2");

	assert_drawn(&f, "check", plain,
		     "           2  page faults recorded, from the command's start to its end\n"
		     "           0  got no page, or were retried:\n"
		     "           0  made by the kernel itself, without an exception (get_user_pages):\n"
		     "           2  page faults as the kernel accounts them (rusage minor + major)\n"
		     "every fault is accounted for\n");
	feed_free(&f);
}

static void test_accounted_more(void **state)
{
	struct feed f = accounted("minor 14 major 2");

	assert_unexplained(
		&f,
		"           2  page faults recorded, from the command's start to its end\n"
		"           0  got no page, or were retried:\n"
		"           3  made by the kernel itself, without an exception (get_user_pages):\n"
		"               3  other get_user_pages (direct I/O, process_vm_writev, futex, vmsplice, populated again)\n"
		"           5  page faults as the kernel accounts them (rusage minor + major)\n",
		"3 page faults that only the kernel's own counters can distinguish: `pfscope run --count' records these");
}

static void test_accounted_less(void **state)
{
	struct feed f = accounted("minor 11 major 1");

	assert_unexplained(
		&f,
		"           2  page faults recorded, from the command's start to its end\n"
		"           1  got no page, or were retried:\n"
		"               1  handled otherwise or given up (futex, signal frame, killed meanwhile)\n"
		"           0  made by the kernel itself, without an exception (get_user_pages):\n"
		"           1  page faults as the kernel accounts them (rusage minor + major)\n",
		"1 page fault that only the kernel's own counters can distinguish: `pfscope run --count' records these");
}

static void test_accounted_and_lost(void **state)
{
	struct feed f = accounted("minor 14 major 2");

	feed_lost(&f, 0, 3);
	assert_unexplained(&f,
			   "\n           3  lost, or made by the kernel itself: the recording is not complete\n"
			   "           0  made by the kernel itself, without an exception (get_user_pages):\n"
			   "           5  page faults as the kernel accounts them (rusage minor + major)\n"
			   "lost 3 events on CPU 0 between",
			   "3 page faults that only the kernel's own counters can distinguish, lost events among them: "
			   "`pfscope run --count' records these");
}

/* Too few events are lost for that. */
static void test_accounted_and_few_lost(void **state)
{
	struct feed f = accounted("minor 14 major 2");

	feed_lost(&f, 0, 2);
	assert_unexplained(
		&f, "\n               3  other get_user_pages (direct I/O",
		"3 page faults that only the kernel's own counters can distinguish: `pfscope run --count' records "
		"these");
}

/* A recording of attach: the counts of its processes, if all of them are known for certain. */
static void test_counts_of_processes(void **state)
{
	struct feed f = two_faults();
	struct drawing d;

	feed_note(&f, "counted", "minor=2 major=0 running=1", true);
	d = check(&f);
	assert_int_equal(d.ret, -ENOENT);
	free(d.text);
	feed_note(&f, "counted", "minor=2 major=0", true);
	assert_drawn(&f, "check", plain,
		     "           2  page faults recorded\n"
		     "           0  got no page, or were retried:\n"
		     "           0  made by the kernel itself, without an exception (get_user_pages):\n"
		     "           2  page faults as the kernel accounts them, of 1 process\n"
		     "every fault is accounted for\n");
	feed_fork(&f, 2, false);
	feed_as(&f, 2, 2);
	d = check(&f);
	assert_int_equal(d.ret, -ENOENT);
	free(d.text);
	feed_free(&f);
}

static void test_accounted_less_than_exec_copies(void **state)
{
	struct feed f = accounted("minor 11 major 2");
	struct pfs_event ev = feed_event(&f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(BY));

	ev.start = 0x404000;
	ev.end = 0x407000;
	ev.by = PFS_BY_EXEC;
	feed_apply(&f, &ev);
	assert_unexplained(&f,
			   "\n           1  UNEXPLAINED: more arguments and environment copied by exec "
			   "(exec-time copies) than the kernel accounts\n",
			   one_difference);
}

static void test_counts_that_are_none(void **state)
{
	struct feed f = two_faults();
	struct drawing d;

	kernel_said(&f, "faults many", "minor 11");
	d = check(&f);
	assert_int_equal(d.ret, -ENOENT);
	free(d.text);
	feed_free(&f);
}

/* ---- refused at once ---- */

static void test_retried(void **state)
{
	struct feed f = two_faults();

	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL);
	kernel_said(&f, "faults 2 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\n               1  in kernel mode with page faults disabled, then "
			     "retried\n");
}

static void test_refused_and_done_otherwise(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 1 minor 1 major 0", "minor 11 major 1");
	assert_explained(&f, "\n               1  in kernel mode with page faults disabled, then "
			     "handled otherwise (futex, signal frame)\n");
}

static void test_at_addresses_of_the_kernel(void **state)
{
	struct feed f = two_faults();

	feed_fault(&f, 0xffff888000000000, PFS_READ);
	feed_signal(&f, 11);
	kernel_said(&f, "faults 2 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\n               1  at addresses of the kernel\n");
}

static void test_more_at_addresses_of_the_kernel_than_refused(void **state)
{
	struct feed f = two_faults();

	feed_fault(&f, 0xffff888000000000, PFS_READ);
	kernel_said(&f, "faults 3 minor 3 major 0", "minor 13 major 1");
	assert_unexplained(&f, "UNEXPLAINED: the recording shows 1 of them", one_difference);
}

static void test_fewer_faults_than_the_kernel_counted(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 5 minor 5 major 0", "minor 15 major 1");
	assert_unexplained(&f,
			   "           3  UNEXPLAINED: faults that the kernel counted and the "
			   "recording lacks\n",
			   one_difference);
}

/* ---- got no page ---- */

static void test_signals(void **state)
{
	struct feed f = two_faults();

	feed_fault(&f, 0x500000, PFS_READ);
	feed_signal(&f, 11);
	kernel_said(&f, "faults 3 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\n               1  ended in a signal (SIGSEGV, SIGBUS)\n");
}

static void test_more_signals_than_possible(void **state)
{
	struct feed f = two_faults();

	feed_fault(&f, 0x500000, PFS_READ);
	feed_signal(&f, 11);
	kernel_said(&f, "faults 3 minor 3 major 0", "minor 13 major 1");
	assert_unexplained(&f, "UNEXPLAINED: the recording shows 1 of them", one_difference);
}

static void test_vsyscall(void **state)
{
	struct feed f = two_faults();

	feed_fault(&f, 0xffffffffff600000, PFS_EXECUTE);
	kernel_said(&f, "faults 3 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\n               1  calls into [vsyscall], emulated\n");
}

/* vsyscall=none, as Debian has it: not emulated but refused, and counted once. */
static void test_vsyscall_refused(void **state)
{
	struct feed f = two_faults();

	feed_fault(&f, 0xffffffffff600000, PFS_EXECUTE);
	feed_signal(&f, 11);
	kernel_said(&f, "faults 3 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\n               1  ended in a signal (SIGSEGV, SIGBUS)\n");
}

static void test_efault(void **state)
{
	struct feed f = two_faults();

	feed_fault_mode(&f, 0x500000, PFS_READ, PFS_KERNEL);
	kernel_said(&f, "faults 3 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\n               1  system calls on inaccessible memory "
			     "(EFAULT)\n");
}

static void test_given_up(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 2 minor 1 major 0", "minor 11 major 1");
	assert_explained(&f, "\n               1  given up: killed meanwhile, or EFAULT\n");
}

static void test_more_handled_than_begun(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 2 minor 2 major 2", "minor 12 major 3");
	assert_unexplained(&f, "           2  UNEXPLAINED: more faults handled than started\n", one_difference);
}

/* ---- made by the kernel itself ---- */

static void test_made_by_the_kernel(void **state)
{
	static const struct {
		int by;
		const char *line;
	} rows[] = {
		{ PFS_BY_MMAP, "\n               3  mmap with MAP_POPULATE (populate)\n" },
		{ PFS_BY_MADVISE, "\n               3  madvise with MADV_POPULATE_* (populate)\n" },
		{ PFS_BY_MLOCK, "\n               3  mlock, mlockall, and mappings made under it "
				"(mlock)\n" },
		{ PFS_BY_EXEC, "\n               3  arguments and environment copied by exec "
			       "(exec-time copies)\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct feed f = two_faults();
		struct pfs_event ev = feed_event(&f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(BY));

		ev.start = 0x404000;
		ev.end = 0x407000;
		ev.by = rows[i].by;
		feed_apply(&f, &ev);
		kernel_said(&f, "faults 2 minor 2 major 0", "minor 15 major 1");
		assert_explained(&f, rows[i].line);
	}
}

/* More than the kernel counted: so the number is not known, and what is left may be of another cause. */
static void test_fewer_made_than_populated(void **state)
{
	struct feed f = two_faults();
	struct pfs_event ev = feed_event(&f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(BY));

	ev.start = 0x404000;
	ev.end = 0x407000;
	ev.by = PFS_BY_MLOCK;
	feed_apply(&f, &ev);
	kernel_said(&f, "faults 2 minor 2 major 0", "minor 13 major 1");
	assert_explained(&f,
			 "\n               1  in one sum: mlock, mlockall, and mappings made under it (mlock); "
			 "other get_user_pages (direct I/O, process_vm_writev, futex, vmsplice, populated again)\n");
}

static void test_other_get_user_pages(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 2 minor 2 major 0", "minor 19 major 1");
	assert_explained(&f, "\n               7  other get_user_pages (direct I/O");
}

static void test_children_that_nobody_waited_for(void **state)
{
	struct feed f = two_faults();

	kernel_said(&f, "faults 2 minor 2 major 0", "minor 11 major 1");
	assert_unexplained(&f,
			   "           1  UNEXPLAINED: faults of children that were not waited "
			   "for\n",
			   one_difference);
}

/* ---- verdicts ---- */

static void test_lost_events_are_mentioned(void **state)
{
	struct feed f = two_faults();

	feed_lost(&f, 0, 3);
	feed_lost(&f, 0, 0);
	kernel_said(&f, "faults 5 minor 5 major 5", "minor 15 major 1");
	assert_unexplained(&f,
			   "\nlost 3 events and an unknown number more on CPU 0 between 0.000003 and "
			   "0.000005 s: the recording is not complete\n",
			   "3 unexplained differences from the kernel's counts, possibly "
			   "lost events");
}

static void test_losses_that_made_no_difference(void **state)
{
	struct feed f = two_faults();

	feed_lost(&f, 0, 3);
	kernel_said(&f, "faults 2 minor 2 major 0", "minor 12 major 1");
	assert_explained(&f, "\nlost 3 events on CPU 0 between 0.000003 and 0.000004 s: the recording is not "
			     "complete\n");
}

/* What pfscope's own child did before the command's exec is in the kernel's counts as well. */
static void test_the_launcher_counts(void **state)
{
	struct feed f = feed_new(1);

	feed_note(&f, "launch", "x", true);
	feed_fault(&f, 0x1000, PFS_READ);
	kernel_said(&f, "faults 1 minor 1 major 0", "minor 11 major 1");
	assert_explained(&f, "           1  page faults recorded");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it),
		cmocka_unit_test(test_without_counts),
		cmocka_unit_test(test_accounted),
		cmocka_unit_test(test_accounted_more),
		cmocka_unit_test(test_accounted_less),
		cmocka_unit_test(test_accounted_and_lost),
		cmocka_unit_test(test_accounted_and_few_lost),
		cmocka_unit_test(test_counts_of_processes),
		cmocka_unit_test(test_accounted_less_than_exec_copies),
		cmocka_unit_test(test_counts_that_are_none),
		cmocka_unit_test(test_retried),
		cmocka_unit_test(test_refused_and_done_otherwise),
		cmocka_unit_test(test_at_addresses_of_the_kernel),
		cmocka_unit_test(test_more_at_addresses_of_the_kernel_than_refused),
		cmocka_unit_test(test_fewer_faults_than_the_kernel_counted),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_more_signals_than_possible),
		cmocka_unit_test(test_vsyscall),
		cmocka_unit_test(test_vsyscall_refused),
		cmocka_unit_test(test_efault),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_more_handled_than_begun),
		cmocka_unit_test(test_made_by_the_kernel),
		cmocka_unit_test(test_fewer_made_than_populated),
		cmocka_unit_test(test_other_get_user_pages),
		cmocka_unit_test(test_children_that_nobody_waited_for),
		cmocka_unit_test(test_lost_events_are_mentioned),
		cmocka_unit_test(test_losses_that_made_no_difference),
		cmocka_unit_test(test_the_launcher_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
