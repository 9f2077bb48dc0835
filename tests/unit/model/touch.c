/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was touched: marks on pages and counts, one rule a test. Which space and region an event
 * speaks of is model/model.c's; that it adds up on random events, too.
 */
#include <errno.h>
#include "support/feed.h"

#include "model/space.h"
#include "support/page_at.h"

enum { PID = 1 };

static struct pfs_space *space_of(const struct feed *f)
{
	return pfs_proc_space(pfs_model_proc(f->model, PID));
}

static uint32_t flags_at(const struct feed *f, uint64_t addr)
{
	const struct pfs_page *page = page_at(space_of(f)->pages, addr);

	return page ? page->flags : 0;
}

static uint64_t nr_pages(const struct feed *f)
{
	return pages_total(space_of(f)->pages);
}

static void feed_muted(struct feed *f, struct pfs_event ev)
{
	pfs_model_mute(f->model, true);
	assert_int_equal(pfs_model_apply(f->model, &ev, NULL), 0);
	pfs_model_mute(f->model, false);
}

static struct pfs_event fault_event(struct feed *f, uint64_t addr, int access)
{
	struct pfs_event ev = feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(MODE));

	ev.addr = addr;
	ev.access = access;
	ev.mode = PFS_USER;
	return ev;
}

static void populate_by(struct feed *f, uint64_t start, uint64_t end, int by, int access)
{
	struct pfs_event ev = feed_event(f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(BY) | (access ? HAS(ACCESS) : 0));

	ev.start = start;
	ev.end = end;
	ev.by = by;
	ev.access = access;
	feed_apply(f, &ev);
}

/* Fault-around or a huge page, while the kernel populates [start, end). */
static struct pfs_event while_populating(struct feed *f, enum pfs_kind kind, uint64_t have, uint64_t start,
					 uint64_t end)
{
	struct pfs_event ev = feed_event(f, kind, HAS(START) | HAS(END) | have);

	ev.start = start;
	ev.end = end;
	return ev;
}

static void around_populating(struct feed *f, uint64_t start, uint64_t end, uint64_t ino, uint64_t off,
			      uint64_t end_off)
{
	struct pfs_event ev =
		while_populating(f, PFS_AROUND, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF), start, end);

	ev.dev = 1;
	ev.ino = ino;
	ev.off = off;
	ev.end_off = end_off;
	feed_apply(f, &ev);
}

/* ---- faults ---- */

static void test_counts_by_access_and_mode(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x404000, RW | X, "");
	feed_fault_mode(&f, 0x400000, PFS_READ, PFS_USER);
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL);
	feed_fault_mode(&f, 0x402000, PFS_EXECUTE, PFS_USER);
	feed_fault_mode(&f, 0x403000, 0, 0);
	assert_int_equal(f.model->counts.read, 1);
	assert_int_equal(f.model->counts.write, 1);
	assert_int_equal(f.model->counts.exec, 1);
	assert_int_equal(f.model->counts.access_unknown, 1);
	assert_int_equal(f.model->counts.user, 2);
	assert_int_equal(f.model->counts.kernel, 1);
	assert_int_equal(flags_at(&f, 0x402000), PFS_PAGE_EXEC | PFS_PAGE_USER);
	feed_free(&f);
}

/* Of all that is read, the fault's own page counts, and once: it may be read again by a system call. */
static void test_a_page_read_from_disk(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x400000, 0x410000, R, 0, 1, 9, "/a");
	feed_fault(&f, 0x402000, PFS_READ);
	for (int i = 0; i < 8; i++)
		feed_major(&f, 1, 9, (i & 3) * PAGE);
	feed_major(&f, 1, 8, 2 * PAGE);
	assert_int_equal(f.model->counts.major, 1);
	assert_int_equal(f.model->nr_events, 3);
	feed_fault(&f, 0x403000, PFS_READ);
	feed_major(&f, 1, 9, 3 * PAGE);
	assert_int_equal(f.model->counts.major, 2);
	feed_free(&f);
}

