/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model: whose space an event changes, which page a touch marks, and that everything is counted
 * once. How one space's regions change is model/space.c's.
 */
#include "support/feed.h"
#include "support/page_at.h"
#include "support/random_event.h"

#include <stdio.h>

static struct pfs_proc *proc_of(const struct feed *f, int32_t pid)
{
	struct pfs_proc *proc = pfs_model_proc(f->model, pid);

	assert_non_null(proc);
	return proc;
}

static struct pfs_space *space_of(const struct feed *f, int32_t pid)
{
	return pfs_proc_space(proc_of(f, pid));
}

/* The flags of the page at addr, in the current space of the process. */
static uint32_t flags_at(const struct feed *f, int32_t pid, uint64_t addr)
{
	const struct pfs_page *page = page_at(space_of(f, pid)->pages, addr);

	return page ? page->flags : 0;
}

/* ---- touches ---- */

static void test_a_fault_marks_its_page(void **state)
{
	struct feed f = feed_new(1);
	const struct pfs_page *page;

	feed_as(&f, 1, 3);
	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fault(&f, 0x401fff, PFS_READ);
	feed_as(&f, 1, 1);
	feed_fault_mode(&f, 0x401000, PFS_WRITE, PFS_KERNEL);
	feed_fault_mode(&f, 0x401123, 0, 0);
	page = page_at(space_of(&f, 1)->pages, 0x401000);
	assert_non_null(page);
	assert_int_equal(page->flags,
			 PFS_PAGE_READ | PFS_PAGE_WRITE | PFS_PAGE_ACCESS_UNKNOWN | PFS_PAGE_USER | PFS_PAGE_KERNEL);
	assert_int_equal(page->nr_faults, 3);
	assert_int_equal(page->nr_read, 1);
	assert_int_equal(page->nr_write, 1);
	assert_int_equal(page->nr_kernel, 1);
	assert_int_equal(page->first_tid, 3);
	assert_true(page->first_ns < page->last_ns);
	assert_int_equal(f.model->counts.faults, 3);
	assert_int_equal(f.model->counts.access_unknown, 1);
	assert_int_equal(f.model->counts.user, 1);
	assert_int_equal(f.model->counts.kernel, 1);
	assert_int_equal(f.model->counts.outside, 0);
	assert_int_equal(pfs_model_thread(f.model, 1)->nr_faults, 2);
	feed_free(&f);
}

/* A field whose bit is clear says nothing, whatever stands in it. */
static void test_absent_fields_are_ignored(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev = feed_event(&f, PFS_FAULT, HAS(ADDR));
	const struct pfs_page *page;

	ev.addr = 0x400000;
	ev.access = PFS_WRITE;
	ev.mode = PFS_KERNEL;
	ev.class = PFS_MAJOR_CLASS;
	ev.space = PFS_SPACE_EXEC;
	feed_apply(&f, &ev);
	page = page_at(space_of(&f, 1)->pages, 0x400000);
	assert_non_null(page);
	assert_int_equal(page->flags, PFS_PAGE_ACCESS_UNKNOWN);
	assert_int_equal(page->nr_write + page->nr_kernel, 0);
	feed_free(&f);
}

static void test_a_fault_outside_is_kept(void **state)
{
	struct feed f = feed_new(1);

	feed_fault(&f, 0x7ffd00000000, PFS_WRITE);
	assert_int_equal(f.model->counts.outside, 1);
	/* The stack grows over it: the fault came first, the region is told afterwards. */
	feed_map(&f, 0x7ffd00000000, 0x7ffd00021000, RW, "[stack]");
	assert_int_equal(flags_at(&f, 1, 0x7ffd00000000), PFS_PAGE_WRITE | PFS_PAGE_USER);
	assert_int_equal(f.model->counts.outside + pfs_model_proc(f.model, 1)->counts.outside, 0);
	feed_map(&f, 0x7ffd00000000, 0x7ffd00021000, RW, "[stack]");
	assert_int_equal(f.model->counts.outside, 0);
	/* Other memory that is mapped there later does not make it a fault in a region. */
	feed_fault(&f, 0x5000, PFS_WRITE);
	feed_map(&f, 0x5000, 0x6000, RW, "");
	assert_int_equal(f.model->counts.outside, 1);
	feed_unmap(&f, 0x7ffd00000000, 0x7ffd00021000);
	assert_int_equal(flags_at(&f, 1, 0x7ffd00000000), 0);
	feed_free(&f);
}

/* The count that a fault below the stack went into is the one it is taken out of, whoever owns the thread by then. */
static void test_a_fault_outside_of_another_process(void **state)
{
	struct feed f = feed_new(10);
	struct pfs_event ev;

	feed_note(&f, "launch", "1", true);
	feed_fault(&f, 0x7ffd00000000, PFS_WRITE);
	ev = feed_event(&f, PFS_LOST, 0);
	feed_apply(&f, &ev);
	feed_map(&f, 0x7ffd00000000, 0x7ffd00021000, RW, "[stack]");
	assert_int_equal(f.model->counts.outside | pfs_model_proc(f.model, 10)->counts.outside, 0);
	feed_free(&f);

	f = feed_new(10);
	f.space = PFS_SPACE_EXEC;
	feed_as(&f, 10, 11);
	ev = feed_event(&f, PFS_FAULT, HAS(ADDR));
	ev.have &= ~HAS(PID);
	ev.addr = 0x7ffd00000000;
	feed_apply(&f, &ev);
	feed_map(&f, 0x7ffd00000000, 0x7ffd00021000, RW, "[stack]");
	assert_int_equal(pfs_model_proc(f.model, 11)->counts.faults, 1);
	assert_int_equal(pfs_model_proc(f.model, 11)->counts.outside | pfs_model_proc(f.model, 10)->counts.outside, 0);
	feed_free(&f);
}

static void test_around(void **state)
{
	struct feed f = feed_new(1);

	feed_maps_line(&f, 0x400000, 0x408000, R, 0x10000, 1, 9, "/f");
	feed_fault(&f, 0x403000, PFS_READ);
	feed_around(&f, 1, 9, 0x8000, 0x15000); /* reaches below the region: cut there */
	for (uint64_t addr = 0x400000; addr < 0x408000; addr += PAGE) {
		uint32_t expected = addr == 0x403000  ? PFS_PAGE_READ | PFS_PAGE_USER
				    : addr < 0x405000 ? PFS_PAGE_MAYBE_AROUND
						      : 0;

		assert_int_equal(flags_at(&f, 1, addr), expected);
	}
	feed_around(&f, 1, 9, 0x10000, 0x15000); /* nothing new */
	/* Of another part of the file than the fault's: not its neighbours. */
	feed_around(&f, 1, 9, 0x16000, 0x18000);
	/* A page mapped unasked can still fault later (a write to it). */
	feed_fault(&f, 0x400000, PFS_WRITE);
	assert_int_equal(flags_at(&f, 1, 0x400000), PFS_PAGE_MAYBE_AROUND | PFS_PAGE_WRITE | PFS_PAGE_USER);
	feed_free(&f);
}

