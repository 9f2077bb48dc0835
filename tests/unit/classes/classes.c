/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classes of faults that need facilities few machines have: swap, NUMA, huge pages, userfaultfd; other machines. */
#include "support/feed.h"

#include "classes/classes.h"

enum { PID = 100, OTHER = 101, START = 0x400000, DEV = 0xfe00001, INO = 77, NOT_MAPPED = 6, MAPPED = 7 };

static struct feed feed_classes(const char *machine)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev = feed_event(&f, PFS_NOTE, HAS(KEY) | HAS(VALUE));

	pfs_model_track_presence(f.model);
	f.behind = pfs_classes_observer(pfs_classes_new(f.model, NULL));
	assert_non_null(f.behind.ctx);
	ev.have &= ~(HAS(PID) | HAS(TID));
	ev.key = "machine";
	ev.value = machine;
	feed_apply(&f, &ev);
	feed_maps_line(&f, START, START + 16 * PAGE, RW, 0, 0, 0, "");
	feed_maps_line(&f, START + 16 * PAGE, START + 32 * PAGE, RW, 0, DEV, INO, "/bin/a");
	return f;
}

static void done(struct feed *f)
{
	pfs_classes_free(f->behind.ctx);
	feed_free(f);
}

static void fault(struct feed *f, unsigned int page, unsigned int access, unsigned int code, unsigned int how)
{
	struct pfs_event ev = feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(CODE) | HAS(MODE));

	ev.addr = START + page * PAGE;
	ev.access = access;
	ev.code = code;
	ev.mode = PFS_USER;
	ev.how = how;
	ev.have |= how ? HAS(HOW) : 0;
	feed_apply(f, &ev);
}

/* That many faults are of that class, so many of them reported. */
static void expect(const struct feed *f, enum pfs_fault_class class, unsigned int faults, unsigned int reported)
{
	const struct pfs_class_sum **sums;
	uint64_t got = 0, got_reported = 0;
	size_t nr;

	sums = pfs_classes_sorted(f->behind.ctx, &nr);
	assert_non_null(sums);
	for (size_t i = 0; i < nr; i++) {
		if (sums[i]->key.class != (int32_t) class)
			continue;
		got += sums[i]->faults;
		got_reported += sums[i]->reported;
	}
	free(sums);
	assert_int_equal(got, faults);
	assert_int_equal(got_reported, reported);
}

static void test_what_the_source_reports(void **state)
{
	struct feed f = feed_classes("x86_64");

	fault(&f, 0, PFS_WRITE, NOT_MAPPED, PFS_HOW_ANON);
	fault(&f, 1, PFS_READ, 4, PFS_HOW_ANON);
	fault(&f, 2, PFS_READ, 4, PFS_HOW_SWAP);
	fault(&f, 3, PFS_READ, 4, PFS_HOW_NUMA);
	fault(&f, 4, PFS_WRITE, NOT_MAPPED, PFS_HOW_HUGE);
	fault(&f, 17, PFS_WRITE, NOT_MAPPED, PFS_HOW_COW);
	fault(&f, 18, PFS_READ, 4, PFS_HOW_FILE);
	fault(&f, 18, PFS_READ, 4, PFS_HOW_HIDDEN);
	expect(&f, PFS_CLASS_HIDDEN, 1, 1);
	expect(&f, PFS_CLASS_ANON, 1, 1);
	expect(&f, PFS_CLASS_ZERO, 1, 1);
	expect(&f, PFS_CLASS_SWAP, 1, 1);
	expect(&f, PFS_CLASS_NUMA, 1, 1);
	expect(&f, PFS_CLASS_HUGE, 1, 1);
	expect(&f, PFS_CLASS_COW_FILE, 1, 1);
	expect(&f, PFS_CLASS_FILE_READ, 1, 1);
	done(&f);
}

/* A page that was mapped, and is not now, without a call that took it away. */
static void test_taken_away(void **state)
{
	struct feed f = feed_classes("x86_64");
	struct pfs_event ev;

	fault(&f, 0, PFS_WRITE, NOT_MAPPED, 0);
	fault(&f, 0, PFS_WRITE, NOT_MAPPED, 0);
	expect(&f, PFS_CLASS_ANON, 1, 0);
	expect(&f, PFS_CLASS_TAKEN, 1, 0);
	/* Of a file it is read again; a private copy of one may be anywhere. */
	fault(&f, 20, PFS_READ, 4, 0);
	fault(&f, 20, PFS_READ, 4, 0);
	expect(&f, PFS_CLASS_FILE_READ, 2, 0);
	fault(&f, 21, PFS_WRITE, NOT_MAPPED, 0);
	fault(&f, 20, PFS_READ, 4, 0); /* so the one before is over */
	fault(&f, 21, PFS_READ, 4, 0);
	expect(&f, PFS_CLASS_FILE_READ, 3, 0);
	expect(&f, PFS_CLASS_COW_FILE, 1, 0);
	expect(&f, PFS_CLASS_TAKEN, 2, 0);
	/* MADV_PAGEOUT */
	fault(&f, 1, PFS_WRITE, NOT_MAPPED, 0);
	ev = feed_event(&f, PFS_ADVISE, HAS(START) | HAS(END) | HAS(ADVICE));
	ev.start = START;
	ev.end = START + 2 * PAGE;
	ev.advice = PFS_ADVICE_PAGEOUT;
	feed_apply(&f, &ev);
	fault(&f, 1, PFS_READ, 4, 0);
	expect(&f, PFS_CLASS_TAKEN, 3, 0);
	done(&f);
}

