/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing event lines, and reading them back: golden lines, every field, every byte, any event.
 *
 * What the reader makes of lines that pfscope did not write is in event/line_read.c.
 */
#include "event/export.h"
#include "event/line.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "support/event_random.h"
#include "support/line_echo.h"

/* Lines as pfscope writes them: read and written again, nothing changes. */
static const char *const golden[] = {
	"123.456789012 fault cpu=1 pid=42 tid=43 comm=\"cat\" addr=7f0012345000 "
	"ip=7f5d58612340 access=write mode=user class~minor how~anon code=6 pfn=1a2b3 latency=812",
	"0.000000000 fault addr=0",
	"0.000000000 fault addr=1000 class=major how=cow code=7 flags=write,tried,orig_pte_valid",
	"0.000000000 populate start=1000 end=2000 flags=none by=gup",
	"0.000000001 fault cpu=-1 addr=ffffffffffffffff ip=ffffffffa1b2c3d4 access=exec "
	"mode=kernel",
	"18446744073.709551615 around pid=42 tid=42 addr=7f5d58600000 off=65536 end_off=131072 "
	"dev=fe:00 ino=18446744073709551615",
	"1.500000000 populate start=1000 end=3000 by=madvise",
	"2.000000000 map pid=42 tid=42 space=exec start=7f5d58600000 end=7f5d58626000 "
	"id=ffff8881034b5e40 perms=r--p off=0 dev=fe:00 ino=1234 traits=none "
	"name=\"/usr/lib/x86_64-linux-gnu/libc.so.6\"",
	"2.000000000 map start=7ffc0000 end=7ffd0000 perms=rw-s dev=fff:fffff "
	"traits=stack,hugetlb,locked,noreserve name=\"\"",
	"2.000000001 unmap start=1000 end=2000 dev=08:01",
	"2.000000002 protect start=1000 end=2000 perms=--xp order=255",
	"2.000000003 move start=1000 end=2000 from=5000 len=4096",
	"2.000000004 brk start=0 end=555555578000",
	"2.000000005 fork child=44 child_tid=-2147483648 shared=1",
	"2.000000006 exit last=0 sig=2147483647",
	"2.000000007 alloc site=ffffffff81000000 ptr=ffff888100000000 size=100 allocated=128 "
	"cache=\"kmalloc-128\"",
	"2.000000008 note key=\"cmd\" value=\"sh -c \\\"a\\\\b\\\"\\n\\t\\x01\\x7f\\xff\\xc2\\x85\"",
	"2.000000009 lost cpu=3 count=17 interval=5",
};

static void test_golden(void **state)
{
	for (size_t i = 0; i < NR(golden); i++) {
		struct pfs_line_stats stats;
		char line[512], *again;

		snprintf(line, sizeof(line), "%s\n", golden[i]);
		stats = reread(line, &again);
		assert_string_equal(stats.first_error.msg, "");
		assert_string_equal(again, line);
		assert_int_equal(stats.nr_lines, 1);
		assert_int_equal(stats.nr_errors + stats.nr_unknown_fields, 0);
		free(again);
	}
}

static void test_random_round_trip(void **state)
{
	static char text[64 + PFS_LINE_MAX + 1];
	static struct random_event random;
	int head = sprintf(text, "# pfscope events %d\n", PFS_EVENT_VERSION);
	char *line = text + head;
	uint64_t seed = 88172645463325252;
	unsigned int nr_read = 0;

	for (int round = 0; round < 4000; round++) {
		struct pfs_line_stats stats;
		struct echo echo = { 0 };
		ssize_t len;

		random_event(&seed, &random);
		len = pfs_line_write(&random.ev, line, sizeof(text) - head);
		assert_true(len > 0);
		assert_int_equal(read_text(&echo, &stats, text, head + len, 0), 0);
		if (stats.nr_errors) { /* a field that the kind needs is not there */
			assert_non_null(strstr(stats.first_error.msg, "has no field"));
			continue;
		}
		nr_read++;
		assert_int_equal(echo.len, len);
		assert_memory_equal(echo.text, line, len);
		assert_int_equal(echo.last.have, random.ev.have);
		assert_int_equal(echo.last.inferred, random.ev.inferred);
		assert_int_equal(echo.last.kind, random.ev.kind);
		assert_int_equal(echo.last.ts_ns, random.ev.ts_ns);
		free(echo.text);
	}
	assert_true(nr_read > 2000);
}

