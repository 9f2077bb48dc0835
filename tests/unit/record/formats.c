/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Format texts and single records: the parser against libtraceevent's, field by field; the decoder
 * on records made by hand, in both byte orders and at the edges.
 */
#include "base/bytes.h"
#include "record/formats.h"
#include "record/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>
#include <cmocka.h>

#define COMMON                                                                         \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(decl, off, size, sign) "\tfield:" decl ";\toffset:" off ";\tsize:" size ";\tsigned:" sign ";\n"

static void assert_same_field(const char *text, const struct tep_format_field *tep)
{
	struct pfs_format_field field;
	unsigned long dynamic = tep->flags & TEP_FIELD_IS_DYNAMIC;

	/* an array of any length at the record's end: of no use here */
	if (!tep->size)
		return;
	if (!pfs_format_field(text, tep->name, &field))
		fail_msg("%s not found", tep->name);
	assert_int_equal(field.off, tep->offset);
	assert_int_equal(field.size, tep->size);
	assert_int_equal(field.is_signed, !!(tep->flags & TEP_FIELD_IS_SIGNED));
	assert_int_equal(field.form == PFS_FIELD_DATA_LOC || field.form == PFS_FIELD_REL_LOC, !!dynamic);
	if (dynamic)
		assert_int_equal(field.form == PFS_FIELD_REL_LOC, !!(tep->flags & TEP_FIELD_IS_RELATIVE));
	else
		assert_int_equal(field.form == PFS_FIELD_ARRAY, !!(tep->flags & TEP_FIELD_IS_ARRAY));
}

/* One format text, without its print line. */
static int check_format(char *text)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_format_field **fields;
	struct tep_event *event;
	char *print = strstr(text, "print fmt:"), name[128];
	int nr = 0, id = pfs_format_name(text, name, sizeof(name));

	tep_set_loglevel(TEP_LOG_NONE);
	if (print)
		strcpy(print, "print fmt: \"\"\n");
	tep_parse_event(tep, text, strlen(text), "test");
	event = tep_find_event(tep, id);
	assert_non_null(event);
	assert_string_equal(name, event->name);
	for (int common = 0; common < 2; common++) {
		fields = common ? tep_event_common_fields(event) : tep_event_fields(event);
		for (int i = 0; fields && fields[i]; i++, nr++)
			assert_same_field(text, fields[i]);
		free(fields);
	}
	tep_free(tep);
	return nr;
}

/* Formats of a 6.18 kernel (tests/data/dat/formats.txt), one after the other. */
static void test_against_libtraceevent(void **state)
{
	const char *name = getenv("PFS_FORMATS"); /* for trying a whole kernel's by hand */
	FILE *file = fopen(name ? name : "tests/data/dat/formats.txt", "r");
	char *text = calloc(1, 4 << 20), *at = text;
	int events = 0, fields = 0;

	assert_non_null(file);
	assert_true(fread(text, 1, (4 << 20) - 1, file) > 0);
	fclose(file);
	while (at) {
		char *next = strstr(at + 1, "\nname: "), *copy;

		copy = next ? strndup(at, next + 1 - at) : strdup(at);
		fields += check_format(copy);
		free(copy);
		events++;
		at = next ? next + 1 : NULL;
	}
	free(text);
	if (name)
		print_message("%d events, %d fields\n", events, fields);
	else
		assert_int_equal(events, 21);
}