static void test_a_class_that_the_source_knows(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	for (int class = PFS_MINOR; class <= PFS_MAJOR_CLASS; class ++) {
		ev = fault_event(&f, 0x400000 + class * PAGE, PFS_READ);
		ev.have |= HAS(CLASS);
		ev.class = class;
		feed_apply(&f, &ev);
	}
	assert_int_equal(f.model->counts.minor, 1);
	assert_int_equal(f.model->counts.major, 1);
	assert_int_equal(flags_at(&f, 0x401000), PFS_PAGE_READ | PFS_PAGE_USER | PFS_PAGE_MINOR);
	assert_int_equal(flags_at(&f, 0x402000), PFS_PAGE_READ | PFS_PAGE_USER | PFS_PAGE_MAJOR);
	feed_free(&f);
}

static void test_an_unknown_access_is_unknown(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev = fault_event(&f, 0x400000, 200);

	feed_apply(&f, &ev);
	assert_int_equal(f.model->counts.access_unknown, 1);
	assert_int_equal(flags_at(&f, 0x400000), PFS_PAGE_ACCESS_UNKNOWN | PFS_PAGE_USER);
	feed_free(&f);
}

static void test_what_was_written(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_map(&f, 0x500000, 0x501000, R, "");
	feed_fault(&f, 0x400000, PFS_READ);
	feed_fault(&f, 0x500000, PFS_WRITE); /* may not: ends in a signal */
	assert_false(space_of(&f)->live[0]->written);
	assert_false(space_of(&f)->live[1]->written);
	feed_fault(&f, 0x400000, PFS_WRITE);
	assert_true(space_of(&f)->live[0]->written);
	feed_free(&f);
}

/* ---- muted ---- */

static void test_muted_leaves_no_mark(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_maps_line(&f, 0x400000, 0x410000, R, 0, 1, 9, "/f");
	feed_muted(&f, fault_event(&f, 0x400000, PFS_READ));
	/* What belongs to it goes with it, though it be not muted itself. */
	feed_around(&f, 1, 9, 0, 0x10000);
	feed_major(&f, 1, 9, 0);
	feed_huge(&f, 2);
	feed_signal(&f, 11);
	ev = while_populating(&f, PFS_POPULATE, 0, 0x400000, 0x410000);
	feed_muted(&f, ev);
	ev = feed_event(&f, PFS_ACCESS, HAS(ADDR));
	ev.addr = 0x400000;
	feed_muted(&f, ev);
	assert_int_equal(nr_pages(&f), 0);
	assert_int_equal(f.model->counts.faults + f.model->counts.major + f.model->counts.huge +
				 f.model->counts.signal + f.model->counts.populated + f.model->counts.unasked[0],
			 0);
	feed_free(&f);
}

static void test_muted_writes_are_written(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_map(&f, 0x500000, 0x501000, RW, "");
	feed_muted(&f, fault_event(&f, 0x400000, PFS_WRITE));
	feed_muted(&f, while_populating(&f, PFS_POPULATE, 0, 0x500000, 0x501000));
	assert_true(space_of(&f)->live[0]->written);
	assert_true(space_of(&f)->live[1]->written);
	assert_int_equal(nr_pages(&f), 0);
	feed_free(&f);
}

/* ---- populated ---- */

static void test_populate_passes_over_what_it_cannot(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x401000, 0, "");
	feed_map(&f, 0x401000, 0x402000, S, ""); /* PROT_NONE, shared */
	feed_map(&f, 0x402000, 0x403000, R, "[vvar]");
	feed_map(&f, 0x403000, 0x404000, R, "[vvar_vclock]");
	feed_map(&f, 0x404000, 0x405000, X, ""); /* may be populated, or not */
	feed_map(&f, 0x405000, 0x406000, R, "");
	feed_row(&f, 0x500000, 0x501000, 7); /* unknown */
	feed_populate(&f, 0, UINT64_MAX);
	assert_int_equal(f.model->counts.populated, 1);
	assert_int_equal(flags_at(&f, 0x405000), PFS_PAGE_POPULATED);
	feed_free(&f);
}

/* How many pages a call that reports its failures has populated. */
static uint64_t got_by(enum pfs_by by, int access, int error, bool sure)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev = while_populating(&f, PFS_POPULATE, HAS(BY) | HAS(ERROR) | (access ? HAS(ACCESS) : 0),
					       0x400000, 0x40a000);
	uint64_t got;

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_map(&f, 0x402000, 0x404000, R, "");
	feed_map(&f, 0x404000, 0x406000, 0, "");
	feed_map(&f, 0x408000, 0x40a000, RW, "");
	ev.by = by;
	ev.access = access;
	ev.error = error;
	ev.inferred = sure ? 0 : HAS(BY);
	feed_apply(&f, &ev);
	got = f.model->counts.populated;
	assert_int_equal(nr_pages(&f), got);
	feed_free(&f);
	return got;
}

