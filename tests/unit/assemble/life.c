/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the assembler makes of fork, exec and exit: whose space each row and fault belongs to, when
 * it begins and ends, and what happens if the recording lacks an event of it.
 */
#include "support/raw_feed.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

enum { ID = 0xa000, ID2 = 0xb000, STACK = 0xc000 };

/* ---- fork ---- */

static void test_fork(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_CLONE, SIGCHLD, 0);
	ROW(&f, 0x10000, 0x12000, ID);
	ROW(&f, 0x12000, 0x14000, 0); /* MADV_DONTFORK */
	expect(&f, "fork\nmap space=fork start=10000 end=12000 id=a000\n"
		   "unmap space=fork start=12000 end=14000\n");
	RAW(&f, RAW_FORK, 100, 200);
	expect(&f, "fork child=200 shared=0\n");
	ROW(&f, 0x20000, 0x21000, ID); /* its own again */
	LEAVE(&f, SYS_CLONE, 200);
	f.tid = 200;
	ROW(&f, 0x30000, 0x31000, ID2);
	expect(&f, "map start=20000 end=21000 id=a000\n"
		   "map pid=200 tid=200 start=30000 end=31000 id=b000\n");
	raw_feed_fini(&f);
}

static void test_a_fork_that_fails(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_FORK);
	ROW(&f, 0x10000, 0x12000, ID);
	LEAVE(&f, SYS_FORK, -ENOMEM);
	forget(&f);
	ROW(&f, 0x10000, 0x12000, ID2);
	expect(&f, "map start=10000 end=12000 id=b000\n");
	raw_feed_fini(&f);
}

/* clone3 has its flags in memory: task_newtask tells them, or nobody does. */
static void test_fork_by_clone3(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_CLONE3, 0x7000, 88);
	RAW(&f, RAW_FORK, 100, 200);
	expect(&f, "fork child=200\n");
	ENTER(&f, SYS_CLONE3, 0x7000, 88);
	RAW(&f, RAW_NEWTASK, 201, CLONE_VM | CLONE_VFORK);
	RAW(&f, RAW_FORK, 100, 201);
	expect(&f, "fork child=201 shared=1\n");
	raw_feed_fini(&f);
}

static void test_vfork_shares(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_VFORK);
	ROW(&f, 0x10000, 0x12000, ID); /* no copy is made */
	RAW(&f, RAW_FORK, 100, 200);
	expect(&f, "map start=10000 end=12000 id=a000\nfork child=200 shared=1\n");
	f.tid = 200;
	RAW(&f, RAW_EXIT, 200, 1); /* the space goes on */
	expect(&f, "exit pid=200 tid=200 last=1\n");
	raw_feed_fini(&f);
}

static void test_threads(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_NEWTASK, 102, CLONE_THREAD | CLONE_VM);
	RAW(&f, RAW_FORK, 100, 102); /* the same once more */
	expect(&f, "thread child=102\n");
	ENTER(&f, SYS_CLONE, CLONE_THREAD | CLONE_VM);
	RAW(&f, RAW_FORK, 100, 103); /* no task_newtask in this recording */
	expect(&f, "thread child=103\n");
	f.tid = 103;
	RAW(&f, RAW_FAULT_USER, 0x1000);
	expect(&f, "fault pid=100 tid=103 addr=1000 mode=user\n");
	raw_feed_fini(&f);
}

static void test_a_number_comes_round_again(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_FORK);
	RAW(&f, RAW_FORK, 100, 200);
	f.tid = 200;
	RAW(&f, RAW_EXIT, 200, 1);
	f.tid = 100;
	RAW(&f, RAW_NEWTASK, 200, CLONE_THREAD);
	f.tid = 200;
	forget(&f);
	ROW(&f, 0x10000, 0x12000, ID);
	expect(&f, "map pid=100 tid=200 start=10000 end=12000 id=a000\n");
	raw_feed_fini(&f);
}

