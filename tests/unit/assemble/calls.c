/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the assembler makes of the other system calls (protection, the break, what populates,
 * segments) and of snapshots of a layout. mmap and its kin are assemble/layout.c's.
 */
#include "support/raw_feed.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/shm.h>

enum { ID = 0xa000, GUARD = 102, SET_VMA = 0x53564d41 };

/* ---- mprotect and brk ---- */

static void test_mprotect(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MPROTECT, 0x10000, 0x1001, PROT_READ | PROT_EXEC);
	LEAVE(&f, SYS_MPROTECT, 0);
	expect(&f, "protect start=10000 end=12000 perms=r-xp\n");
	ENTER(&f, SYS_PKEY_MPROTECT, 0x10000, 0x1000, PROT_NONE, 1);
	LEAVE(&f, SYS_PKEY_MPROTECT, 0);
	expect(&f, "protect start=10000 end=11000 perms=---p\n");
	/* The side-band has it better: with what it merged and whether it is shared. */
	BAND(&f, 0x10000, 0x12000);
	forget(&f);
	ENTER(&f, SYS_MPROTECT, 0x10000, 0x1000, PROT_READ);
	LEAVE(&f, SYS_MPROTECT, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void brk_to(struct raw_feed *f, uint64_t asked, uint64_t result)
{
	ENTER(f, SYS_BRK, asked);
	LEAVE(f, SYS_BRK, result);
}

static void test_brk(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	brk_to(&f, 0, 0x100000);
	expect(&f, "brk end=100000\n");
	brk_to(&f, 0, 0x100000);
	expect(&f, "");
	brk_to(&f, 0x101800, 0x101800);
	expect(&f, "brk end=101800\nmap start=100000 end=102000 perms=rw-p name=\"\"\n");
	brk_to(&f, 0x101900, 0x101900); /* in the same page */
	expect(&f, "brk end=101900\n");
	brk_to(&f, 0x900000, 0x101900); /* refused */
	expect(&f, "");
	brk_to(&f, 0x100800, 0x100800);
	expect(&f, "brk end=100800\nunmap start=101000 end=102000\n");
	raw_feed_fini(&f);
}

static void test_brk_with_rows_and_sideband(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	brk_to(&f, 0, 0x100000);
	ENTER(&f, SYS_BRK, 0x102000);
	ROW(&f, 0x100000, 0x102000, ID);
	forget(&f);
	LEAVE(&f, SYS_BRK, 0x102000);
	expect(&f, "brk end=102000\nprotect start=100000 end=102000 perms=rw-p name=\"\"\n");
	BAND(&f, 0x10000, 0x11000);
	ENTER(&f, SYS_BRK, 0x103000);
	ROW(&f, 0x100000, 0x103000, ID);
	forget(&f);
	LEAVE(&f, SYS_BRK, 0x103000);
	expect(&f, "brk end=103000\n");
	raw_feed_fini(&f);
}

static void test_brk_note(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "brk=100000 101000");
	expect(&f, "note key=\"brk\" value=\"start=100000 end=101000\"\nbrk start=100000 end=101000\n");
	brk_to(&f, 0x100000, 0x100000);
	expect(&f, "brk end=100000\nunmap start=100000 end=101000\n");
	NOTE(&f, "brk=200000 200000"); /* an empty heap begins somewhere, too */
	expect(&f, "note key=\"brk\" value=\"start=200000 end=200000\"\nbrk start=200000 end=200000\n");
	raw_feed_fini(&f);
}

/* ---- what populates ---- */

