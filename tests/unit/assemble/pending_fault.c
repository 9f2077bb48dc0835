/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults whose handler is watched: held back until that is through, told whole, in their thread's
 * order.
 */
#include "record/handlers.h"
#include "support/raw_feed.h"

#define DEFAULT	   0x254 /* FAULT_FLAG_ALLOW_RETRY, KILLABLE, USER, INTERRUPTIBLE */
#define TRIED	   0x20
#define RETRY	   0x400 /* VM_FAULT_RETRY */
#define MAJOR	   4
#define SIGBUS_RET 2

static const char flags[] = "flags=allow_retry,killable,user,interruptible";

static void setup(struct raw_feed *f, const char *note)
{
	raw_feed_init(f);
	f->str = note;
	RAW(f, RAW_PFS_NOTE, 0);
	forget(f);
}

static void finish(struct raw_feed *f)
{
	assert_int_equal(pfs_assembler_finish(f->a), 0);
}

#define HANDLER(f, address, fl)	     RAW(f, RAW_HANDLER, address, fl, 0xabc, 0x4000, 0x9000)
#define FUNCTION(f, handler, caller) RAW(f, RAW_FUNCTION, handler, caller)

static void test_fault_is_told_whole(void **state)
{
	struct raw_feed f;
	char want[512];

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_FAULT_USER, 0x5123, 0x77, 6);
	expect(&f, "");
	HANDLER(&f, 0x5123, DEFAULT | 1);
	expect(&f, "");
	RAW(&f, RAW_HANDLER_END, 0);
	snprintf(want, sizeof(want),
		 "fault addr=5123 start=4000 end=9000 ip=77 access=write "
		 "mode=user class=minor code=6 flags=write,%s latency=1000 id=abc\n",
		 flags + 6);
	expect(&f, want);
	assert_int_equal(f.last_ns, f.now_ns - 3000); /* it happened when the exception did */
	raw_feed_fini(&f);
}

/*
 * VM_FAULT_RETRY: the handler runs again, the time of both is added up, and it waited for a disk.
 */
static void test_retry(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_FAULT_USER, 0x5123, 0x77, 4);
	RAW(&f, RAW_HANDLER, 0x5123, DEFAULT);
	RAW(&f, RAW_HANDLER_END, RETRY | MAJOR);
	expect(&f, "");
	f.now_ns += 5000000; /* waiting is not handling */
	RAW(&f, RAW_HANDLER, 0x5123, DEFAULT | TRIED);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "fault addr=5123 ip=77 access=read mode=user class=major code=4 "
		   "flags=allow_retry,killable,tried,user,interruptible latency=2000\n");
	raw_feed_fini(&f);
}

/* What the kernel does not count has no class; one that never met the handler nothing of it. */
static void test_refused(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_FAULT_USER, 0x5123, 0x77, 4);
	RAW(&f, RAW_HANDLER, 0x5123, DEFAULT);
	RAW(&f, RAW_HANDLER_END, SIGBUS_RET);
	expect(&f, "fault addr=5123 ip=77 access=read mode=user code=4 "
		   "flags=allow_retry,killable,user,interruptible latency=1000\n");
	forget(&f);
	RAW(&f, RAW_FAULT_USER, 0x6123, 0x77, 4);
	RAW(&f, RAW_SIGNAL, 11, 1, 100);
	expect(&f, "fault addr=6123 ip=77 access=read mode=user code=4\nsignal sig=11\n");
	raw_feed_fini(&f);
}