static void test_a_failing_call_populates_up_to_where_it_fails(void **state)
{
	assert_int_equal(got_by(PFS_BY_MADVISE, PFS_WRITE, EINVAL, true), 2);
	assert_int_equal(got_by(PFS_BY_MADVISE, PFS_READ, EINVAL, true), 4);
	assert_int_equal(got_by(PFS_BY_MADVISE, PFS_READ, EHWPOISON, true), 0); /* unknown where */
	assert_int_equal(got_by(PFS_BY_MLOCK, 0, ENOMEM, true), 0);		/* there is a hole */
}

/* A file of two pages and a half, in a mapping of ten. */
static void test_a_file_is_populated_as_far_as_it_reaches(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_maps_line(&f, 0x400000, 0x40a000, RW, 0, 1, 9, "/f");
	feed_maps_line(&f, 0x500000, 0x502000, RW, 0x1000, 1, 9, "/f");
	feed_maps_line(&f, 0x600000, 0x602000, RW, 0, 1, 8, "/g"); /* unknown */
	feed_reached(&f, 1, 9, 0x3000);
	feed_populate(&f, 0, UINT64_MAX);
	assert_int_equal(f.model->counts.populated, 3 + 2);
	assert_int_equal(flags_at(&f, 0x402000), PFS_PAGE_POPULATED);
	assert_int_equal(flags_at(&f, 0x403000), 0);
	/* What was reached is of that call only. */
	feed_maps_line(&f, 0x700000, 0x703000, RW, 0, 1, 9, "/f");
	feed_populate(&f, 0x700000, 0x703000);
	assert_int_equal(f.model->counts.populated, 3 + 2);
	/* A call that reports failures, and has not failed, got all. */
	ev = while_populating(&f, PFS_POPULATE, HAS(ERROR), 0x700000, 0x703000);
	feed_apply(&f, &ev);
	assert_int_equal(f.model->counts.populated, 3 + 2 + 3);
	feed_free(&f);
}

static void lock(struct feed *f, uint64_t start, uint64_t end, int traits)
{
	struct pfs_event ev = while_populating(f, PFS_PROTECT, HAS(BY) | HAS(TRAITS), start, end);

	ev.by = PFS_BY_MLOCK;
	ev.traits = traits;
	feed_apply(f, &ev);
}

static void test_mremap_populates_what_is_locked(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_map(&f, 0x500000, 0x502000, RW, "");
	lock(&f, 0x400000, 0x402000, PFS_TRAIT_LOCKED);
	populate_by(&f, 0x401000, 0x402000, PFS_BY_MREMAP, 0);
	populate_by(&f, 0x501000, 0x502000, PFS_BY_MREMAP, 0);
	assert_int_equal(f.model->counts.populated, 1);
	lock(&f, 0, UINT64_MAX, 0);
	populate_by(&f, 0x400000, 0x402000, PFS_BY_MREMAP, 0);
	assert_int_equal(f.model->counts.populated, 1);
	feed_free(&f);
}

/* What a failing call leaves is not of the next one. */
static void test_a_failing_call_uses_up_its_fault_arounds(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_maps_line(&f, 0x400000, 0x406000, R, 0, 1, 9, "/f");
	feed_map(&f, 0x500000, 0x502000, RW, "");
	around_populating(&f, 0x400000, 0x406000, 9, 0, 0x4000);
	ev = while_populating(&f, PFS_POPULATE, HAS(BY) | HAS(ERROR), 0x400000, 0x406000);
	ev.by = PFS_BY_MADVISE;
	ev.error = EFAULT;
	feed_apply(&f, &ev);
	populate_by(&f, 0x500000, 0x502000, PFS_BY_MMAP, 0);
	assert_int_equal(f.model->counts.unasked[PFS_BY_MMAP], 2);
	feed_free(&f);
}

static void test_populate_counts_by_its_cause(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x408000, RW, "");
	populate_by(&f, 0x400000, 0x401000, PFS_BY_MMAP, 0);
	populate_by(&f, 0x401000, 0x403000, PFS_BY_MLOCK, 0);
	populate_by(&f, 0x400000, 0x408000, 99, 0); /* of a newer version, say */
	assert_int_equal(f.model->counts.unasked[PFS_BY_MMAP], 1);
	assert_int_equal(f.model->counts.unasked[PFS_BY_MLOCK], 2);
	assert_int_equal(f.model->counts.unasked[0], 5);
	assert_int_equal(f.model->counts.populated, 8);
	feed_free(&f);
}