/* The pages of 0x400000 on that fault-around has mapped (+), or may have (?), 16 of them. */
static const char *around(struct feed *f, char *buf)
{
	for (unsigned int i = 0; i < 16; i++) {
		uint32_t flags = flags_at(f, 1, 0x400000 + i * PAGE);

		buf[i] = flags & PFS_PAGE_TOUCHED	 ? 'T'
			 : flags & PFS_PAGE_AROUND	 ? '+'
			 : flags & PFS_PAGE_MAYBE_AROUND ? '?'
							 : '.';
	}
	buf[16] = 0;
	return buf;
}

static struct feed mapped_file(void)
{
	struct feed f = feed_new(1);

	feed_maps_line(&f, 0x400000, 0x410000, R, 0, 1, 9, "/f");
	return f;
}

static void test_around_by_a_probe_afterwards(void **state)
{
	struct feed f = mapped_file();
	char buf[17];

	feed_fault(&f, 0x400000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "T???????????????");
	feed_cached(&f, 1, 9, 0, 0x4000, PFS_CACHE_READY, 0);
	assert_string_equal(around(&f, buf), "T+++????????????");
	feed_cached(&f, 1, 8, 0, 0x10000, PFS_CACHE_READY, 0); /* another file */
	assert_string_equal(around(&f, buf), "T+++????????????");
	feed_cached(&f, 1, 9, 0x4000, 0x10000, PFS_CACHE_ABSENT, 0);
	assert_string_equal(around(&f, buf), "T+++............");
	feed_free(&f);
}

/* Of one probe, what lies between two runs is not in the page cache; what lies beyond all of them was not looked at. */
static void test_around_by_a_probe_with_gaps(void **state)
{
	struct feed f = mapped_file();
	struct pfs_event ev = feed_event(&f, PFS_CACHED, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF) | HAS(STATE));
	char buf[17];

	feed_fault(&f, 0x40f000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	ev.have = (ev.have & ~(HAS(TID) | HAS(PID))) | HAS(LAST);
	ev.ts_ns = f.now_ns;
	ev.dev = 1;
	ev.ino = 9;
	ev.off = 0x1000;
	ev.end_off = 0x3000;
	ev.state = PFS_CACHE_READY;
	feed_apply(&f, &ev);
	feed_cached(&f, 1, 9, 0x7000, 0x8000, PFS_CACHE_READY, 0);
	assert_string_equal(around(&f, buf), "?++....+???????T");
	feed_free(&f);
}

static void test_around_by_a_probe_before(void **state)
{
	struct feed f = mapped_file();
	char buf[17];

	feed_cached(&f, 1, 9, 0, 0x4000, PFS_CACHE_READY, 0);
	f.now_ns += 1000;
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++????T???????");
	f.now_ns += 1000;
	/* Whether what came was there in time nobody knows; what is not there was not. */
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_ABSENT, 0);
	assert_string_equal(around(&f, buf), "++++....T.......");
	feed_free(&f);
}

static void test_around_and_what_others_did(void **state)
{
	struct feed f = mapped_file();
	char buf[17];

	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_ABSENT, 0);
	f.now_ns += 1000;
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	f.now_ns += 1000;
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_READY, 0); /* an unrecorded process, some time in between */
	assert_string_equal(around(&f, buf), "????????T???????");
	feed_free(&f);
}

static void test_around_and_additions(void **state)
{
	struct feed f = mapped_file();
	char buf[17];

	feed_cached(&f, 1, 9, 0, 0x2000, PFS_CACHE_ADDED, 0);
	f.now_ns += 1000;
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	f.now_ns += 1000;
	feed_cached(&f, 1, 9, 0x4000, 0x6000, PFS_CACHE_ADDED, 0);
	assert_string_equal(around(&f, buf), "????..??T???????");
	f.now_ns += 1000;
	/* What was added shortly before may not have been read yet. */
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_READY, 0);
	assert_string_equal(around(&f, buf), "??++..++T+++++++");
	feed_free(&f);
}

/* Two faults, the first one muted or not. */
static struct feed two_arounds(struct pfs_arounds *arounds, bool known, bool muted)
{
	struct feed f = mapped_file();

	pfs_model_arounds(f.model, arounds, known);
	pfs_model_mute(f.model, muted);
	feed_fault(&f, 0x400000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x4000);
	pfs_model_mute(f.model, false);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0x8000, 0x10000);
	return f;
}

static void test_around_by_another_reading(void **state)
{
	struct pfs_arounds *arounds = pfs_arounds_new();
	struct feed f = two_arounds(arounds, false, false);
	char buf[17];

	assert_string_equal(around(&f, buf), "T???....T???????");
	feed_cached(&f, 1, 9, 0, 0xa000, PFS_CACHE_READY, 0);
	feed_cached(&f, 1, 9, 0xa000, 0xe000, PFS_CACHE_ABSENT, 0);
	/* A page that went later and has come again was mapped all the same. */
	f.now_ns += 1000;
	feed_cached(&f, 1, 9, 0x9000, 0xa000, PFS_CACHE_ADDED, 0);
	assert_string_equal(around(&f, buf), "T+++....T+....??");
	feed_free(&f);

	f = two_arounds(arounds, true, false);
	assert_string_equal(around(&f, buf), "T+++....T+??????");
	f.now_ns += 1000;
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_ABSENT, 0);
	assert_string_equal(around(&f, buf), "T+++....T+......");
	feed_free(&f);

	f = two_arounds(arounds, true, true);
	assert_string_equal(around(&f, buf), "........T+??????");
	feed_free(&f);
	pfs_arounds_free(arounds);
	pfs_arounds_free(NULL);
}

/* The probe began before the fault: it knows nothing of that moment. */
static void test_around_during_a_probe(void **state)
{
	struct feed f = mapped_file();
	char buf[17];

	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_ABSENT, 100000);
	assert_string_equal(around(&f, buf), "????????T???????");
	f.now_ns += 1000000;
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_HELD, 0);
	assert_string_equal(around(&f, buf), "........T.......");
	feed_free(&f);
}

/* A thread of another process maps the same file, and faults on it in between. */
static struct feed two_processes(void)
{
	struct feed f = mapped_file();

	feed_as(&f, 2, 2);
	feed_maps_line(&f, 0x800000, 0x820000, PFS_PERM_R | PFS_PERM_W, 0, 1, 9, "/f");
	feed_as(&f, 1, 1);
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_READY, 0);
	f.now_ns += 1000;
	return f;
}

static void fault_of_another(struct feed *f, uint64_t addr, int access)
{
	feed_as(f, 2, 2);
	feed_fault(f, addr, access);
	feed_as(f, 1, 1);
}

static void around_of_another(struct feed *f, uint64_t off, uint64_t end_off)
{
	feed_as(f, 2, 2);
	feed_around(f, 1, 9, off, end_off);
	feed_as(f, 1, 1);
}