static void test_madvise(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MADVISE, 0x10000, 0x1001, 22);
	LEAVE(&f, SYS_MADVISE, 0);
	expect(&f, "populate start=10000 end=12000 access=read by=madvise error=0\n");
	ENTER(&f, SYS_MADVISE, 0x10000, 0x1000, 23);
	LEAVE(&f, SYS_MADVISE, 0);
	expect(&f, "populate start=10000 end=11000 access=write by=madvise error=0\n");
	ENTER(&f, SYS_MADVISE, 0x10000, 0x1000, MADV_WILLNEED);
	LEAVE(&f, SYS_MADVISE, 0);
	expect(&f, "");
	ENTER(&f, SYS_MADVISE, 0x10000, 0x1000, GUARD);
	LEAVE(&f, SYS_MADVISE, 0);
	expect(&f, "advise start=10000 end=11000 advice=dontneed interval=1000\n"
		   "protect start=10000 end=11000 traits=guarded\n");
	raw_feed_fini(&f);
}

static void test_mlock(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MLOCK, 0x10000, 0x1800);
	LEAVE(&f, SYS_MLOCK, 0);
	expect(&f, "protect start=10000 end=12000 traits=locked by=mlock\n"
		   "populate start=10000 end=12000 by=mlock error=0\n");
	ENTER(&f, SYS_MLOCK, 0x10800, 0x1000); /* every page that has a byte of it */
	LEAVE(&f, SYS_MLOCK, 0);
	expect(&f, "protect start=10000 end=12000 traits=locked by=mlock\n"
		   "populate start=10000 end=12000 by=mlock error=0\n");
	ENTER(&f, SYS_MLOCK2, 0x10000, 0x1000, MLOCK_ONFAULT);
	LEAVE(&f, SYS_MLOCK2, 0);
	expect(&f, "protect start=10000 end=11000 traits=none by=mlock\n");
	ENTER(&f, SYS_MUNLOCK, 0x10000, 0x1000);
	LEAVE(&f, SYS_MUNLOCK, 0);
	expect(&f, "protect start=10000 end=11000 traits=none by=mlock\n");
	raw_feed_fini(&f);
}

/* Only a row, or a page of a file, shows that mlock got beyond the limit. */
static void test_failing_calls_populate_a_part(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MADVISE, 0x10000, 0x4000, 23);
	LEAVE(&f, SYS_MADVISE, -EFAULT);
	expect(&f, "populate start=10000 end=14000 access=write by=madvise error=14\n");
	ENTER(&f, SYS_MADVISE, 0x10001, 0x4000, 23);
	LEAVE(&f, SYS_MADVISE, -EINVAL);
	expect(&f, "");
	ENTER(&f, SYS_MLOCK, 0x10000, 0x4000);
	LEAVE(&f, SYS_MLOCK, -ENOMEM);
	expect(&f, "populate start=10000 end=14000 by~mlock error=12\n");
	ENTER(&f, SYS_MLOCK, 0x10000, 0x4000);
	ROW(&f, 0x10000, 0x14000, ID);
	forget(&f);
	LEAVE(&f, SYS_MLOCK, -ENOMEM);
	expect(&f, "populate start=10000 end=14000 by=mlock error=12\n");
	ENTER(&f, SYS_MLOCK, 0x10000, 0x4000);
	LEAVE(&f, SYS_MLOCK, -EPERM);
	ENTER(&f, SYS_MLOCK2, 0x10000, 0x4000, MLOCK_ONFAULT);
	LEAVE(&f, SYS_MLOCK2, -ENOMEM);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* What is locked, and only that, is populated where it grows. */
static void test_mremap_of_what_may_be_locked(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ROW(&f, 0x10000, 0x14000, ID);
	for (int locked = 0; locked < 2; locked++) {
		if (locked) {
			ENTER(&f, SYS_MLOCK, 0x10000, 0x4000);
			LEAVE(&f, SYS_MLOCK, 0);
		}
		forget(&f);
		ENTER(&f, SYS_MREMAP, 0x10000, 0x4000, 0x6000, 0);
		LEAVE(&f, SYS_MREMAP, 0x10000);
		expect(&f, locked ? "populate start=14000 end=16000 by=mremap\n" : "");
	}
	ENTER(&f, SYS_MREMAP, 0x10000, 0x6000, 0x4000, 0);
	LEAVE(&f, SYS_MREMAP, 0x10000);
	expect(&f, "unmap start=14000 end=16000\n");
	raw_feed_fini(&f);
}

