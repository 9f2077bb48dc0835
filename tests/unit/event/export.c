/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON and CSV of events, read again by other parsers: jansson, and a small one of RFC 4180 here.
 */
#include "event/export.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "event/text.h"
#include "support/event_random.h"

/* The text of events in one form; to be freed. */
static char *export_all(const struct pfs_event *evs, size_t nr, enum pfs_export_form form)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct pfs_export *export = pfs_export_new(file, form);
	struct pfs_sink sink = pfs_export_sink(export);

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(pfs_emit(&sink, &evs[i]), 0);
	assert_int_equal(pfs_export_flush(export), 0);
	pfs_export_free(export);
	fclose(file);
	return text;
}

static const struct pfs_event example = {
	.kind = PFS_FAULT,
	.ts_ns = 123456789012,
	.cpu = 1,
	.pid = 42,
	.tid = -1,
	.comm = "cat \"x\"",
	.addr = 0x7f0012345000,
	.access = PFS_WRITE,
	.class = PFS_MINOR,
	.ino = UINT64_MAX,
	.traits = PFS_TRAIT_STACK | PFS_TRAIT_LOCKED,
	.dev = 0xfe << 20,
	.perms = 3,
	.last = 1,
	.name = "caf\xe9",
	.latency_ns = UINT64_C(1) << 53,
	.have = PFS_HAS(PFS_F_CPU) | PFS_HAS(PFS_F_PID) | PFS_HAS(PFS_F_TID) | PFS_HAS(PFS_F_COMM) |
		PFS_HAS(PFS_F_ADDR) | PFS_HAS(PFS_F_ACCESS) | PFS_HAS(PFS_F_CLASS) | PFS_HAS(PFS_F_INO) |
		PFS_HAS(PFS_F_TRAITS) | PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_PERMS) | PFS_HAS(PFS_F_LAST) |
		PFS_HAS(PFS_F_NAME) | PFS_HAS(PFS_F_LATENCY),
	.inferred = PFS_HAS(PFS_F_CLASS) | PFS_HAS(PFS_F_DEV) | PFS_HAS(PFS_F_IP),
};

static void test_json_golden(void **state)
{
	char *text = export_all(&example, 1, PFS_EXPORT_JSON);

	assert_string_equal(text, "{\"time\":\"123.456789012\",\"kind\":\"fault\",\"cpu\":1,\"pid\":42,"
				  "\"tid\":-1,\"comm\":\"cat \\\"x\\\"\",\"addr\":\"0x7f0012345000\","
				  "\"access\":\"write\",\"class\":\"minor\",\"latency\":9007199254740992,"
				  "\"perms\":\"rw-p\",\"dev\":\"fe:00\",\"ino\":\"18446744073709551615\","
				  "\"traits\":[\"stack\",\"locked\"],\"last\":true,"
				  "\"name\":\"caf\xef\xbf\xbd\",\"name_hex\":\"636166e9\","
				  "\"inferred\":[\"class\",\"dev\"]}\n");
	free(text);
}

static void test_csv_golden(void **state)
{
	char *text = export_all(&example, 1, PFS_EXPORT_CSV);

	assert_string_equal(
		text,
		"time,kind,cpu,pid,tid,comm,space,op,addr,start,end,from,len,ip,access,mode,"
		"class,how,code,flags,pfn,page_size,latency,id,perms,off,end_off,dev,ino,traits,by,error,advice,target,state,child,"
		"child_tid,shared,last,sig,order,count,interval,site,func,ptr,size,allocated,"
		"cache,stack,frames,key,value,name,inferred\r\n"
		"123.456789012,fault,1,42,-1,\"cat \"\"x\"\"\",,,0x7f0012345000,,,,,,write,,"
		"minor,,,,,,9007199254740992,,rw-p,,,fe:00,18446744073709551615,"
		"\"stack,locked\",,,,,,,,,1,,,,,,,,,,,,,,,\"caf\xe9\",class dev\r\n");
	free(text);
}