static void test_fork_keeps_the_break(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "brk=100000 102000");
	ENTER(&f, SYS_FORK);
	RAW(&f, RAW_FORK, 100, 200);
	f.tid = 200;
	forget(&f);
	ENTER(&f, SYS_BRK, 0x101000);
	LEAVE(&f, SYS_BRK, 0x101000);
	expect(&f, "brk pid=200 tid=200 end=101000\n"
		   "unmap pid=200 tid=200 start=101000 end=102000\n");
	raw_feed_fini(&f);
}

/* ---- exec ---- */

/* The stack of the new image: a page, then three for the arguments. */
static void exec_begins(struct raw_feed *f)
{
	ENTER(f, SYS_EXECVE, 0x7000);
	ROW(f, 0x7ffff000, 0x80000000, STACK);
	ROW(f, 0x7fffd000, 0x80000000, STACK);
}

static void test_exec(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	exec_begins(&f);
	expect(&f, "map space=exec start=7ffff000 end=80000000 id=c000\n"
		   "map space=exec start=7fffd000 end=80000000 id=c000\n");
	RAW(&f, RAW_FAULT_KERNEL, 0x1000);
	expect(&f, "fault addr=1000 mode=kernel\n");
	RAW(&f, RAW_EXIT_MMAP);
	RAW(&f, RAW_FAULT_KERNEL, 0x1000);
	RAW(&f, RAW_MAP_PAGES, 0, 7, 0, 0);
	BAND(&f, 0x10000, 0x11000);
	expect(&f, "fault space=exec addr=1000 mode=kernel\n"
		   "around space=exec off=0 end_off=4096 dev=00:00 ino=7\n"
		   "map space=exec start=10000 end=11000" DESCRIBED);
	RAW_STR(&f, "/bin/new", RAW_EXEC, 100, 100);
	expect(&f, "populate space=exec start=7fffd000 end=80000000 by=exec\n"
		   "exec name=\"/bin/new\"\n");
	LEAVE(&f, SYS_EXECVE, 0);
	RAW(&f, RAW_FAULT_USER, 0x1000);
	expect(&f, "fault addr=1000 mode=user\n");
	raw_feed_fini(&f);
}

static void test_exec_moves_its_stack(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	exec_begins(&f);
	RAW(&f, RAW_EXIT_MMAP);
	ROW(&f, 0x7ff0d000, 0x80000000, STACK);
	ROW(&f, 0x7ff10000, 0x80000000, 0);
	forget(&f);
	RAW(&f, RAW_EXEC, 100, 100);
	expect(&f, "populate space=exec start=7ff0d000 end=7ff10000 by=exec\nexec\n");
	raw_feed_fini(&f);
}

/* Without exit_mmap the first row after the stack's shows that the old space is left. */
static void test_exec_without_exit_mmap(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	exec_begins(&f);
	ROW(&f, 0x7ff0d000, 0x80000000, STACK);
	ROW(&f, 0x7ff10000, 0x80000000, 0);
	forget(&f);
	RAW(&f, RAW_FAULT_KERNEL, 0x1000);
	RAW(&f, RAW_EXEC, 100, 100);
	expect(&f, "fault space=exec addr=1000 mode=kernel\n"
		   "populate space=exec start=7ff0d000 end=7ff10000 by=exec\nexec\n");
	raw_feed_fini(&f);
}

static void test_exec_that_fails(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	exec_begins(&f);
	forget(&f);
	LEAVE(&f, SYS_EXECVE, -ENOEXEC);
	ROW(&f, 0x10000, 0x12000, ID);
	expect(&f, "unmap space=exec op=clear\n"
		   "map start=10000 end=12000 id=a000\n");
	raw_feed_fini(&f);
}

/* It goes on under the number of the first thread, which ends in it. */
static void test_exec_by_another_thread(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.tid = 101;
	exec_begins(&f);
	f.tid = 100;
	RAW(&f, RAW_EXIT, 100, 0);
	forget(&f);
	RAW(&f, RAW_EXIT_MMAP);
	ROW(&f, 0x10000, 0x12000, ID);
	BAND(&f, 0x10000, 0x12000);
	expect(&f, "map space=exec start=10000 end=12000 id=a000\n"
		   "map space=exec start=10000 end=12000" DESCRIBED);
	RAW(&f, RAW_EXEC, 100, 101);
	expect(&f, "populate space=exec start=7fffd000 end=80000000 by=exec\n"
		   "exec child_tid=101\n");
	ROW(&f, 0x20000, 0x22000, ID2);
	expect(&f, "map start=20000 end=22000 id=b000\n");
	raw_feed_fini(&f);
}