static void test_populate_by_read_writes_nothing(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x401000, RW, "");
	populate_by(&f, 0x400000, 0x401000, PFS_BY_MADVISE, PFS_READ);
	assert_false(space_of(&f)->live[0]->written);
	populate_by(&f, 0x400000, 0x401000, PFS_BY_MADVISE, PFS_WRITE);
	assert_true(space_of(&f)->live[0]->written);
	feed_free(&f);
}

/* The page faults of populating four pages of a file: fault-arounds, and those that looked up one page. */
static void test_faults_of_a_populated_file(void **state)
{
	static const struct {
		int nr_around, nr_single; /* single: -1: not recorded */
		uint64_t most, least, unsure;
	} cases[] = {
		{ 1, 0, 1, 1, 0 },  { 2, 0, 2, 2, 0 },
		{ 0, 1, 1, 1, 0 },  { 1, 1, 2, 1, 1 },	/* of one page, or of two */
		{ 1, 3, 4, 3, 1 },  { 1, -1, 1, 1, 1 }, /* another may have been passed over */
		{ 0, -1, 4, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f = feed_new(PID);
		struct pfs_event ev =
			while_populating(&f, PFS_REACHED, HAS(DEV) | HAS(INO) | HAS(END_OFF), 0, UINT64_MAX);

		ev.dev = 1;
		ev.ino = 9;
		ev.end_off = 0x4000;
		ev.have |= cases[i].nr_single < 0 ? 0 : HAS(COUNT);
		ev.count = cases[i].nr_single;
		feed_maps_line(&f, 0x400000, 0x404000, R, 0, 1, 9, "/f");
		for (int n = 0; n < cases[i].nr_around; n++)
			around_populating(&f, 0x400000, 0x404000, 9, 0, 0x4000);
		feed_apply(&f, &ev);
		populate_by(&f, 0x400000, 0x404000, PFS_BY_MMAP, PFS_READ);
		assert_int_equal(f.model->counts.unasked[PFS_BY_MMAP], cases[i].most);
		assert_int_equal(f.model->counts.unasked_least[PFS_BY_MMAP], cases[i].least);
		assert_int_equal(f.model->counts.unasked_unsure[PFS_BY_MMAP], cases[i].unsure);
		feed_free(&f);
	}
}

/* Fault-around maps four pages with one fault; two more take one each. */
static void test_around_while_populating(void **state)
{
	struct feed f = feed_new(PID);

	feed_maps_line(&f, 0x400000, 0x406000, R, 0, 1, 9, "/f");
	feed_maps_line(&f, 0x500000, 0x506000, R, 0, 1, 9, "/f"); /* not populated */
	feed_maps_line(&f, 0x406000, 0x407000, R, 0, 1, 8, "/g"); /* another file */
	around_populating(&f, 0x400000, 0x406000, 9, 0, 0x4000);
	feed_reached(&f, 1, 9, 0x6000);
	populate_by(&f, 0x400000, 0x406000, PFS_BY_MADVISE, PFS_READ);
	assert_int_equal(f.model->counts.unasked[PFS_BY_MADVISE], 3);
	assert_int_equal(f.model->counts.populated, 6);
	assert_int_equal(flags_at(&f, 0x400000), PFS_PAGE_MAYBE_AROUND | PFS_PAGE_POPULATED);
	assert_int_equal(flags_at(&f, 0x405000), PFS_PAGE_POPULATED);
	assert_int_equal(flags_at(&f, 0x406000) | flags_at(&f, 0x500000), 0);
	feed_free(&f);
}

static void test_huge_pages_while_populating(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_map(&f, 0x40000000, 0x40400000, RW, "");
	ev = while_populating(&f, PFS_HUGE, HAS(ORDER), 0x40000000, 0x40400000);
	ev.order = 9;
	feed_apply(&f, &ev);
	populate_by(&f, 0x40000000, 0x40400000, PFS_BY_MMAP, 0);
	assert_int_equal(f.model->counts.populated, 1024);
	assert_int_equal(f.model->counts.unasked[PFS_BY_MMAP], 1 + 512);
	/* It is used up. */
	feed_map(&f, 0x50000000, 0x50002000, RW, "");
	populate_by(&f, 0x50000000, 0x50002000, PFS_BY_MLOCK, 0);
	assert_int_equal(f.model->counts.unasked[PFS_BY_MLOCK], 2);
	feed_free(&f);
}

static void test_more_huge_pages_than_were_populated(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev;

	feed_map(&f, 0x400000, 0x402000, RW, "");
	ev = while_populating(&f, PFS_HUGE, HAS(ORDER), 0x400000, 0x402000);
	ev.order = 18;
	feed_apply(&f, &ev);
	populate_by(&f, 0x400000, 0x402000, PFS_BY_MMAP, 0);
	assert_int_equal(f.model->counts.unasked[PFS_BY_MMAP], 0);
	feed_free(&f);
}

/* ---- giants ---- */

/* Page by page it would take gigabytes; it is as exact as a small one is. */
static void test_a_giant_populate_costs_no_memory(void **state)
{
	const uint64_t start = 0x100000000000, end = 0x700000000000;
	struct feed f = feed_new(PID);

	feed_map(&f, start, end, RW, "");
	feed_fault(&f, start + 0x5000, PFS_READ);
	feed_populate(&f, 0, UINT64_MAX);
	assert_int_equal(nr_pages(&f), (end - start) >> 12);
	assert_int_equal(f.model->counts.populated, nr_pages(&f) - 1);
	assert_int_equal(flags_at(&f, start + 0x5000), PFS_PAGE_READ | PFS_PAGE_USER);
	feed_fault(&f, end - 0x1000, PFS_WRITE);
	assert_int_equal(flags_at(&f, end - 0x1000), PFS_PAGE_POPULATED | PFS_PAGE_WRITE | PFS_PAGE_USER);
	assert_int_equal(flags_at(&f, end - 0x2000), PFS_PAGE_POPULATED);
	feed_unmap(&f, start, start + 0x100003000);
	assert_int_equal(nr_pages(&f), (end - start - 0x100003000) >> 12);
	feed_populate(&f, 0, UINT64_MAX);
	assert_int_equal(f.model->counts.populated, ((end - start) >> 12) - 1);
	feed_free(&f);
}

static void test_a_giant_around_costs_no_memory(void **state)
{
	const uint64_t start = 0x100000000000, end = 0x700000000000;
	struct feed f = feed_new(PID);

	feed_maps_line(&f, start, end, R, 0, 1, 9, "/f");
	feed_fault(&f, start, PFS_READ);
	feed_around(&f, 1, 9, 0, UINT64_MAX);
	assert_int_equal(nr_pages(&f), (end - start) >> 12);
	feed_free(&f);
}

/* The address behind the last page is 0 again. */
static void test_populate_up_to_the_top_of_memory(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev = feed_event(&f, PFS_POPULATE, HAS(START) | HAS(END) | HAS(CLASS));

	ev.start = UINT64_MAX - 0x1fff;
	ev.end = UINT64_MAX;
	ev.class = PFS_MINOR;
	feed_apply(&f, &ev);
	assert_int_equal(nr_pages(&f), 2);
	assert_int_equal(f.model->counts.populated, 2);
	feed_free(&f);
}

/* ---- faults that the kernel's own counts leave out ---- */

static void test_retried(void **state)
{
	struct feed f = feed_new(PID);

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fault_mode(&f, 0x400000, PFS_READ, PFS_KERNEL);
	feed_fault_mode(&f, 0x400008, PFS_READ, PFS_KERNEL);
	assert_int_equal(f.model->counts.retried, 1);
	feed_fault_mode(&f, 0x401000, PFS_READ, PFS_KERNEL);  /* another page */
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL); /* another access */
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_USER);   /* another mode */
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL);
	feed_as(&f, PID, 2); /* another thread */
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL);
	assert_int_equal(f.model->counts.retried, 1);
	assert_int_equal(f.model->counts.faults, 7);
	feed_free(&f);
}

