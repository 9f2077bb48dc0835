/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of faults: which fault one belongs to, and which faults are the kernel's own while it reads the user's stack. The
 * orders of records are those that kernels of 6.18 write.
 */
#include "support/raw_feed.h"

enum { HARDIRQ = 0x08, ROOM = 8, OTHERS = 1 };

static const char *function(const void *ctx, uint64_t addr, uint64_t *start)
{
	*start = addr & ~0xfffull;
	return addr >> 12 == 0xfff ? "read_zero" : NULL;
}

static void stack(struct raw_feed *f, enum raw_kind kind, uint64_t flags, uint64_t passed_over,
		  const uint64_t *addresses, uint32_t nr)
{
	struct raw_event raw = { .ts_ns = f->now_ns++,
				 .kind = kind,
				 .cpu = f->cpu,
				 .tid = f->tid,
				 .tgid = -1,
				 .arg = { nr, flags, kind == RAW_USER_STACK ? ROOM : RAW_ABSENT, passed_over },
				 .record = addresses,
				 .record_len = nr * sizeof(*addresses) };

	assert_int_equal(pfs_assembler_feed(f->a, &raw), 0);
}
#define STACK(f, kind, flags, passed_over, ...)                               \
	stack(f, kind, flags, passed_over, (const uint64_t[]){ __VA_ARGS__ }, \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))
#define USER(f, ...)   STACK(f, RAW_USER_STACK, 0, 0, __VA_ARGS__)
#define KERNEL(f, ...) STACK(f, RAW_STACK, 0, 0, __VA_ARGS__)

#define FAULT(f, addr, ip)	  RAW(f, RAW_FAULT_USER, addr, ip, 6)
#define KERNEL_FAULT(f, addr, ip) RAW(f, RAW_FAULT_KERNEL, addr, ip, 0)
/* What the kernel's walk over the user's stack ends in. */
#define WALK_FAULTS(f) KERNEL_FAULT(f, 1, 0xfff777)

#define FAULT_OF(addr, ip, stack)	 "fault cpu=0 addr=" addr " ip=" ip " access=write mode=user code=6" stack "\n"
#define KERNEL_FAULT_OF(addr, ip, stack) "fault cpu=0 addr=" addr " ip=" ip " access=read mode=kernel code=0" stack "\n"
#define FRAMES(nr, frames)		 "frames cpu=0 stack=" nr " frames=\"" frames "\"\n"

static void setup(struct raw_feed *f, const char *note)
{
	raw_feed_init(f);
	pfs_assembler_set_functions(f->a, function, NULL);
	f->cpu = 0;
	if (note)
		NOTE(f, note);
	else
		assert_int_equal(pfs_assembler_may_have_stacks(f->a), 0);
	forget(f);
}
#define FP	  "stack=how=fp kernel=0"
#define FP_KERNEL "stack=how=fp kernel=1"

static void a_fault_waits_for_its_stack(void **state)
{
	struct raw_feed f;

	setup(&f, FP);
	FAULT(&f, 0x5000, 0x1100);
	expect(&f, "");
	USER(&f, 0x1100, 0x1200, 0x1300);
	expect(&f, FRAMES("1", "0x1100;0x1200;0x1300") FAULT_OF("5000", "1100", " stack=1"));
	FAULT(&f, 0x6000, 0x1100);
	USER(&f, 0x1100, 0x1200, 0x1300);
	expect(&f, FAULT_OF("6000", "1100", " stack=1"));
	FAULT(&f, 0x7000, 0x1100);
	USER(&f, 0x1100, 0x1300);
	expect(&f, FRAMES("2", "0x1100;0x1300") FAULT_OF("7000", "1100", " stack=2"));
	raw_feed_fini(&f);
}