/* Each has locked the page that it maps just then, and passes over one that the other has locked. */
static void test_two_fault_arounds_at_a_time(void **state)
{
	struct feed f = two_processes();
	char buf[17];

	feed_fault(&f, 0x408000, PFS_READ);
	fault_of_another(&f, 0x80a000, PFS_READ);
	around_of_another(&f, 0x4000, 0x14000);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++????T???????");
	f.now_ns += 1000;
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_READY, 0);
	assert_string_equal(around(&f, buf), "++++????T???????");
	feed_free(&f);

	/* The other one's comes later: which pages it tries is not known yet. */
	f = two_processes();
	fault_of_another(&f, 0x81a000, PFS_READ);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++++++T+??????");
	f.now_ns += 1000;
	/* What has vanished from the page cache since then may have been mapped. */
	feed_cached(&f, 1, 9, 0xa000, 0x10000, PFS_CACHE_ABSENT, 0);
	assert_string_equal(around(&f, buf), "++++++++T+??????");
	feed_free(&f);
}

static void test_two_fault_arounds_one_after_the_other(void **state)
{
	struct feed f = two_processes();
	char buf[17];

	fault_of_another(&f, 0x80a000, PFS_READ);
	around_of_another(&f, 0x4000, 0x14000);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++++++T+++++++");
	fault_of_another(&f, 0x801000, PFS_READ);
	assert_string_equal(around(&f, buf), "++++++++T+++++++");
	feed_free(&f);
}

/* One that is copied, or looked up because fault-around did not map it, stays locked until the thread goes on. */
static void test_fault_around_and_one_page(void **state)
{
	struct feed f = two_processes();
	char buf[17];

	fault_of_another(&f, 0x802010, PFS_WRITE);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++?+++++T+++++++");
	feed_free(&f);

	f = two_processes();
	fault_of_another(&f, 0x802010, PFS_WRITE);
	fault_of_another(&f, 0x900000, PFS_WRITE);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++++++T+++++++");
	feed_free(&f);

	f = two_processes();
	fault_of_another(&f, 0x802000, PFS_READ);
	around_of_another(&f, 0, 0x1000);
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_HELD, 0);
	fault_of_another(&f, 0x803ff8, PFS_READ);
	around_of_another(&f, 0, 0x10000);
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_READY, 0);
	f.now_ns += 1000;
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "+++?++++T+++++++");
	feed_free(&f);
}

/* It is over when the thread does anything else. */
static void test_a_fault_is_over(void **state)
{
	struct feed f = two_processes();
	char buf[17];

	fault_of_another(&f, 0x802010, PFS_WRITE);
	feed_as(&f, 2, 2);
	feed_unmap(&f, 0x900000, 0x910000);
	feed_as(&f, 1, 1);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++++++T+++++++");
	feed_free(&f);
}

/* What one thread of a process does not map at an address, the other one maps there. */
static void test_two_threads_of_a_process(void **state)
{
	struct feed f = two_processes();
	char buf[17];

	feed_fault(&f, 0x408000, PFS_READ);
	feed_as(&f, 1, 3);
	feed_fault(&f, 0x40a000, PFS_READ);
	feed_as(&f, 1, 1);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++++++T+T+++++");
	feed_free(&f);

	/* but not where the file is mapped once more */
	f = two_processes();
	feed_maps_line(&f, 0x500000, 0x510000, PFS_PERM_R | PFS_PERM_W, 0, 1, 9, "/f");
	feed_fault(&f, 0x408000, PFS_READ);
	feed_as(&f, 1, 3);
	feed_fault(&f, 0x50a000, PFS_WRITE);
	feed_as(&f, 1, 1);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++++++++T+?+++++");
	feed_free(&f);
}

/* Of a large folio all pages are locked together. */
static void test_a_locked_folio(void **state)
{
	struct feed f = two_processes();
	struct pfs_event ev = feed_event(&f, PFS_CACHED, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF) | HAS(STATE));
	char buf[17];

	ev.have |= HAS(LAST) | HAS(ORDER);
	ev.dev = 1;
	ev.ino = 9;
	ev.end_off = 0x10000;
	ev.state = PFS_CACHE_READY;
	ev.order = 2;
	ev.last = true;
	feed_apply(&f, &ev);
	feed_apply(&f, &ev); /* the two latest probes count */
	fault_of_another(&f, 0x802010, PFS_WRITE);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "????++++T+++++++");
	feed_free(&f);
}

/* However much others do meanwhile. */
static void test_locked_for_long(void **state)
{
	struct feed f = two_processes();
	char buf[17];

	fault_of_another(&f, 0x802010, PFS_WRITE);
	feed_as(&f, 3, 3);
	feed_maps_line(&f, 0x800000, 0xa00000, PFS_PERM_R | PFS_PERM_W, 0, 1, 10, "/g");
	for (int i = 0; i < 400; i++)
		feed_fault(&f, 0x800000 + i * PAGE, PFS_WRITE);
	feed_as(&f, 1, 1);
	feed_fault(&f, 0x408000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "++?+++++T+++++++");
	feed_free(&f);

	f = two_processes();
	feed_fault(&f, 0x408000, PFS_READ);
	fault_of_another(&f, 0x802010, PFS_WRITE);
	feed_as(&f, 3, 3);
	feed_maps_line(&f, 0x800000, 0xa00000, PFS_PERM_R | PFS_PERM_W, 0, 1, 10, "/g");
	for (int i = 0; i < 400; i++)
		feed_fault(&f, 0x800000 + i * PAGE, PFS_WRITE);
	fault_of_another(&f, 0x900000, PFS_WRITE);
	for (int i = 0; i < 400; i++) {
		feed_as(&f, 3, 3);
		feed_fault(&f, 0x800000 + i * PAGE, PFS_WRITE);
	}
	feed_as(&f, 1, 1);
	feed_around(&f, 1, 9, 0, 0x10000);
	assert_string_equal(around(&f, buf), "????????T???????");
	feed_free(&f);
}

static void test_around_in_a_region_that_has_gone(void **state)
{
	struct feed f = mapped_file();

	feed_fault(&f, 0x400000, PFS_READ);
	feed_around(&f, 1, 9, 0, 0x2000);
	feed_unmap(&f, 0x400000, 0x410000);
	feed_map(&f, 0x400000, 0x410000, RW, "");
	feed_cached(&f, 1, 9, 0, 0x10000, PFS_CACHE_READY, 0);
	assert_int_equal(flags_at(&f, 1, 0x401000), 0);
	assert_true(pfs_pages_any(pfs_proc_space(f.model->procs)->retired[0]->pages, 0x401000, 0x402000));
	feed_free(&f);
}

