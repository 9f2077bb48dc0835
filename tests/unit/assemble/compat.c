/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the assembler makes of raw_syscalls:*: nothing of those of a 64-bit process, and of those of a 32-bit one, whose
 * numbers are others, what it makes of syscalls:*.
 */
#include "support/raw_feed.h"

#include <errno.h>

enum { OLD_MMAP = 90, MUNMAP = 91, IPC = 117, FORK = 2, EXECVE = 11, MREMAP = 163, MMAP2 = 192, MADVISE = 219 };
enum { SHMAT = 21, SHMDT = 22, SEMGET = 2 };

#define CALL(f, ...)	  RAW(f, RAW_CALL_ENTER, __VA_ARGS__)
#define RETURN(f, nr, to) RAW(f, RAW_CALL_EXIT, nr, (uint64_t)(to))
#define LACKS		  "note key=\"lacks\" value=\"what="
#define LACKS_CALLS	  "lost\n" LACKS "raw_syscalls:* tells=system calls of 32-bit processes (see --compat)\"\n"

/* An exec whose stack is moved down to end there. */
static void exec_to(struct raw_feed *f, uint64_t stack_end)
{
	const uint64_t top = 0x7ffffffff000;

	ENTER(f, SYS_EXECVE, 0);
	ROW(f, top - 0x1000, top, 0xa000);
	ROW(f, stack_end - 0x1000, top, 0xa000);
	ROW(f, stack_end, UINT64_MAX & ~4095, 0);
	RAW_STR(f, "/a", RAW_EXEC, 100, 100);
}

static void start(struct raw_feed *f, uint64_t stack_end)
{
	raw_feed_init(f);
	NOTE(f, "machine=x86_64");
	NOTE(f, "calls32=yes");
	exec_to(f, stack_end);
	forget(f);
}