static void without_one_it_passes(void **state)
{
	struct raw_feed f;

	setup(&f, FP);
	FAULT(&f, 0x5000, 0x1100);
	FAULT(&f, 0x6000, 0x1100);
	expect(&f, FAULT_OF("5000", "1100", ""));
	f.tid = 101; /* another thread runs on that CPU */
	RAW(&f, RAW_OTHER);
	f.tid = 100;
	expect(&f, FAULT_OF("6000", "1100", ""));
	FAULT(&f, 0x7000, 0x1100);
	f.tid = -1;
	RAW(&f, RAW_LOST, 1);
	f.tid = 100;
	expect(&f, FAULT_OF("7000", "1100", "") "lost cpu=0 count=1\n");
	FAULT(&f, 0x8000, 0x1100);
	STACK(&f, RAW_USER_STACK, HARDIRQ, 0, 0x1100); /* of an interrupt's event */
	STACK(&f, RAW_USER_STACK, 0, OTHERS, 0x1100);  /* of one that is not read */
	expect(&f, FAULT_OF("8000", "1100", ""));
	FAULT(&f, 0x9000, 0x1100);
	USER(&f, 0x2200, 0x1200); /* where it did not fault */
	expect(&f, FAULT_OF("9000", "1100", ""));
	FAULT(&f, 0xa000, 0x1100);
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	expect(&f, FAULT_OF("a000", "1100", ""));
	raw_feed_fini(&f);
}

static void what_cannot_be_right_is_left_out(void **state)
{
	struct raw_feed f;

	setup(&f, FP);
	FAULT(&f, 0x5000, 0x1100);
	USER(&f, 0x1100, 0x1200, 1, 0x1300);
	expect(&f, FRAMES("1", "0x1100;0x1200") FAULT_OF("5000", "1100", " stack=1"));
	FAULT(&f, 0x5000, 0x1100);
	USER(&f, 0x1100, 0x504f00632f782d70);
	expect(&f, FRAMES("2", "0x1100") FAULT_OF("5000", "1100", " stack=2"));
	FAULT(&f, 0x5000, 0x1100);
	USER(&f, 0x1100, 0x1101, 0x1102, 0x1103, 0x1104, 0x1105, 0x1106, 0x1107); /* all that there is room for */
	expect(&f, FRAMES("3", "0x1100;0x1101;0x1102;0x1103;0x1104;0x1105;0x1106;0x1107;...")
			   FAULT_OF("5000", "1100", " stack=3"));
	ENTER(&f, SYS_EXECVE, 0);
	forget(&f);
	KERNEL_FAULT(&f, 0x5000, 0xfff100);
	USER(&f, 0x1100); /* of the old image, perhaps */
	expect(&f, KERNEL_FAULT_OF("5000", "fff100", ""));
	KERNEL_FAULT(&f, 0x5000, 0xfff100);
	KERNEL(&f, 0xfff999, 0xfff100);
	USER(&f, 0x1100);
	expect(&f, FRAMES("4", "read_zero+0x100") KERNEL_FAULT_OF("5000", "fff100", " stack=4"));
	raw_feed_fini(&f);
}

/* A fault, its stack, a fault of the kernel itself: that has no stack. */
static void the_kernels_own_faults_are_nobodys(void **state)
{
	struct raw_feed f;

	setup(&f, FP);
	FAULT(&f, 0x5000, 0x1100);
	USER(&f, 0x1100);
	forget(&f);
	WALK_FAULTS(&f);
	FAULT(&f, 0x6000, 0x1100);
	USER(&f, 0x1100);
	expect(&f, FAULT_OF("6000", "1100", " stack=1"));
	WALK_FAULTS(&f);
	ENTER(&f, SYS_BRK, 0); /* has a stack, too, and its walk faults */
	USER(&f, 0x1100);
	WALK_FAULTS(&f);
	LEAVE(&f, SYS_BRK, 0);
	USER(&f, 0x1100);
	WALK_FAULTS(&f);
	STACK(&f, RAW_USER_STACK, 0, OTHERS, 0x1100); /* of an event behind it, not read */
	WALK_FAULTS(&f);
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	assert_null(strstr(f.got, "fault"));
	raw_feed_fini(&f);
}