/* Events have the number that the thread has at their time, as the kernel records it. */
static void test_faults_in_the_exec_of_another_thread(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.tid = 101;
	exec_begins(&f);
	f.tid = 100;
	RAW(&f, RAW_EXIT, 100, 0);
	RAW(&f, RAW_EXIT_MMAP);
	forget(&f);
	RAW(&f, RAW_FAULT_KERNEL, 0x1000);
	RAW(&f, RAW_MAP_PAGES, 0, 7, 0, 0);
	RAW(&f, RAW_ADD_CACHE, 0, 7, 0);
	expect(&f, "fault space=exec addr=1000 mode=kernel\n"
		   "around space=exec off=0 end_off=4096 dev=00:00 ino=7\n"
		   "cached off=0 end_off=4096 dev=00:00 ino=7 state=added\n"
		   "major off=0 end_off=4096 dev=00:00 ino=7\n");
	raw_feed_fini(&f);
}

/* Those that lose end as the first thread does; until then a fault of it is in the old space. */
static void test_execs_of_three_threads_at_once(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	for (f.tid = 100; f.tid < 103; f.tid++)
		exec_begins(&f);
	f.tid = 102;
	RAW(&f, RAW_EXIT, 102, 0);
	f.tid = 100;
	RAW(&f, RAW_EXIT, 100, 0);
	forget(&f);
	RAW(&f, RAW_FAULT_KERNEL, 0x2000);
	expect(&f, "fault addr=2000 mode=kernel\n");
	RAW(&f, RAW_EXIT_MMAP);
	RAW(&f, RAW_FAULT_KERNEL, 0x1000);
	expect(&f, "fault space=exec addr=1000 mode=kernel\n");
	RAW(&f, RAW_EXEC, 100, 101);
	expect(&f, "populate space=exec start=7fffd000 end=80000000 by=exec\nexec child_tid=101\n");
	raw_feed_fini(&f);
}

static void test_a_name_given_by_exec(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "before", RAW_RENAME, 100);
	expect(&f, "comm comm=\"before\"\n");
	exec_begins(&f);
	forget(&f);
	RAW_STR(&f, "new", RAW_RENAME, 100);
	expect(&f, "");
	RAW(&f, RAW_EXIT_MMAP);
	RAW_STR(&f, "/bin/new", RAW_EXEC, 100, 100);
	expect(&f, "populate space=exec start=7fffd000 end=80000000 by=exec\n"
		   "exec comm=\"new\" name=\"/bin/new\"\n");
	raw_feed_fini(&f);
}

/* ---- exit ---- */

static void test_exit_of_a_thread(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.tid = 101;
	RAW(&f, RAW_EXIT, 101, 0);
	expect(&f, "exit pid=100 tid=101 last=0\n");
	raw_feed_fini(&f);
}

static void test_exit_and_exit_mmap(void **state)
{
	static const char both[] = "exit last=1\nunmap op=clear\n";
	struct raw_feed f;

	raw_feed_init(&f); /* the space first */
	RAW(&f, RAW_EXIT_MMAP);
	expect(&f, "");
	RAW(&f, RAW_EXIT, 100, 1);
	expect(&f, both);
	raw_feed_fini(&f);

	raw_feed_init(&f); /* the thread first */
	NOTE(&f, "exit_mmap=yes");
	forget(&f);
	RAW(&f, RAW_EXIT, 100, 1);
	RAW(&f, RAW_EXIT_MMAP);
	expect(&f, both);
	raw_feed_fini(&f);

	raw_feed_init(&f); /* a recording without that event */
	RAW(&f, RAW_EXIT, 100, 1);
	expect(&f, both);
	raw_feed_fini(&f);
}