/* Each field alone, inferred and not: its text says which. */
static void test_every_field(void **state)
{
	struct random_event random;
	uint64_t seed = 1;
	char line[512], start[64];

	for (unsigned int field = 0; field < PFS_NR_FIELDS; field++) {
		for (int inferred = 0; inferred < 2; inferred++) {
			struct pfs_line_stats stats;
			char *again;
			ssize_t len;

			memset(&random, 0, sizeof(random));
			random.ev.kind = PFS_LOST; /* needs no field */
			random.ev.have = PFS_HAS(field);
			random.ev.inferred = inferred ? PFS_HAS(field) : 0;
			random_field(&seed, &random, field);
			len = pfs_line_write(&random.ev, line, sizeof(line));
			assert_true(len > 0);
			line[len] = '\0';
			snprintf(start, sizeof(start), "0.000000000 lost %s%c", pfs_fields[field].name,
				 inferred ? '~' : '=');
			assert_memory_equal(line, start, strlen(start));
			stats = reread(line, &again);
			assert_int_equal(stats.nr_unknown_fields, 0);
			assert_string_equal(again, line);
			free(again);
		}
	}
}

static void test_every_byte(void **state)
{
	char name[256], line[2048];
	struct pfs_event ev = { .kind = PFS_LOST, .have = PFS_HAS(PFS_F_NAME), .name = name };
	struct pfs_line_stats stats;
	struct echo echo = { 0 };
	ssize_t len;

	for (int i = 0; i < 255; i++)
		name[i] = i + 1;
	name[255] = '\0';
	len = pfs_line_write(&ev, line, sizeof(line));
	assert_true(len > 0);
	for (ssize_t i = 0; i < len - 1; i++)
		assert_true((unsigned char)line[i] >= 0x20 && (unsigned char)line[i] < 0x7f);
	assert_int_equal(read_text(&echo, &stats, line, len, 0), 0);
	assert_string_equal(echo.name, name);
	free(echo.text);
	/* and text that needs no escape stays as it is */
	ev.name = "caf\xc3\xa9 \xe6\x97\xa5";
	len = pfs_line_write(&ev, line, sizeof(line));
	line[len] = '\0';
	assert_string_equal(line, "0.000000000 lost name=\"caf\xc3\xa9 \xe6\x97\xa5\"\n");
}

/* What has no spelling is absent. */
static void test_not_written(void **state)
{
	struct pfs_event ev = {
		.kind = PFS_LOST,
		.access = 0,
		.mode = 200,
		.space = 4,
		.how = PFS_NR_HOW,
		.have = UINT64_MAX & ~(PFS_HAS(PFS_NR_FIELDS) - 1),
	};
	char line[256];
	ssize_t len;

	ev.have |= PFS_HAS(PFS_F_ACCESS) | PFS_HAS(PFS_F_MODE) | PFS_HAS(PFS_F_SPACE) | PFS_HAS(PFS_F_HOW) |
		   PFS_HAS(PFS_F_NAME);
	len = pfs_line_write(&ev, line, sizeof(line));
	assert_true(len > 0);
	line[len] = '\0';
	assert_string_equal(line, "0.000000000 lost\n");
	ev.kind = PFS_NR_KINDS;
	assert_int_equal(pfs_line_write(&ev, line, sizeof(line)), -EINVAL);
}