static void test_fields(void **state)
{
	static const char text[] = "name: x\nID: 7\nformat:\n" COMMON FIELD("char comm[16]", "8", "16", "0")
		FIELD("unsigned long args[6]", "24", "48", "0") FIELD("__rel_loc char[] rel", "72", "4", "0")
			FIELD("const char *const * argv", "80", "8", "0")
				FIELD("__attribute__((btf_type_tag(\"user\"))) const char * name", "88", "8",
				      "0") "\tfield:int old;\toffset:96;\tsize:4;\n"
					   "\tfield:int nosize;\toffset:96;\tsigned:0;\n"
					   "\tfield:int wide;\toffset:96000;\tsize:4;\n"
					   "\tfield:int empty;\toffset:96;\tsize:0;\n"
					   "\tfield:int negative;\toffset:-1;\tsize:4;\n"
					   "\tfield:char rest[];\toffset:97;\tsize:0;\n"
					   "\nprint fmt: \"\"\n\tfield:int after;\toffset:8;\tsize:4;\tsigned:0;\n";
	struct pfs_format_field f;

	assert_true(pfs_format_field(text, "comm", &f));
	assert_int_equal(f.form, PFS_FIELD_ARRAY);
	assert_int_equal(f.size, 16);
	assert_true(pfs_format_field(text, "rel", &f));
	assert_int_equal(f.form, PFS_FIELD_REL_LOC);
	assert_true(pfs_format_field(text, "argv", &f));
	assert_int_equal(f.off, 80);
	assert_true(pfs_format_field(text, "name", &f));
	assert_true(pfs_format_field(text, "old", &f));
	assert_false(f.is_signed);
	assert_true(pfs_format_field(text, "missing|comm|old", &f));
	assert_int_equal(f.off, 8);
	assert_true(pfs_format_field(text, "rest", &f)); /* to the end of the record */
	assert_int_equal(f.form, PFS_FIELD_ARRAY);
	assert_false(pfs_format_field(text, "missing", &f));
	assert_false(pfs_format_field(text, "om", &f));
	assert_false(pfs_format_field(text, "", &f));
	assert_false(pfs_format_field(text, "|", &f));
	assert_false(pfs_format_field(text, "nosize", &f));
	assert_false(pfs_format_field(text, "wide", &f));
	assert_false(pfs_format_field(text, "empty", &f));
	assert_false(pfs_format_field(text, "negative", &f));
	assert_false(pfs_format_field(text, "after", &f));
}