/* Kernels before group_dead: the last of a process whose threads were all seen to begin. */
static void test_the_last_exit_by_counting(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_FORK);
	RAW(&f, RAW_FORK, 100, 200);
	f.tid = 200;
	RAW(&f, RAW_NEWTASK, 201, CLONE_THREAD);
	forget(&f);
	RAW(&f, RAW_EXIT, 200);
	expect(&f, "exit pid=200 tid=200 last=0\n");
	f.tid = 201;
	RAW(&f, RAW_EXIT, 201);
	expect(&f, "exit pid=200 tid=201 last=1\n"
		   "unmap pid=200 tid=201 op=clear\n");
	raw_feed_fini(&f);
}

/* Of process 100 nobody knows how many threads it had before. */
static void test_the_last_exit_is_not_guessed(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_NEWTASK, 102, CLONE_THREAD);
	f.tid = 102;
	forget(&f);
	RAW(&f, RAW_EXIT, 102);
	expect(&f, "exit pid=100 tid=102\n");
	raw_feed_fini(&f);
}

static void test_after_exec_there_is_one_thread(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	exec_begins(&f);
	RAW(&f, RAW_EXEC, 100, 100);
	forget(&f);
	RAW(&f, RAW_EXIT, 100);
	expect(&f, "exit last=1\nunmap op=clear\n");
	raw_feed_fini(&f);
}

static void test_tasks_found_are_counted(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "a", RAW_PFS_TASK, 300, 300, 0);
	RAW_STR(&f, "b", RAW_PFS_TASK, 301, 300, 0);
	forget(&f);
	f.tid = 300;
	RAW(&f, RAW_EXIT, 300);
	expect(&f, "exit pid=300 tid=300 last=0\n");
	f.tid = 301;
	RAW(&f, RAW_EXIT, 301);
	expect(&f, "exit pid=300 tid=301 last=1\n"
		   "unmap pid=300 tid=301 op=clear\n");
	raw_feed_fini(&f);
}

/* The side-band tells of an exec as well: what of it is lost, is not lost. */
static void test_an_exec_that_is_lost(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_EXECVE); /* and then a gap */
	RAW_STR(&f, "new", RAW_PFS_TASK, 100, 100, PFS_TASK_EXECS);
	RAW_STR(&f, "/bin/new", RAW_PFS_MAP, 0x10000, 0x12000, 0, 0, 7, 5, 2, 0);
	RAW(&f, RAW_FAULT_KERNEL, 0x11000, 0x1, 2);
	forget(&f);
	RAW(&f, RAW_FAULT_USER, 0x10000, 0x10000, 0x14);
	expect(&f, "exec comm=\"new\"\nfault addr=10000 ip=10000 access=exec mode=user code=14\n");
	RAW(&f, RAW_FAULT_USER, 0x11000, 0x11000, 0x14);
	expect(&f, "fault addr=11000 ip=11000 access=exec mode=user code=14\n");
	ROW(&f, 0x20000, 0x21000, ID);
	expect(&f, "map start=20000 end=21000 id=a000\n");
	raw_feed_fini(&f);
}

/* It may be over before anything of the process is recorded: then a look at the regions is the first of the new ones. */
static void test_an_exec_before_a_look(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "new", RAW_PFS_TASK, 100, 100, PFS_TASK_EXECS);
	RAW_STR(&f, "/bin/new", RAW_PFS_MAP, 0x10000, 0x12000, 0, 0, 7, 5, 2, 0);
	forget(&f);
	NOTE(&f, "snapshot=later 1000"); /* that was at the old ones */
	expect(&f, "note key=\"snapshot\" value=\"op=later look=1000\"\n");
	NOTE(&f, "snapshot=later 2000");
	expect(&f, "exec comm=\"new\"\nnote key=\"snapshot\" value=\"op=later look=2000\"\n");
	RAW_STR(&f, "other", RAW_PFS_TASK, 100, 100, PFS_TASK_EXECS);
	NOTE(&f, "snapshot=first");
	expect(&f, "exec comm=\"other\"\nnote key=\"snapshot\" value=\"op=first\"\n");
	raw_feed_fini(&f);
}