static void test_major(void **state)
{
	struct feed f = feed_new(1);

	feed_maps_line(&f, 0x400000, 0x408000, R, 0, 1, 9, "/f");
	feed_fault(&f, 0x403000, PFS_READ);
	feed_major(&f, 1, 9, 0x4000); /* read ahead: not the page asked for */
	feed_major(&f, 1, 8, 0x3000);
	feed_major(&f, 2, 9, 0x3000);
	assert_int_equal(f.model->counts.major, 0);
	feed_major(&f, 1, 9, 0x3000);
	assert_int_equal(f.model->counts.major, 1);
	assert_int_equal(flags_at(&f, 1, 0x403000), PFS_PAGE_READ | PFS_PAGE_USER | PFS_PAGE_MAJOR);
	feed_free(&f);
}

static void test_huge(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x40000000, 0x40500000, RW, "");
	feed_fault(&f, 0x40212345, PFS_WRITE);
	feed_huge(&f, 9);
	assert_int_equal(pages_with(space_of(&f, 1)->pages, 0, 0, PFS_PAGE_HUGE), 512);
	assert_int_equal(flags_at(&f, 1, 0x40200000), PFS_PAGE_HUGE);
	assert_int_equal(flags_at(&f, 1, 0x403ff000), PFS_PAGE_HUGE);
	assert_int_equal(flags_at(&f, 1, 0x40212000), PFS_PAGE_HUGE | PFS_PAGE_WRITE | PFS_PAGE_USER);
	/* One that does not fit in the region was not for this fault. */
	feed_fault(&f, 0x40400000, PFS_WRITE);
	feed_huge(&f, 9);
	assert_int_equal(f.model->counts.huge, 1);
	feed_huge(&f, 63);
	feed_free(&f);
}

static void test_signal(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x401000, 0, "");
	feed_fault(&f, 0x400000, PFS_READ);
	feed_signal(&f, 11);
	feed_signal(&f, 11); /* of no fault */
	assert_int_equal(f.model->counts.signal, 1);
	assert_int_equal(page_at(space_of(&f, 1)->pages, 0x400000)->nr_signal, 1);
	/* The fault under way is per thread. */
	feed_fault(&f, 0x400000, PFS_READ);
	feed_as(&f, 1, 2);
	feed_signal(&f, 11);
	assert_int_equal(f.model->counts.signal, 1);
	feed_as(&f, 1, 1);
	feed_signal(&f, 11);
	assert_int_equal(f.model->counts.signal, 2);
	feed_free(&f);
}

static void test_populate(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x404000, RW, "");
	feed_map(&f, 0x404000, 0x406000, 0, ""); /* may not be accessed: cannot be populated */
	feed_map(&f, 0x408000, 0x40a000, R, "");
	feed_fault(&f, 0x401000, PFS_WRITE);
	feed_populate(&f, 0x400000, 0x409000);
	assert_int_equal(f.model->counts.populated, 4);
	assert_int_equal(flags_at(&f, 1, 0x400000), PFS_PAGE_POPULATED);
	assert_int_equal(flags_at(&f, 1, 0x401000), PFS_PAGE_WRITE | PFS_PAGE_USER);
	assert_int_equal(flags_at(&f, 1, 0x404000), 0);
	assert_int_equal(flags_at(&f, 1, 0x407000), 0);
	assert_int_equal(flags_at(&f, 1, 0x408000), PFS_PAGE_POPULATED);
	assert_int_equal(flags_at(&f, 1, 0x409000), 0);
	feed_populate(&f, 0x400000, 0x409000);
	assert_int_equal(f.model->counts.populated, 4);
	feed_free(&f);
}

/* The kernel's ranges are whole pages. A file can claim any: no region is less than a page. */
static void test_ranges_are_whole_pages(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400001, 0x400002, RW, "");
	assert_int_equal(space_of(&f, 1)->live[0]->start, 0x400000);
	assert_int_equal(space_of(&f, 1)->live[0]->end, 0x401000);
	feed_map(&f, UINT64_MAX - 5 * PAGE, UINT64_MAX - 1, RW, "");
	assert_int_equal(space_of(&f, 1)->live[1]->end, UINT64_MAX - PAGE + 1);
	feed_unmap(&f, 0x400fff, 0x401000);
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	feed_map(&f, 0x400000, 0x404000, RW, "");
	feed_unmap(&f, 0x402400, UINT64_MAX);
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	assert_int_equal(space_of(&f, 1)->live[0]->end, 0x402000);
	feed_free(&f);
}

/* Nor where a move says that it went. */
static void test_moves_are_whole_pages(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev;

	feed_map(&f, 0x400000, 0x404000, RW, "");
	feed_map(&f, 0x800000, 0x900000, RW, "");
	ev = feed_event(&f, PFS_MOVE, HAS(START) | HAS(END) | HAS(FROM) | HAS(LEN) | HAS(ADDR));
	ev.from = 0x400000;
	ev.len = 0x4000;
	ev.start = 0x800000;
	ev.addr = 0x810456;
	ev.end = 0x900000;
	feed_apply(&f, &ev);
	for (unsigned int i = 0; i < space_of(&f, 1)->nr_retired; i++)
		assert_int_equal((space_of(&f, 1)->retired[i]->start | space_of(&f, 1)->retired[i]->end) % PAGE, 0);
	for (unsigned int i = 0; i < space_of(&f, 1)->nr_live; i++)
		assert_int_equal((space_of(&f, 1)->live[i]->start | space_of(&f, 1)->live[i]->end) % PAGE, 0);
	feed_free(&f);
}

/* ---- process life ---- */

static void test_fork_copies_the_layout(void **state)
{
	struct feed f = feed_new(1);

	feed_comm(&f, "parent");
	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fault(&f, 0x400000, PFS_WRITE);
	feed_fork(&f, 2, false);
	assert_int_equal(proc_of(&f, 2)->ppid, 1);
	assert_string_equal(proc_of(&f, 2)->comm, "parent");
	assert_int_equal(space_of(&f, 2)->nr_live, 1);
	assert_int_equal(pages_total(space_of(&f, 2)->pages), 0);
	feed_as(&f, 2, 2);
	feed_fault(&f, 0x401000, PFS_WRITE);
	feed_unmap(&f, 0x400000, 0x401000);
	assert_int_equal(flags_at(&f, 1, 0x401000), 0);
	assert_int_equal(space_of(&f, 1)->live[0]->start, 0x400000);
	assert_int_equal(proc_of(&f, 1)->counts.faults, 1);
	assert_int_equal(proc_of(&f, 2)->counts.faults, 1);
	feed_free(&f);
}

static void test_vfork_shares_until_exec(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fork(&f, 2, true);
	assert_ptr_equal(space_of(&f, 1), space_of(&f, 2));
	assert_true(proc_of(&f, 2)->epochs[0].shared);
	feed_as(&f, 2, 2);
	feed_fault(&f, 0x401000, PFS_WRITE);
	assert_int_equal(flags_at(&f, 1, 0x401000), PFS_PAGE_WRITE | PFS_PAGE_USER);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/new");
	feed_exec(&f, "/new", "new");
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	assert_int_equal(space_of(&f, 2)->live[0]->start, 0x600000);
	assert_string_equal(space_of(&f, 2)->exe, "/new");
	assert_true(space_of(&f, 2)->complete);
	feed_clear(&f);
	feed_exit(&f, true);
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	feed_free(&f);
}