/* Any room: all of the line or nothing, and not a byte beyond. */
static void test_write_bounds(void **state)
{
	struct random_event random;
	uint64_t seed = 3;
	char whole[8192];

	for (int round = 0; round < 20; round++) {
		ssize_t len;

		random_event(&seed, &random);
		len = pfs_line_write(&random.ev, whole, sizeof(whole));
		assert_true(len > 0);
		for (size_t size = 0; size < (size_t)len + 200; size++) {
			char *buf = malloc(size);
			ssize_t ret = pfs_line_write(&random.ev, buf, size);

			assert_true(ret == len || ret == -ENOBUFS);
			assert_true(ret == -ENOBUFS || size >= (size_t)len);
			assert_true(ret == len || size < (size_t)len + 2 * PFS_EVENT_SCALAR_MAX);
			free(buf);
		}
	}
}

/* The longest line there can be fits, and is read. */
static void test_longest(void **state)
{
	static char line[PFS_LINE_MAX + 1], longest[PFS_EVENT_STR_MAX + 100];
	struct pfs_event ev;
	struct pfs_line_stats stats;
	struct echo echo = { 0 };
	ssize_t len;

	memset(&ev, 0xff, sizeof(ev));
	memset(longest, 0xff, sizeof(longest) - 1);
	ev.kind = PFS_POPULATE;
	ev.access = ev.mode = ev.class = ev.space = 2;
	ev.by = 4;
	ev.how = 5;
	ev.comm = ev.func = ev.cache = ev.frames = ev.key = ev.value = ev.name = longest;
	len = pfs_line_write(&ev, line, sizeof(line));
	assert_true(len > (ssize_t)(20 * PFS_EVENT_STR_MAX) && len <= PFS_LINE_MAX);
	assert_int_equal(read_text(&echo, &stats, line, len, 4096), 0);
	assert_int_equal(echo.nr, 1);
	assert_int_equal(strlen(echo.name), PFS_EVENT_STR_MAX);
	assert_int_equal(echo.len, len);
	assert_memory_equal(echo.text, line, len);
	free(echo.text);
}

/* The writer's file: version line, events in order, and an error where there is no room. */
static void test_writer(void **state)
{
	struct pfs_event ev = { .kind = PFS_EXIT, .have = PFS_HAS(PFS_F_TID), .ts_ns = 1 };
	char *text = NULL, *again;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct pfs_export *writer = pfs_export_new(file, PFS_EXPORT_LINES);
	struct pfs_sink sink = pfs_export_sink(writer);
	struct pfs_line_stats stats;

	for (ev.tid = 0; ev.tid < 5000; ev.tid++)
		assert_int_equal(pfs_emit(&sink, &ev), 0);
	assert_int_equal(pfs_export_flush(writer), 0);
	assert_int_equal(pfs_export_flush(writer), 0);
	pfs_export_free(writer);
	pfs_export_free(NULL);
	fclose(file);
	assert_memory_equal(text, "# pfscope events 2\n0.000000001 exit tid=0\n", 42);
	stats = reread(text, &again);
	assert_int_equal(stats.nr_events, 5000);
	assert_int_equal(stats.nr_lines, 5001);
	assert_string_equal(strchr(text, '\n') + 1, again);
	free(again);
	free(text);
}

