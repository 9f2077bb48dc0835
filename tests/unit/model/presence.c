/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether pages are mapped: faults against changes of the layout, in the order in which they may be recorded. */
#include "support/feed.h"

#include "model/presence.h"

enum { PID = 1, OTHER = 2, CHILD = 3, DEV = 0xfe00000, INO = 7, START = 0x40000000, NR = 8 };

static struct feed feed_threads(void)
{
	struct feed f = feed_new(PID);

	pfs_model_track_presence(f.model);
	feed_note(&f, "machine", "x86_64", false);
	feed_note(&f, "kernel", "6.12.3", false);
	feed_map(&f, START, START + NR * PAGE, RW, "");
	feed_thread(&f, OTHER);
	return f;
}

/* A letter for each page. */
static void expect_of(const struct feed *f, int32_t pid, const char *wanted)
{
	const struct pfs_space *space = pfs_proc_space(pfs_model_proc(f->model, pid));
	char got[NR + 1] = "";

	for (int i = 0; i < NR; i++) {
		switch (presence_at(space, START + (uint64_t)i * PAGE)) {
		case PFS_PRESENT:
			got[i] = 'P';
			break;
		case PFS_MAYBE_RACED:
			got[i] = 'r';
			break;
		case PFS_MAYBE_COPIED:
			got[i] = 'c';
			break;
		case PFS_MAYBE_UNDER_WAY:
			got[i] = 'u';
			break;
		case PFS_MAYBE_HUGE:
			got[i] = 'h';
			break;
		default:
			got[i] = '.';
		}
	}
	assert_string_equal(got, wanted);
}

static void expect(const struct feed *f, const char *wanted)
{
	expect_of(f, PID, wanted);
}

static void fault(struct feed *f, int32_t tid, int page, int access)
{
	feed_as(f, PID, tid);
	feed_fault(f, START + (uint64_t)page * PAGE, access);
	feed_as(f, PID, PID);
}

/* The fault may have been handled before or after another thread replaced the mapping: its event comes first. */
static void test_mapped_over_a_fault(void **state)
{
	struct feed f = feed_threads();

	fault(&f, OTHER, 3, PFS_WRITE);
	fault(&f, PID, 4, PFS_WRITE);
	expect(&f, "...PP...");
	feed_unmap(&f, START, START + NR * PAGE);
	feed_map(&f, START, START + NR * PAGE, RW, "");
	expect(&f, "...r....");
	fault(&f, OTHER, 5, PFS_WRITE);
	feed_unmap(&f, START, START + NR * PAGE);
	feed_map(&f, START, START + NR * PAGE, RW, "");
	expect(&f, ".....r..");
	feed_free(&f);
}

/* A thread that was refused a page by a signal has changed nothing, also of what another one has mapped there since. */
static void test_mapped_before_a_signal(void **state)
{
	struct feed f = feed_threads();

	feed_unmap(&f, START, START + NR * PAGE);
	fault(&f, OTHER, 3, PFS_WRITE);
	feed_map(&f, START, START + NR * PAGE, RW, "");
	fault(&f, PID, 3, PFS_WRITE);
	feed_as(&f, PID, OTHER);
	feed_signal(&f, 11);
	expect(&f, "...P....");
	feed_free(&f);
}

static void discard(struct feed *f, int from, int to)
{
	struct pfs_event ev = feed_event(f, PFS_ADVISE, HAS(START) | HAS(END) | HAS(ADVICE) | HAS(INTERVAL));

	ev.advice = PFS_ADVICE_DONTNEED;
	ev.start = START + (uint64_t)from * PAGE;
	ev.end = START + (uint64_t)to * PAGE;
	ev.interval_ns = 500;
	feed_apply(f, &ev);
}

/* The same of a call that discards pages: the fault may have been handled after it. */
static void test_discarded_over_a_fault(void **state)
{
	struct feed f = feed_threads();

	fault(&f, OTHER, 3, PFS_WRITE);
	fault(&f, PID, 4, PFS_WRITE);
	discard(&f, 0, NR);
	expect(&f, "...r....");
	feed_free(&f);
}

/* The kernel may have to start again with a page of its own, and the thread may stop first; not with anonymous memory. */
static void test_kernel_memory(void **state)
{
	struct feed f = feed_threads();

	feed_map(&f, START + 4 * PAGE, START + NR * PAGE, PFS_PERM_R | PFS_PERM_X, "[vdso]");
	fault(&f, PID, 4, PFS_READ);
	expect(&f, "....u...");
	fault(&f, PID, 5, PFS_READ);
	expect(&f, "....Pu..");
	fault(&f, PID, 1, PFS_READ);
	expect(&f, ".P..PP..");
	feed_free(&f);
}