/* Also when its beginning is lost, and two of them. */
static void test_execs_of_which_nothing_else_is_known(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ROW(&f, 0x20000, 0x21000, ID);
	forget(&f);
	RAW_STR(&f, "one", RAW_PFS_TASK, 100, 100, PFS_TASK_EXECS);
	expect(&f, "");
	RAW_STR(&f, "/bin/one", RAW_PFS_MAP, 0x10000, 0x12000, 0, 0, 7, 5, 2, 0);
	assert_non_null(strstr(f.got, "map space=exec start=10000 "));
	forget(&f);
	RAW_STR(&f, "two", RAW_PFS_TASK, 100, 100, PFS_TASK_EXECS);
	expect(&f, "exec comm=\"one\"\n");
	RAW_STR(&f, "/bin/two", RAW_PFS_MAP, 0x30000, 0x32000, 0, 0, 8, 5, 2, 0);
	forget(&f);
	RAW(&f, RAW_EXIT, 100, 1);
	assert_int_equal(strncmp(f.got, "exec comm=\"two\"\nexit last=1\n", 28), 0);
	raw_feed_fini(&f);
}

/* The side-band tells of the end, too: it is not told twice. */
static void test_an_end_that_is_lost(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "a", RAW_PFS_TASK, 300, 300, PFS_TASK_LIVES);
	RAW_STR(&f, "b", RAW_PFS_TASK, 301, 300, PFS_TASK_LIVES);
	forget(&f);
	f.tid = 301;
	RAW_STR(&f, "", RAW_PFS_TASK, 301, 300, PFS_TASK_ENDED);
	expect(&f, ""); /* its own event may come yet */
	RAW(&f, RAW_LOST, 5, RAW_ABSENT);
	assert_non_null(strstr(f.got, "exit pid=300 tid=301 last=0\n"));
	forget(&f);
	RAW_STR(&f, "", RAW_PFS_TASK, 301, 300, PFS_TASK_ENDED);
	expect(&f, "");
	RAW(&f, RAW_EXIT, 301, RAW_ABSENT); /* it was not lost after all */
	expect(&f, "");
	f.tid = 300;
	RAW(&f, RAW_EXIT, 300, RAW_ABSENT);
	assert_non_null(strstr(f.got, "exit pid=300 tid=300 last=1\n"));
	forget(&f);
	RAW_STR(&f, "", RAW_PFS_TASK, 300, 300, PFS_TASK_ENDED);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* The side-band first, as on 6.12: the event is the one that counts. And lost, with nothing behind it. */
static void test_an_end_that_both_tell(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "a", RAW_PFS_TASK, 300, 300, PFS_TASK_LIVES);
	RAW_STR(&f, "b", RAW_PFS_TASK, 301, 300, PFS_TASK_LIVES);
	forget(&f);
	f.tid = 301;
	RAW_STR(&f, "", RAW_PFS_TASK, 301, 300, PFS_TASK_ENDED);
	expect(&f, "");
	RAW(&f, RAW_EXIT, 301, RAW_ABSENT);
	expect(&f, "exit pid=300 tid=301 last=0\n");
	f.tid = 300;
	RAW_STR(&f, "", RAW_PFS_TASK, 300, 300, PFS_TASK_ENDED);
	expect(&f, "");
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	assert_non_null(strstr(f.got, "exit pid=300 tid=300 last=1\n"));
	raw_feed_fini(&f);
}

