/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of processes and threads, and whose an address space is.
 */
#include "support/stap_forge.h"

/* clang-format off */
#define RW(address, from, to) { .vma = address, .start = from, .end = to, .flags = VM_RW }
#define RO(address, from, to) { .vma = address, .start = from, .end = to, .flags = VM_R }
/* clang-format on */
#define STACK_TOP 0x7ffffffff000

static const struct forge_vma first_stack = RW(0x5, STACK_TOP - 0x1000, STACK_TOP);
static const struct forge_vma heap = RW(0xa, 0x10000, 0x20000);

static struct forge *running(void)
{
	struct forge *f = forge_new();

	forge_comm(f, "cat", 10, 1);
	LAYOUT(f, START, 0, UINT64_MAX, heap,
	       { .vma = 0xb, .start = 0x30000, .end = 0x40000, .flags = VM_RX, .name = "/bin/cat", .ino = 7 });
	forge_forget(f);
	return f;
}

static void as(struct forge *f, int32_t pid, int32_t tid, uint64_t mm)
{
	f->pid = pid;
	f->tid = tid;
	f->mm = mm;
}

/* ---- forks ---- */

/* The child's layout comes first, under its own space; what is as the parent has it needs no words. */
static void test_fork(void **state)
{
	struct forge *f = running();

	f->mm = 0xee00;
	LAYOUT(f, FORK, 0, UINT64_MAX, RW(0x1a, 0x10000, 0x20000),
	       { .vma = 0x1b, .start = 0x30000, .end = 0x40000, .flags = VM_RX, .name = "/bin/cat", .ino = 7 });
	forge_fork(f, 200, 0xee00, 0);
	forge_expect(f, "fork\nmap space=fork start=10000 end=20000 id=3\n"
			"map space=fork start=30000 end=40000 id=4\nfork child=200 shared=0\n");
	as(f, 200, 200, 0xee00);
	LAYOUT(f, CHANGE, 0x10000, 0x20000, RO(0x1a, 0x10000, 0x20000));
	as(f, 100, 100, 0xff00);
	LAYOUT(f, CHANGE, 0x10000, 0x20000, heap);
	forge_expect(f, "protect pid=200 tid=200 start=10000 end=20000 perms=r--p\n");
	forge_free(f);
}

/* The model takes it: MADV_DONTFORK and a lock that a fork does not pass on. */
static void test_fork_of_less(void **state)
{
	struct forge *f = running();
	struct pfs_space *space;

	LAYOUT(f, CHANGE, 0x50000, 0x60000,
	       { .vma = 0xc, .start = 0x50000, .end = 0x60000, .flags = VM_RW, .traits = PFS_WIRE_LOCKED });
	forge_forget(f);
	f->model = pfs_model_new();
	forge_unmap(f, 0x90000, 0xa0000);
	f->mm = 0xee00;
	LAYOUT(f, FORK, 0, UINT64_MAX, RW(0x1a, 0x10000, 0x20000), RW(0x1c, 0x50000, 0x60000));
	forge_fork(f, 200, 0xee00, 0);
	forge_expect(f, "fork\nmap space=fork start=10000 end=20000 id=4\n"
			"map space=fork start=50000 end=60000 id=5" ANON_RW "fork child=200 shared=0\n");
	space = pfs_proc_space(pfs_model_proc(f->model, 200));
	assert_int_equal(space->nr_live, 2);
	assert_int_equal(space->live[1]->traits, 0);
	forge_free(f);
}

/* What the parent's space was not told to have; said of the copy. */
static void test_the_break_of_a_copy(void **state)
{
	struct forge *f = running();
	struct pfs_rec rec;

	f->mm = 0xee00;
	rec = forge_rec(f, PFS_REC_LAYOUT);
	rec.layout = (struct pfs_rec_layout){ .mm = f->mm, .why = PFS_WHY_FORK, .start_brk = 0x5000, .brk = 0x6000 };
	forge_put(f, &rec);
	forge_layout_edge(f, PFS_REC_LAYOUT_END, PFS_WHY_FORK, 0, 0, 0);
	forge_expect(f, "fork\nbrk space=fork start=5000 end=6000\n");
	forge_free(f);
}