/* The bytes that a member of type string stands for: by its _hex sibling where there is one. */
static void check_json_bytes(const json_t *object, const char *name, const char *bytes)
{
	char key[32], hex[256] = "";
	const char *found;

	snprintf(key, sizeof(key), "%s_hex", name);
	found = json_string_value(json_object_get(object, key));
	if (!found) {
		assert_string_equal(json_string_value(json_object_get(object, name)), bytes);
		return;
	}
	for (size_t i = 0; bytes[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
	assert_string_equal(found, hex);
	assert_true(json_is_string(json_object_get(object, name)));
}

static uint64_t json_u64(const json_t *value, int base)
{
	char *end;
	uint64_t number;

	if (json_is_integer(value))
		return json_integer_value(value);
	errno = 0;
	number = strtoull(json_string_value(value), &end, base);
	assert_true(!errno && !*end);
	return number;
}

static void check_json_field(const json_t *object, const struct pfs_event *ev, unsigned int field)
{
	const struct pfs_field_info *f = &pfs_fields[field];
	const json_t *value = json_object_get(object, f->name);
	char text[PFS_EVENT_SCALAR_MAX + 1];

	assert_int_equal(!!value, pfs_has(ev, field));
	if (!value)
		return;
	switch (f->type) {
	case PFS_T_S32:
		assert_int_equal(json_integer_value(value), field_as(int32_t, ev, f));
		break;
	case PFS_T_U64:
		assert_int_equal(json_is_integer(value), field_as(uint64_t, ev, f) <= UINT64_C(1) << 53);
		assert_int_equal(json_u64(value, 10), field_as(uint64_t, ev, f));
		break;
	case PFS_T_HEX:
		assert_memory_equal(json_string_value(value), "0x", 2);
		assert_int_equal(json_u64(value, 16), field_as(uint64_t, ev, f));
		break;
	case PFS_T_U8:
		assert_int_equal(json_integer_value(value), field_as(uint8_t, ev, f));
		break;
	case PFS_T_BOOL:
		assert_true(json_is_boolean(value));
		assert_int_equal(json_is_true(value), field_as(uint8_t, ev, f));
		break;
	case PFS_T_SET:
		assert_int_equal(json_array_size(value), __builtin_popcount(field_as(uint16_t, ev, f)));
		break;
	case PFS_T_STR:
		check_json_bytes(object, f->name, field_as(char *, ev, f));
		break;
	default:
		*pfs_event_put_scalar(text, ev, f) = '\0';
		assert_string_equal(json_string_value(value), text);
	}
}

static void test_json_random(void **state)
{
	uint64_t seed = 9;

	for (int round = 0; round < 1000; round++) {
		struct random_event random;
		char *text, expected[64];
		json_t *object, *inferred;
		json_error_t error;

		random_event(&seed, &random);
		text = export_all(&random.ev, 1, PFS_EXPORT_JSON);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		for (char *c = text; *c != '\n'; c++)
			assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
		object = json_loads(text, JSON_REJECT_DUPLICATES, &error);
		assert_non_null(object);
		assert_string_equal(json_string_value(json_object_get(object, "kind")), pfs_kind_name(random.ev.kind));
		snprintf(expected, sizeof(expected), "%" PRIu64 ".%09" PRIu64, random.ev.ts_ns / 1000000000,
			 random.ev.ts_ns % 1000000000);
		assert_string_equal(json_string_value(json_object_get(object, "time")), expected);
		for (unsigned int i = 0; i < PFS_NR_FIELDS; i++)
			check_json_field(object, &random.ev, i);
		inferred = json_object_get(object, "inferred");
		assert_int_equal(json_array_size(inferred), __builtin_popcountll(random.ev.inferred));
		json_decref(object);
		free(text);
	}
}

/* Characters that JSON or a terminal takes for something else, and ones that stay. */
static void test_json_strings(void **state)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "\b\f\n\r\t\"\\/", "\\b\\f\\n\\r\\t\\\"\\\\/" },
		{ "\001\033\177", "\\u0001\\u001b\\u007f" },
		{ "\xc2\x85", "\\u0085" },
		{ "\xe2\x80\xa8\xe2\x80\xae", "\\u2028\\u202e" },
		{ "\xf3\xa0\x80\x81", "\\udb40\\udc01" },
		{ "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pfs_event ev = {
			.kind = PFS_EXEC,
			.name = rows[i].in,
			.have = PFS_HAS(PFS_F_NAME),
		};
		char *text = export_all(&ev, 1, PFS_EXPORT_JSON), expected[256];
		json_t *object = json_loads(text, 0, NULL);

		snprintf(expected, sizeof(expected), "{\"time\":\"0.000000000\",\"kind\":\"exec\",\"name\":\"%s\"}\n",
			 rows[i].out);
		assert_string_equal(text, expected);
		assert_string_equal(json_string_value(json_object_get(object, "name")), rows[i].in);
		json_decref(object);
		free(text);
	}
}

/* RFC 4180: takes one value off *text; whether it was in quotes. False: the row has ended. */
static bool csv_value(const char **text, char *value, bool *quoted)
{
	const char *p = *text;

	*quoted = *p == '"';
	if (*quoted) {
		for (p++; *p != '"' || *++p == '"'; p++) {
			assert_true(*p);
			*value++ = *p;
		}
	} else {
		while (*p && !strchr(",\r\n\"", *p))
			*value++ = *p++;
	}
	*value = '\0';
	if (*p == ',') {
		*text = p + 1;
		return true;
	}
	assert_memory_equal(p, "\r\n", 2);
	*text = p + 2;
	return false;
}

