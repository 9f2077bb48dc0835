/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the assembler makes of faults, names, notes and pfscope's own records. The life of processes
 * is assemble/life.c's, layouts are assemble/layout.c's and _calls.c's.
 */
#include "support/raw_feed.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

enum { ID = 0xa000 };

/* ---- faults ---- */

static void test_a_fault(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.cpu = 3;
	RAW(&f, RAW_FAULT_USER, 0x400123, 0x401000, 6);
	expect(&f, "fault cpu=3 addr=400123 ip=401000 access=write mode=user code=6\n");
	assert_int_equal(f.last_ns, 1000);
	f.cpu = -1;
	RAW(&f, RAW_FAULT_KERNEL, 0x400123, 0xffffffff81000000, 0);
	expect(&f, "fault addr=400123 ip=ffffffff81000000 access=read mode=kernel code=0\n");
	raw_feed_fini(&f);
}

static void test_fields_that_are_absent(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_FAULT_USER, 0x400123);
	expect(&f, "fault addr=400123 mode=user\n");
	RAW(&f, RAW_FAULT_USER, 0x400123, 0x401000);
	expect(&f, "fault addr=400123 ip=401000 mode=user\n");
	f.tid = 7;
	RAW(&f, RAW_FAULT_USER, 0x400123);
	expect(&f, "fault tid=7 addr=400123 mode=user\n");
	f.tid = 8;
	f.tgid = 5;
	RAW(&f, RAW_FAULT_USER, 0x400123);
	expect(&f, "fault pid=5 tid=8 addr=400123 mode=user\n");
	raw_feed_fini(&f);
}

static const char *access_by(const char *machine, uint64_t code)
{
	static const char *const names[] = { "read", "write", "exec" };
	const char *found = "unknown";
	struct raw_feed f;

	raw_feed_init(&f);
	if (machine)
		assert_int_equal(pfs_assembler_header(f.a, "machine", machine), 0);
	RAW(&f, RAW_FAULT_USER, 0x1000, 0, code);
	for (int i = 0; i < 3; i++) {
		char field[32];

		snprintf(field, sizeof(field), " access=%s ", names[i]);
		if (strstr(f.got, field))
			found = names[i];
	}
	raw_feed_fini(&f);
	return found;
}

static void test_access_of_x86(void **state)
{
	static const char *const machines[] = { NULL, "x86_64", "i686" };

	for (int i = 0; i < 3; i++) {
		assert_string_equal(access_by(machines[i], 0x4), "read");
		assert_string_equal(access_by(machines[i], 0x7), "write");
		assert_string_equal(access_by(machines[i], 0x14), "exec");
		assert_string_equal(access_by(machines[i], 0x16), "exec");
	}
}

static void test_access_of_riscv(void **state)
{
	assert_string_equal(access_by("riscv64", 12), "exec");
	assert_string_equal(access_by("riscv64", 13), "read");
	assert_string_equal(access_by("riscv64", 15), "write");
}

static void test_access_of_an_unknown_machine(void **state)
{
	assert_string_equal(access_by("vax", 2), "unknown");
}

static void test_a_read_from_disk(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_ADD_CACHE, 0xfe00000, 7, 2); /* by read(), or for an unrecorded fault */
	expect(&f, "cached off=8192 end_off=12288 dev=fe:00 ino=7 state=added\n");
	RAW(&f, RAW_FAULT_USER, 0x1000);
	forget(&f);
	RAW(&f, RAW_ADD_CACHE, 0xfe00000, 7, 2, 2);
	expect(&f, "cached off=8192 end_off=24576 dev=fe:00 ino=7 state=added order=2\n"
		   "major off=8192 end_off=24576 dev=fe:00 ino=7\n");
	RAW(&f, RAW_ADD_CACHE, 0xfe00000, 7, 2);
	expect(&f, "cached off=8192 end_off=12288 dev=fe:00 ino=7 state=added\n"
		   "major off=8192 end_off=12288 dev=fe:00 ino=7\n");
	ENTER(&f, SYS_MUNMAP, 0x1000, 0x1000); /* the fault is over */
	RAW(&f, RAW_ADD_CACHE, 0xfe00000, 7, 2);
	expect(&f, "cached off=8192 end_off=12288 dev=fe:00 ino=7 state=added\n");
	raw_feed_fini(&f);
}