/* Not told, or only in part: a fork is a copy, so the rest is the parent's. */
static void test_fork_told_late(void **state)
{
	for (int told = 0; told < 2; told++) {
		struct forge *f = running();

		f->mm = 0xee00;
		if (told)
			LAYOUT(f, FORK, 0, 0x20000, RW(0x1a, 0x10000, 0x20000));
		forge_fork(f, 200, 0xee00, 0);
		forge_expect(f, "fork\nmap space=fork start=10000 end=20000 id=3\n"
				"map space=fork start=30000 end=40000 id=4\nfork child=200 shared=0\n");
		f->pid = f->tid = 53; /* a work item tells the rest; there is a difference by now */
		LAYOUT(f, FORK, told ? 0x20000 : 0, UINT64_MAX,
		       { .vma = 0x1b, .start = 0x30000, .end = 0x40000, .flags = VM_R, .name = "/bin/cat", .ino = 7 });
		forge_expect(f, told ? "protect pid=200 tid=200 start=30000 end=40000 perms=r--p\n"
				     : "unmap pid=200 tid=200 start=10000 end=20000\n"
				       "protect pid=200 tid=200 start=30000 end=40000 perms=r--p\n");
		forge_free(f);
	}
}

static void test_vfork(void **state)
{
	struct forge *f = running();

	forge_fork(f, 200, 0xff00, PFS_LIFE_SHARED);
	forge_expect(f, "fork child=200 shared=1\n");
	as(f, 200, 200, 0xff00);
	LAYOUT(f, CHANGE, 0x10000, 0x20000, RO(0xa, 0x10000, 0x20000));
	forge_exit(f, true, 0, 0);
	as(f, 100, 100, 0xff00);
	forge_unmap(f, 0x10000, 0x20000);
	forge_expect(f, "protect pid=200 tid=200 start=10000 end=20000 perms=r--p\n"
			"note pid=200 tid=200 key=\"counted\" value=\"minor=0 major=0\"\n"
			"exit pid=200 tid=200 last=1\nunmap start=10000 end=20000\n");
	forge_free(f);
}

static void test_an_impossible_child(void **state)
{
	struct forge *f = running();

	forge_fork(f, 100, 0xee00, 0);
	forge_fork(f, 0, 0xee00, 0);
	forge_expect(f, "lost\nlost\n");
	assert_int_equal(pfs_decoder_stats(f->d)->damaged, 2);
	forge_free(f);
}

/* ---- threads and names ---- */

static void test_threads_and_names(void **state)
{
	struct forge *f = running();

	forge_thread(f, 101);
	f->tid = 101;
	forge_comm(f, "cat", 0, 0);
	forge_comm(f, "worker", 0, 0);
	forge_expect(f, "thread child=101\ncomm pid=100 tid=101 comm=\"worker\"\n");
	forge_free(f);
}

/* ---- execs ---- */

#define BUILT(what) "map" what " space=exec start=7fffffffe000 end=7ffffffff000 id=3" ANON_RW

/* The arguments are copied into a space that nobody has yet; its layout is told when it is done. */
static void test_exec(void **state)
{
	struct forge *f = running();

	f->mm = 0xee00;
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	forge_gup(f, &first_stack, STACK_TOP - 12, PFS_FLAG_WRITE | PFS_FLAG_REMOTE, MINOR);
	forge_expect(f, BUILT("") "populate space=exec start=7fffffffe000 end=7ffffffff000 access=write "
				  "class=minor how=anon flags=write,remote latency=7 id=3 by=exec\n");
	f->mm = 0xff00;
	forge_unmap(f, 0, UINT64_MAX);
	f->mm = 0xee00;
	forge_comm(f, "new", 20, 1); /* the name is the new image's */
	forge_range(f, PFS_REC_MOVE, first_stack.start, first_stack.end, 0x7ff000);
	LAYOUT(f, EXEC, 0, UINT64_MAX, RW(0x6, 0x400000, 0x401000), RW(0x5, 0x7fe000, 0x800000));
	forge_exec(f, 0xee00, 100, "/bin/new");
	forge_touch(f, &(const struct forge_vma)RW(0x6, 0x400000, 0x401000), 0x400010, PFS_FLAG_WRITE, MINOR);
	forge_expect(f, "unmap op=clear\n"
			"move space=exec start=7ff000 end=800000 from=7fffffffe000 len=4096 id=4\n"
			"unmap space=exec start=7fffffffe000 end=7ffffffff000\n"
			"map space=exec start=400000 end=401000 id=5" ANON_RW
			"map space=exec start=7fe000 end=800000 id=4" ANON_RW "exec comm=\"new\" name=\"/bin/new\"\n"
			"fault addr=400010 start=400000 end=401000 ip=401000 access=write mode=user "
			"class=minor how=anon code=6 flags=write latency=7 id=5\n");
	forge_free(f);
}