static void test_exec_begins_an_epoch(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_proc *proc;

	feed_comm(&f, "old");
	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fault(&f, 0x401000, PFS_WRITE);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/new");
	feed_fault(&f, 0x600000, PFS_READ);
	feed_exec(&f, "/new", "new");
	proc = proc_of(&f, 1);
	assert_int_equal(proc->nr_epochs, 2);
	assert_string_equal(proc->epochs[0].comm, "old");
	assert_string_equal(proc->epochs[1].comm, "new");
	assert_string_equal(proc->comm, "new");
	/* What the old image had is retired with what was touched, and knows when it ended. */
	assert_int_equal(proc->epochs[0].space->nr_live, 0);
	assert_int_equal(proc->epochs[0].space->nr_retired, 1);
	assert_int_equal(proc->epochs[0].space->retired[0]->died_ns, proc->epochs[0].space->died_ns);
	assert_non_null(page_at(proc->epochs[0].space->retired[0]->pages, 0x401000));
	assert_int_equal(flags_at(&f, 1, 0x600000), PFS_PAGE_READ | PFS_PAGE_USER);
	feed_free(&f);
}

static const char *args_of(const struct feed *f, int32_t pid)
{
	return pfs_space_args(space_of(f, pid));
}

static void test_command_lines(void **state)
{
	struct feed f = feed_new(1);
	char value[64];

	feed_map(&f, 0x400000, 0x402000, RW, "");
	assert_null(args_of(&f, 1));
	feed_fork(&f, 2, false);
	feed_note(&f, "args", "text=sh -c ls", true); /* read later, it is of the image that was copied */
	assert_string_equal(args_of(&f, 1), "sh -c ls");
	assert_string_equal(args_of(&f, 2), "sh -c ls");
	feed_as(&f, 2, 2);
	/* Read before the event that ends the exec, and after it. */
	snprintf(value, sizeof(value), "exec=%llu text=ls 1", (unsigned long long)f.now_ns);
	f.now_ns += 1000;
	feed_note(&f, "args", value, true);
	assert_string_equal(args_of(&f, 2), "sh -c ls");
	feed_exec(&f, "/bin/ls", "ls");
	assert_string_equal(args_of(&f, 2), "ls 1");
	snprintf(value, sizeof(value), "exec=%llu text=ls 2", (unsigned long long)f.now_ns);
	feed_exec(&f, "/bin/ls", "ls");
	assert_null(args_of(&f, 2));
	f.now_ns += 1000;
	feed_note(&f, "args", value, true);
	assert_string_equal(args_of(&f, 2), "ls 2");
	assert_string_equal(args_of(&f, 1), "sh -c ls");
	assert_string_equal(pfs_space_args(proc_of(&f, 2)->epochs[1].space), "ls 1");
	assert_null(pfs_model_note(f.model, "args"));
	feed_free(&f);
}

static void test_exec_by_another_thread(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev;

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_thread(&f, 5);
	feed_as(&f, 1, 5);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/new");
	f.space = 0;
	feed_as(&f, 1, 1);
	ev = feed_event(&f, PFS_EXEC, HAS(NAME) | HAS(CHILD_TID));
	ev.name = "/new";
	ev.child_tid = 5;
	feed_apply(&f, &ev);
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	assert_int_equal(space_of(&f, 1)->live[0]->start, 0x600000);
	feed_free(&f);
}

/* A region of whichever process has it: by its identity, and only by that. */
static void test_rows_of_another_process(void **state)
{
	struct feed f = feed_new(1);

	feed_row(&f, 0x400000, 0x402000, 77);
	feed_as(&f, 2, 2);
	feed_map(&f, 0x400000, 0x402000, R, "");
	f.space = PFS_SPACE_OTHER;
	feed_row(&f, 0x400000, 0x404000, 77);
	feed_row(&f, 0x500000, 0x501000, 78); /* nobody's */
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	assert_int_equal(space_of(&f, 1)->live[0]->end, 0x404000);
	assert_int_equal(space_of(&f, 2)->nr_live, 1);
	assert_int_equal(space_of(&f, 2)->live[0]->end, 0x402000);
	feed_free(&f);
}

/* What the image's builder touched in it before the exec event is in the new epoch. */
static void test_faults_before_the_exec_of_another_thread(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev;

	feed_thread(&f, 5);
	feed_as(&f, 1, 5);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/new");
	ev = feed_event(&f, PFS_FAULT, HAS(ADDR));
	ev.addr = 0x600000;
	feed_apply(&f, &ev);
	f.space = 0;
	feed_as(&f, 1, 1);
	ev = feed_event(&f, PFS_EXEC, HAS(CHILD_TID));
	ev.child_tid = 5;
	feed_apply(&f, &ev);
	assert_int_equal(flags_at(&f, 1, 0x600000), PFS_PAGE_ACCESS_UNKNOWN);
	feed_free(&f);
}

/* The first one ends, as do all that lose; the image goes on under its number. */
static void test_an_exec_continues_under_the_first_number(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_event ev;

	feed_thread(&f, 5);
	feed_thread(&f, 6);
	f.space = PFS_SPACE_EXEC;
	for (int tid = 1; tid <= 6; tid += tid == 1 ? 4 : 1) {
		feed_as(&f, 1, tid);
		feed_map(&f, tid * 0x10000, tid * 0x10000 + PAGE, RW, "");
	}
	f.space = 0;
	for (int tid = 1; tid <= 6; tid += 5) {
		feed_as(&f, 1, tid);
		ev = feed_event(&f, PFS_EXIT, 0);
		feed_apply(&f, &ev);
	}
	feed_as(&f, 1, 1);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, RW, "");
	feed_fault(&f, 0x600000, PFS_READ);
	f.space = 0;
	ev = feed_event(&f, PFS_EXEC, HAS(CHILD_TID));
	ev.child_tid = 5;
	feed_apply(&f, &ev);
	assert_int_equal(space_of(&f, 1)->nr_live, 2);
	assert_int_equal(space_of(&f, 1)->live[0]->start, 0x50000);
	assert_int_equal(flags_at(&f, 1, 0x600000), PFS_PAGE_READ | PFS_PAGE_USER);
	feed_free(&f);
}

/* An exec that failed after its new image was begun leaves the old one as it was. */
static void test_exec_that_failed(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x402000, RW, "");
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/new");
	feed_clear(&f);
	f.space = 0;
	assert_int_equal(proc_of(&f, 1)->nr_epochs, 1);
	assert_int_equal(space_of(&f, 1)->nr_live, 1);
	feed_free(&f);
}

