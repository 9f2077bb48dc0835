/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the assembler makes of mmap, munmap and mremap and of rows of the region tree: each fact once,
 * by whichever tells it first, and never one that was not granted. The other calls are
 * assemble/calls.c's.
 */
#include "support/raw_feed.h"

#include <errno.h>

enum { DONTUNMAP = 4, ID = 0xa000, ID2 = 0xb000 };

/* ---- pairing ---- */

static void test_calls_pair_by_thread(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x1000);
	f.tid = 101;
	ENTER(&f, SYS_MUNMAP, 0x20000, 0x1000);
	f.tid = 100;
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "unmap start=10000 end=11000\n");
	f.tid = 101;
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "unmap pid=100 tid=101 start=20000 end=21000\n");
	raw_feed_fini(&f);
}

static void test_a_return_without_its_call_is_counted(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	LEAVE(&f, SYS_MUNMAP, 0);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x1000);
	LEAVE(&f, SYS_MMAP, 0x50000);
	LEAVE(&f, SYS_MUNMAP, 0);
	LEAVE(&f, SYS_CLONE, 0); /* a new process's first sight */
	expect(&f, "");
	assert_int_equal(pfs_assembler_stats(f.a)->unpaired_exits, 3);
	raw_feed_fini(&f);
}

static void test_what_failed_says_nothing(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0, 0x1000, RW, ANON, -1, 0);
	LEAVE(&f, SYS_MMAP, -ENOMEM);
	ENTER(&f, SYS_MUNMAP, 0x10001, 0x1000);
	LEAVE(&f, SYS_MUNMAP, -EINVAL);
	ENTER(&f, SYS_MLOCK, 0x10000, 0x1000);
	LEAVE(&f, SYS_MLOCK, -EPERM);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x2000, 0, 0);
	LEAVE(&f, SYS_MREMAP, -ENOMEM);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* ---- mmap ---- */

static void test_mmap_row_and_sideband(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0, 0x2000, RW, ANON, -1, 0);
	ROW(&f, 0x10000, 0x12000, ID);
	expect(&f, "map start=10000 end=12000 id=a000\n");
	BAND(&f, 0x10000, 0x12000);
	expect(&f, "map start=10000 end=12000" DESCRIBED);
	LEAVE(&f, SYS_MMAP, 0x10000);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_mmap_row_without_sideband(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0, 0x1800, RW, ANON, -1, 0);
	ROW(&f, 0x10000, 0x12000, ID);
	LEAVE(&f, SYS_MMAP, 0x10000);
	expect(&f, "map start=10000 end=12000 id=a000\n"
		   "protect start=10000 end=12000 perms=rw-p off=0 name=\"\"\n");
	raw_feed_fini(&f);
}

static void test_mmap_without_rows(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0, 0x1800, PROT_READ, MAP_SHARED, 3, 0x4000);
	expect(&f, "");
	LEAVE(&f, SYS_MMAP, 0x10000);
	expect(&f, "unmap start=10000 end=12000\n"
		   "map start=10000 end=12000 perms=r--s off=16384\n");
	raw_feed_fini(&f);
}

static void test_mmap_traits(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0, 0x1000, RW, ANON | MAP_STACK | MAP_NORESERVE, -1, 0);
	ROW(&f, 0x10000, 0x11000, ID);
	BAND(&f, 0x10000, 0x11000);
	forget(&f);
	LEAVE(&f, SYS_MMAP, 0x10000);
	expect(&f, "protect start=10000 end=11000 traits=stack,noreserve\n");
	raw_feed_fini(&f);
}

static void test_fixed_over_others(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0x10000, 0x2000, RW, ANON | MAP_FIXED, -1, 0);
	ROW(&f, 0xf000, 0x12000, ID); /* merged with the one before */
	expect(&f, "unmap start=10000 end=12000\nmap start=f000 end=12000 id=a000\n");
	ROW(&f, 0xf000, 0x13000, ID); /* the range is its own by now */
	expect(&f, "map start=f000 end=13000 id=a000\n");
	raw_feed_fini(&f);
}

static void test_fixed_waits_for_its_own_row(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0x10000, 0x2000, RW, ANON | MAP_FIXED, -1, 0);
	ROW(&f, 0x12000, 0x14000, ID); /* a split of what is there */
	expect(&f, "map start=12000 end=14000 id=a000\n");
	ROW(&f, 0x10000, 0x12000, ID2);
	expect(&f, "unmap op=replace start=10000 end=12000 len=8192 id=b000\n"
		   "map start=10000 end=12000 id=b000\n");
	raw_feed_fini(&f);
}