/* Another thread than the first does it: the model has the new image where the first word of it was. */
static void test_exec_by_another_thread(void **state)
{
	struct forge *f = running();

	as(f, 100, 101, 0xee00);
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	f->tid = 100;
	LAYOUT(f, EXEC, 0, UINT64_MAX, RW(0x6, 0x400000, 0x401000));
	forge_exec(f, 0xee00, 101, "/bin/new");
	forge_expect(f,
		     /* then it has the first one's number */
		     BUILT(" pid=100 tid=101") "unmap space=exec start=7fffffffe000 end=7ffffffff000\n"
					       "map space=exec start=400000 end=401000 id=4" ANON_RW
					       "exec comm=\"new\" child_tid=101 name=\"/bin/new\"\n");
	forge_free(f);
}

/* One thread begins, another does, the first goes on: each has its own image, and one of them gets through. */
static void test_execs_of_two_threads_at_once(void **state)
{
	struct forge *f = running();

	as(f, 100, 100, 0xee00);
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	as(f, 100, 101, 0xdd00);
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	as(f, 100, 100, 0xee00);
	forge_gup(f, &first_stack, STACK_TOP - 12, PFS_FLAG_WRITE | PFS_FLAG_REMOTE, MINOR);
	forge_expect(f, BUILT("") "map pid=100 tid=101 space=exec start=7fffffffe000 end=7ffffffff000 id=4" ANON_RW
				  "populate space=exec start=7fffffffe000 end=7ffffffff000 access=write "
				  "class=minor how=anon flags=write,remote latency=7 id=3 by=exec\n");
	as(f, 100, 101, 0xdd00);
	forge_unmap(f, 0, UINT64_MAX);
	forge_expect(f, "unmap pid=100 tid=101 space=exec op=clear\n");
	as(f, 100, 100, 0xee00);
	LAYOUT(f, EXEC, 0, UINT64_MAX, RW(0x6, 0x400000, 0x401000));
	forge_exec(f, 0xee00, 100, "/bin/new");
	forge_expect(f, "unmap space=exec start=7fffffffe000 end=7ffffffff000\n"
			"map space=exec start=400000 end=401000 id=5" ANON_RW "exec comm=\"new\" name=\"/bin/new\"\n");
	forge_free(f);
}

/* What it counted as that thread is the process's as well. */
static void test_counts_of_a_thread_that_took_over(void **state)
{
	struct forge *f = running();

	forge_thread(f, 101);
	forge_exit(f, false, 12, 1); /* the first one */
	forge_comm(f, "new", 3, 0);  /* the other, with 3 faults so far, under its number */
	forge_exec(f, 0xee00, 101, "/bin/new");
	forge_exit(f, true, 8, 0);
	forge_expect(f, "thread child=101\nexit last=0\ncomm comm=\"new\"\n"
			"exec comm=\"new\" child_tid=101 name=\"/bin/new\"\n"
			"note key=\"counted\" value=\"minor=10 major=0 running=1\"\nexit last=1\n");
	forge_free(f);
}