static void test_a_launcher_is_counted_apart(void **state)
{
	struct feed f = feed_new(1);

	feed_note(&f, "launch", "x", true);
	feed_fault(&f, 0x1000, PFS_READ);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x600000, 0x601000, R, "/x");
	f.space = 0;
	assert_int_equal(f.model->counts.faults, 0);
	assert_int_equal(f.model->launcher.faults, 1);
	feed_exec(&f, "/x", "x");
	feed_fault(&f, 0x600000, PFS_READ);
	assert_int_equal(f.model->counts.faults, 1);
	assert_int_equal(proc_of(&f, 1)->counts.faults, 1);
	feed_free(&f);
}

/* The exec may be what was lost: the faults that were not are the command's. */
static void test_a_launch_ends_by_a_loss(void **state)
{
	struct feed f = feed_new(7);

	feed_note(&f, "launch", "x", true);
	feed_lost(&f, 0, 300);
	feed_fault(&f, 0x1000, PFS_WRITE);
	assert_int_equal(f.model->launcher.faults, 0);
	assert_int_equal(f.model->counts.faults, 1);
	feed_free(&f);
}

static void test_numbers_come_round_again(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x400000, 0x402000, RW, "");
	feed_fork(&f, 2, false);
	feed_as(&f, 2, 2);
	feed_fault(&f, 0x400000, PFS_WRITE);
	feed_clear(&f);
	feed_exit(&f, true);
	feed_as(&f, 1, 1);
	feed_fork(&f, 2, false);
	feed_as(&f, 2, 2);
	assert_int_equal(f.model->nr_procs, 3);
	assert_int_equal(proc_of(&f, 2)->died_ns, UINT64_MAX);
	feed_fault(&f, 0x401000, PFS_WRITE);
	assert_int_equal(proc_of(&f, 2)->counts.faults, 1);
	feed_free(&f);
}

static void test_a_process_that_is_named_late(void **state)
{
	struct feed f = feed_new(0);

	f.tid = 5;
	feed_fault(&f, 0x1000, PFS_READ);
	assert_false(proc_of(&f, 5)->pid_known);
	feed_as(&f, 4, 5);
	feed_fault(&f, 0x2000, PFS_READ);
	feed_as(&f, 0, 5);
	feed_fault(&f, 0x3000, PFS_READ);
	assert_true(proc_of(&f, 4)->pid_known);
	assert_int_equal(proc_of(&f, 5)->counts.faults, 1);
	assert_int_equal(proc_of(&f, 4)->counts.faults, 2);
	feed_free(&f);
}

static void test_names_of_threads(void **state)
{
	struct feed f = feed_new(1);

	feed_comm(&f, "main");
	feed_thread(&f, 2);
	feed_as(&f, 1, 2);
	feed_comm(&f, "worker");
	assert_string_equal(pfs_model_thread(f.model, 2)->comm, "worker");
	assert_string_equal(proc_of(&f, 1)->comm, "main");
	assert_int_equal(proc_of(&f, 1)->nr_threads, 2);
	feed_free(&f);
}

/* ---- the recording ---- */

static void test_notes_and_times(void **state)
{
	struct feed f = feed_new(1);

	assert_null(pfs_model_note(f.model, "clock"));
	f.now_ns = 0;
	feed_note(&f, "clock", "mono", false);
	feed_note(&f, "page_size", "16384", false);
	assert_int_equal(f.model->page_shift, 14);
	f.now_ns = 5000;
	feed_fault(&f, 0x4000, PFS_READ);
	f.now_ns = 7000;
	feed_note(&f, "start", "", false);
	feed_note(&f, "clock", "boot", false);
	assert_string_equal(pfs_model_note(f.model, "clock"), "boot");
	assert_int_equal(f.model->start_ns, 7000);
	assert_int_equal(f.model->last_ns, 8000);
	feed_note(&f, "page_size", "8192", false); /* too late: there are pages already */
	feed_note(&f, "page_size", "12345", false);
	assert_int_equal(f.model->page_shift, 14);
	feed_free(&f);
}

static void assert_on(const struct feed *f, unsigned int i, int cpu, uint64_t count, uint64_t unknown)
{
	assert_in_range(i, 0, f->model->nr_lost_on - 1);
	assert_int_equal(f->model->lost_on[i].cpu, cpu);
	assert_int_equal(f->model->lost_on[i].count, count);
	assert_int_equal(f->model->lost_on[i].unknown, unknown);
}

static void assert_gap(const struct feed *f, unsigned int i, int cpu, uint64_t count, uint64_t from_ns, uint64_t to_ns)
{
	assert_in_range(i, 0, f->model->nr_losses - 1);
	assert_int_equal(f->model->losses[i].cpu, cpu);
	assert_int_equal(f->model->losses[i].count, count);
	assert_int_equal(f->model->losses[i].unknown, !count);
	assert_int_equal(f->model->losses[i].from_ns, from_ns);
	assert_true(f->model->losses[i].to_ns == to_ns);
}

/* Each gap has its time: since the event before it, since the beginning if there is none. */
static void test_losses_by_cpu(void **state)
{
	struct feed f = feed_new(1);
	uint64_t at;

	feed_gap(&f, 3, 10, 0);
	at = f.now_ns - 1000;
	feed_gap(&f, 0, 0, 300);
	feed_gap(&f, 3, 5, 200);
	feed_gap(&f, -1, 1, UINT64_MAX); /* longer than there is time */
	assert_int_equal(f.model->lost, 16);
	assert_int_equal(f.model->lost_unknown, 1);
	assert_int_equal(f.model->nr_lost_on, 3);
	assert_on(&f, 0, 3, 15, 0);
	assert_on(&f, 1, 0, 0, 1);
	assert_on(&f, 2, -1, 1, 0);
	assert_int_equal(f.model->nr_losses, 4);
	assert_gap(&f, 0, 3, 10, 0, at);
	assert_gap(&f, 1, 0, 0, at + 1000 - 300, at + 1000);
	assert_gap(&f, 2, 3, 5, at + 2000 - 200, at + 2000);
	assert_gap(&f, 3, -1, 1, 0, at + 3000);
	for (int cpu = 0; cpu < 10000; cpu++) /* no file makes it grow without end */
		feed_lost(&f, cpu, 1);
	assert_in_range(f.model->nr_lost_on, 4096, 9999);
	assert_int_equal(f.model->lost, 10016);
	feed_free(&f);
}

/* Of too many gaps, the last ones of each processor are one, which is as long as they were. */
static void test_gaps_without_end(void **state)
{
	struct feed f = feed_new(1);
	const struct pfs_loss *last;

	for (int i = 0; i < 10000; i++)
		feed_gap(&f, 0, i % 2, 10);
	assert_in_range(f.model->nr_losses, 1000, 5000);
	last = &f.model->losses[f.model->nr_losses - 1];
	assert_int_equal(last->to_ns, f.now_ns - 1000);
	assert_int_equal(last->to_ns - last->from_ns, (10000 - f.model->nr_losses) * 1000 + 10);
	assert_int_equal(last->count + last->unknown, 10001 - f.model->nr_losses);
	assert_on(&f, 0, 0, 5000, 5000);
	feed_free(&f);
}

