/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes: one table, one writer, one reader; and the prose of version 1, which that reader still accepts. */
#include "event/notes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Values of version 1, as its recordings hold them, and of this version. */
static const struct {
	const char *key, *prose, *value;
} values[] = {
	{ "page_size", "4096", "4096" },
	{ "command", "sh -c 'a=b c=d'", "sh -c 'a=b c=d'" },
	{ "args", "exec=17 text=sh -c 'text=1 exec=2'", "exec=17 text=sh -c 'text=1 exec=2'" },
	{ "args", "text=''", "text=''" },
	{ "kernel", "6.12.0-amd64", "6.12.0-amd64" },
	{ "launch", "42", "42" },
	{ "snapshot", "first", "op=first" },
	{ "snapshot", "later 3624957203779", "op=later look=3624957203779" },
	{ "snapshot", "then 17", "op=then look=17" },
	{ "snapshot", "end", "op=end" },
	{ "snapshot", "start", "op=start" },
	{ "brk", "556aba606000 556aba627000", "start=556aba606000 end=556aba627000" },
	{ "lacks", "filemap:mm_filemap_map_pages (pages mapped by fault-around)",
	  "what=filemap:mm_filemap_map_pages tells=pages mapped by fault-around" },
	{ "lacks", "sched:sched_process_exec", "what=sched:sched_process_exec" },
	{ "lacks", "--classify: no function tracer here (CONFIG_X)",
	  "what=--classify why=no function tracer here (CONFIG_X)" },
	{ "lacks", "perf_event_open for all that joined (names)", "why=perf_event_open for all that joined (names)" },
	{ "histogram_lost", "5", "count=5" },
	{ "sideband_lost", "12 since 3624957203779", "count=12 since=3624957203779" },
	{ "lost", "30043 on cpu 1", "count=30043 cpu=1" },
	{ "buffer_found", "61% of 8192 KB on cpu 0", "percent=61 kb=8192 cpu=0" },
	{ "counters", "faults 12 minor 10 major 2", "faults=12 minor=10 major=2" },
	{ "rusage", "minor 10 major 0", "minor=10 major=0" },
	{ "counted_before", "minor 1 major 2", "minor=1 major=2" },
	{ "counted", "minor 5 major 0 running 1", "minor=5 major=0 running=1" },
	{ "counted", "minor 5 major 0", "minor=5 major=0" },
	{ "watch", "connector", "by=connector" },
	{ "watch", "/proc: no permission: really", "by=proc why=no permission: really" },
	{ "watch", "over", "by=over" },
	{ "joined", "whole from 9 since 7", "whole=9 since=7" },
	{ "joined", "whole from 9", "whole=9" },
	{ "missed", "4711 since 7", "pid=4711 since=7" },
	{ "missed", "4711", "pid=4711" },
	{ "refault", "pageout every 100000000 ns", "method=pageout interval=100000000" },
	{ "refault", "idle every 5 ns in heap,file:*.so", "method=idle interval=5 regions=heap,file:*.so" },
	{ "refault", "numa at the kernel's own pace", "method=numa" },
	{ "refault_tick",
	  "cycle of 1 processes: pages 335 away 36 shared 298 fixed 0 full 1 took 1007963 ns skipped 0; since cycle: "
	  "faults 37 user 10000000 of 50003015 ns",
	  "what=cycle processes=1 pages=335 away=36 shared=298 fixed=0 full=1 took=1007963 skipped=0 since=cycle "
	  "faults=37 user=10000000 wall=50003015" },
	{ "refault_tick",
	  "none of 0 processes: pages 0 away 0 shared 0 fixed 0 full 0 took 0 ns skipped 2; since rest: faults 0 user 0 "
	  "of 1 ns",
	  "what=none processes=0 pages=0 away=0 shared=0 fixed=0 full=0 took=0 skipped=2 since=rest faults=0 user=0 "
	  "wall=1" },
	{ "access_by", "77", "77" },
	{ "access_targets", "0-5:4711", "first=0 last=5 pid=4711" },
	{ "access_targets", "0-5:4711 6-6:4712", "first=0 last=5 pid=4711 first=6 last=6 pid=4712" },
};

