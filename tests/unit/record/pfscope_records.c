/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope's own records: to bytes and back with any string, in sub-buffers of any size; to a line
 * of text; and as `trace-cmd report` would print them, by libtraceevent.
 */
#include "record/pfscope_records.h"

#include "base/bytes.h"
#include "base/write_all.h"
#include "record/record.h"
#include "record/ringpage.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <event-parse.h>
#include <trace-seq.h>
#include <cmocka.h>

/* The file's records, joined: calls fn with each. Returns how many there were, pieces included. */
static int read_back(int fd, const struct pfs_formats *f, uint32_t page_size,
		     void (*fn)(const struct raw_event *ev, void *ctx), void *ctx)
{
	struct pfs_records_join join = { 0 };
	char scratch[PFS_RECORD_STR];
	uint8_t *bytes = malloc(page_size);
	int nr = 0;

	for (off_t pos = 0; pread(fd, bytes, page_size, pos) == page_size; pos += page_size) {
		struct pfs_ring_page page;
		const uint8_t *payload;
		uint32_t len;

		assert_int_equal(pfs_ring_page_load(&page, &f->ring, bytes, page_size), 0);
		for (; pfs_ring_page_next(&page, &payload, &len) > 0; nr++) {
			struct raw_event ev = { .ts_ns = page.ts };

			pfs_record_decode(f, payload, len, scratch, &ev);
			assert_true(ev.kind >= RAW_PFS_MAP);
			if (pfs_records_join(&join, &ev) > 0)
				fn(&ev, ctx);
		}
	}
	pfs_records_join_free(&join);
	free(bytes);
	return nr;
}

struct expect {
	struct raw_event ev[64];
	char *str[64];
	unsigned int nr, met;
};

static void compare(const struct raw_event *ev, void *ctx)
{
	static const int nr_args[] = { 8, 3, 0 };
	struct expect *x = ctx;
	const struct raw_event *want = &x->ev[x->met];
	const char *str = x->str[x->met++];
	size_t len = strlen(ev->str);
	char *plain = malloc(len + 1);

	assert_true(x->met <= x->nr);
	assert_int_equal(ev->kind, want->kind);
	assert_int_equal(ev->ts_ns, want->ts_ns);
	assert_int_equal(ev->tid, want->tid);
	assert_null(strpbrk(ev->str, "\n\r\t\033\177"));
	assert_int_equal(pfs_records_unescape(plain, len + 1, ev->str), strlen(str));
	assert_string_equal(plain, str);
	for (int i = 0; i < nr_args[want->kind - RAW_PFS_MAP]; i++)
		assert_true(ev->arg[i] == want->arg[i]);
	free(plain);
}

/* A string of that length of all kinds of bytes. */
static char *any_string(size_t len, unsigned int seed)
{
	static const char kinds[] = "abc /\\\n\t\033\177\001\303\244 ~[]:=";
	char *str = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		str[i] = kinds[(i * 7 + i / 13 + seed) % (sizeof(kinds) - 1)];
	str[len] = 0;
	return str;
}

static void round_trip(uint32_t page_size)
{
	static const size_t lens[] = { 0, 1, 2, 15, 100, 399, 400, 401, 1000, 3990, 3995, 3996, 4096, 20000 };
	struct pfs_formats *f = pfs_formats_new_host();
	struct expect x = { .nr = 0 };
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, page_size);
	struct pfs_records own;
	uint64_t ts = 1;
	int nr;

	assert_int_equal(pfs_records_init(&own, f), 0);
	for (unsigned int i = 0; i < 3 * sizeof(lens) / sizeof(lens[0]); i++, ts += 1ull << i) {
		struct raw_event *ev = &x.ev[x.nr];

		x.str[x.nr] = any_string(lens[i / 3], i);
		*ev = (struct raw_event){ .ts_ns = ts, .kind = RAW_PFS_MAP + i % 3, .tid = -5 + i, .str = x.str[x.nr] };
		for (int k = 0; k < RAW_MAX_ARGS; k++)
			ev->arg[k] = k == 3 ? RAW_ABSENT : 0x1234567890abcdefull * k + i;
		x.nr++;
		assert_int_equal(pfs_records_write(&own, w, ev), 0);
	}
	assert_int_equal(pfs_ringwrite_flush(w), 0);
	nr = read_back(fd, f, page_size, compare, &x);
	assert_int_equal(x.met, x.nr);
	assert_true(page_size > 1 << 16 ? nr == (int)x.nr : nr > (int)x.nr);
	for (unsigned int i = 0; i < x.nr; i++)
		free(x.str[i]);
	pfs_ringwrite_free(w);
	pfs_formats_free(f);
	close(fd);
}

static void test_round_trip(void **state)
{
	round_trip(4096);
	round_trip(512);
	round_trip(1 << 17);
}

static void test_ids(void **state)
{
	struct pfs_formats *f = pfs_formats_new_host();
	struct pfs_records own;

	f->max_id = 60007;
	assert_int_equal(pfs_records_init(&own, f), 0);
	assert_int_equal(own.first_id, 60008);
	assert_non_null(pfs_formats_find(f, "pfscope", "pfs_map"));
	assert_non_null(pfs_formats_find(f, "pfscope", "pfs_task"));
	assert_non_null(pfs_formats_find(f, "pfscope", "pfs_note"));
	pfs_formats_free(f);
	f = pfs_formats_new_host();
	f->max_id = 2323;
	assert_int_equal(pfs_records_init(&own, f), 0);
	assert_int_equal(own.first_id, PFS_RECORDS_FIRST_ID);
	pfs_formats_free(f);
	f = pfs_formats_new_host();
	f->max_id = 65533;
	assert_int_equal(pfs_records_init(&own, f), -ENOSPC);
	pfs_formats_free(f);
}