/* Back in the old program: nobody says that the exec failed. */
static void test_an_exec_that_fails(void **state)
{
	struct forge *f = running();

	f->mm = 0xee00;
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	f->mm = 0xff00;
	forge_touch(f, &heap, 0x10000, 0, MINOR);
	forge_expect(f, BUILT("") "unmap space=exec op=clear\n"
				  "fault addr=10000 start=10000 end=20000 ip=401000 access=read mode=user "
				  "class=minor how=anon code=4 flags=none latency=7 id=1\n");
	forge_free(f);
}

static void test_an_exec_after_one_that_failed(void **state)
{
	struct forge *f = running();

	f->mm = 0xee00;
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	f->mm = 0xdd00;
	LAYOUT(f, FAULT, first_stack.start, first_stack.end, first_stack);
	forge_expect(f, BUILT("") "unmap space=exec op=clear\n"
				  "map space=exec start=7fffffffe000 end=7ffffffff000 id=4" ANON_RW);
	f->mm = 0xdd00;
	forge_unmap(f, 0, UINT64_MAX);
	forge_expect(f, "unmap space=exec op=clear\n");
	forge_free(f);
}

/* The address of the new space was that of an old one, of which nobody said that it was gone. */
static void test_an_exec_into_an_address_used_before(void **state)
{
	struct forge *f = running();

	f->mm = 0xee00;
	LAYOUT(f, EXEC, 0, UINT64_MAX, RW(0x6, 0x400000, 0x401000));
	forge_exec(f, 0xee00, 100, "/bin/one");
	forge_forget(f);
	f->mm = 0xff00;
	LAYOUT(f, EXEC, 0, UINT64_MAX, heap);
	forge_exec(f, 0xff00, 100, "/bin/two");
	forge_expect(f, "map space=exec start=10000 end=20000 id=4" ANON_RW "exec comm=\"new\" name=\"/bin/two\"\n");
	forge_free(f);
}

/* vfork, then exec: the parent's space goes on. */
static void test_exec_of_a_vfork_child(void **state)
{
	struct forge *f = running();

	forge_fork(f, 200, 0xff00, PFS_LIFE_SHARED);
	as(f, 200, 200, 0xee00);
	LAYOUT(f, EXEC, 0, UINT64_MAX, RW(0x6, 0x400000, 0x401000));
	forge_exec(f, 0xee00, 200, "/bin/new");
	as(f, 100, 100, 0xff00);
	LAYOUT(f, CHANGE, 0x10000, 0x20000, RO(0xa, 0x10000, 0x20000));
	as(f, 200, 200, 0xee00);
	LAYOUT(f, CHANGE, 0x400000, 0x401000, RO(6, 0x400000, 0x401000));
	forge_expect(f, "fork child=200 shared=1\n"
			"map pid=200 tid=200 space=exec start=400000 end=401000 id=3" ANON_RW
			"exec pid=200 tid=200 comm=\"new\" name=\"/bin/new\"\n"
			"protect start=10000 end=20000 perms=r--p\n"
			"protect pid=200 tid=200 start=400000 end=401000 perms=r--p\n");
	forge_free(f);
}

/* Recorded from its exec on, for what it is called. */
static void test_known_from_its_exec_on(void **state)
{
	struct forge *f = forge_new();

	LAYOUT(f, EXEC, 0, UINT64_MAX, RW(0x6, 0x400000, 0x401000));
	forge_exec(f, 0xff00, 100, "/bin/new");
	forge_expect(f, "map space=exec start=400000 end=401000 id=1" ANON_RW "exec comm=\"new\" name=\"/bin/new\"\n");
	forge_free(f);
}

/* ---- the end ---- */

/* What its threads counted, less what they had counted before the recording heard of them. */
static void test_counts_at_the_end(void **state)
{
	struct forge *f = running();

	forge_thread(f, 101);
	f->tid = 101;
	forge_exit(f, false, 5, 0);
	f->tid = 100;
	forge_exit(f, true, 30, 3);
	forge_expect(f, "thread child=101\nexit pid=100 tid=101 last=0\n"
			"note key=\"counted\" value=\"minor=25 major=2 running=1\"\nexit last=1\n");
	forge_free(f);
}