static void check_csv_row(const char **text, const struct pfs_event *ev)
{
	char value[512], expected[PFS_EVENT_SCALAR_MAX + 8];
	bool quoted;

	assert_true(csv_value(text, value, &quoted));
	assert_true(csv_value(text, value, &quoted));
	assert_string_equal(value, pfs_kind_name(ev->kind));
	for (unsigned int i = 0; i < PFS_NR_FIELDS; i++) {
		const struct pfs_field_info *f = &pfs_fields[i];

		assert_true(csv_value(text, value, &quoted));
		if (!pfs_has(ev, i)) {
			assert_string_equal(value, "");
			assert_false(quoted);
			continue;
		}
		if (f->type == PFS_T_STR) {
			assert_true(quoted);
			assert_string_equal(value + (*value == '\''), field_as(char *, ev, f));
			continue;
		}
		*pfs_event_put_scalar(put_text(expected, f->type == PFS_T_HEX ? "0x" : ""), ev, f) = '\0';
		assert_string_equal(value, expected);
	}
	assert_false(csv_value(text, value, &quoted));
	assert_int_equal(!!value[0], !!ev->inferred);
}

/* No string begins as a formula does, and a ' at its start is never its own. */
static void test_csv_formula(void **state)
{
	static const struct {
		const char *name, *csv;
	} rows[] = {
		{ "=1+1", ",\"'=1+1\"," }, { "+1", ",\"'+1\"," },
		{ "-1", ",\"'-1\"," },	   { "@SUM(1)", ",\"'@SUM(1)\"," },
		{ "\t=1", ",\"'\t=1\"," }, { "'x", ",\"''x\"," },
		{ "'", ",\"''\"," },	   { "=\"\"", ",\"'=\"\"\"\"\"," },
		{ "a=1", ",\"a=1\"," },	   { "", ",\"\"," },
		{ "---p", ",\"---p\"," },  { "[heap]", ",\"[heap]\"," },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pfs_event ev = { .kind = PFS_MAP, .name = rows[i].name, .have = PFS_HAS(PFS_F_NAME) };
		char *text = export_all(&ev, 1, PFS_EXPORT_CSV);

		assert_non_null(strstr(text, rows[i].csv));
		free(text);
	}
}

static void test_csv_random(void **state)
{
	uint64_t seed = 10;

	for (int round = 0; round < 1000; round++) {
		struct random_event random;
		char *text, value[64];
		const char *at;
		bool quoted;
		unsigned int columns = 1;

		random_event(&seed, &random);
		at = text = export_all(&random.ev, 1, PFS_EXPORT_CSV);
		while (csv_value(&at, value, &quoted))
			columns++;
		assert_int_equal(columns, PFS_NR_FIELDS + 3);
		check_csv_row(&at, &random.ev);
		assert_string_equal(at, "");
		free(text);
	}
}

/* The largest event fits into the room that there is for one. */
static void test_largest(void **state)
{
	static char longest[2 * PFS_EVENT_STR_MAX];
	static const char fill[] = { '\xff', '\001', '"' };
	struct pfs_event ev;

	memset(&ev, 0xff, sizeof(ev));
	ev.kind = PFS_POPULATE;
	ev.access = ev.mode = ev.class = ev.space = 2;
	ev.by = 4;
	ev.how = 5;
	ev.comm = ev.func = ev.cache = ev.frames = ev.key = ev.value = ev.name = longest;
	for (size_t i = 0; i < sizeof(fill); i++) {
		char *text;

		/* invalid in one place makes every string come twice */
		memset(longest, fill[i], sizeof(longest) - 1);
		longest[0] = '\xff';
		text = export_all(&ev, 1, PFS_EXPORT_JSON);
		assert_true(strlen(text) > 15 * PFS_EVENT_STR_MAX);
		free(text);
		free(export_all(&ev, 1, PFS_EXPORT_CSV));
	}
}

static void test_full_disk(void **state)
{
	FILE *file = fopen("/dev/full", "we");
	struct pfs_export *export;
	struct pfs_sink sink;
	int ret = 0;

	if (!file)
		skip();
	export = pfs_export_new(file, PFS_EXPORT_CSV);
	sink = pfs_export_sink(export);
	for (int i = 0; i < 10000 && !ret; i++)
		ret = pfs_emit(&sink, &example);
	assert_int_equal(ret, -ENOSPC);
	pfs_export_free(export);
	pfs_export_free(NULL);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_golden), cmocka_unit_test(test_csv_golden),
		cmocka_unit_test(test_json_random), cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_csv_formula), cmocka_unit_test(test_csv_random),
		cmocka_unit_test(test_largest),	    cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests_name("exports", tests, NULL, NULL);
}