/* 6.1 first splits what is there at the target's start: that row may be a mapping merged upwards, too. */
static void test_fixed_or_a_split_there(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MMAP, 0x10000, 0x2000, RW, ANON | MAP_FIXED, -1, 0);
	ROW(&f, 0x10000, 0x18000, ID);
	expect(&f, "unmap op=replace start=10000 end=12000 len=32768 id=a000\n"
		   "map start=10000 end=18000 id=a000\n");
	ROW(&f, 0x10000, 0x12000, ID2);
	expect(&f, "unmap op=replace start=10000 end=12000 len=8192 id=b000\n"
		   "map start=10000 end=12000 id=b000\n");
	raw_feed_fini(&f);
}

static void test_mmap_populates(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	mmap_with(&f, MAP_POPULATE);
	expect(&f, "populate start=10000 end=11000 by=mmap\n");
	mmap_with(&f, MAP_POPULATE | MAP_NONBLOCK);
	expect(&f, "");
	mmap_with(&f, MAP_LOCKED);
	expect(&f, "protect start=10000 end=11000 traits=locked by=mlock\n"
		   "populate start=10000 end=11000 by=mlock\n");
	raw_feed_fini(&f);
}

/* ---- rows ---- */

static void test_repeated_rows_count_once(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	for (int i = 0; i < 3; i++)
		ROW(&f, 0x10000, 0x12000, ID);
	expect(&f, "map start=10000 end=12000 id=a000\n");
	ROW(&f, 0x10000, 0x12000, ID2);
	expect(&f, "map start=10000 end=12000 id=b000\n");
	/* In the next call the same row is another fact. */
	ENTER(&f, SYS_MPROTECT, 0x10000, 0x1000, PROT_READ);
	ROW(&f, 0x10000, 0x12000, ID2);
	expect(&f, "map start=10000 end=12000 id=b000\n");
	raw_feed_fini(&f);
}

static void test_rows_of_other_trees(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ROW(&f, 0x10001, 0x12000, ID);
	ROW(&f, 0x10000, 0x12001, ID);
	RAW(&f, RAW_MA_WRITE, 5, 5, ID);
	RAW(&f, RAW_MA_WRITE, 0x12000, 0x10fff, ID);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_a_row_to_the_top(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_MA_WRITE, 0x7ffffffff000, UINT64_MAX, 0);
	expect(&f, "unmap start=7ffffffff000 end=fffffffffffff000\n");
	RAW(&f, RAW_MA_WRITE, 0x10000, 0x10fff, 0xfff); /* the tree's own marks are no regions */
	expect(&f, "unmap start=10000 end=11000\n");
	raw_feed_fini(&f);
}

static void test_rows_of_process_madvise_are_foreign(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_PROCESS_MADVISE, 3, 0x7000, 1, 21);
	ROW(&f, 0x10000, 0x12000, ID);
	LEAVE(&f, SYS_PROCESS_MADVISE, 0x2000);
	expect(&f, "");
	assert_int_equal(pfs_assembler_stats(f.a)->foreign_rows, 1);
	raw_feed_fini(&f);
}

static void test_rows_of_an_exited_thread_are_anothers(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_EXIT, 100, 0);
	forget(&f);
	ROW(&f, 0x10000, 0x12000, ID);
	expect(&f, "map space=other start=10000 end=12000 id=a000\n");
	ROW(&f, 0x10000, 0x12000, 0);
	expect(&f, "");
	assert_int_equal(pfs_assembler_stats(f.a)->foreign_rows, 2);
	raw_feed_fini(&f);
}

/* ---- munmap ---- */

static void test_munmap_by_row(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x1234);
	ROW(&f, 0xf000, 0x20000, 0); /* the gap that there is now is wider */
	expect(&f, "unmap start=f000 end=20000\n");
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_munmap_without_a_row(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x1234);
	ROW(&f, 0x12000, 0x14000, ID); /* its splits are not the removal */
	expect(&f, "map start=12000 end=14000 id=a000\n");
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "unmap start=10000 end=12000\n");
	raw_feed_fini(&f);
}

static void test_munmap_of_a_part_by_row(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x4000);
	ROW(&f, 0x10000, 0x12000, 0);
	forget(&f);
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "unmap start=10000 end=14000\n");
	raw_feed_fini(&f);
}

/* What a munmap has emptied may be mapped again before it returns. */
static void test_munmap_whose_range_is_taken(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x2000);
	f.tid = 101;
	ENTER(&f, SYS_MMAP, 0, 0x1000, RW, ANON, -1, 0);
	ROW(&f, 0x11000, 0x12000, ID);
	expect(&f, "unmap pid=100 tid=101 start=10000 end=12000\n"
		   "map pid=100 tid=101 start=11000 end=12000 id=a000\n");
	f.tid = 100;
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void take_merged(struct raw_feed *f)
{
	ENTER(f, SYS_MUNMAP, 0x10000, 0x4000);
	f->tid = 101;
	ENTER(f, SYS_MMAP, 0, 0x1000, RW, ANON, -1, 0);
	ROW(f, 0x8000, 0x11000, ID); /* more than was asked for: merged with its neighbour */
	expect(f, "map pid=100 tid=101 start=8000 end=11000 id=a000\n");
	f->tid = 100;
}