static void test_huge_pages_by_their_flags(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 0, 0x80008); /* an ordinary page */
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 9, 0x80000); /* not movable */
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 9, 0x8);     /* the page cache's */
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 9);	     /* who knows */
	expect(&f, "");
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 9, 0x80008);
	expect(&f, "huge pfn=1200 order=9\n");
	NOTE(&f, "pfscope=0.1.0"); /* which filters by the flags */
	forget(&f);
	RAW(&f, RAW_PAGE_ALLOC, 0x1200, 4);
	expect(&f, "huge pfn=1200 order=4\n");
	raw_feed_fini(&f);
}

static void test_signals_that_answer_a_fault(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW(&f, RAW_SIGNAL, SIGSEGV, SEGV_MAPERR, 100);
	RAW(&f, RAW_SIGNAL, SIGBUS, BUS_ADRERR, 100);
	expect(&f, "signal sig=11\nsignal sig=7\n");
	RAW(&f, RAW_SIGNAL, SIGSEGV, SI_USER, 100);
	RAW(&f, RAW_SIGNAL, SIGSEGV, (uint64_t)SI_TKILL, 100);
	RAW(&f, RAW_SIGNAL, SIGSEGV, SEGV_MAPERR, 101);
	RAW(&f, RAW_SIGNAL, SIGUSR1, 1, 100);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* ---- names ---- */

static const char *name_of(void *ctx, int32_t tid)
{
	++*(int *)ctx;
	return tid == 100 ? "known" : NULL;
}

static void test_names_are_asked_once(void **state)
{
	struct raw_feed f;
	int asked = 0;

	raw_feed_init(&f);
	pfs_assembler_set_names(f.a, name_of, &asked);
	for (int i = 0; i < 3; i++) {
		f.tid = 100;
		RAW(&f, RAW_EXIT_MMAP);
		f.tid = 101;
		RAW(&f, RAW_EXIT_MMAP);
	}
	expect(&f, "comm comm=\"known\"\n");
	assert_int_equal(asked, 2);
	raw_feed_fini(&f);
}

static void test_a_record_that_names_its_thread(void **state)
{
	struct raw_feed f;
	int asked = 0;

	raw_feed_init(&f);
	pfs_assembler_set_names(f.a, name_of, &asked);
	for (int i = 0; i < 2; i++) {
		f.comm = "said";
		RAW(&f, RAW_EXIT_MMAP);
	}
	expect(&f, "comm comm=\"said\"\n");
	assert_int_equal(asked, 0);
	raw_feed_fini(&f);
}

static void test_a_rename(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "other", RAW_RENAME, 105); /* of another thread of the process */
	expect(&f, "comm pid=100 tid=105 comm=\"other\"\n");
	RAW_STR(&f, "self", RAW_RENAME);
	expect(&f, "comm comm=\"self\"\n");
	raw_feed_fini(&f);
}

/* ---- own records and notes ---- */

static void test_a_task_is_named(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "a\\134b\\012", RAW_PFS_TASK, 300, 299, 0); /* escaped */
	expect(&f, "comm pid=299 tid=300 comm=\"a\\\\b\\n\"\n");
	RAW_STR(&f, "again", RAW_PFS_TASK, 300, 299, 0);
	RAW_STR(&f, "ended", RAW_PFS_TASK, 301, 299, 1);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void test_names_of_files_are_escaped(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	RAW_STR(&f, "/a\\040b", RAW_PFS_MAP, 0x10000, 0x11000, 0x2000, 0xfe00000, 7, PROT_READ, MAP_SHARED,
		PFS_MAP_SIDEBAND);
	expect(&f, "map start=10000 end=11000 perms=r--s off=8192 dev=fe:00 ino=7 name=\"/a b\"\n");
	raw_feed_fini(&f);
}