static void test_files_are_populated_as_far_as_they_reach(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "file_faults=yes");
	RAW(&f, RAW_FILE_FAULT, 0xfe00000, 7, 0); /* of no populating call */
	forget(&f);
	ENTER(&f, SYS_MLOCKALL, MCL_CURRENT);
	RAW(&f, RAW_FILE_FAULT, 0xfe00000, 7, 0);
	RAW(&f, RAW_MAP_PAGES, 0xfe00000, 7, 0, 2);
	RAW(&f, RAW_MAP_PAGES, 0xfe00000, 7, 0, 2); /* for a fourth page */
	forget(&f);
	RAW(&f, RAW_FILE_FAULT, 0xfe00000, 8, 4); /* another file; of a large folio it is only the first page */
	expect(&f, "reached start=0 end=ffffffffffffffff end_off=12288 dev=fe:00 ino=7 last=1 count=1\n");
	LEAVE(&f, SYS_MLOCKALL, 0);
	expect(&f, "protect start=0 end=ffffffffffffffff traits=locked by=mlock\n"
		   "reached start=0 end=ffffffffffffffff end_off=20480 dev=fe:00 ino=8 last=0 count=1\n"
		   "populate start=0 end=ffffffffffffffff by=mlock\n");
	ENTER(&f, SYS_MLOCKALL, MCL_CURRENT);
	RAW(&f, RAW_ADD_CACHE, 0xfe00000, 7, 2, 0);
	RAW(&f, RAW_LOST, 5);
	forget(&f);
	LEAVE(&f, SYS_MLOCKALL, 0);
	expect(&f, "protect start=0 end=ffffffffffffffff traits=locked by=mlock\n"
		   "reached start=0 end=ffffffffffffffff end_off=12288 dev=fe:00 ino=7 last=0\n"
		   "populate start=0 end=ffffffffffffffff by=mlock\n");
	raw_feed_fini(&f);
}

static void mlockall_with(struct raw_feed *f, int flags)
{
	ENTER(f, SYS_MLOCKALL, flags);
	LEAVE(f, SYS_MLOCKALL, 0);
}