/* A fork copies what was read where that got pages of its own. */
static void test_fork_without_zero_page(void **state)
{
	struct feed f = feed_threads();
	struct pfs_event ev;

	feed_note(&f, "zero_page", "no", false);
	feed_map(&f, START + 4 * PAGE, START + NR * PAGE, PFS_PERM_R | PFS_PERM_X, "[vdso]");
	fault(&f, PID, 1, PFS_READ);
	fault(&f, PID, 4, PFS_READ);
	ev = feed_event(&f, PFS_FORK, HAS(CHILD));
	ev.child = CHILD;
	feed_apply(&f, &ev);
	expect_of(&f, CHILD, ".P......");
	feed_free(&f);
}

/* A read that may have got the huge zero page may have made a fork copy the region. */
static void test_fork_after_a_read(void **state)
{
	static const struct {
		const char *setting;
		uint64_t nr;
		const char *wanted;
	} cases[] = {
		{ "anon=never any=never zero=1", 1024, "........" },
		{ "anon=always any=always zero=1", 100, "........" },
		{ "anon=always any=always zero=1", 1024, "chhhhhhh" },
		{ "anon=always any=always zero=0", 1024, "c......." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f = feed_threads();

		feed_note(&f, "huge_pages", cases[i].setting, false);
		feed_unmap(&f, START, START + NR * PAGE);
		feed_map(&f, START, START + cases[i].nr * PAGE, RW, "");
		fault(&f, PID, 0, PFS_READ);
		feed_fork(&f, CHILD, false);
		expect_of(&f, CHILD, cases[i].wanted);
		feed_free(&f);
	}
}

/*
 * What grows down by a fault is prepared for private pages, also if that is a read: a fork copies it. The growth comes before
 * its fault where a fault is passed on when its handler has returned; then it may also be a mapping that was merged.
 */
static void test_fork_of_what_grew(void **state)
{
	for (int order = 0; order < 4; order++) {
		struct feed f = feed_threads();

		feed_unmap(&f, START, START + NR * PAGE);
		feed_map(&f, START + 6 * PAGE, START + NR * PAGE, RW, "");
		feed_row(&f, START + 6 * PAGE, START + NR * PAGE, 5);
		if (order == 0)
			fault(&f, PID, 3, PFS_READ);
		feed_row(&f, START + 3 * PAGE, START + NR * PAGE, 5);
		if (order == 2) /* a call merged a new mapping with it */
			feed_map(&f, START + 3 * PAGE, START + 6 * PAGE, RW, "");
		if (order == 3) /* another thread did */
			fault(&f, OTHER, 3, PFS_READ);
		else if (order)
			fault(&f, PID, 3, PFS_READ);
		feed_fork(&f, CHILD, false);
		expect_of(&f, PID, "...P....");
		expect_of(&f, CHILD, order == 0 ? "...P...." : order == 1 ? "...c...." : "........");
		feed_free(&f);
	}
}

/* A system call that the kernel has refused such a page, and that maps it afterwards, makes nothing grow. */
static void test_mapped_after_a_refusal(void **state)
{
	struct feed f = feed_threads();

	pfs_proc_space(pfs_model_proc(f.model, PID))->complete = true;
	feed_unmap(&f, START, START + NR * PAGE);
	feed_map(&f, START + 6 * PAGE, START + NR * PAGE, RW, "");
	feed_row(&f, START + 6 * PAGE, START + NR * PAGE, 5);
	fault(&f, PID, 7, PFS_READ);
	feed_fault_mode(&f, START + 3 * PAGE, PFS_WRITE, PFS_KERNEL);
	feed_row(&f, START + 3 * PAGE, START + NR * PAGE, 5);
	feed_map(&f, START + 3 * PAGE, START + 6 * PAGE, RW, "");
	feed_fork(&f, CHILD, false);
	expect_of(&f, CHILD, ".......c");
	feed_free(&f);
}

/* Two faults in kernel mode on the same page are one that was retried, unless the page was unmapped in between. */
static void test_kernel_fault_again(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct feed f = feed_threads();

		feed_fault_mode(&f, START + 3 * PAGE, PFS_WRITE, PFS_KERNEL);
		if (how == 1) {
			feed_unmap(&f, START, START + NR * PAGE);
			feed_map(&f, START, START + NR * PAGE, RW, "");
			expect(&f, "........");
		} else if (how == 2) {
			feed_as(&f, PID, OTHER);
			discard(&f, 0, NR);
			feed_as(&f, PID, PID);
		}
		feed_fault_mode(&f, START + 3 * PAGE, PFS_WRITE, PFS_KERNEL);
		expect(&f, "...P....");
		assert_int_equal(f.model->counts.retried, how == 0);
		feed_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mapped_over_a_fault),    cmocka_unit_test(test_mapped_before_a_signal),
		cmocka_unit_test(test_discarded_over_a_fault), cmocka_unit_test(test_fork_after_a_read),
		cmocka_unit_test(test_fork_of_what_grew),      cmocka_unit_test(test_kernel_fault_again),
		cmocka_unit_test(test_mapped_after_a_refusal), cmocka_unit_test(test_kernel_memory),
		cmocka_unit_test(test_fork_without_zero_page),
	};

	return cmocka_run_group_tests_name("presence", tests, NULL, NULL);
}