static void the_programs_in_kernel_mode_are_its(void **state)
{
	struct raw_feed f;

	setup(&f, FP);
	FAULT(&f, 0x5000, 0x1100);
	USER(&f, 0x1100);
	forget(&f);
	KERNEL_FAULT(&f, 0x6000, 0xfff100); /* directly behind it, in read() */
	expect(&f, "");
	USER(&f, 0x1200);
	expect(&f, FRAMES("2", "0x1200") KERNEL_FAULT_OF("6000", "fff100", " stack=2"));
	KERNEL_FAULT(&f, 0x7000, 0xfff100);
	USER(&f, 0x1200);
	WALK_FAULTS(&f);
	KERNEL_FAULT(&f, 0x8000, 0xfff100);
	USER(&f, 0x1200);
	expect(&f, KERNEL_FAULT_OF("7000", "fff100", " stack=2") KERNEL_FAULT_OF("8000", "fff100", " stack=2"));
	raw_feed_fini(&f);
}

static void the_kernels_stack_comes_before_the_users(void **state)
{
	static const char first[] =
		FRAMES("1", "read_zero+0x100;read_zero+0x200;0x1200") KERNEL_FAULT_OF("6000", "fff100", " stack=1"),
			  second[] = KERNEL_FAULT_OF("7000", "fff100", " stack=1");
	struct raw_feed f;

	/* of pfscope's own recordings */
	setup(&f, FP_KERNEL);
	KERNEL_FAULT(&f, 0x6000, 0xfff100);
	USER(&f, 0x1200);
	WALK_FAULTS(&f);
	expect(&f, "");
	KERNEL(&f, 0xfff999, 0xfff100, 0xfff200); /* what records it, up to the fault */
	expect(&f, first);
	KERNEL_FAULT(&f, 0x7000, 0xfff100);
	USER(&f, 0x1200);
	KERNEL(&f, 0xfff999, 0xfff100, 0xfff200);
	expect(&f, second);
	KERNEL_FAULT(&f, 0x8000, 0xfff100);
	USER(&f, 0x1200);
	WALK_FAULTS(&f);
	KERNEL(&f, 0xfff777, 0xfff998, 0xfff100, 0xfff200); /* a kernel that does not count preemption has it, too */
	KERNEL(&f, 0xfff999, 0xfff100, 0xfff200);
	expect(&f, KERNEL_FAULT_OF("8000", "fff100", " stack=1"));
	FAULT(&f, 0x9000, 0x1100);
	USER(&f, 0x1100);
	WALK_FAULTS(&f);
	KERNEL(&f, 0xfff777, 0xfff998);
	expect(&f, FRAMES("2", "0x1100") FAULT_OF("9000", "1100", " stack=2"));
	raw_feed_fini(&f);

	/* of trace-cmd record -T -O userstacktrace: behind every event, and before the user's */
	setup(&f, NULL);
	KERNEL_FAULT(&f, 0x6000, 0xfff100);
	KERNEL(&f, 0xfff999, 0xfff100, 0xfff200);
	USER(&f, 0x1200);
	expect(&f, first);
	WALK_FAULTS(&f);
	KERNEL(&f, 0xfff998, 0xfff777);
	KERNEL_FAULT(&f, 0x7000, 0xfff100);
	KERNEL(&f, 0xfff999, 0xfff100, 0xfff200);
	USER(&f, 0x1200);
	expect(&f, second);
	KERNEL_FAULT(&f, 0x7000, 0xfff100);
	KERNEL(&f, 0xfff999, 0xfff100, 0xfff200);
	USER(&f, 0x1200);
	expect(&f, second);
	FAULT(&f, 0x9000, 0x1100);
	KERNEL(&f, 0xfff998, 0xfff997);
	USER(&f, 0x1100);
	expect(&f, FRAMES("2", "0x1100") FAULT_OF("9000", "1100", " stack=2"));
	raw_feed_fini(&f);
}