/* Two threads that end at the same moment may both be the last: the second account is the whole one. */
static void test_two_last_threads(void **state)
{
	struct forge *f = running();

	forge_thread(f, 101);
	forge_exit(f, true, 11, 1);
	f->tid = 101;
	forge_exit(f, true, 5, 0);
	forge_expect(f, "thread child=101\nnote key=\"counted\" value=\"minor=1 major=0 running=1\"\n"
			"exit last=1\n"
			"note pid=100 tid=101 key=\"counted\" value=\"minor=6 major=0 running=1\"\n"
			"exit pid=100 tid=101 last=1\n");
	forge_free(f);
}

static void test_a_thread_nobody_heard_of(void **state)
{
	struct forge *f = running();

	f->tid = 101;
	forge_exit(f, false, 5, 0);
	f->tid = 100;
	forge_exit(f, true, 30, 3);
	forge_expect(f, "exit pid=100 tid=101 last=0\nexit last=1\n");
	forge_free(f);
}

/* The same number and the same address of a space, one process after the other. */
static void test_numbers_used_again(void **state)
{
	struct forge *f = running();

	for (int i = 0; i < 3; i++) {
		as(f, 100, 100, 0xee00);
		LAYOUT(f, FORK, 0, UINT64_MAX, RW(0x1a, 0x10000, 0x20000));
		forge_fork(f, 200, 0xee00, 0);
		forge_forget(f);
		as(f, 200, 200, 0xee00);
		forge_unmap(f, 0, UINT64_MAX);
		forge_exit(f, true, 2, 0);
		forge_expect(f, "unmap pid=200 tid=200 op=clear\n"
				"note pid=200 tid=200 key=\"counted\" value=\"minor=2 major=0\"\n"
				"exit pid=200 tid=200 last=1\n");
	}
	forge_free(f);
}

static void test_a_number_found_again(void **state)
{
	struct forge *f = running();

	forge_unmap(f, 0, UINT64_MAX);
	forge_exit(f, true, 12, 1);
	f->mm = 0xee00;
	forge_comm(f, "dog", 50, 0);
	LAYOUT(f, START, 0, UINT64_MAX, RW(0xa, 0x10000, 0x20000));
	forge_exit(f, true, 51, 0);
	forge_expect(f, "unmap op=clear\n"
			"note key=\"counted\" value=\"minor=2 major=0 running=1\"\n"
			"exit last=1\ncomm comm=\"dog\"\n"
			"map start=10000 end=20000 id=3" ANON_RW "note key=\"snapshot\" value=\"op=start\"\n"
			"note key=\"counted\" value=\"minor=1 major=0 running=1\"\nexit last=1\n");
	forge_free(f);
}

/* Somebody looks at it while it ends: the space goes after the process, on another's behalf. */
static void test_a_space_that_outlives_its_process(void **state)
{
	struct forge *f = running();

	forge_exit(f, true, 10, 1);
	f->pid = f->tid = 53;
	forge_unmap(f, 0, UINT64_MAX);
	forge_expect(f, "note key=\"counted\" value=\"minor=0 major=0 running=1\"\nexit last=1\n"
			"unmap op=clear\n");
	forge_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_of_less),
		cmocka_unit_test(test_the_break_of_a_copy),
		cmocka_unit_test(test_fork_told_late),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_an_impossible_child),
		cmocka_unit_test(test_threads_and_names),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_by_another_thread),
		cmocka_unit_test(test_execs_of_two_threads_at_once),
		cmocka_unit_test(test_counts_of_a_thread_that_took_over),
		cmocka_unit_test(test_an_exec_that_fails),
		cmocka_unit_test(test_an_exec_after_one_that_failed),
		cmocka_unit_test(test_an_exec_into_an_address_used_before),
		cmocka_unit_test(test_exec_of_a_vfork_child),
		cmocka_unit_test(test_known_from_its_exec_on),
		cmocka_unit_test(test_counts_at_the_end),
		cmocka_unit_test(test_two_last_threads),
		cmocka_unit_test(test_a_thread_nobody_heard_of),
		cmocka_unit_test(test_numbers_used_again),
		cmocka_unit_test(test_a_number_found_again),
		cmocka_unit_test(test_a_space_that_outlives_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