/* A handler without an exception before it is get_user_pages. */
static void test_unasked(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	ENTER(&f, SYS_MMAP, 0, 0x2000, PROT_READ, ANON | MAP_POPULATE, -1, 0);
	HANDLER(&f, 0x5000, 0x14 | 1);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "populate start=5000 end=6000 access=write class=minor "
		   "flags=write,allow_retry,killable latency=1000 id=abc by=mmap\n");
	forget(&f);
	HANDLER(&f, 0x6000, 0x14 | 1);
	RAW(&f, RAW_HANDLER_END, SIGBUS_RET); /* nothing came of it */
	LEAVE(&f, SYS_MMAP, 0x5000);
	/* and the call tells no pages again */
	assert_null(strstr(f.got, "populate start=5000 end=7000"));
	forget(&f);
	HANDLER(&f, 0x8000, 0x94); /* in another's memory */
	RAW(&f, RAW_HANDLER_END, MAJOR);
	expect(&f, "populate space=other start=8000 end=9000 access=read class=major "
		   "flags=allow_retry,killable,remote latency=1000 id=abc by=gup\n");
	raw_feed_fini(&f);
}

/*
 * Refused in kernel mode with page faults off (a futex), and brought by get_user_pages: two things.
 */
static void test_refused_then_unasked(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_FAULT_KERNEL, 0x5004, 0x77, 2);
	RAW(&f, RAW_HANDLER, 0x5000, 0x15);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "fault addr=5004 ip=77 access=write mode=kernel code=2\n"
		   "populate start=5000 end=6000 access=write class=minor "
		   "flags=write,allow_retry,killable latency=1000 by=gup\n");
	RAW(&f, RAW_FAULT_KERNEL, 0x6004, 0x77, 2);
	RAW(&f, RAW_HANDLER, 0x6004, 0x215);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "fault addr=6004 ip=77 access=write mode=kernel class=minor code=2 "
		   "flags=write,allow_retry,killable,interruptible latency=1000\n");
	raw_feed_fini(&f);
}

/* A huge page comes whole; what was allocated is told before, as of the range. */
static void test_unasked_huge(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	ENTER(&f, SYS_MLOCK, 0x200000, 0x200000);
	RAW(&f, RAW_HANDLER, 0x234000, 0x15, 0xabc, 0x200000, 0x600000);
	RAW(&f, RAW_PAGE_ALLOC, 0x99, 9, 0x80008);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "huge start=200000 end=600000 pfn=99 order=9\n"
		   "populate start=200000 end=400000 access=write class=minor "
		   "flags=write,allow_retry,killable latency=2000 id=abc by=mlock\n");
	raw_feed_fini(&f);
}

/* A fault in user mode whose exception was lost is a fault all the same. */
static void test_exception_missing(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_HANDLER_END, 0); /* began before the recording did */
	expect(&f, "");
	RAW(&f, RAW_HANDLER, 0x5123, DEFAULT | 0x100);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "fault addr=5123 access=exec mode=user class=minor "
		   "flags=allow_retry,killable,user,instruction,interruptible latency=1000\n");
	raw_feed_fini(&f);
}

/* Two threads at once: each fault whole, told when it is through. What came of it follows it. */
static void test_threads(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_FAULT_USER, 0x5000, 0x77, 4);
	RAW(&f, RAW_HANDLER, 0x5000, DEFAULT);
	RAW(&f, RAW_PAGE_ALLOC, 0x99, 9, 0x80008);
	f.tid = 101;
	RAW(&f, RAW_FAULT_USER, 0x6000, 0x77, 4);
	RAW(&f, RAW_HANDLER, 0x6000, DEFAULT);
	RAW(&f, RAW_HANDLER_END, 0);
	f.tid = 100;
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "fault pid=100 tid=101 addr=6000 ip=77 access=read mode=user class=minor code=4 "
		   "flags=allow_retry,killable,user,interruptible latency=1000\n"
		   "fault addr=5000 ip=77 access=read mode=user class=minor code=4 "
		   "flags=allow_retry,killable,user,interruptible latency=5000\n"
		   "huge pfn=99 order=9\n");
	raw_feed_fini(&f);
}