static void a_recording_may_have_them_or_not(void **state)
{
	struct raw_feed f;

	setup(&f, NULL);
	FAULT(&f, 0x5000, 0x1100);
	expect(&f, "");
	FAULT(&f, 0x6000, 0x1100); /* no: none waits any more */
	FAULT(&f, 0x7000, 0x1100);
	expect(&f, FAULT_OF("5000", "1100", "") FAULT_OF("6000", "1100", "") FAULT_OF("7000", "1100", ""));
	USER(&f, 0x1100); /* and yet */
	FAULT(&f, 0x8000, 0x1100);
	USER(&f, 0x1100);
	expect(&f, FRAMES("1", "0x1100") FAULT_OF("8000", "1100", " stack=1"));
	raw_feed_fini(&f);
	setup(&f, NULL);
	NOTE(&f, "pfscope=0.1");
	forget(&f);
	FAULT(&f, 0x5000, 0x1100);
	expect(&f, FAULT_OF("5000", "1100", ""));
	raw_feed_fini(&f);
}

static void a_handler_gets_the_fault_with_its_stack(void **state)
{
	struct raw_feed f;

	setup(&f, FP);
	NOTE(&f, "probes=kprobe");
	forget(&f);
	FAULT(&f, 0x5000, 0x1100);
	USER(&f, 0x1100, 0x1200);
	WALK_FAULTS(&f);
	RAW(&f, RAW_HANDLER, 0x5000, RAW_ABSENT);
	USER(&f, 0x1100, 0x1200);
	WALK_FAULTS(&f);
	expect(&f, "");
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f,
	       FRAMES("1",
		      "0x1100;0x1200") "fault cpu=0 addr=5000 ip=1100 access=write mode=user class=minor code=6 latency=2001 stack=1\n");
	USER(&f, 0x1100, 0x1200);
	RAW(&f, RAW_HANDLER, 0x9000, 0); /* get_user_pages */
	USER(&f, 0x1300);
	RAW(&f, RAW_HANDLER_END, 0);
	assert_non_null(strstr(f.got, "frames=\"0x1300\""));
	assert_non_null(strstr(f.got, "populate "));
	assert_non_null(strstr(f.got, "stack=2"));
	raw_feed_fini(&f);
}

/* Lines of trace_pipe: the frames are not read, and each event is there. */
static void text_has_no_frames(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.cpu = 0;
	FAULT(&f, 0x5000, 0x1100);
	expect(&f, FAULT_OF("5000", "1100", ""));
	RAW(&f, RAW_USER_STACK, RAW_ABSENT);
	WALK_FAULTS(&f);
	RAW(&f, RAW_OTHER);
	RAW(&f, RAW_USER_STACK, RAW_ABSENT);
	WALK_FAULTS(&f);
	FAULT(&f, 0x6000, 0x1100);
	RAW(&f, RAW_USER_STACK, RAW_ABSENT);
	KERNEL_FAULT(&f, 0x7000, 0xfff100);
	RAW(&f, RAW_USER_STACK, RAW_ABSENT);
	WALK_FAULTS(&f);
	FAULT(&f, 0x8000, 0x1100);
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	expect(&f, FAULT_OF("6000", "1100", "") KERNEL_FAULT_OF("7000", "fff100", "") FAULT_OF("8000", "1100", ""));
	raw_feed_fini(&f);
}

/* A stack that was dumped, as pfscope's own record: on no CPU, with frames if they are new. */
static void dumped(struct raw_feed *f, uint64_t addr, uint64_t ip, uint64_t nr, uint64_t unreadable, const char *frames)
{
	int32_t cpu = f->cpu;

	f->cpu = -1;
	f->str = frames;
	RAW(f, RAW_PFS_STACK, addr, ip, nr, 2, unreadable);
	f->cpu = cpu;
}