/* perf leaves a program that gains privileges: what the exec maps is of the new image all the same. */
static void test_an_exec_that_the_side_band_leaves(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.tid = 300;
	RAW_STR(&f, "old", RAW_PFS_TASK, 300, 300, PFS_TASK_LIVES);
	ENTER(&f, SYS_EXECVE);
	RAW_STR(&f, "new", RAW_PFS_TASK, 300, 300, PFS_TASK_EXECS);
	RAW_STR(&f, "", RAW_PFS_TASK, 300, 300, PFS_TASK_ENDED);
	forget(&f);
	ROW(&f, 0x20000, 0x21000, ID);
	assert_non_null(strstr(f.got, "map pid=300 tid=300 space=exec start=20000 "));
	RAW_STR(&f, "/bin/new", RAW_EXEC, 300, 300);
	assert_non_null(strstr(f.got, "exec pid=300 tid=300 comm=\"new\" name=\"/bin/new\"\n"));
	assert_non_null(strstr(f.got, "tells=mappings of setuid programs"));
	RAW(&f, RAW_LOST, 5, RAW_ABSENT);
	assert_null(strstr(f.got, "exit"));
	raw_feed_fini(&f);
}

/* Nothing is lost: the kernel's own event is the exec, and comes once. */
static void test_an_exec_that_both_tell(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	ENTER(&f, SYS_EXECVE);
	RAW_STR(&f, "new", RAW_PFS_TASK, 100, 100, PFS_TASK_EXECS);
	RAW_STR(&f, "/bin/new", RAW_EXEC, 100, 100);
	expect(&f, "exec comm=\"new\" name=\"/bin/new\"\n");
	LEAVE(&f, SYS_EXECVE, 0);
	RAW(&f, RAW_FAULT_USER, 0x10000, 0x10000, 0x14);
	expect(&f, "fault addr=10000 ip=10000 access=exec mode=user code=14\n");
	raw_feed_fini(&f);
}

/* The kernel may forget a process that gets the number of one that has just ended. */
static void test_a_number_that_is_used_again_at_once(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "pfscope=1");
	for (int i = 0; i < 3; i++) {
		forget(&f);
		RAW(&f, RAW_NEWTASK, 200, 0);
		RAW(&f, RAW_FORK, 100, 200);
		if (i == 2) /* of the second there was no event */
			break;
		expect(&f, "fork child=200 shared=0\n");
		f.tid = 200;
		if (!i)
			RAW(&f, RAW_EXIT, 200, 1);
		f.tid = 100;
	}
	expect(&f, "lost interval=2000\nfork child=200 shared=0\n");
	f.tid = 200;
	RAW(&f, RAW_EXIT, 200, 1); /* this one was recorded to its end */
	forget(&f);
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	expect(&f, "");
	f.tid = 100;
	RAW(&f, RAW_NEWTASK, 200, 0);
	RAW(&f, RAW_FORK, 100, 200);
	ENTER(&f, SYS_BRK, 0);
	forget(&f);
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	expect(&f, "lost interval=1000\n");
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_exec_that_is_lost),
		cmocka_unit_test(test_an_exec_before_a_look),
		cmocka_unit_test(test_execs_of_which_nothing_else_is_known),
		cmocka_unit_test(test_an_exec_that_the_side_band_leaves),
		cmocka_unit_test(test_an_exec_that_both_tell),
		cmocka_unit_test(test_an_end_that_is_lost),
		cmocka_unit_test(test_an_end_that_both_tell),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_a_fork_that_fails),
		cmocka_unit_test(test_fork_by_clone3),
		cmocka_unit_test(test_vfork_shares),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_a_number_comes_round_again),
		cmocka_unit_test(test_fork_keeps_the_break),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_moves_its_stack),
		cmocka_unit_test(test_exec_without_exit_mmap),
		cmocka_unit_test(test_exec_that_fails),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_faults_in_the_exec_of_another_thread),
		cmocka_unit_test(test_execs_of_three_threads_at_once),
		cmocka_unit_test(test_a_name_given_by_exec),
		cmocka_unit_test(test_exit_of_a_thread),
		cmocka_unit_test(test_exit_and_exit_mmap),
		cmocka_unit_test(test_the_last_exit_by_counting),
		cmocka_unit_test(test_the_last_exit_is_not_guessed),
		cmocka_unit_test(test_after_exec_there_is_one_thread),
		cmocka_unit_test(test_tasks_found_are_counted),
		cmocka_unit_test(test_a_number_that_is_used_again_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