static void prose_of_version_1_is_renewed(void **state)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		char buf[1024];
		const char *renewed = pfs_note_renew(values[i].key, values[i].prose, buf, sizeof(buf));

		assert_string_equal(renewed, values[i].value);
		assert_string_equal(pfs_note_renew(values[i].key, renewed, buf, sizeof(buf)), values[i].value);
	}
}

static void what_is_read_is_written_again(void **state)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct pfs_fact fact;
		char buf[1024], *text;

		assert_true(pfs_note_read(&fact, values[i].key, values[i].value));
		if (*fact.rest)
			continue;
		assert_int_equal(pfs_note_write(&fact, buf, sizeof(buf)), strlen(values[i].value));
		assert_string_equal(buf, values[i].value);
		assert_int_equal(pfs_note_write(&fact, buf, 4), strlen(values[i].value));
		assert_true(strlen(buf) < 4 && !strncmp(buf, values[i].value, strlen(buf)));
		text = pfs_note_text(&fact);
		assert_int_equal(strncmp(text, values[i].key, strlen(values[i].key)), 0);
		assert_string_equal(text + strlen(values[i].key) + 1, values[i].value);
		free(text);
	}
}

static void groups_are_read_one_by_one(void **state)
{
	struct pfs_fact fact;

	assert_true(pfs_note_read(&fact, "access_targets", "first=0 last=5 pid=4711 first=6 last=7 pid=-1"));
	assert_int_equal(fact.last, 5);
	assert_int_equal(fact.pid, 4711);
	assert_true(pfs_note_read(&fact, "access_targets", fact.rest));
	assert_int_equal(fact.first, 6);
	assert_int_equal(fact.last, 7);
	assert_int_equal(fact.pid, -1);
	assert_string_equal(fact.rest, "");
}

static void names_of_later_versions_are_passed_over(void **state)
{
	struct pfs_fact fact;

	assert_true(pfs_note_read(&fact, "rusage", "swapped=9 minor=10 major=2 later=x"));
	assert_int_equal(fact.minor, 10);
	assert_int_equal(fact.major, 2);
	assert_true(pfs_note_read(&fact, "rusage", "major=2 minor=10"));
	assert_int_equal(fact.major, 2);
}

static void what_is_none_is_refused(void **state)
{
	static const char *const none[][2] = {
		{ "page_size", "" },
		{ "page_size", "x" },
		{ "page_size", "4096 " },
		{ "launch", "99999999999" },
		{ "rusage", "" },
		{ "rusage", "minor=1" },
		{ "rusage", "minor=1 major" },
		{ "rusage", "minor=1 major=2x" },
		{ "rusage", "minor 1 major" },
		{ "rusage", "minor=1 major=99999999999999999999" },
		{ "lost", "5 on cpu" },
		{ "lost", "count=5 cpu=1 count=6" },
		{ "snapshot", "op=middle" },
		{ "snapshot", "laters 5" },
		{ "brk", "g h" },
		{ "unheard_of", "1" },
		{ "refault_tick", "cycle" },
		{ "access_targets", "0-5" },
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		struct pfs_fact fact;
		char buf[64];

		assert_false(pfs_note_read(&fact, none[i][0], none[i][1]));
		assert_string_equal(pfs_note_renew(none[i][0], none[i][1], buf, sizeof(buf)), none[i][1]);
	}
}

static void every_key_has_a_row(void **state)
{
	for (int key = 0; key < PFS_NR_NOTES; key++) {
		assert_non_null(pfs_note_key(key));
		assert_int_equal(pfs_note_find(pfs_note_key(key)), key);
	}
}

static void releases_are_compared(void **state)
{
	assert_true(pfs_kernel_before("6.1.0-56-cloud-amd64", 6, 17));
	assert_false(pfs_kernel_before("6.17.0", 6, 17));
	assert_false(pfs_kernel_before("7.0", 6, 17));
	assert_true(pfs_kernel_before("5.19", 6, 6));
	assert_false(pfs_kernel_before("", 6, 6));
	assert_false(pfs_kernel_before("6", 6, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prose_of_version_1_is_renewed),
		cmocka_unit_test(what_is_read_is_written_again),
		cmocka_unit_test(groups_are_read_one_by_one),
		cmocka_unit_test(names_of_later_versions_are_passed_over),
		cmocka_unit_test(what_is_none_is_refused),
		cmocka_unit_test(every_key_has_a_row),
		cmocka_unit_test(releases_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