static void a_dumped_stack_is_that_faults(void **state)
{
	struct raw_feed f;

	setup(&f, "stack=how=dwarf kernel=1");
	FAULT(&f, 0x5000, 0x1100);
	expect(&f, "");
	dumped(&f, 0x5000, 0x1100, 7, 0, "0x1100;0x1200");
	expect(&f, FRAMES("1", "0x1100;0x1200") FAULT_OF("5000", "1100", " stack=1"));
	FAULT(&f, 0x6000, 0x1100);
	dumped(&f, 0x6000, 0x1100, 7, 0, NULL);
	expect(&f, FAULT_OF("6000", "1100", " stack=1"));
	FAULT(&f, 0x7000, 0x1100);
	dumped(&f, 0x7008, 0x1100, 7, 0, NULL); /* of another address */
	dumped(&f, 0x7000, 0x1104, 7, 0, NULL); /* ... instruction */
	f.tid = 101;
	f.cpu = 1;
	dumped(&f, 0x7000, 0x1100, 7, 0, NULL); /* ... thread */
	f.tid = 100;
	f.cpu = 0;
	FAULT(&f, 0x7000, 0x1100);
	expect(&f, FAULT_OF("7000", "1100", ""));
	dumped(&f, 0x7000, 0x1100, 9, 0, NULL); /* of a number that nothing defines */
	expect(&f, FAULT_OF("7000", "1100", ""));
	dumped(&f, 0x7000, 0x1100, 7, 0, NULL); /* one too many */
	FAULT(&f, 0x8000, 0x1100);
	f.tid = 101; /* another thread runs on another CPU, then on that one */
	f.cpu = 1;
	RAW(&f, RAW_OTHER);
	expect(&f, "");
	f.cpu = 0;
	RAW(&f, RAW_OTHER);
	f.tid = 100;
	dumped(&f, 0x8000, 0x1100, 7, 0, NULL);
	expect(&f, FAULT_OF("8000", "1100", ""));
	NOTE(&f, "dumps_lost=1");
	assert_int_equal(pfs_assembler_finish(f.a), 0);
	assert_non_null(strstr(f.got, "the stacks of 3 of 5 faults (1 were lost, see --buffer-size)"));
	raw_feed_fini(&f);
}

static void a_dump_that_faults_is_nobodys(void **state)
{
	struct raw_feed f;

	setup(&f, "stack=how=dwarf kernel=1");
	FAULT(&f, 0x5000, 0x1100);
	dumped(&f, 0x5000, 0x1100, 1, 0x9000, "0x1100");
	KERNEL_FAULT(&f, 0x9000, 0xfff777);
	KERNEL_FAULT(&f, 0x9008, 0xfff778);
	FAULT(&f, 0x6000, 0x1100);
	dumped(&f, 0x6000, 0x1100, 1, 0x9000, NULL);
	expect(&f, FRAMES("1", "0x1100") FAULT_OF("5000", "1100", " stack=1") FAULT_OF("6000", "1100", " stack=1"));
	KERNEL_FAULT(&f, 0xa000, 0xfff777); /* on another page: the program's */
	dumped(&f, 0xa000, 0xfff777, 2, 0x9000, "f+0x1;0x1100");
	KERNEL_FAULT(&f, 0x9000, 0xfff777); /* that page, with a stack of its own: the program's */
	dumped(&f, 0x9000, 0xfff777, 2, 0, NULL);
	KERNEL_FAULT(&f, 0x9000, 0xfff777); /* nothing was unreadable */
	dumped(&f, 0x9000, 0xfff777, 2, 0, NULL);
	expect(&f, FRAMES("2", "f+0x1;0x1100") KERNEL_FAULT_OF("a000", "fff777", " stack=2")
			   KERNEL_FAULT_OF("9000", "fff777", " stack=2") KERNEL_FAULT_OF("9000", "fff777", " stack=2"));
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_waits_for_its_stack),
		cmocka_unit_test(without_one_it_passes),
		cmocka_unit_test(what_cannot_be_right_is_left_out),
		cmocka_unit_test(the_kernels_own_faults_are_nobodys),
		cmocka_unit_test(the_programs_in_kernel_mode_are_its),
		cmocka_unit_test(the_kernels_stack_comes_before_the_users),
		cmocka_unit_test(a_recording_may_have_them_or_not),
		cmocka_unit_test(text_has_no_frames),
		cmocka_unit_test(a_handler_gets_the_fault_with_its_stack),
		cmocka_unit_test(a_dumped_stack_is_that_faults),
		cmocka_unit_test(a_dump_that_faults_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