/* The return was missed, or the end of the recording comes first: nothing is swallowed. */
static void test_end_unknown(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	RAW(&f, RAW_FAULT_USER, 0x5000, 0x77, 4);
	RAW(&f, RAW_HANDLER, 0x5000, DEFAULT);
	RAW(&f, RAW_FAULT_USER, 0x6000, 0x77, 4);
	expect(&f, "fault addr=5000 ip=77 access=read mode=user code=4 "
		   "flags=allow_retry,killable,user,interruptible\n");
	forget(&f);
	finish(&f);
	expect(&f, "fault addr=6000 ip=77 access=read mode=user code=4\n");
	forget(&f);
	finish(&f);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* The arguments of an exec are written before they are moved down. */
static void test_exec_arguments(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	ENTER(&f, SYS_EXECVE, 0);
	RAW(&f, RAW_MA_WRITE, 0x7ffffffde000, 0x7fffffffefff, 0xccc000);
	RAW(&f, RAW_HANDLER, 0x7fffffffeff8, 0x95, 0xccc000, 0x7ffffffde000, 0x7fffffffefff);
	RAW(&f, RAW_HANDLER_END, 0);
	RAW(&f, RAW_EXIT_MMAP, 0);
	RAW(&f, RAW_MA_WRITE, 0x7ff0fffde000, 0x7fffffffefff, 0xccc000);
	RAW(&f, RAW_MA_WRITE, 0x7ff0fffff000, 0x7fffffffefff, 0);
	forget(&f);
	RAW(&f, RAW_EXEC, 100, 100);
	assert_non_null(strstr(f.got, "populate space=exec start=7ff0ffffe000 end=7ff0fffff000 "
				      "access=write class=minor"));
	assert_non_null(strstr(f.got, "exec"));
	raw_feed_fini(&f);
}

/* ---- functions ---- */

static void test_functions(void **state)
{
	struct raw_feed f;

	setup(&f, "classify=handle_mm_fault do_wp_page do_anonymous_page fault_dirty_shared_page");
	RAW(&f, RAW_FAULT_USER, 0x5000, 0x77, 6);
	FUNCTION(&f, PFS_H_BEGIN, 1);
	FUNCTION(&f, PFS_H_ANON, 2);
	expect(&f, "");
	RAW(&f, RAW_FAULT_USER, 0x6000, 0x77, 7);
	expect(&f, "fault addr=5000 ip=77 access=write mode=user how=anon code=6\n");
	forget(&f);
	FUNCTION(&f, PFS_H_BEGIN, 1);
	FUNCTION(&f, PFS_H_WRITE_PROTECTED, 2);
	FUNCTION(&f, PFS_H_BEGIN, 1); /* run again */
	/* get_user_pages, called from elsewhere: not this fault's any more */
	FUNCTION(&f, PFS_H_BEGIN, 3);
	expect(&f, "fault addr=6000 ip=77 access=write mode=user how=cow code=7\n");
	forget(&f);
	FUNCTION(&f, PFS_H_ANON, 2);
	ENTER(&f, SYS_BRK, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* Function records of somebody else's tracing say nothing, for nobody knows what was left out. */
static void test_functions_unasked(void **state)
{
	struct raw_feed f;

	setup(&f, "pfscope=x");
	RAW(&f, RAW_FAULT_USER, 0x5000, 0x77, 6);
	expect(&f, "fault addr=5000 ip=77 access=write mode=user code=6\n");
	FUNCTION(&f, PFS_H_ANON, 2);
	HANDLER(&f, 0x5000, DEFAULT);
	RAW(&f, RAW_HANDLER_END, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* ---- counted ---- */

static void test_counted(void **state)
{
	struct raw_feed f;

	setup(&f, "histogram=4096");
	RAW(&f, RAW_PFS_HIST, 0x5000, 6, 12, 0, 777);
	RAW(&f, RAW_PFS_HIST, 0x6000, RAW_ABSENT, 1, 1, 777);
	expect(&f, "fault addr=5000 access=write mode=user code=6 count=12 interval=777\n"
		   "fault addr=6000 mode=kernel count=1 interval=777\n");
	forget(&f);
	f.str = "histogram_lost=5";
	RAW(&f, RAW_PFS_NOTE, 0);
	assert_non_null(strstr(f.got, "lost count=5"));
	forget(&f);
	f.str = "sideband_lost=6 since 1000";
	RAW(&f, RAW_PFS_NOTE, 0);
	assert_non_null(strstr(f.got, "lost count=6 interval="));
	raw_feed_fini(&f);
}

/* pfscope's module hid the page: marked behind the exception, before the handler does anything. */
static void test_hidden(void **state)
{
	struct raw_feed f;

	setup(&f, "microset=pages=8 by=thread regions=anon");
	RAW(&f, RAW_FAULT_USER, 0x5123, 0x77, 4);
	expect(&f, "");
	RAW(&f, RAW_HIDDEN, 0x5123, 0);
	expect(&f, "fault addr=5123 ip=77 access=read mode=user how=hidden code=4\n");
	RAW(&f, RAW_FAULT_USER, 0x6123, 0x77, 4); /* not hidden: its own */
	expect(&f, "");
	RAW(&f, RAW_FAULT_USER, 0x7123, 0x77, 4);
	expect(&f, "fault addr=6123 ip=77 access=read mode=user code=4\n");
	RAW(&f, RAW_HIDDEN, 0x8123, 0); /* its exception was lost */
	RAW(&f, RAW_HIDDEN, RAW_ABSENT, 0);
	expect(&f, "");
	RAW(&f, RAW_HIDDEN, 0x7123, 1); /* get_user_pages' */
	expect(&f, "fault addr=7123 ip=77 access=read mode=user code=4\n"
		   "populate start=7000 end=8000 class~minor how=hidden by=gup\n");
	RAW(&f, RAW_FAULT_USER, 0x9123, 0x77, 4); /* the thread goes on without a further event */
	finish(&f);
	expect(&f, "fault addr=9123 ip=77 access=read mode=user code=4\n");
	raw_feed_fini(&f);
}

/* With probes the mark may come before the handler's entry or behind it. */
static void test_hidden_with_probes(void **state)
{
	struct raw_feed f;

	setup(&f, "probes=kprobe");
	f.str = "refault=method=hide interval=200000000";
	RAW(&f, RAW_PFS_NOTE, 0);
	forget(&f);
	RAW(&f, RAW_FAULT_USER, 0x5123, 0x77, 4);
	RAW(&f, RAW_HIDDEN, 0x5123, 0);
	HANDLER(&f, 0x5123, DEFAULT);
	expect(&f, "");
	RAW(&f, RAW_HANDLER_END, 0);
	assert_non_null(strstr(f.got, " how=hidden "));
	forget(&f);
	RAW(&f, RAW_HIDDEN, 0x6000, 1);
	RAW(&f, RAW_HANDLER, 0x6000, 0, 0xabc, 0x4000, 0x9000);
	RAW(&f, RAW_HANDLER_END, 0);
	assert_non_null(strstr(f.got, "populate "));
	assert_non_null(strstr(f.got, " how=hidden "));
	forget(&f);
	RAW(&f, RAW_HANDLER, 0x6000, 0, 0xabc, 0x4000, 0x9000); /* no mark: not hidden */
	RAW(&f, RAW_HANDLER_END, 0);
	assert_null(strstr(f.got, "hidden"));
	forget(&f);
	RAW(&f, RAW_FAULT_USER, 0x7123, 0x77, 4);
	HANDLER(&f, 0x7123, DEFAULT); /* the recording ends before a mark could come */
	finish(&f);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* Without a note that pages were hidden, what looks like a mark is none. */
static void test_no_hiding(void **state)
{
	struct raw_feed f;

	setup(&f, "clock=mono");
	RAW(&f, RAW_FAULT_USER, 0x5123, 0x77, 4);
	expect(&f, "fault addr=5123 ip=77 access=read mode=user code=4\n");
	RAW(&f, RAW_HIDDEN, 0x5123, 0);
	expect(&f, "");
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_is_told_whole),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unasked),
		cmocka_unit_test(test_unasked_huge),
		cmocka_unit_test(test_refused_then_unasked),
		cmocka_unit_test(test_exception_missing),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_end_unknown),
		cmocka_unit_test(test_exec_arguments),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_functions_unasked),
		cmocka_unit_test(test_counted),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_hidden_with_probes),
		cmocka_unit_test(test_no_hiding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