static void test_a_64_bit_process(void **state)
{
	struct raw_feed f;

	start(&f, 0x7ffc00000000);
	CALL(&f, MUNMAP, 0x10000, 0x1000);
	RETURN(&f, MUNMAP, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_calls(void **state)
{
	struct raw_feed f;

	start(&f, 0xffe00000);
	RETURN(&f, EXECVE, 0);
	CALL(&f, MUNMAP, 0x10000, 0x1000, 0, 0, 0, 0);
	RETURN(&f, MUNMAP, 0);
	expect(&f, "unmap start=10000 end=11000\n");
	CALL(&f, MUNMAP, 0x10000, 0x1000, 0, 0, 0, 0);
	RETURN(&f, MUNMAP, (uint32_t)-EINVAL);
	expect(&f, "");
	CALL(&f, MMAP2, 0, 0x1000, PROT_READ, MAP_PRIVATE, 3, 0x12345);
	RETURN(&f, MMAP2, 0xf7f00000);
	expect(&f, "unmap start=f7f00000 end=f7f01000\n"
		   "map start=f7f00000 end=f7f01000 perms=r--p off=305418240\n");
	CALL(&f, MADVISE, 0xf7f00000, 0x1000, 22, 0, 0, 0);
	RETURN(&f, MADVISE, 0);
	expect(&f, "populate start=f7f00000 end=f7f01000 access=read by=madvise error=0\n");
	CALL(&f, MREMAP, 0xf7f00000, 0x1000, 0x1000, 3, 0xf7f10000, 0);
	ROW(&f, 0xf7f10000, 0xf7f11000, 0xb000);
	forget(&f);
	RETURN(&f, MREMAP, 0xf7f10000);
	expect(&f, "unmap start=f7f00000 end=f7f01000\n");
	raw_feed_fini(&f);
}

static void test_segments(void **state)
{
	struct raw_feed f;

	start(&f, 0xffe00000);
	CALL(&f, IPC, SHMDT | 1 << 16, 0, 0, 0, 0x20000, 0);
	RETURN(&f, IPC, 0);
	expect(&f, "unmap op=detach_begin start=20000\nunmap op=detach start=20000\n");
	CALL(&f, IPC, SEMGET, 0, 0, 0, 0x20000, 0);
	RETURN(&f, IPC, 0);
	expect(&f, "");
	CALL(&f, IPC, SHMAT, 5, 040000, 0xff000000, 0x20000, 0); /* SHM_REMAP */
	ROW(&f, 0x20000, 0x23000, 0xb000);
	expect(&f, "unmap op=replace start=20000 end=23000 len=12288 id=b000\nmap start=20000 end=23000 id=b000\n");
	raw_feed_fini(&f);
}

static void test_a_child(void **state)
{
	struct raw_feed f;

	start(&f, 0xffe00000);
	CALL(&f, FORK, 0, 0, 0, 0, 0, 0);
	ROW(&f, 0x10000, 0x11000, 0xc000);
	expect(&f, "fork\nmap space=fork start=10000 end=11000 id=c000\n");
	RAW(&f, RAW_NEWTASK, 200, 0);
	RAW(&f, RAW_FORK, 100, 200);
	forget(&f);
	f.tid = 200;
	CALL(&f, MUNMAP, 0x10000, 0x1000, 0, 0, 0, 0);
	RETURN(&f, MUNMAP, 0);
	expect(&f, "unmap pid=200 tid=200 start=10000 end=11000\n");
	/* A 64-bit image: the same number is another call. */
	f.tid = 100;
	exec_to(&f, 0x7ffc00000000);
	forget(&f);
	CALL(&f, MUNMAP, 0x10000, 0x1000, 0, 0, 0, 0);
	RETURN(&f, MUNMAP, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_a_snapshot(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "machine=x86_64");
	NOTE(&f, "calls32=yes");
	NOTE(&f, "snapshot=first");
	SNAPSHOT(&f, 0xffe00000, 0xffe01000);
	NOTE(&f, "snapshot=end");
	forget(&f);
	CALL(&f, MUNMAP, 0x10000, 0x1000, 0, 0, 0, 0);
	RETURN(&f, MUNMAP, 0);
	expect(&f, "unmap start=10000 end=11000\n");
	raw_feed_fini(&f);
}

/* Of a recording without raw_syscalls:*, or of another machine, once. */
static void test_lack(void **state)
{
	static const char *const machines[] = { "machine=x86_64", "machine=aarch64" };
	struct raw_feed f;

	for (int i = 0; i < 2; i++) {
		raw_feed_init(&f);
		NOTE(&f, machines[i]);
		if (i)
			NOTE(&f, "calls32=yes");
		exec_to(&f, 0x7ffc00000000);
		assert_null(strstr(f.got, LACKS));
		exec_to(&f, 0xffe00000);
		assert_non_null(strstr(f.got, LACKS_CALLS));
		forget(&f);
		exec_to(&f, 0xffe00000);
		assert_null(strstr(f.got, LACKS));
		assert_non_null(strstr(f.got, "lost\n"));
		forget(&f);
		RAW(&f, RAW_NEWTASK, 200, 0);
		RAW(&f, RAW_FORK, 100, 200);
		expect(&f, "fork child=200 shared=0\nlost pid=200 tid=200\n");
		raw_feed_fini(&f);
	}
}

static void test_old_mmap(void **state)
{
	struct raw_feed f;

	start(&f, 0xffe00000);
	CALL(&f, OLD_MMAP, 0xffdf0000, 0, 0, 0, 0, 0);
	expect(&f, LACKS "mmap tells=what the old mmap of a 32-bit process replaced and populated\"\n");
	RETURN(&f, OLD_MMAP, 0xf7f00000);
	expect(&f, "");
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_64_bit_process), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_segments),	 cmocka_unit_test(test_a_child),
		cmocka_unit_test(test_a_snapshot),	 cmocka_unit_test(test_lack),
		cmocka_unit_test(test_old_mmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