static void test_names(void **state)
{
	char name[8];

	assert_int_equal(pfs_format_name("name: abc\nID: 65535\n", name, sizeof(name)), 65535);
	assert_string_equal(name, "abc");
	assert_int_equal(pfs_format_name("name: abc\nID: 65536\n", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("name: abc\nID: 0\n", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("name: abc\nID: -1\n", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("name: abc\nID: x\n", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("name: abc\n", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("name: abcdefgh\nID: 1\n", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("nam", name, 8), -EBADMSG);
	assert_int_equal(pfs_format_name("", name, 8), -EBADMSG);
}

#define FAULT                                                                                           \
	"name: page_fault_user\nID: 10\nformat:\n" COMMON FIELD("unsigned long address", "8", "8", "0") \
		FIELD("unsigned long ip", "16", "8", "0")                                               \
			FIELD("unsigned long error_code", "24", "8", "0") "\nprint fmt: \"\"\n"
#define FAULT32                                                                                         \
	"name: page_fault_user\nID: 10\nformat:\n" COMMON FIELD("unsigned long address", "8", "4", "0") \
		FIELD("unsigned long ip", "12", "4", "0") "\nprint fmt: \"\"\n"
#define EXEC                                                                                                    \
	"name: sched_process_exec\nID: 11\nformat:\n" COMMON FIELD("__data_loc char[] filename", "8", "4", "0") \
		FIELD("pid_t pid", "12", "4", "1") FIELD("pid_t old_pid", "16", "4", "1") "\nprint fmt: \"\"\n"
#define RENAME                                                                          \
	"name: task_rename\nID: 12\nformat:\n" COMMON FIELD("pid_t pid", "8", "4", "1") \
		FIELD("char newcomm[16]", "12", "16", "0") "\nprint fmt: \"\"\n"
#define EXIT                                                                                   \
	"name: sched_process_exit\nID: 13\nformat:\n" COMMON FIELD("pid_t pid", "8", "2", "1") \
		FIELD("bool group_dead", "10", "1", "0") "\nprint fmt: \"\"\n"

static struct pfs_formats *formats(bool big_endian)
{
	struct pfs_formats *f = pfs_formats_new(big_endian, 8);

	assert_int_equal(pfs_formats_add(f, "sched", EXEC, strlen(EXEC)), 1);
	assert_int_equal(pfs_formats_add(f, "exceptions", FAULT, strlen(FAULT)), 1);
	assert_int_equal(pfs_formats_add(f, "task", RENAME, strlen(RENAME)), 1);
	assert_int_equal(pfs_formats_add(f, "sched", EXIT, strlen(EXIT)), 1);
	return f;
}

static void test_rows(void **state)
{
	struct pfs_formats *f = formats(false);

	/* the same id again, the wrong system, no format at all */
	assert_int_equal(pfs_formats_add(f, "exceptions", FAULT32, strlen(FAULT32)), 0);
	assert_int_equal(pfs_formats_add(f, "sched", RENAME, strlen(RENAME)), 0);
	assert_int_equal(pfs_formats_add(f, "sched", "rubbish", 7), 0);
	assert_int_equal(pfs_formats_add(f, "sched", "", 0), 0);
	assert_int_equal(pfs_formats_add(f, "x", "name: y\nID: 777\n", 16), 0);
	assert_int_equal(f->nr_rows, 5);
	assert_int_equal(f->max_id, 777);
	assert_non_null(pfs_formats_find(f, "task", "task_rename"));
	assert_null(pfs_formats_find(f, "sched", "task_rename"));
	assert_null(pfs_formats_find(f, "task", "task_newtask"));
	assert_string_equal(f->texts[0].system, "sched");
	assert_string_equal(f->texts[0].text, EXEC);
	pfs_formats_free(f);
	pfs_formats_free(NULL);
}

static void test_header_page(void **state)
{
	static const char good[] = FIELD(" u64 timestamp", "0", "8", "0") FIELD(" local_t commit", "8", "4", "1")
		FIELD(" int overwrite", "8", "1", "1") FIELD(" char data", "12", "4084", "1");
	struct pfs_formats *f = pfs_formats_new(false, 8);
	struct pfs_err err;

	assert_int_equal(f->ring.data_at, 16);
	assert_int_equal(pfs_formats_set_header_page(f, "", 0, &err), 0);
	assert_int_equal(pfs_formats_set_header_page(f, "x", 1, &err), -EBADMSG);
	assert_int_equal(f->ring.data_at, 16);
	assert_int_equal(pfs_formats_set_header_page(f, good, strlen(good), &err), 0);
	assert_int_equal(f->ring.data_at, 12);
	assert_int_equal(f->ring.long_size, 4);
	assert_string_equal(f->header_page, good);
	pfs_formats_free(f);
}

static enum raw_kind decode(const struct pfs_formats *f, const void *bytes, uint32_t len, struct raw_event *ev)
{
	static char scratch[PFS_RECORD_STR];
	uint8_t *copy = malloc(len ? len : 1); /* of its own, so that overruns are seen */
	enum raw_kind kind;

	memcpy(copy, bytes, len);
	memset(ev, 0x55, sizeof(*ev));
	kind = pfs_record_decode(f, copy, len, scratch, ev);
	assert_int_equal(kind, ev->kind);
	if (kind != RAW_OTHER && ev->str) {
		snprintf(scratch, sizeof(scratch), "%s", strdupa(ev->str));
		ev->str = scratch;
	}
	free(copy);
	return kind;
}

static void records(bool big_endian)
{
	const bool swap = big_endian != PFS_HOST_BIG_ENDIAN;
	struct pfs_formats *f = formats(big_endian);
	struct raw_event ev;
	uint8_t r[64] = { 0 };

	pfs_store16(r, 10, swap);
	pfs_store32(r + 4, 4242, swap);
	pfs_store64(r + 8, 0x7fff00001000, swap);
	pfs_store64(r + 16, 0xffffffff81000000, swap);
	pfs_store64(r + 24, 6, swap);
	assert_int_equal(decode(f, r, 32, &ev), RAW_FAULT_USER);
	assert_int_equal(ev.tid, 4242);
	assert_int_equal(ev.tgid, -1);
	assert_null(ev.comm);
	assert_null(ev.str);
	assert_true(ev.arg[0] == 0x7fff00001000 && ev.arg[1] == 0xffffffff81000000);
	assert_int_equal(ev.arg[2], 6);
	for (int i = 3; i < RAW_MAX_ARGS; i++)
		assert_true(ev.arg[i] == RAW_ABSENT);
	/* cut short: what is there, and the rest absent */
	assert_int_equal(decode(f, r, 31, &ev), RAW_FAULT_USER);
	assert_true(ev.arg[0] == 0x7fff00001000 && ev.arg[2] == RAW_ABSENT);
	assert_int_equal(decode(f, r, 8, &ev), RAW_FAULT_USER);
	assert_true(ev.arg[0] == RAW_ABSENT);
	assert_int_equal(decode(f, r, 7, &ev), RAW_OTHER);
	assert_int_equal(decode(f, r, 0, &ev), RAW_OTHER);
	pfs_store16(r, 99, swap);
	assert_int_equal(decode(f, r, 32, &ev), RAW_OTHER);
	assert_int_equal(ev.tid, 4242);

	pfs_store16(r, 11, swap);
	pfs_store32(r + 8, 5u << 16 | 20, swap);
	pfs_store32(r + 12, 7, swap);
	pfs_store32(r + 16, -1, swap);
	memcpy(r + 20, "/a/b", 5);
	assert_int_equal(decode(f, r, 28, &ev), RAW_EXEC);
	assert_string_equal(ev.str, "/a/b");
	assert_int_equal(ev.arg[0], 7);
	assert_true(ev.arg[1] == (uint64_t)-1);
	/* without its NUL, and pointing outside */
	pfs_store32(r + 8, 4u << 16 | 20, swap);
	assert_int_equal(decode(f, r, 24, &ev), RAW_EXEC);
	assert_string_equal(ev.str, "/a/b");
	pfs_store32(r + 8, 400u << 16 | 20, swap);
	assert_int_equal(decode(f, r, 23, &ev), RAW_EXEC);
	assert_string_equal(ev.str, "/a/");
	pfs_store32(r + 8, 5u << 16 | 24, swap);
	assert_int_equal(decode(f, r, 24, &ev), RAW_EXEC);
	assert_string_equal(ev.str, "");
	pfs_store32(r + 8, 5u << 16 | 25, swap);
	assert_int_equal(decode(f, r, 24, &ev), RAW_EXEC);
	assert_null(ev.str);
	pfs_store32(r + 8, 20, swap);
	assert_int_equal(decode(f, r, 24, &ev), RAW_EXEC);
	assert_null(ev.str);
	pfs_formats_free(f);
}

static void test_records(void **state)
{
	records(false);
	records(true);
}

static void test_small_fields(void **state)
{
	struct pfs_formats *f = formats(false);
	struct raw_event ev;
	uint8_t r[28] = { 12, 0 };

	/* a name of 16 bytes has no NUL */
	memcpy(r + 12, "0123456789abcdef", 16);
	assert_int_equal(decode(f, r, 28, &ev), RAW_RENAME);
	assert_string_equal(ev.str, "0123456789abcdef");
	r[20] = 0;
	assert_int_equal(decode(f, r, 28, &ev), RAW_RENAME);
	assert_string_equal(ev.str, "01234567");
	r[0] = 13;
	r[8] = r[9] = 0xff;
	r[10] = 0xff;
	assert_int_equal(decode(f, r, 12, &ev), RAW_EXIT);
	assert_true(ev.arg[0] == (uint64_t)-1);
	assert_int_equal(ev.arg[1], 0xff);
	assert_null(ev.str);
	pfs_formats_free(f);
}

/* As kernels with wprobe events print it; each in a file may have another number. */
static void test_wprobe(void **state)
{
	static const char text[] = "name: pfs_word3\nID: 20\nformat:\n" COMMON FIELD("unsigned long __probe_ip", "8",
										     "8", "0")
		FIELD("u64 addr", "16", "8", "0") FIELD("u64 off", "24", "8", "0") FIELD("u64 value", "32", "8", "0")
			FIELD("u64 word", "40", "8",
			      "0") "\nprint fmt: \"(%lx) addr=0x%Lx off=0x%Lx value=0x%Lx "
				   "word=0x%Lx\", REC->__probe_ip, REC->addr, REC->off, REC->value, REC->word\n";
	struct pfs_formats *f = pfs_formats_new(PFS_HOST_BIG_ENDIAN, 8);
	uint8_t r[48] = { 0 };
	struct raw_event ev;

	assert_int_equal(pfs_formats_add(f, "wprobes", text, strlen(text)), 1);
	pfs_store16(r, 20, false);
	pfs_store32(r + 4, 42, false);
	for (int i = 0; i < 5; i++)
		pfs_store64(r + 8 + i * 8, 0xffffffff81000000 + i, false);
	assert_int_equal(decode(f, r, sizeof(r), &ev), RAW_WPROBE);
	assert_int_equal(ev.tid, 42);
	for (int i = 0; i < 5; i++)
		assert_true(ev.arg[i] == 0xffffffff81000000 + i);
	assert_int_equal(decode(f, r, 32, &ev), RAW_WPROBE);
	assert_true(ev.arg[3] == RAW_ABSENT && ev.arg[4] == RAW_ABSENT);
	pfs_formats_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_libtraceevent),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_header_page),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_small_fields),
		cmocka_unit_test(test_wprobe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
