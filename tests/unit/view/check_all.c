/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults that are told with their class, those included that the kernel makes itself; and the check that
 * holds them against the kernel's counts, exactly.
 */
#include "support/draw.h"
#include "support/page_at.h"

static const struct pfs_view_options plain = { .width = 80 };

static void fault(struct feed *f, uint64_t addr, int class, int how, uint64_t latency_ns)
{
	struct pfs_event ev =
		feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(CLASS) | HAS(HOW) | HAS(LATENCY) | HAS(MODE));

	ev.addr = addr;
	ev.access = PFS_WRITE;
	ev.mode = PFS_USER;
	ev.class = class;
	ev.how = how;
	ev.latency_ns = latency_ns;
	feed_apply(f, &ev);
}

/* The kernel's own fault; id: of the region in another space, 0: it is in its own. */
static void unasked(struct feed *f, uint64_t start, uint64_t end, int class, uint64_t id)
{
	struct pfs_event ev =
		feed_event(f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(CLASS) | HAS(BY) | HAS(HOW) | HAS(LATENCY));

	ev.start = start;
	ev.end = end;
	ev.class = class;
	ev.by = PFS_BY_GUP;
	ev.how = PFS_HOW_ANON;
	ev.latency_ns = 100;
	if (id) {
		ev.space = PFS_SPACE_OTHER;
		ev.id = id;
		ev.have |= HAS(SPACE) | HAS(ID);
	}
	feed_apply(f, &ev);
}

/* Three minor faults and a major one, and one of each that the kernel made itself. */
static struct feed recorded(void)
{
	struct feed f = feed_new(1);

	feed_note(&f, "source", "stap", false);
	feed_map(&f, 0x400000, 0x410000, RW, "");
	fault(&f, 0x400000, PFS_MINOR, PFS_HOW_ANON, 10);
	fault(&f, 0x401000, PFS_MINOR, PFS_HOW_ANON, 30);
	fault(&f, 0x401000, PFS_MINOR, PFS_HOW_COW, 50);
	fault(&f, 0x402000, PFS_MAJOR_CLASS, PFS_HOW_SWAP, 1000000);
	unasked(&f, 0x403000, 0x404000, PFS_MINOR, 0);
	unasked(&f, 0x404000, 0x405000, PFS_MAJOR_CLASS, 0);
	return f;
}

static void assert_verdict(struct feed *f, int ret, const char *line)
{
	struct drawing d = draw(f, "check", plain);

	if (!strstr(d.text, line) && !strstr(d.err.msg, line)) {
		print_error("no \"%s\" in:\n%s%s\n", line, d.text, d.err.msg);
		fail();
	}
	assert_int_equal(d.ret, ret);
	free(d.text);
	feed_free(f);
}

/* ---- the check ---- */

static void test_exact(void **state)
{
	struct feed f = recorded();

	feed_note(&f, "counted", "minor 4 major 2", true);
	feed_exit(&f, true);
	feed_note(&f, "counted_before", "minor 100 major 7", false);
	feed_note(&f, "rusage", "minor 104 major 9", false);
	assert_drawn(&f, "check", plain,
		     "           4  page faults recorded, from the command's start to its end\n"
		     "           0  got no page, or were retried:\n"
		     "           2  made by the kernel itself, without an exception (get_user_pages):\n"
		     "               2  get_user_pages by a call that is not recorded\n"
		     "           6  page faults as the kernel accounts them, of 1 process\n"
		     "           6  page faults as the kernel accounts them (rusage minor + major)\n"
		     "every fault is accounted for\n");
	feed_free(&f);
}

/* Minor and major apart: that the sum is right is not enough. */
static void test_differences(void **state)
{
	static const struct {
		const char *counted, *line, *verdict;
	} rows[] = {
		{ "minor 5 major 2",
		  "           1  UNEXPLAINED: minor faults that the kernel counted and the recording "
		  "lacks, in process 1",
		  "1 unexplained difference from" },
		{ "minor 2 major 2",
		  "           2  UNEXPLAINED: minor faults recorded that the kernel did not count, in process 1",
		  "1 unexplained difference from" },
		{ "minor 5 major 1", "           1  UNEXPLAINED: major faults recorded",
		  "2 unexplained differences from" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int verdict = 0; verdict < 2; verdict++) {
			struct feed f = recorded();

			feed_note(&f, "counted", rows[i].counted, true);
			assert_verdict(&f, -ERANGE, verdict ? rows[i].verdict : rows[i].line);
		}
	}
}