static void test_no_access(void **state)
{
	struct feed f = feed_new(PID);

	feed_note(&f, "snapshot", "first", true); /* so what is not there, is not there */
	feed_map(&f, 0x400000, 0x401000, R, "");
	feed_map(&f, 0x500000, 0x501000, 0, "");
	feed_row(&f, 0x600000, 0x601000, 7);
	feed_fault_mode(&f, 0x400000, PFS_READ, PFS_KERNEL);
	feed_fault_mode(&f, 0x600000, PFS_WRITE, PFS_KERNEL); /* permissions unknown */
	feed_fault_mode(&f, 0x700000, PFS_WRITE, PFS_USER);   /* a signal will tell */
	assert_int_equal(f.model->counts.no_access, 0);
	feed_fault_mode(&f, 0x400000, PFS_WRITE, PFS_KERNEL);
	feed_fault_mode(&f, 0x500000, PFS_READ, PFS_KERNEL);
	feed_fault_mode(&f, 0x700000, PFS_WRITE, PFS_KERNEL);
	assert_int_equal(f.model->counts.no_access, 3);
	feed_free(&f);
}

static void test_no_access_needs_a_known_layout(void **state)
{
	struct feed f = feed_new(PID);

	feed_fault_mode(&f, 0x700000, PFS_WRITE, PFS_KERNEL);
	assert_int_equal(f.model->counts.no_access, 0);
	feed_free(&f);
}