static void test_unescape(void **state)
{
	char buf[16];

	assert_int_equal(pfs_records_unescape(buf, 16, "a\\134b\\012"), 4);
	assert_string_equal(buf, "a\\b\n");
	/* no escapes: too short, too large, no octal digit */
	assert_int_equal(pfs_records_unescape(buf, 16, "\\01 \\400 \\08"), 12);
	assert_string_equal(buf, "\\01 \\400 \\08");
	assert_int_equal(pfs_records_unescape(buf, 3, "abcdef"), 6);
	assert_string_equal(buf, "ab");
	assert_int_equal(pfs_records_unescape(buf, 0, "abc"), 3);
	strcpy(buf, "x\\040");
	assert_int_equal(pfs_records_unescape(buf, 16, buf), 2);
	assert_string_equal(buf, "x ");
}

static void test_text(void **state)
{
	struct raw_event ev = { .ts_ns = 12345678901499,
				.kind = RAW_PFS_MAP,
				.cpu = -1,
				.tid = 42,
				.comm = "a b",
				.str = " /x\n[y] ",
				.arg = { 0x7f0000000000, 0x7f0000001000, 0, RAW_ABSENT, RAW_ABSENT, 5, 2, 1 } };
	char *text = pfs_records_text(&ev);

	assert_string_equal(text, "             a b-42      [000] ..... 12345.678901: pfs_map: "
				  "start=0x7f0000000000 end=0x7f0000001000 off=0x0 "
				  "dev=0xffffffffffffffff ino=-1 prot=0x5 flags=0x2 source=1 "
				  "name=\\040/x\\012[y]\\040\n");
	free(text);
	ev = (struct raw_event){
		.ts_ns = 1499, .kind = RAW_PFS_TASK, .cpu = 3, .tid = 1234567, .str = "x", .arg = { 7, 6, 1 }
	};
	text = pfs_records_text(&ev);
	assert_string_equal(text, "           <...>-1234567 [003] .....     0.000001: pfs_task: "
				  "tid=7 pid=6 ended=1 comm=x\n");
	free(text);
	ev = (struct raw_event){ .ts_ns = 1500, .kind = RAW_PFS_NOTE, .str = "key=va lue" };
	text = pfs_records_text(&ev);
	assert_non_null(strstr(text, " 0.000002: pfs_note: text=key=va lue\n"));
	free(text);
	ev.kind = RAW_FORK;
	assert_null(pfs_records_text(&ev));
}

struct printed {
	struct tep_handle *tep;
	char text[512];
};

/* One record as libtraceevent prints it. */
static void print(int fd, const struct pfs_formats *f, struct printed *p)
{
	struct tep_record record = { .cpu = 0 };
	struct pfs_ring_page page;
	const uint8_t *payload;
	struct trace_seq s;
	uint8_t bytes[4096];
	uint32_t len;

	assert_int_equal(pread(fd, bytes, 4096, 0), 4096);
	assert_int_equal(pfs_ring_page_load(&page, &f->ring, bytes, 4096), 0);
	trace_seq_init(&s);
	while (pfs_ring_page_next(&page, &payload, &len) > 0) {
		record.ts = page.ts;
		record.data = (void *)payload;
		record.size = len;
		tep_print_event(p->tep, &s, &record, "%s %s\n", TEP_PRINT_NAME, TEP_PRINT_INFO);
	}
	trace_seq_terminate(&s);
	snprintf(p->text, sizeof(p->text), "%s", s.buffer);
	trace_seq_destroy(&s);
}

static void test_report(void **state)
{
	struct pfs_formats *f = pfs_formats_new_host();
	struct printed p = { .tep = tep_alloc() };
	struct raw_event ev = { .ts_ns = 1,
				.kind = RAW_PFS_MAP,
				.tid = 42,
				.str = "/lib/a b.so",
				.arg = { 0x7f0000000000, 0x7f0000001000, 0x3000, 0xfe00001, 77, 5, 2, 0 } };
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, 4096);
	struct pfs_records own;

	assert_int_equal(pfs_records_init(&own, f), 0);
	assert_int_equal(pfs_records_write(&own, w, &ev), 0);
	ev = (struct raw_event){ .ts_ns = 2, .kind = RAW_PFS_TASK, .str = "bash", .arg = { 5, RAW_ABSENT, 0 } };
	assert_int_equal(pfs_records_write(&own, w, &ev), 0);
	ev = (struct raw_event){ .ts_ns = 3, .kind = RAW_PFS_NOTE, .str = "a=b" };
	assert_int_equal(pfs_records_write(&own, w, &ev), 0);
	ev.kind = RAW_EXEC;
	assert_int_equal(pfs_records_write(&own, w, &ev), -EINVAL);
	pfs_ringwrite_flush(w);
	for (size_t i = 0; i < f->nr_texts; i++)
		assert_int_equal(tep_parse_event(p.tep, f->texts[i].text, strlen(f->texts[i].text), "pfscope"), 0);
	print(fd, f, &p);
	assert_string_equal(p.text, "pfs_map start=0x7f0000000000 end=0x7f0000001000 off=0x3000 dev=0xfe00001 ino=77 "
				    "prot=0x5 flags=0x2 source=0 name=/lib/a b.so\n"
				    "pfs_task tid=5 pid=-1 ended=0 comm=bash\n"
				    "pfs_note text=a=b\n");
	tep_free(p.tep);
	pfs_ringwrite_free(w);
	pfs_formats_free(f);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_ids),	  cmocka_unit_test(test_unescape),
		cmocka_unit_test(test_text),	   cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