/* At the end the kernel's own count is there: for what nobody could count, and for what nobody saw go. */
static void test_losses_counted_at_the_end(void **state)
{
	struct feed f = feed_new(1);
	uint64_t at;

	feed_gap(&f, 3, 10, 1);
	at = f.now_ns - 1000;
	feed_gap(&f, 3, 0, 1);
	feed_gap(&f, 0, 7, 1);
	feed_gap(&f, 1, 0, 1);
	feed_gap(&f, 2, 0, 1);
	feed_gap(&f, 2, 0, 1);
	feed_note(&f, "lost", "30 on cpu 3", false);
	feed_note(&f, "lost", "7 on cpu 0", false);
	feed_note(&f, "lost", "2 on cpu 5", false);
	feed_note(&f, "lost", "50 on cpu 2", false);
	feed_note(&f, "lost", "many on cpu 1", false);
	feed_note(&f, "lost", "3", false);
	assert_int_equal(f.model->nr_lost_on, 5);
	assert_on(&f, 0, 3, 30, 0);
	assert_on(&f, 1, 0, 7, 0);
	assert_on(&f, 2, 1, 0, 1);
	assert_on(&f, 3, 2, 50, 0);
	assert_on(&f, 4, 5, 2, 0);
	assert_int_equal(f.model->nr_losses, 7);
	assert_gap(&f, 0, 3, 10, at - 1, at);
	assert_gap(&f, 1, 3, 20, at + 999, at + 1000); /* the only one that they can be of */
	assert_gap(&f, 4, 2, 0, at + 3999, at + 4000); /* of one of two */
	assert_gap(&f, 5, 2, 0, at + 4999, at + 5000);
	assert_gap(&f, 6, 5, 2, 0, UINT64_MAX); /* of none: any time */
	assert_int_equal(f.model->lost, 89);
	assert_int_equal(f.model->lost_unknown, 1);
	feed_free(&f);
}

static uint64_t pages_faults(const struct pfs_pages *pages)
{
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t faults = 0;

	if (pages)
		pages_for_each(page, &at, pages, 0, 0) faults += page->nr_faults;
	return faults;
}

static uint64_t all_faults(const struct pfs_model *model)
{
	uint64_t faults = 0;

	for (const struct pfs_proc *proc = model->procs; proc; proc = proc->next)
		for (unsigned int i = 0; i < proc->nr_epochs; i++) {
			const struct pfs_space *space = proc->epochs[i].space;

			if (proc->epochs[i].shared)
				continue;
			faults += pages_faults(space->pages);
			for (unsigned int k = 0; k < space->nr_retired; k++)
				faults += pages_faults(space->retired[k]->pages);
		}
	return faults;
}

/* Events of any kind with any fields in any order: no crash, and every fault is counted once. */
static void test_anything(void **state)
{
	const char *seeds = getenv("PFS_TEST_SEEDS");
	uint64_t nr_seeds = seeds ? atoi(seeds) : 40;

	for (uint64_t seed = 1; seed <= nr_seeds; seed++) {
		struct pfs_model *model = pfs_model_new();
		bool any_space = seed % 2;
		uint64_t s = seed;

		assert_non_null(model);
		for (int i = 0; i < 600; i++) {
			struct pfs_event ev;

			random_event(&ev, &s, any_space);
			pfs_model_mute(model, i % 7 == 0);
			assert_int_equal(pfs_model_apply(model, &ev, NULL), 0);
		}
		assert_true(model->counts.faults > 50);
		/* A new image that is thrown away takes its faults along. */
		if (any_space)
			assert_true(all_faults(model) <= model->counts.faults + model->launcher.faults);
		else
			assert_int_equal(all_faults(model), model->counts.faults + model->launcher.faults);
		pfs_model_free(model);
	}
}

enum { NR_RANDOM = 500 };
#define VSYSCALL UINT64_C(0xffffffffff600000)

/* Faults of threads of two processes, on three processors; a few in kernel mode, or where nothing is. */
struct random_faults {
	uint64_t ts_ns[NR_RANDOM], addr[NR_RANDOM], ip[NR_RANDOM];
	struct pfs_fault_run run[NR_RANDOM];
	unsigned int nr_runs;
};

static void random_faults(struct random_faults *f, uint64_t *seed, uint64_t *now)
{
	struct pfs_fault_run *run = NULL;

	f->nr_runs = 0;
	for (unsigned int i = 0; i < NR_RANDOM; i++) {
		uint64_t r = random_u64(seed), tid = 1 + r % 5;

		f->ts_ns[i] = *now += (r >> 8 & 127) ? r >> 8 & 3 : UINT64_C(3) << 30;
		f->addr[i] = i && r >> 12 & 3 ? f->addr[i - 1] + 4096
			     : r >> 40 & 31   ? 0x100000 + ((r >> 24) % 300 << 12)
					      : VSYSCALL;
		f->ip[i] = 5;
		if (run && r >> 14 & 7) {
			run->nr++;
			continue;
		}
		run = &f->run[f->nr_runs++];
		*run = (struct pfs_fault_run){
			.ts_ns = &f->ts_ns[i],
			.addr = &f->addr[i],
			.ip = &f->ip[i],
			.nr = 1,
			.tid = tid,
			.pid = r >> 36 & 7 ? tid < 4 ? 1 : 4 : 0,
			.cpu = r >> 10 & 3 ? tid % 2 : 2,
			.code = 6,
			.access = PFS_READ + (r >> 17) % 3,
			.mode = (r >> 20) % 8 ? PFS_USER : PFS_KERNEL,
		};
	}
}

/* What is known of a process since its faults began. */
static void test_a_process_that_becomes_known(void **state)
{
	uint64_t ts_ns[] = { 1, 2, 3 }, addr[] = { 0x1000, 0x2000, 0x3000 }, ip[] = { 5, 5, 5 };
	struct pfs_fault_run run = {
		.ts_ns = ts_ns, .addr = addr, .ip = ip, .nr = 3, .tid = 9, .access = PFS_READ, .mode = PFS_USER
	};
	struct pfs_model *model = pfs_model_new();

	assert_int_equal(pfs_model_apply_faults(model, &run, NULL), 0);
	assert_false(pfs_model_proc(model, 9)->pid_known);
	run.pid = 9;
	assert_int_equal(pfs_model_apply_faults(model, &run, NULL), 0);
	assert_true(pfs_model_proc(model, 9)->pid_known);
	assert_int_equal(model->counts.faults, 6);
	assert_int_equal(model->counts.outside, 6);
	pfs_model_free(model);
}

static void apply_one_by_one(struct pfs_model *model, const struct random_faults *f)
{
	for (unsigned int i = 0; i < f->nr_runs; i++) {
		for (uint32_t k = 0; k < f->run[i].nr; k++) {
			struct pfs_event ev;

			pfs_run_event(&ev, &f->run[i], k);
			assert_int_equal(pfs_model_apply(model, &ev, NULL), 0);
		}
	}
}