static void test_below_the_stack_it_grows(void **state)
{
	struct feed f = feed_new(PID);

	feed_note(&f, "snapshot", "first", true);
	feed_map(&f, 0x7ffd00000000, 0x7ffd00010000, RW, "[stack]");
	feed_fault_mode(&f, 0x7ffcffff0000, PFS_WRITE, PFS_KERNEL);
	assert_int_equal(f.model->counts.no_access, 0);
	feed_free(&f);
}

static void test_addresses_of_the_kernel(void **state)
{
	struct feed f = feed_new(PID);

	feed_fault(&f, 0xffffffffff600400, PFS_EXECUTE);
	assert_int_equal(f.model->counts.vsyscall, 1);
	assert_int_equal(f.model->counts.kernel_addr, 0);
	feed_fault(&f, 0xffffffffff601000, PFS_READ);
	feed_fault(&f, 0xffff888000000000, PFS_READ);
	assert_int_equal(f.model->counts.vsyscall, 1);
	assert_int_equal(f.model->counts.kernel_addr, 2);
	feed_free(&f);
}

/* ---- sampled ---- */

static void test_a_sampled_access(void **state)
{
	struct feed f = feed_new(PID);
	struct pfs_event ev = feed_event(&f, PFS_ACCESS, HAS(ADDR));

	ev.addr = 0x400123;
	feed_apply(&f, &ev);
	assert_int_equal(flags_at(&f, 0x400000), PFS_PAGE_REFERENCED);
	assert_int_equal(f.model->counts.faults, 0);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_by_access_and_mode),
		cmocka_unit_test(test_a_page_read_from_disk),
		cmocka_unit_test(test_a_class_that_the_source_knows),
		cmocka_unit_test(test_an_unknown_access_is_unknown),
		cmocka_unit_test(test_what_was_written),
		cmocka_unit_test(test_muted_leaves_no_mark),
		cmocka_unit_test(test_muted_writes_are_written),
		cmocka_unit_test(test_populate_passes_over_what_it_cannot),
		cmocka_unit_test(test_populate_counts_by_its_cause),
		cmocka_unit_test(test_a_failing_call_populates_up_to_where_it_fails),
		cmocka_unit_test(test_a_file_is_populated_as_far_as_it_reaches),
		cmocka_unit_test(test_mremap_populates_what_is_locked),
		cmocka_unit_test(test_a_failing_call_uses_up_its_fault_arounds),
		cmocka_unit_test(test_populate_by_read_writes_nothing),
		cmocka_unit_test(test_faults_of_a_populated_file),
		cmocka_unit_test(test_around_while_populating),
		cmocka_unit_test(test_huge_pages_while_populating),
		cmocka_unit_test(test_more_huge_pages_than_were_populated),
		cmocka_unit_test(test_a_giant_populate_costs_no_memory),
		cmocka_unit_test(test_a_giant_around_costs_no_memory),
		cmocka_unit_test(test_populate_up_to_the_top_of_memory),
		cmocka_unit_test(test_retried),
		cmocka_unit_test(test_no_access),
		cmocka_unit_test(test_no_access_needs_a_known_layout),
		cmocka_unit_test(test_below_the_stack_it_grows),
		cmocka_unit_test(test_addresses_of_the_kernel),
		cmocka_unit_test(test_a_sampled_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
