/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON writer: what it writes, byte for byte, into a file and into memory.
 */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

struct written {
	struct pfs_json json;
	FILE *file;
	char *text;
	size_t size;
};

static struct pfs_json *begin(struct written *w)
{
	*w = (struct written){ 0 };
	w->file = open_memstream(&w->text, &w->size);
	pfs_json_init(&w->json, w->file);
	return &w->json;
}

static void expect(struct written *w, const char *text)
{
	fclose(w->file);
	assert_string_equal(w->text, text);
	free(w->text);
}

static void put_all(struct pfs_json *json)
{
	pfs_json_begin(json, NULL, "{");
	pfs_json_u64(json, "u64", UINT64_MAX);
	pfs_json_bool(json, "yes", true);
	pfs_json_bool(json, "no", false);
	pfs_json_raw(json, "none", "null");
	pfs_json_format(json, "share", "%.3f", 0.5);
	pfs_json_word(json, "word", "fault");
	pfs_json_begin(json, "empty", "[");
	pfs_json_end(json, "]");
	pfs_json_begin(json, "list", "[");
	pfs_json_begin(json, NULL, "{");
	pfs_json_end(json, "}");
	pfs_json_line(json, "\n  ");
	pfs_json_u64(json, NULL, 7);
	pfs_json_string(json, NULL, "");
	pfs_json_end(json, "\n]");
	pfs_json_key(json, "any \"key\"");
	pfs_json_u64(json, NULL, 1);
	pfs_json_end(json, "}");
}

static void test_nesting(void **state)
{
	static const char compact[] = "{\"u64\":18446744073709551615,\"yes\":true,\"no\":false,\"none\":null,"
				      "\"share\":0.500,\"word\":\"fault\",\"empty\":[],\"list\":[{},\n  7,\"\"\n],"
				      "\"any \\\"key\\\"\":1}";
	char memory[1024];
	struct written w;
	struct pfs_json json;

	put_all(begin(&w));
	expect(&w, compact);
	begin(&w)->spaced = true;
	put_all(&w.json);
	expect(&w, "{\"u64\": 18446744073709551615, \"yes\": true, \"no\": false, \"none\": null, \"share\": 0.500, "
		   "\"word\": \"fault\", \"empty\": [], \"list\": [{},\n  7, \"\"\n], \"any \\\"key\\\"\": 1}");
	pfs_json_init_memory(&json, memory);
	put_all(&json);
	*json.p = '\0';
	assert_string_equal(memory, compact);
}

static void test_strings(void **state)
{
	static const struct {
		const char *string, *plain, *markup;
	} strings[] = {
		{ "/usr/lib", "/usr/lib", "/usr/lib" },
		{ "a\"b\\c", "a\\\"b\\\\c", "a\\u0022b\\u005cc" },
		{ "\n\t\r\b\f", "\\n\\t\\r\\b\\f", "\\u000a\\u0009\\u000d\\u0008\\u000c" },
		{ "\x01\x1b\x7f", "\\u0001\\u001b\\u007f", "\\u0001\\u001b\\u007f" },
		{ "<&'>", "<&'>", "\\u003c\\u0026\\u0027\\u003e" },
		{ "é€", "é€", "é€" },
		{ "\xe2\x80\xae", "\\u202e", "\\u202e" },		    /* turns the text around */
		{ "\xf3\xa0\x80\x81", "\\udb40\\udc01", "\\udb40\\udc01" }, /* a tag: a pair of surrogates */
	};

	for (unsigned int i = 0; i < 2 * sizeof(strings) / sizeof(strings[0]); i++) {
		bool markup = i % 2;
		struct written w;
		char text[128];

		begin(&w)->markup = markup;
		pfs_json_string(&w.json, NULL, strings[i / 2].string);
		snprintf(text, sizeof(text), "\"%s\"", markup ? strings[i / 2].markup : strings[i / 2].plain);
		expect(&w, text);
	}
}

/* Bytes that are no UTF-8 are replaced, and follow as a whole in a second member; NUL is a character. */
static void test_bytes(void **state)
{
	char long_string[1000];
	struct written w;
	struct pfs_json *json = begin(&w);

	pfs_json_begin(json, NULL, "{");
	pfs_json_bytes(json, "comm", "a\xff\xc3z", 4);
	pfs_json_bytes(json, "nul", "a\0b", 3);
	pfs_json_end(json, "}");
	expect(&w, "{\"comm\":\"a\xef\xbf\xbd\xef\xbf\xbdz\",\"comm_hex\":\"61ffc37a\",\"nul\":\"a\\u0000b\"}");
	json = begin(&w);
	json->spaced = true;
	pfs_json_begin(json, NULL, "{");
	pfs_json_bytes(json, "name", "\x80", 1);
	pfs_json_end(json, "}");
	expect(&w, "{\"name\": \"\xef\xbf\xbd\", \"name_hex\": \"80\"}");
	json = begin(&w); /* longer than the writer's own buffer */
	memset(long_string, 'x', sizeof(long_string));
	pfs_json_bytes(json, NULL, long_string, sizeof(long_string));
	fflush(w.file);
	assert_int_equal(w.size, sizeof(long_string) + 2);
	assert_int_equal(strspn(w.text + 1, "x"), sizeof(long_string));
	fclose(w.file);
	free(w.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