/* Of those found running one each may be missing or too much, no more. */
static void test_under_way(void **state)
{
	static const struct {
		const char *counted;
		int ret;
		const char *line;
	} rows[] = {
		{ "minor 5 major 2 running 1", 0,
		  "\n               1  in progress when the recording "
		  "began, in process 1\n" },
		{ "minor 3 major 2 running 1", 0, "\n               1  in progress" },
		{ "minor 5 major 1 running 2", 0, "\n               2  in progress" },
		{ "minor 6 major 2 running 1", -ERANGE, "           2  UNEXPLAINED: minor faults that" },
		{ "minor 5 major 2 running 0", -ERANGE, "           1  UNEXPLAINED: minor faults that" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct feed f = recorded();

		feed_note(&f, "counted", rows[i].counted, true);
		assert_verdict(&f, rows[i].ret, rows[i].line);
	}
}

static void test_rusage_alone(void **state)
{
	struct feed f = recorded();

	feed_note(&f, "counted_before", "minor 0 major 0", false);
	feed_note(&f, "rusage", "minor 4 major 3", false);
	assert_verdict(&f, -ERANGE, "in the command's rusage");
}

static void test_nothing_to_check_against(void **state)
{
	struct feed f = recorded();

	assert_verdict(&f, -ENOENT, "no process of it has ended");
}

static void test_losses_are_mentioned(void **state)
{
	struct feed f = recorded();

	feed_lost(&f, 0, 2);
	feed_note(&f, "counted", "minor 6 major 2", true);
	assert_verdict(&f, -ERANGE, "counts, possibly lost events");
}

/* A difference may be lost events where as many are missing at a time when the process lived. */
static void test_what_losses_explain(void **state)
{
	struct feed f = recorded();

	feed_lost(&f, 0, 2);
	feed_note(&f, "counted", "minor 6 major 2", true);
	assert_verdict(
		&f, -ERANGE,
		"           2  MAY BE LOST: minor faults that the kernel counted and the recording lacks, in process 1\n");
	f = recorded();
	feed_lost(&f, 0, 1); /* too few */
	feed_note(&f, "counted", "minor 6 major 2", true);
	assert_verdict(&f, -ERANGE,
		       "  2  UNEXPLAINED: minor faults that the kernel counted and the recording lacks, in");
	f = recorded();
	feed_lost(&f, 0, 0); /* who knows */
	feed_note(&f, "counted", "minor 6 major 2", true);
	assert_verdict(&f, -ERANGE, "  2  MAY BE LOST: minor");
	f = recorded();
	feed_lost(&f, 0, 5); /* but it shows more than there were */
	feed_note(&f, "counted", "minor 3 major 2", true);
	assert_verdict(&f, -ERANGE, "1 unexplained difference from the kernel's counts");
	f = recorded();
	feed_fork(&f, 2, false);
	feed_as(&f, 2, 2);
	feed_note(&f, "counted", "minor 1 major 0", true);
	feed_exit(&f, true);
	feed_lost(&f, 0, 5); /* when it had gone */
	assert_verdict(&f, -ERANGE,
		       "  1  UNEXPLAINED: minor faults that the kernel counted and the recording lacks, in process 2");
}

/* What pfscope's own child did before the command is the first process's, too. */
static void test_the_launcher(void **state)
{
	struct feed f = feed_new(1);

	feed_note(&f, "source", "stap", false);
	feed_note(&f, "launch", "x", true);
	fault(&f, 0x1000, PFS_MINOR, PFS_HOW_ANON, 10);
	feed_exec(&f, "/bin/x", "x");
	fault(&f, 0x2000, PFS_MINOR, PFS_HOW_ANON, 10);
	feed_note(&f, "counted", "minor 2 major 0", true);
	feed_exit(&f, true);
	assert_verdict(&f, 0, "           2  page faults recorded\n");
}

/* Two processes of one number, one after the other; of two accounts of one the newer. */
static void test_whose_account(void **state)
{
	struct feed f = recorded();

	feed_note(&f, "counted", "minor 1 major 1", true);
	feed_note(&f, "counted", "minor 4 major 2", true);
	feed_exit(&f, true);
	feed_as(&f, 9, 9);
	feed_fork(&f, 1, false);
	feed_as(&f, 1, 1);
	fault(&f, 0x9000, PFS_MINOR, PFS_HOW_ANON, 10);
	feed_note(&f, "counted", "minor 1 major 0", true);
	feed_exit(&f, true);
	assert_verdict(&f, 0, "           7  page faults as the kernel accounts them, of 2 processes\n");
}

/* Exceptions without a page are nobody's count. */
static void test_no_page(void **state)
{
	struct feed f = recorded();

	feed_fault(&f, 0x900000, PFS_READ);
	feed_signal(&f, 11);
	feed_note(&f, "counted", "minor 4 major 2", true);
	assert_verdict(&f, 0,
		       "\n           1  got no page, or were retried:\n"
		       "               1  ended in a signal (SIGSEGV, SIGBUS)\n");
}

/* ---- the model ---- */

static void test_pages_of_unasked_faults(void **state)
{
	struct feed f = recorded();
	struct pfs_space *space = pfs_proc_space(pfs_model_proc(f.model, 1));

	assert_int_equal(page_at(space->pages, 0x403000)->flags, PFS_PAGE_POPULATED | PFS_PAGE_MINOR);
	assert_int_equal(page_at(space->pages, 0x404000)->flags, PFS_PAGE_POPULATED | PFS_PAGE_MAJOR);
	assert_int_equal(f.model->counts.populated, 2);
	assert_int_equal(f.model->counts.unasked[PFS_BY_GUP], 2);
	/* a page that was touched before stays one */
	unasked(&f, 0x400000, 0x401000, PFS_MAJOR_CLASS, 0);
	assert_false(page_at(space->pages, 0x400000)->flags & PFS_PAGE_POPULATED);
	assert_true(page_at(space->pages, 0x400000)->flags & PFS_PAGE_MAJOR);
	assert_int_equal(f.model->counts.populated, 2);
	feed_free(&f);
}

/* The page is where the region is, the count is the toucher's; nobody's region: only the count. */
static void test_pages_of_others(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_space *space;

	feed_row(&f, 0x400000, 0x410000, 0x77);
	space = pfs_proc_space(pfs_model_proc(f.model, 1));
	feed_as(&f, 2, 2);
	unasked(&f, 0x401000, 0x402000, PFS_MINOR, 0x77);
	unasked(&f, 0x401000, 0x402000, PFS_MINOR, 0x78);
	assert_int_equal(page_at(space->pages, 0x401000)->flags, PFS_PAGE_POPULATED | PFS_PAGE_MINOR);
	assert_int_equal(pages_total(pfs_proc_space(pfs_model_proc(f.model, 2))->pages), 0);
	assert_int_equal(pfs_model_proc(f.model, 1)->counts.unasked_minor, 0);
	assert_int_equal(pfs_model_proc(f.model, 2)->counts.unasked_minor, 2);
	feed_free(&f);
}

static void test_a_huge_page_right_there(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev;
	struct pfs_space *space;

	feed_map(&f, 0x200000, 0x600000, RW, "");
	space = pfs_proc_space(pfs_model_proc(f.model, 1));
	unasked(&f, 0x200000, 0x400000, PFS_MINOR, 0);
	ev = feed_event(&f, PFS_HUGE, HAS(ORDER) | HAS(START) | HAS(END));
	ev.order = 9;
	ev.start = 0x200000;
	ev.end = 0x400000;
	feed_apply(&f, &ev);
	assert_int_equal(pages_with(space->pages, 0x200000, 0x600000, PFS_PAGE_HUGE), 512);
	assert_int_equal(f.model->counts.huge, 1);
	assert_int_equal(f.model->counts.unasked_minor, 1);
	feed_free(&f);
}

/* ---- the report ---- */

static void test_handling(void **state)
{
	struct feed f = recorded();

	feed_fault(&f, 0x400000, PFS_READ);
	assert_true(drawn_with(&f, "report", plain,
			       "By handling\n"
			       "  handled as  class    faults  by kernel  total ns  mean ns   max ns\n"
			       "  anon        minor         2          1       140       46      100\n"
			       "  anon        major         0          1       100      100      100\n"
			       "  cow         minor         1          0        50       50       50\n"
			       "  swap        major         1          0   1000000  1000000  1000000\n"
			       "  unknown     unknown       1          0                            \n"));
	feed_free(&f);
}

static void test_handling_is_not_known(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x410000, RW, "");
	feed_fault(&f, 0x400000, PFS_READ);
	assert_false(drawn_with(&f, "report", plain, "By handling"));
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_under_way),
		cmocka_unit_test(test_rusage_alone),
		cmocka_unit_test(test_nothing_to_check_against),
		cmocka_unit_test(test_losses_are_mentioned),
		cmocka_unit_test(test_what_losses_explain),
		cmocka_unit_test(test_the_launcher),
		cmocka_unit_test(test_whose_account),
		cmocka_unit_test(test_no_page),
		cmocka_unit_test(test_pages_of_unasked_faults),
		cmocka_unit_test(test_pages_of_others),
		cmocka_unit_test(test_a_huge_page_right_there),
		cmocka_unit_test(test_handling),
		cmocka_unit_test(test_handling_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