/* The time in a fault goes with it. */
static void test_latency(void **state)
{
	struct feed f = feed_classes("x86_64");
	struct pfs_event ev = feed_event(&f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(CODE) | HAS(MODE) | HAS(LATENCY));
	const struct pfs_class_sum **sums;
	size_t nr;

	ev.addr = START;
	ev.access = PFS_WRITE;
	ev.code = NOT_MAPPED;
	ev.mode = PFS_USER;
	ev.latency_ns = 1234;
	feed_apply(&f, &ev);
	fault(&f, 1, PFS_WRITE, NOT_MAPPED, 0);
	feed_apply(&f, &ev);
	ev = feed_event(&f, PFS_SIGNAL, 0);
	feed_apply(&f, &ev);
	sums = pfs_classes_sorted(f.behind.ctx, &nr);
	assert_non_null(sums);
	for (size_t i = 0; i < nr; i++)
		if (sums[i]->key.class == PFS_CLASS_SIGNAL) {
			assert_int_equal(sums[i]->faults, 1);
			assert_int_equal(sums[i]->nr_timed, 1);
			assert_int_equal(sums[i]->latency_ns, 1234);
		} else if (sums[i]->key.class == PFS_CLASS_ANON) {
			assert_int_equal(sums[i]->latency_ns, 1234);
		}
	free(sums);
	done(&f);
}

static void test_later_events(void **state)
{
	struct feed f = feed_classes("x86_64");
	struct pfs_event ev;

	fault(&f, 0, PFS_WRITE, NOT_MAPPED, 0);
	ev = feed_event(&f, PFS_HUGE, HAS(ORDER));
	ev.order = 4; /* a larger folio is no huge page */
	feed_apply(&f, &ev);
	expect(&f, PFS_CLASS_ANON, 1, 0);
	ev.order = 9;
	feed_apply(&f, &ev);
	expect(&f, PFS_CLASS_ANON, 0, 0);
	expect(&f, PFS_CLASS_HUGE, 1, 0);
	fault(&f, 17, PFS_READ, 4, 0);
	ev = feed_event(&f, PFS_SIGNAL, 0);
	feed_apply(&f, &ev);
	expect(&f, PFS_CLASS_FILE_READ, 0, 0);
	expect(&f, PFS_CLASS_SIGNAL, 1, 0);
	done(&f);
}

/* Another thread fills the page for which one waits. */
static void test_userfaultfd(void **state)
{
	struct feed f = feed_classes("x86_64");
	struct pfs_event ev = feed_event(&f, PFS_THREAD, HAS(CHILD));

	ev.child = OTHER;
	feed_apply(&f, &ev);
	fault(&f, 0, PFS_READ, 4, 0);
	f.tid = OTHER;
	fault(&f, 5, PFS_WRITE, NOT_MAPPED, 0);
	ev = feed_event(&f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(BY));
	ev.start = START;
	ev.end = START + PAGE;
	ev.by = PFS_BY_USERFAULTFD;
	feed_apply(&f, &ev);
	expect(&f, PFS_CLASS_USERFAULTFD, 1, 0);
	expect(&f, PFS_CLASS_ZERO, 0, 0);
	expect(&f, PFS_CLASS_ANON, 1, 0);
	done(&f);
}

static void test_unknown(void **state)
{
	struct feed f = feed_classes("x86_64");

	fault(&f, 100, PFS_WRITE, NOT_MAPPED, 0);
	expect(&f, PFS_CLASS_REGION, 1, 0);
	feed_map(&f, START + 99 * PAGE, START + 101 * PAGE, RW, "[stack]"); /* no growth: a mapping of its own */
	fault(&f, 0, PFS_WRITE, MAPPED, 0);
	expect(&f, PFS_CLASS_PROTECTED, 1, 0);
	fault(&f, 0, PFS_READ, 5, 0);
	expect(&f, PFS_CLASS_SPURIOUS, 1, 0);
	done(&f);
	/* The error code of another machine says nothing. */
	f = feed_classes("aarch64");
	fault(&f, 0, PFS_WRITE, NOT_MAPPED, 0);
	expect(&f, PFS_CLASS_CODE, 1, 0);
	done(&f);
}

/* A read gets a page of its own, which a fork shares; the kernel's own memory is no anonymous memory. */
static void test_without_zero_page(void **state)
{
	struct feed f = feed_classes("x86_64");
	struct pfs_event ev;

	feed_note(&f, "zero_page", "no", false);
	feed_map(&f, START + 64 * PAGE, START + 65 * PAGE, PFS_PERM_R, "[vdso]");
	fault(&f, 0, PFS_READ, 4, 0);
	fault(&f, 1, PFS_READ, 4, PFS_HOW_ANON);
	expect(&f, PFS_CLASS_ANON, 2, 1);
	fault(&f, 64, PFS_READ, 4, 0);
	expect(&f, PFS_CLASS_KERNEL, 1, 0);
	fault(&f, 0, PFS_WRITE, MAPPED, 0);
	expect(&f, PFS_CLASS_PROTECTED, 1, 0);
	fault(&f, 16, PFS_READ, 4, 0);
	fault(&f, 16, PFS_WRITE, MAPPED, 0);
	expect(&f, PFS_CLASS_COW_FILE, 1, 0);
	ev = feed_event(&f, PFS_FORK, HAS(CHILD));
	ev.child = OTHER;
	feed_apply(&f, &ev);
	fault(&f, 1, PFS_WRITE, MAPPED, 0);
	f.pid = f.tid = OTHER;
	fault(&f, 1, PFS_WRITE, MAPPED, 0);
	expect(&f, PFS_CLASS_COW_FORK, 2, 0);
	expect(&f, PFS_CLASS_ZERO, 0, 0);
	expect(&f, PFS_CLASS_COW_ZERO, 0, 0);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_the_source_reports),
		cmocka_unit_test(test_taken_away),
		cmocka_unit_test(test_later_events),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_userfaultfd),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_without_zero_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