static void test_notes(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "key=a\\134=b");
	expect(&f, "note key=\"key\" value=\"a\\\\=b\"\n");
	NOTE(&f, "none");
	NOTE(&f, NULL);
	NOTE(&f, "a_key_that_is_longer_than_any_that_pfscope_ever_writes_or_will_write=1");
	expect(&f, "");
	f.tid = 0;
	NOTE(&f, "of=all");
	expect(&f, "note key=\"of\" value=\"all\"\n");
	raw_feed_fini(&f);
}

static void test_the_page_size_is_heeded(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "page_size=16384");
	NOTE(&f, "page_size=1000"); /* none */
	RAW(&f, RAW_FAULT_USER, 0x1000);
	forget(&f);
	ROW(&f, 0x11000, 0x14000, ID);
	ROW(&f, 0x10000, 0x14000, ID);
	RAW(&f, RAW_ADD_CACHE, 0, 7, 1);
	expect(&f, "map start=10000 end=14000 id=a000\n"
		   "cached off=16384 end_off=32768 dev=00:00 ino=7 state=added\n"
		   "major off=16384 end_off=32768 dev=00:00 ino=7\n");
	raw_feed_fini(&f);
}

static void test_only_one_process(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	NOTE(&f, "only=100");
	forget(&f);
	ENTER(&f, SYS_VFORK);
	RAW(&f, RAW_FORK, 100, 200);
	RAW(&f, RAW_FAULT_USER, 0x1000);
	f.tid = 200;
	RAW(&f, RAW_FAULT_USER, 0x2000);
	expect(&f, "fault addr=1000 mode=user\n");
	raw_feed_fini(&f);
}

static void test_header_facts_come_first(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	assert_int_equal(pfs_assembler_header(f.a, "clock", "mono"), 0);
	assert_int_equal(pfs_assembler_header(f.a, "cmd", "a=b"), 0);
	expect(&f, "");
	f.now_ns = 77000;
	f.cpu = 1; /* the notes are of no CPU */
	RAW(&f, RAW_OTHER);
	expect(&f, "note key=\"clock\" value=\"mono\"\nnote key=\"cmd\" value=\"a=b\"\n");
	assert_int_equal(f.last_ns, 77000);
	RAW(&f, RAW_OTHER);
	expect(&f, "");
	assert_int_equal(pfs_assembler_stats(f.a)->raw, 2);
	assert_int_equal(pfs_assembler_stats(f.a)->other, 2);
	raw_feed_fini(&f);
}

static void test_losses(void **state)
{
	struct raw_feed f;
	char want[64];

	raw_feed_init(&f);
	f.cpu = 2;
	RAW(&f, RAW_LOST, 5);
	RAW(&f, RAW_LOST, UINT64_MAX);
	expect(&f, "lost cpu=2 count=5\nlost cpu=2\n");
	RAW(&f, RAW_LOST, 5, 1000); /* since the record of that time */
	snprintf(want, sizeof(want), "lost cpu=2 count=5 interval=%llu\n", (unsigned long long)f.last_ns - 1000);
	expect(&f, want);
	RAW(&f, RAW_LOST, 5, f.last_ns + 1000000); /* that is damage */
	expect(&f, "lost cpu=2 count=5\n");
	raw_feed_fini(&f);
}

static void test_what_the_sink_says_is_passed_on(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	f.ret = -EPIPE;
	assert_int_equal(raw_feed_event(&f, RAW_FAULT_USER, SYS_OTHER, RAW_ARGS(0x1000)), -EPIPE);
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fault),
		cmocka_unit_test(test_fields_that_are_absent),
		cmocka_unit_test(test_access_of_x86),
		cmocka_unit_test(test_access_of_riscv),
		cmocka_unit_test(test_access_of_an_unknown_machine),
		cmocka_unit_test(test_a_read_from_disk),
		cmocka_unit_test(test_huge_pages_by_their_flags),
		cmocka_unit_test(test_signals_that_answer_a_fault),
		cmocka_unit_test(test_names_are_asked_once),
		cmocka_unit_test(test_a_record_that_names_its_thread),
		cmocka_unit_test(test_a_rename),
		cmocka_unit_test(test_a_task_is_named),
		cmocka_unit_test(test_names_of_files_are_escaped),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_the_page_size_is_heeded),
		cmocka_unit_test(test_only_one_process),
		cmocka_unit_test(test_header_facts_come_first),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_what_the_sink_says_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
