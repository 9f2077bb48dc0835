/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small recording with one of everything, for the golden tests of the views: pfscope's launcher, a
 * shell that it becomes, a vfork and an exec, an ordinary fork, and memory of all kinds.
 */
#ifndef PFS_TEST_SCENARIO_H
#define PFS_TEST_SCENARIO_H

#include "support/feed.h"

enum { LIBC_DEV = 0xfe << 20 };

/* What an exec builds before it becomes the process: pages 0x55d000000-, libc, stack, vdso. */
static inline void scenario_image(struct feed *f, const char *exe, uint64_t ino)
{
	f->space = PFS_SPACE_EXEC;
	feed_maps_line(f, 0x55d0c8e00000, 0x55d0c8e02000, R, 0, LIBC_DEV, ino, exe);
	feed_maps_line(f, 0x55d0c8e02000, 0x55d0c8e07000, RX, 0x2000, LIBC_DEV, ino, exe);
	feed_maps_line(f, 0x55d0c8e0a000, 0x55d0c8e0b000, RW, 0x9000, LIBC_DEV, ino, exe);
	feed_maps_line(f, 0x7ffd1a000000, 0x7ffd1a021000, RW, 0, 0, 0, "[stack]");
	feed_maps_line(f, 0x7ffd1a1f0000, 0x7ffd1a1f2000, RX, 0, 0, 0, "[vdso]");
	feed_populate(f, 0x7ffd1a020000, 0x7ffd1a021000);
}

static inline void scenario_libc(struct feed *f)
{
	const char *path = "/usr/lib/x86_64-linux-gnu/libc.so.6";

	feed_maps_line(f, 0x7f5d58600000, 0x7f5d58626000, R, 0, LIBC_DEV, 1234, path);
	feed_maps_line(f, 0x7f5d58626000, 0x7f5d5877c000, RX, 0x26000, LIBC_DEV, 1234, path);
	feed_maps_line(f, 0x7f5d587cf000, 0x7f5d587d3000, RW, 0x1cf000, LIBC_DEV, 1234, path);
	feed_cached(f, LIBC_DEV, 1234, 0, 0x200000, PFS_CACHE_READY, 0);
	feed_fault(f, 0x7f5d58600000, PFS_READ);
	feed_around(f, LIBC_DEV, 1234, 0, 0x10000);
	for (int i = 0; i < 12; i++) {
		feed_fault(f, 0x7f5d58630000 + i * 0x14000, PFS_EXECUTE);
		if (i % 4 == 1)
			feed_major(f, LIBC_DEV, 1234, 0x30000 + i * 0x14000);
		feed_around(f, LIBC_DEV, 1234, 0x30000 + i * 0x14000, 0x3a000 + i * 0x14000);
	}
	feed_faults(f, 0x7f5d587cf000, 3, PFS_WRITE);
}

static inline void scenario_heap(struct feed *f)
{
	feed_brk(f, 0x55d0ca9ee000, 0x55d0cab0f000);
	feed_maps_line(f, 0x55d0ca9ee000, 0x55d0cab0f000, RW, 0, 0, 0, "");
	feed_faults(f, 0x55d0ca9ee000, 200, PFS_WRITE);
	feed_faults(f, 0x55d0caafe000, 3, PFS_READ);
	feed_fault(f, 0x55d0caaff000, PFS_WRITE);
	feed_fault_mode(f, 0x55d0cab02000, PFS_WRITE, PFS_KERNEL);
}

/* A terabyte with three pages touched; a huge page; a thread's stack; what came and went. */
static inline void scenario_memory(struct feed *f)
{
	struct pfs_event stack;

	feed_map(f, 0x7e0000000000, 0x7f0000000000, RW, "");
	feed_fault(f, 0x7e0000000000, PFS_WRITE);
	feed_fault(f, 0x7e0000001000, PFS_WRITE);
	feed_fault(f, 0x7e9000000000, PFS_READ);
	feed_map(f, 0x7f4000000000, 0x7f4000800000, RW, "");
	feed_fault(f, 0x7f4000400000, PFS_WRITE);
	feed_huge(f, 9);
	stack = feed_event(f, PFS_MAP, HAS(START) | HAS(END) | HAS(PERMS) | HAS(NAME) | HAS(TRAITS));
	stack.start = 0x7f4100000000;
	stack.end = 0x7f4100800000;
	stack.perms = RW;
	stack.name = "";
	stack.traits = PFS_TRAIT_STACK;
	feed_apply(f, &stack);
	feed_faults(f, 0x7f41007fd000, 3, PFS_WRITE);
	for (int i = 0; i < 12; i++) {
		feed_map(f, 0x7f4200000000, 0x7f4200010000, RW, "");
		if (i == 7)
			feed_faults(f, 0x7f4200003000, 4, PFS_WRITE);
		feed_unmap(f, 0x7f4200000000, 0x7f4200010000);
	}
	feed_map(f, 0x7f4300000000, 0x7f4300004000, 0, "");
	feed_fault(f, 0x7f4300001000, PFS_READ);
	feed_signal(f, 11);
}

/* What is known of it: a range. And faults where nothing is known. */
static inline void scenario_unknown(struct feed *f)
{
	feed_row(f, 0x7f4400000000, 0x7f4400003000, 0xffff888000001000);
	feed_fault_mode(f, 0x7f4400001000, 0, 0);
	feed_faults(f, 0x10000000, 3, PFS_WRITE);
	feed_fault(f, 0x10010000, PFS_READ);
	feed_fault(f, 0x20000000, PFS_READ);
}

static inline void scenario(struct feed *f)
{
	feed_as(f, 100, 100);
	feed_comm(f, "pfscope");
	feed_note(f, "launch", "sh", true);
	feed_fault(f, 0x400000, PFS_WRITE);
	feed_note(f, "start", "0", false);
	scenario_image(f, "/usr/bin/dash", 77);
	feed_exec(f, "/usr/bin/dash", "sh");
	feed_cached(f, LIBC_DEV, 77, 0, 0x20000, PFS_CACHE_READY, 0);
	feed_fault(f, 0x55d0c8e02000, PFS_EXECUTE);
	feed_around(f, LIBC_DEV, 77, 0x2000, 0x6000);
	feed_fault(f, 0x55d0c8e0a000, PFS_WRITE);
	scenario_libc(f);
	scenario_heap(f);
	scenario_memory(f);
	feed_lost(f, 1, 12);
	scenario_unknown(f);
	feed_fork(f, 101, true); /* vfork: touches its parent's pages until its exec */
	feed_as(f, 101, 101);
	feed_fault(f, 0x7ffd1a01f000, PFS_WRITE);
	scenario_image(f, "/usr/bin/cat", 88);
	feed_exec(f, "/usr/bin/cat", "cat");
	feed_faults(f, 0x55d0c8e00000, 2, PFS_READ);
	feed_clear(f);
	feed_exit(f, true);
	feed_as(f, 100, 100);
	feed_fork(f, 102, false);
	feed_as(f, 102, 102);
	feed_fault(f, 0x55d0c8e0a000, PFS_WRITE);
	feed_as(f, 100, 100);
}

#endif