/* Of one of the processes: what it may do in 0x110000 and on, and a number of small new regions. */
static void change_layout(struct feed *f, unsigned int round)
{
	feed_as(f, 4 - round % 2 * 3, 4 - round % 2 * 3);
	feed_map(f, 0x110000 + (round << 12), 0x180000, round % 3 ? RW : PFS_PERM_R, "");
	feed_map(f, VSYSCALL, VSYSCALL + 0x1000, PFS_PERM_R | PFS_PERM_X, "[vsyscall]");
	for (uint64_t start = 0x190000; start < 0x230000; start += 0x2000)
		feed_map(f, start, start + 0x2000, RW, "");
}

/* What came of a thread's last fault. */
static void signal_ends(struct feed *f, int32_t tid)
{
	struct pfs_event ev;

	feed_as(f, tid < 4 ? 1 : 4, tid);
	ev = feed_event(f, PFS_SIGNAL, PFS_HAS(PFS_F_SIG));
	ev.sig = 11;
	feed_apply(f, &ev);
}

static void assert_same_regions(const struct feed f[2])
{
	for (int32_t pid = 1; pid <= 4; pid += 3) {
		const struct pfs_space *x = pfs_proc_space(pfs_model_proc(f[0].model, pid));
		const struct pfs_space *y = pfs_proc_space(pfs_model_proc(f[1].model, pid));

		assert_int_equal(x->nr_live, y->nr_live);
		for (unsigned int i = 0; i < x->nr_live; i++)
			assert_int_equal(x->live[i]->written, y->live[i]->written);
	}
}

/* One model that takes faults by the hundred, and one that takes the same one by one, become the same. */
static void test_faults_by_the_hundred(void **state)
{
	struct feed f[2] = { feed_new(1), feed_new(1) };
	struct random_faults faults;
	uint64_t s = 1, now = 1000;

	for (unsigned int round = 0; round < 40; round++) {
		random_faults(&faults, &s, &now);
		for (unsigned int k = 0; k < 2; k++) {
			f[k].now_ns = now;
			change_layout(&f[k], round);
			for (unsigned int i = 0; k && i < faults.nr_runs; i++)
				assert_false(pfs_model_apply_faults(f[k].model, &faults.run[i], NULL));
			if (!k)
				apply_one_by_one(f[k].model, &faults);
			signal_ends(&f[k], 1 + round % 5);
		}
		assert_same_regions(f);
	}
	assert_int_equal(f[0].model->counts.faults, 20000);
	assert_true(f[0].model->counts.signal > 20 && f[0].model->counts.vsyscall);
	assert_memory_equal(&f[0].model->counts, &f[1].model->counts, sizeof(f[0].model->counts));
	assert_int_equal(f[0].model->nr_events, f[1].model->nr_events);
	assert_true(f[0].model->first_ns == f[1].model->first_ns && f[0].model->last_ns == f[1].model->last_ns);
	for (int32_t tid = 1; tid <= 5; tid++)
		assert_int_equal(pfs_model_thread(f[0].model, tid)->nr_faults,
				 pfs_model_thread(f[1].model, tid)->nr_faults);
	for (int32_t pid = 1; pid <= 4; pid += 3) {
		const struct pfs_proc *a = pfs_model_proc(f[0].model, pid), *b = pfs_model_proc(f[1].model, pid);
		const struct pfs_space *x = pfs_proc_space(a), *y = pfs_proc_space(b);

		assert_memory_equal(&a->counts, &b->counts, sizeof(a->counts));
		for (uint64_t addr = 0x100000; addr < 0x230000; addr += PAGE) {
			struct pfs_page p, q;

			assert_int_equal(page_copy(x->pages, addr, &p), page_copy(y->pages, addr, &q));
			if (page_copy(x->pages, addr, &p))
				assert_memory_equal(&p, &q, sizeof(p));
		}
	}
	feed_free(&f[0]);
	feed_free(&f[1]);
}

/* Processors are not in step: what a thread did may come before that it was made. */
static void test_a_thread_told_late(void **state)
{
	struct feed f = feed_new(1);

	feed_as(&f, 1, 2);
	feed_fault(&f, 0x10000, PFS_READ);
	feed_as(&f, 1, 1);
	feed_thread(&f, 2);
	assert_int_equal(pfs_model_thread(f.model, 2)->nr_faults, 1);
	assert_int_equal(pfs_model_proc(f.model, 1)->nr_threads, 2);
	feed_as(&f, 1, 2);
	feed_exit(&f, false);
	feed_as(&f, 1, 1);
	feed_thread(&f, 2); /* its number is given again */
	assert_int_equal(pfs_model_thread(f.model, 2)->nr_faults, 0);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fault_marks_its_page),
		cmocka_unit_test(test_absent_fields_are_ignored),
		cmocka_unit_test(test_a_fault_outside_is_kept),
		cmocka_unit_test(test_a_fault_outside_of_another_process),
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_around_by_a_probe_afterwards),
		cmocka_unit_test(test_around_by_a_probe_with_gaps),
		cmocka_unit_test(test_around_by_a_probe_before),
		cmocka_unit_test(test_around_and_what_others_did),
		cmocka_unit_test(test_around_and_additions),
		cmocka_unit_test(test_around_by_another_reading),
		cmocka_unit_test(test_around_during_a_probe),
		cmocka_unit_test(test_two_fault_arounds_at_a_time),
		cmocka_unit_test(test_two_fault_arounds_one_after_the_other),
		cmocka_unit_test(test_fault_around_and_one_page),
		cmocka_unit_test(test_a_fault_is_over),
		cmocka_unit_test(test_two_threads_of_a_process),
		cmocka_unit_test(test_a_locked_folio),
		cmocka_unit_test(test_locked_for_long),
		cmocka_unit_test(test_around_in_a_region_that_has_gone),
		cmocka_unit_test(test_major),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_populate),
		cmocka_unit_test(test_ranges_are_whole_pages),
		cmocka_unit_test(test_moves_are_whole_pages),
		cmocka_unit_test(test_fork_copies_the_layout),
		cmocka_unit_test(test_vfork_shares_until_exec),
		cmocka_unit_test(test_exec_begins_an_epoch),
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_rows_of_another_process),
		cmocka_unit_test(test_faults_before_the_exec_of_another_thread),
		cmocka_unit_test(test_an_exec_continues_under_the_first_number),
		cmocka_unit_test(test_exec_that_failed),
		cmocka_unit_test(test_a_launcher_is_counted_apart),
		cmocka_unit_test(test_a_launch_ends_by_a_loss),
		cmocka_unit_test(test_numbers_come_round_again),
		cmocka_unit_test(test_a_process_that_is_named_late),
		cmocka_unit_test(test_names_of_threads),
		cmocka_unit_test(test_notes_and_times),
		cmocka_unit_test(test_losses_by_cpu),
		cmocka_unit_test(test_gaps_without_end),
		cmocka_unit_test(test_losses_counted_at_the_end),
		cmocka_unit_test(test_faults_by_the_hundred),
		cmocka_unit_test(test_a_process_that_becomes_known),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_a_thread_told_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