static void test_mlockall(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	mlockall_with(&f, MCL_CURRENT);
	expect(&f, "protect start=0 end=ffffffffffffffff traits=locked by=mlock\n"
		   "populate start=0 end=ffffffffffffffff by=mlock\n");
	mlockall_with(&f, MCL_CURRENT | MCL_ONFAULT);
	expect(&f, "protect start=0 end=ffffffffffffffff traits=none by=mlock\n");
	mlockall_with(&f, MCL_FUTURE | MCL_ONFAULT);
	mmap_with(&f, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_mlockall_of_the_future(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	brk_to(&f, 0, 0x100000);
	mlockall_with(&f, MCL_FUTURE);
	mmap_with(&f, 0);
	expect(&f, "protect start=10000 end=11000 traits=locked by=mlock\n"
		   "populate start=10000 end=11000 by=mlock\n");
	brk_to(&f, 0x101000, 0x101000);
	expect(&f, "brk end=101000\nmap start=100000 end=101000 perms=rw-p name=\"\"\n"
		   "populate start=100000 end=101000 by=mlock\n");
	ENTER(&f, SYS_MUNLOCKALL);
	LEAVE(&f, SYS_MUNLOCKALL, 0);
	expect(&f, "protect start=0 end=ffffffffffffffff traits=none by=mlock\n");
	mmap_with(&f, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_around_while_populating(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_MAP_PAGES, 0xfe00000, 7, 2, 3);
	expect(&f, "around off=8192 end_off=16384 dev=fe:00 ino=7\n");
	ENTER(&f, SYS_MADVISE, 0x10000, 0x4000, 22);
	RAW(&f, RAW_MAP_PAGES, 0xfe00000, 7, 2, 3);
	expect(&f, "around start=10000 end=14000 off=8192 end_off=16384 dev=fe:00 ino=7\n");
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 9, 0x80008);
	expect(&f, "huge start=10000 end=14000 pfn=1200 order=9\n");
	raw_feed_fini(&f);
}

/* ---- the rarer calls ---- */

static void test_shmdt(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_SHMDT, 0x50000);
	expect(&f, "unmap op=detach_begin start=50000\n");
	LEAVE(&f, SYS_SHMDT, 0);
	expect(&f, "unmap op=detach start=50000\n");
	ENTER(&f, SYS_SHMDT, 0x50000);
	forget(&f);
	LEAVE(&f, SYS_SHMDT, -EINVAL);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_shmat_over_others(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_SHMAT, 1, 0x50000, SHM_REMAP);
	ROW(&f, 0x50000, 0x58000, 0xb000); /* a split of what is there, for all that is known */
	expect(&f, "unmap op=replace start=50000 end=58000 len=32768 id=b000\n"
		   "map start=50000 end=58000 id=b000\n");
	ROW(&f, 0x50000, 0x52000, ID);
	expect(&f, "unmap op=replace start=50000 end=52000 len=8192 id=a000\n"
		   "map start=50000 end=52000 id=a000\n");
	raw_feed_fini(&f);
}

static void test_io_destroy(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_IO_DESTROY, 0x50000);
	expect(&f, "unmap op=ring start=50000\n"); /* its address is free long before its return */
	LEAVE(&f, SYS_IO_DESTROY, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_mseal(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MSEAL, 0x10000, 0x1001);
	LEAVE(&f, SYS_MSEAL, 0);
	expect(&f, "protect start=10000 end=12000 traits=sealed\n");
	raw_feed_fini(&f);
}

static void test_prctl(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_PRCTL, SET_VMA, 0, 0x10000, 0x1000, 0x7000);
	LEAVE(&f, SYS_PRCTL, 0);
	expect(&f, "protect start=10000 end=11000\n");
	ENTER(&f, SYS_PRCTL, PR_SET_NAME, 0x7000, 0, 0, 0);
	LEAVE(&f, SYS_PRCTL, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* ---- snapshots ---- */

static void test_a_snapshot_is_all_there_is(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	SNAPSHOT(&f, 0x10000, 0x11000); /* of no snapshot that counts */
	expect(&f, "");
	NOTE(&f, "snapshot=first");
	forget(&f);
	SNAPSHOT(&f, 0x10000, 0x12000);
	expect(&f, "unmap start=0 end=10000\nmap start=10000 end=12000" DESCRIBED);
	SNAPSHOT(&f, 0x12000, 0x13000);
	expect(&f, "map start=12000 end=13000" DESCRIBED);
	NOTE(&f, "snapshot=end");
	expect(&f, "note key=\"snapshot\" value=\"op=end\"\n"
		   "unmap start=13000 end=fffffffffffff000\n");
	SNAPSHOT(&f, 0x10000, 0x12000);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_a_later_snapshot(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.now_ns = 5000;
	ROW(&f, 0x10000, 0x12000, ID);
	forget(&f);
	NOTE(&f, "snapshot=later 5500");
	SNAPSHOT(&f, 0x10000, 0x12000);
	NOTE(&f, "snapshot=end");
	expect(&f, "note key=\"snapshot\" value=\"op=later look=5500\"\nunmap start=0 end=10000\n"
		   "map start=10000 end=12000" DESCRIBED "note key=\"snapshot\" value=\"op=end\"\n"
		   "unmap start=12000 end=fffffffffffff000\n");
	raw_feed_fini(&f);
}

/* The heap grew before anything was recorded: where its regions end, and where it begins if that is not known. */
static void test_a_later_snapshot_of_a_heap(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "snapshot=later 500");
	forget(&f);
	RAW_STR(&f, "[heap]", RAW_PFS_MAP, 0x10000, 0x12000, 0, 0, 0, 3, 2, PFS_MAP_SNAPSHOT);
	assert_non_null(strstr(f.got, "brk start=10000 end=12000\n"));
	NOTE(&f, "snapshot=end");
	NOTE(&f, "snapshot=later 5500");
	forget(&f);
	RAW_STR(&f, "[heap]", RAW_PFS_MAP, 0x10000, 0x12000, 0, 0, 0, 3, 2, PFS_MAP_SNAPSHOT);
	assert_null(strstr(f.got, "brk "));
	RAW_STR(&f, "[heap]", RAW_PFS_MAP, 0x12000, 0x14000, 0, 0, 0, 3, 2, PFS_MAP_SNAPSHOT);
	assert_non_null(strstr(f.got, "brk end=14000\n"));
	NOTE(&f, "brk=10000 15800"); /* in the page that is looked at: known better */
	forget(&f);
	RAW_STR(&f, "[heap]", RAW_PFS_MAP, 0x14000, 0x16000, 0, 0, 0, 3, 2, PFS_MAP_SNAPSHOT);
	assert_null(strstr(f.got, "brk "));
	raw_feed_fini(&f);
}

/* What changed since it was looked at, it says nothing about; of the rest it does. */
static void test_a_stale_line(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.now_ns = 6000;
	ROW(&f, 0x10000, 0x11000, ID);
	NOTE(&f, "snapshot=later 5500");
	forget(&f);
	SNAPSHOT(&f, 0x10000, 0x12000);
	SNAPSHOT(&f, 0x12000, 0x13000);
	expect(&f, "unmap start=0 end=10000\nmap start=12000 end=13000" DESCRIBED);
	raw_feed_fini(&f);
}

static void test_a_stale_gap(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.now_ns = 6000;
	ROW(&f, 0x10000, 0x11000, ID);
	NOTE(&f, "snapshot=later 5500");
	forget(&f);
	SNAPSHOT(&f, 0x12000, 0x13000);
	expect(&f, "map start=12000 end=13000" DESCRIBED);
	raw_feed_fini(&f);
}

/* Each piece is as old as its own reading; the gap before it as old as the piece before. */
static void test_a_snapshot_in_pieces(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "snapshot=later 5500");
	SNAPSHOT(&f, 0x10000, 0x11000);
	f.now_ns = 6000;
	ROW(&f, 0x12000, 0x14000, ID);
	NOTE(&f, "snapshot=then 6500");
	forget(&f);
	SNAPSHOT(&f, 0x13000, 0x14000);
	expect(&f, "map start=13000 end=14000" DESCRIBED);
	raw_feed_fini(&f);
}

static void test_the_gap_between_two_pieces(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "snapshot=later 500");
	SNAPSHOT(&f, 0x10000, 0x11000);
	f.now_ns = 6000;
	ROW(&f, 0x12000, 0x13000, ID);
	ROW(&f, 0x15000, 0x16000, ID);
	NOTE(&f, "snapshot=then 8500");
	forget(&f);
	SNAPSHOT(&f, 0x13000, 0x14000); /* what is before it, the first piece was too old to say */
	expect(&f, "map start=13000 end=14000" DESCRIBED);
	NOTE(&f, "snapshot=then 12500");
	forget(&f);
	SNAPSHOT(&f, 0x17000, 0x18000); /* but the second one was not */
	expect(&f, "unmap start=14000 end=17000\nmap start=17000 end=18000" DESCRIBED);
	raw_feed_fini(&f);
}