/* The lines of runs are those of their faults as events. */
static void test_writer_runs(void **state)
{
	const uint64_t ts_ns[] = { 1, 999999999, 3817606724371 }, addr[] = { 0, 0x7f061ed3c000, UINT64_MAX },
		       ip[] = { 0x558d12bae841, 0, 0xffffffff81000000 };
	const struct pfs_fault_run runs[] = {
		{ ts_ns, addr, ip, .nr = 3, .cpu = 1, .tid = 9566, .pid = 9566, .code = 6, .access = PFS_WRITE,
		  .mode = PFS_USER },
		{ ts_ns + 1, addr, ip, .nr = 2, .cpu = 0, .tid = 7, .code = 0x14, .access = PFS_EXECUTE,
		  .mode = PFS_KERNEL },
	};
	char *text[2] = { NULL };
	size_t size[2];

	for (unsigned int by_run = 0; by_run < 2; by_run++) {
		FILE *file = open_memstream(&text[by_run], &size[by_run]);
		struct pfs_export *writer = pfs_export_new(file, PFS_EXPORT_LINES);
		struct pfs_sink sink = pfs_export_sink(writer);
		struct pfs_event ev;

		if (by_run)
			assert_int_equal(sink.faults(sink.ctx, runs, 2), 0);
		for (unsigned int i = 0; !by_run && i < runs[0].nr + runs[1].nr; i++) {
			pfs_run_event(&ev, &runs[i >= runs[0].nr], i % runs[0].nr);
			assert_int_equal(pfs_emit(&sink, &ev), 0);
		}
		assert_int_equal(pfs_export_flush(writer), 0);
		pfs_export_free(writer);
		fclose(file);
	}
	assert_string_equal(text[0], text[1]);
	free(text[0]);
	free(text[1]);
}

static void test_writer_full_disk(void **state)
{
	struct pfs_event ev = { .kind = PFS_EXIT };
	FILE *file = fopen("/dev/full", "we");
	struct pfs_export *writer;
	struct pfs_sink sink;
	int ret = 0;

	if (!file)
		skip();
	writer = pfs_export_new(file, PFS_EXPORT_LINES);
	sink = pfs_export_sink(writer);
	for (int i = 0; i < 100000 && !ret; i++)
		ret = pfs_emit(&sink, &ev);
	assert_int_equal(ret, -ENOSPC);
	pfs_emit(&sink, &ev);
	assert_int_equal(pfs_export_flush(writer), -ENOSPC);
	pfs_export_free(writer);
	fclose(file);
}

/* The tables agree with the lookups, and no kind or field is without a name. */
static void test_tables(void **state)
{
	for (int i = 0; i < PFS_NR_KINDS; i++) {
		assert_non_null(pfs_kind_name(i));
		assert_int_equal(pfs_kind_find(pfs_kind_name(i), strlen(pfs_kind_name(i))), i);
	}
	for (int i = 0; i < PFS_NR_FIELDS; i++) {
		const char *name = pfs_fields[i].name;

		assert_true(pfs_fields[i].offset >= offsetof(struct pfs_event, cpu));
		assert_int_equal(pfs_fields[i].type == PFS_T_ENUM || pfs_fields[i].type == PFS_T_SET,
				 !!pfs_fields[i].names);
		for (int j = 0; j < i; j++) {
			assert_string_not_equal(pfs_fields[j].name, name);
			assert_true(pfs_fields[j].offset != pfs_fields[i].offset);
		}
	}
	assert_null(pfs_kind_name(PFS_NR_KINDS));
	for (int i = 0; i < PFS_NR_KINDS; i++) { /* a kind is about a thread, about the recording, or only printed */
		unsigned int flags = pfs_kinds[i].flags;

		assert_true(flags);
		assert_false(flags & PFS_KIND_RECORDING && flags != PFS_KIND_RECORDING);
		assert_false(flags & PFS_KIND_ENDS_FAULT && !(flags & PFS_KIND_THREAD));
	}
	assert_int_equal(pfs_kind_find("fault\0\0", 7), -ENOENT);
	assert_int_equal(pfs_kind_find("faul", 4), -ENOENT);
	assert_int_equal(pfs_kind_find("", 0), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),		 cmocka_unit_test(test_random_round_trip),
		cmocka_unit_test(test_every_field),	 cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_not_written),	 cmocka_unit_test(test_write_bounds),
		cmocka_unit_test(test_longest),		 cmocka_unit_test(test_writer),
		cmocka_unit_test(test_writer_full_disk), cmocka_unit_test(test_writer_runs),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests_name("event lines", tests, NULL, NULL);
}