static void test_munmap_whose_range_is_taken_by_a_merge(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	take_merged(&f);
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "unmap start=11000 end=14000\n");
	/* A row of its own after that: so the neighbour was there before the removal. */
	take_merged(&f);
	ROW(&f, 0x14000, 0x15000, ID2);
	forget(&f);
	LEAVE(&f, SYS_MUNMAP, 0);
	expect(&f, "unmap start=10000 end=14000\n");
	raw_feed_fini(&f);
}

static void test_a_failed_munmap_takes_nothing_later(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x2000);
	LEAVE(&f, SYS_MUNMAP, -EINVAL);
	f.tid = 101;
	ENTER(&f, SYS_MMAP, 0, 0x1000, RW, ANON, -1, 0);
	ROW(&f, 0x11000, 0x12000, ID);
	expect(&f, "map pid=100 tid=101 start=11000 end=12000 id=a000\n");
	raw_feed_fini(&f);
}

/* ---- mremap ---- */

static void test_mremap_grows_in_place(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x3000, MREMAP_MAYMOVE, 0);
	ROW(&f, 0x10000, 0x13000, ID);
	LEAVE(&f, SYS_MREMAP, 0x10000);
	expect(&f, "map start=10000 end=13000 id=a000\n");
	raw_feed_fini(&f);
}

static void test_mremap_grows_without_rows(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x3000, MREMAP_MAYMOVE, 0);
	LEAVE(&f, SYS_MREMAP, 0x10000);
	expect(&f, "map start=10000 end=13000\n");
	raw_feed_fini(&f);
}

static void test_mremap_moves(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x3000, MREMAP_MAYMOVE, 0);
	ROW(&f, 0x50000, 0x53000, ID);
	expect(&f, "move start=50000 end=53000 from=10000 len=4096 id=a000\n");
	LEAVE(&f, SYS_MREMAP, 0x50000);
	expect(&f, "unmap start=10000 end=11000\n");
	raw_feed_fini(&f);
}

static void test_mremap_moves_without_rows(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x3000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	LEAVE(&f, SYS_MREMAP, 0x50000);
	expect(&f, "unmap start=50000 end=53000\n"
		   "move start=50000 end=53000 from=10000 len=4096\n"
		   "unmap start=10000 end=11000\n");
	raw_feed_fini(&f);
}

static void test_mremap_fixed(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x3000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	ROW(&f, 0x53000, 0x58000, ID); /* what is left of the target's neighbour */
	expect(&f, "map start=53000 end=58000 id=a000\n");
	ROW(&f, 0x50000, 0x53000, ID2);
	expect(&f, "unmap op=replace start=50000 end=53000 len=12288 id=b000\n"
		   "move addr=50000 start=50000 end=53000 from=10000 len=4096 id=b000\n");
	raw_feed_fini(&f);
}

/* Several regions: what is between them stays at the target, so only the model can empty it. */
static void test_mremap_fixed_of_several(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x4000, 0x4000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	ROW(&f, 0x50000, 0x51000, ID);
	ROW(&f, 0x53000, 0x54000, ID2);
	expect(&f, "move addr=50000 start=50000 end=51000 from=10000 len=16384 id=a000\n"
		   "move addr=50000 start=53000 end=54000 from=10000 len=16384 id=b000\n");
	LEAVE(&f, SYS_MREMAP, 0x50000);
	expect(&f, "unmap start=10000 end=14000\n");
	/* Even if one row fills the target: it may be what was left of another mapping there. */
	ENTER(&f, SYS_MREMAP, 0x10000, 0x4000, 0x4000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	ROW(&f, 0x50000, 0x54000, ID);
	expect(&f, "move addr=50000 start=50000 end=54000 from=10000 len=16384 id=a000\n");
	raw_feed_fini(&f);
}

static void test_mremap_that_fails_half_way(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x4000, 0x4000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	ROW(&f, 0x50000, 0x51000, ID);
	forget(&f);
	LEAVE(&f, SYS_MREMAP, -EFAULT);
	expect(&f, "unmap op=moved start=10000 end=14000\n");
	raw_feed_fini(&f);
}

/* 6.12 and older split what they move a part of before they move it: which is which, the model sees. */
static void test_mremap_splits_first(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x1000, MREMAP_MAYMOVE | DONTUNMAP, 0);
	ROW(&f, 0x8000, 0x10000, ID);
	ROW(&f, 0x50000, 0x51000, ID2);
	expect(&f, "move start=8000 end=10000 from=10000 len=4096 id=a000\n"
		   "move start=50000 end=51000 from=10000 len=4096 id=b000\n");
	raw_feed_fini(&f);
}