static void test_more_changes_than_are_remembered(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	for (int i = 0; i < 200; i++)
		ROW(&f, 0x900000 + i * 0x1000, 0x901000 + i * 0x1000, ID);
	NOTE(&f, "snapshot=later 500");
	forget(&f);
	SNAPSHOT(&f, 0x10000, 0x12000);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_a_snapshot_during_a_munmap(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_MUNMAP, 0x10000, 0x1000);
	f.tid = 101;
	NOTE(&f, "snapshot=later 5500");
	forget(&f);
	SNAPSHOT(&f, 0x10000, 0x12000);
	expect(&f, "unmap pid=100 tid=101 start=0 end=10000\n");
	raw_feed_fini(&f);
}

/* Its ioctls concern the memory of the process that made it. */
static void test_userfaultfd(void **state)
{
	const uint64_t reg = 0xc020aa00, copy = 0xc028aa03, move = 0xc028aa05, other = 0x5401;
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_USERFAULTFD, 1);
	LEAVE(&f, SYS_USERFAULTFD, 5);
	ENTER(&f, SYS_IOCTL, 5, reg);
	ROW(&f, 0x10000, 0x11000, ID);
	LEAVE(&f, SYS_IOCTL, 0);
	expect(&f, "map start=10000 end=11000 id=a000\n");
	RAW(&f, RAW_FORK, 100, 200);
	forget(&f);
	f.tid = 200;
	ENTER(&f, SYS_IOCTL, 5, reg);
	ROW(&f, 0x10000, 0x12000, ID);
	LEAVE(&f, SYS_IOCTL, 0);
	expect(&f, "map pid=200 tid=200 space=other start=10000 end=12000 id=a000 target=100\n");
	ENTER(&f, SYS_IOCTL, 5, copy);
	LEAVE(&f, SYS_IOCTL, -EAGAIN);
	expect(&f, "remote pid=200 tid=200 op=filled target=100\n");
	ENTER(&f, SYS_IOCTL, 1, other);
	ROW(&f, 0x20000, 0x21000, ID);
	LEAVE(&f, SYS_IOCTL, 0);
	expect(&f, "map pid=200 tid=200 start=20000 end=21000 id=a000\n");
	/* One that came otherwise. */
	ENTER(&f, SYS_IOCTL, 6, move);
	LEAVE(&f, SYS_IOCTL, 0);
	expect(&f, "remote pid=200 tid=200 op=moved target=100\nremote pid=200 tid=200 op=moved target=200\n");
	ENTER(&f, SYS_IOCTL, 6, reg);
	ROW(&f, 0x10000, 0x13000, ID);
	expect(&f, "map pid=200 tid=200 space=other start=10000 end=13000 id=a000\nlost count=1 interval=0\n");
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mprotect),
		cmocka_unit_test(test_brk),
		cmocka_unit_test(test_brk_with_rows_and_sideband),
		cmocka_unit_test(test_brk_note),
		cmocka_unit_test(test_madvise),
		cmocka_unit_test(test_mlock),
		cmocka_unit_test(test_failing_calls_populate_a_part),
		cmocka_unit_test(test_mremap_of_what_may_be_locked),
		cmocka_unit_test(test_files_are_populated_as_far_as_they_reach),
		cmocka_unit_test(test_mlockall),
		cmocka_unit_test(test_mlockall_of_the_future),
		cmocka_unit_test(test_around_while_populating),
		cmocka_unit_test(test_shmdt),
		cmocka_unit_test(test_shmat_over_others),
		cmocka_unit_test(test_io_destroy),
		cmocka_unit_test(test_mseal),
		cmocka_unit_test(test_prctl),
		cmocka_unit_test(test_userfaultfd),
		cmocka_unit_test(test_a_snapshot_is_all_there_is),
		cmocka_unit_test(test_a_later_snapshot),
		cmocka_unit_test(test_a_later_snapshot_of_a_heap),
		cmocka_unit_test(test_a_stale_line),
		cmocka_unit_test(test_a_stale_gap),
		cmocka_unit_test(test_a_snapshot_in_pieces),
		cmocka_unit_test(test_the_gap_between_two_pieces),
		cmocka_unit_test(test_more_changes_than_are_remembered),
		cmocka_unit_test(test_a_snapshot_during_a_munmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