static void fail_fixed(struct raw_feed *f, const char *kernel, int error)
{
	raw_feed_init(f);
	NOTE(f, kernel);
	forget(f);
	ENTER(f, SYS_MREMAP, 0x10000, 0x3000, 0x2000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	LEAVE(f, SYS_MREMAP, -error);
}

static void test_mremap_fixed_empties_before_it_fails(void **state)
{
	struct raw_feed f;

	fail_fixed(&f, "kernel=6.12.117+deb12-cloud-amd64", EFAULT);
	expect(&f, "unmap op=if_mapped start=50000 end=52000 from=10000\n" /* if there is something at 10000 */
		   "unmap op=if_mapped start=12000 end=13000 from=10000\n");
	raw_feed_fini(&f);
	fail_fixed(&f, "kernel=6.12.117+deb12-cloud-amd64", EINVAL);
	expect(&f, "");
	raw_feed_fini(&f);
	fail_fixed(&f, "kernel=6.17.0", EFAULT);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* An old length of 0 copies. Every kernel empties the target, which here is the source, before it looks for that. */
static void test_mremap_copies_over_itself(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "kernel=6.17.0");
	forget(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0, 0x2000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x10000);
	LEAVE(&f, SYS_MREMAP, -EINVAL);
	expect(&f, "");
	ENTER(&f, SYS_MREMAP, 0x10000, 0, 0x2000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x10000);
	LEAVE(&f, SYS_MREMAP, -EFAULT);
	expect(&f, "unmap op=if_mapped start=10000 end=12000 from=10000\n");
	/* of what may not be copied, elsewhere */
	ENTER(&f, SYS_MREMAP, 0x10000, 0, 0x2000, MREMAP_MAYMOVE | MREMAP_FIXED, 0x50000);
	LEAVE(&f, SYS_MREMAP, -EFAULT);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_mremap_shrinks(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x3000, 0x1000, 0, 0);
	ROW(&f, 0x13000, 0x14000, ID); /* what is left behind it */
	expect(&f, "map start=13000 end=14000 id=a000\n");
	LEAVE(&f, SYS_MREMAP, 0x10000);
	expect(&f, "unmap start=11000 end=13000\n");
	raw_feed_fini(&f);
}

static void test_mremap_dontunmap(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MREMAP, 0x10000, 0x1000, 0x1000, MREMAP_MAYMOVE | DONTUNMAP, 0);
	ROW(&f, 0x50000, 0x51000, ID);
	LEAVE(&f, SYS_MREMAP, 0x50000);
	expect(&f, "move start=50000 end=51000 from=10000 len=4096 id=a000\n");
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_pair_by_thread),
		cmocka_unit_test(test_a_return_without_its_call_is_counted),
		cmocka_unit_test(test_what_failed_says_nothing),
		cmocka_unit_test(test_mmap_row_and_sideband),
		cmocka_unit_test(test_mmap_row_without_sideband),
		cmocka_unit_test(test_mmap_without_rows),
		cmocka_unit_test(test_mmap_traits),
		cmocka_unit_test(test_fixed_over_others),
		cmocka_unit_test(test_fixed_waits_for_its_own_row),
		cmocka_unit_test(test_fixed_or_a_split_there),
		cmocka_unit_test(test_mmap_populates),
		cmocka_unit_test(test_repeated_rows_count_once),
		cmocka_unit_test(test_rows_of_other_trees),
		cmocka_unit_test(test_a_row_to_the_top),
		cmocka_unit_test(test_rows_of_process_madvise_are_foreign),
		cmocka_unit_test(test_rows_of_an_exited_thread_are_anothers),
		cmocka_unit_test(test_munmap_by_row),
		cmocka_unit_test(test_munmap_without_a_row),
		cmocka_unit_test(test_munmap_of_a_part_by_row),
		cmocka_unit_test(test_munmap_whose_range_is_taken),
		cmocka_unit_test(test_munmap_whose_range_is_taken_by_a_merge),
		cmocka_unit_test(test_a_failed_munmap_takes_nothing_later),
		cmocka_unit_test(test_mremap_grows_in_place),
		cmocka_unit_test(test_mremap_grows_without_rows),
		cmocka_unit_test(test_mremap_moves),
		cmocka_unit_test(test_mremap_moves_without_rows),
		cmocka_unit_test(test_mremap_fixed),
		cmocka_unit_test(test_mremap_fixed_of_several),
		cmocka_unit_test(test_mremap_that_fails_half_way),
		cmocka_unit_test(test_mremap_splits_first),
		cmocka_unit_test(test_mremap_fixed_empties_before_it_fails),
		cmocka_unit_test(test_mremap_copies_over_itself),
		cmocka_unit_test(test_mremap_shrinks),
		cmocka_unit_test(test_mremap_dontunmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
