/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escaping and fitting: nothing a terminal acts on comes through, and nothing is cut in half.
 */
#include "base/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_escape(void **state)
{
	static const struct {
		const char *in, *out;
		unsigned int flags;
	} rows[] = {
		{ "", "", 0 },
		{ "/usr/lib/libc.so.6", "/usr/lib/libc.so.6", 0 },
		{ "a\nb\tc\rd\033[31m", "a\\nb\\tc\\rd\\e[31m", 0 },
		{ "\001\177", "\\x01\\x7f", 0 },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		  "caf\xc3\xa9 \xe2\x82\xac "
		  "\xf0\x9f\x98\x80",
		  0 },
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m", 0 },		 /* C1: CSI */
		{ "caf\xe9", "caf\\xe9", 0 },	 /* Latin-1 */
		{ "\xc0\xaf", "\\xc0\\xaf", 0 }, /* overlong / */
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf", 0 },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80", 0 },	   /* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 0 }, /* beyond Unicode */
		{ "\xe2\x82", "\\xe2\\x82", 0 },		   /* cut short */
		{ "a\xe2\x80\xae"
		  "b",
		  "a\\xe2\\x80\\xaeb", 0 }, /* right-to-left override */
		{ "a\\b", "a\\\\b", 0 },
		{ "a\\b\n", "a\\b\\n", PFS_ESCAPE_AGAIN },
	};
	char buf[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = pfs_escape(buf, sizeof(buf), rows[i].in, rows[i].flags);

		assert_string_equal(buf, rows[i].out);
		assert_int_equal(len, strlen(rows[i].out));
	}
}

/* Any bytes: what comes out has no control character and is valid UTF-8. */
static void test_escape_any(void **state)
{
	char in[64], out[4 * sizeof(in)];

	srand(1);
	for (int round = 0; round < 2000; round++) {
		size_t len = rand() % (sizeof(in) - 1), full;

		for (size_t i = 0; i < len; i++)
			in[i] = 1 + rand() % 255;
		in[len] = '\0';
		full = pfs_escape(out, sizeof(out), in, 0);
		assert_int_equal(full, strlen(out));
		for (size_t i = 0, nr; i < full; i += nr) {
			uint32_t code;

			nr = pfs_utf8_decode(out + i, full - i, &code);
			assert_int_not_equal(nr, 0);
			assert_true(code >= 0x20 && code != 0x7f && (code < 0x80 || code >= 0xa0));
		}
	}
}

static void test_escape_bounds(void **state)
{
	static const char in[] = "ab\n\xe2\x82\xac\001z"; /* ab \n euro \x01 z */
	static const size_t cuts[] = { 0, 0, 1, 2, 2, 4, 4, 4, 7, 7, 7, 7, 11, 12 };

	for (size_t size = 0; size < sizeof(cuts) / sizeof(cuts[0]); size++) {
		char *buf = malloc(size + 1);

		buf[size] = 'K';
		assert_int_equal(pfs_escape(buf, size, in, 0), 12);
		if (size)
			assert_int_equal(strlen(buf), cuts[size]);
		assert_int_equal(buf[size], 'K');
		free(buf);
	}
}

static void test_columns(void **state)
{
	assert_int_equal(pfs_columns(""), 0);
	assert_int_equal(pfs_columns("[heap]"), 6);
	assert_int_equal(pfs_columns("caf\xc3\xa9"), 4);
	assert_int_equal(pfs_columns("cafe\xcc\x81"), 4);	      /* e and a combining accent */
	assert_int_equal(pfs_columns("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* two ideographs */
	assert_int_equal(pfs_columns("\xf0\x9f\x98\x80"), 2);
	assert_int_equal(pfs_columns("\xe2\x96\x88\xe2\x80\xa6"), 2); /* full block, ellipsis */
	assert_int_equal(pfs_columns("\xff\xfe"), 2);
}

#define DOTS "\xe2\x80\xa6"

static void test_fit(void **state)
{
	static const struct {
		const char *in;
		unsigned int columns;
		const char *head, *tail;
	} rows[] = {
		{ "", 0, "", "" },
		{ "abcdef", 6, "abcdef", "abcdef" },
		{ "abcdef", 5, "abcd" DOTS, DOTS "cdef" },
		{ "abcdef", 1, DOTS, DOTS },
		{ "abcdef", 0, "", "" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5" DOTS, DOTS "\xe6\x9c\xac" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 2, DOTS, DOTS },
		{ "cafe\xcc\x81s", 4, "caf" DOTS, DOTS "fe\xcc\x81s" },
		{ "cafe\xcc\x81s", 2, "c" DOTS, DOTS "s" },
	};
	char buf[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pfs_fit_head(buf, sizeof(buf), rows[i].in, rows[i].columns, DOTS),
				 strlen(rows[i].head));
		assert_string_equal(buf, rows[i].head);
		assert_int_equal(pfs_fit_tail(buf, sizeof(buf), rows[i].in, rows[i].columns, DOTS),
				 strlen(rows[i].tail));
		assert_string_equal(buf, rows[i].tail);
	}
	pfs_fit_tail(buf, sizeof(buf), "/usr/lib/libc.so.6", 10, "...");
	assert_string_equal(buf, "...bc.so.6");
}

/* Whatever the bytes, the columns and the room: bounds are kept. */
static void test_fit_any(void **state)
{
	srand(2);
	for (int round = 0; round < 5000; round++) {
		char in[40];
		size_t len = rand() % (sizeof(in) - 1), size = rand() % 50, nr;
		unsigned int columns = rand() % 30;
		char *buf = malloc(size);

		for (size_t i = 0; i < len; i++)
			in[i] = rand() % 3 ? 'a' + rand() % 26 : 1 + rand() % 255;
		in[len] = '\0';
		nr = rand() % 2 ? pfs_fit_head(buf, size, in, columns, DOTS)
				: pfs_fit_tail(buf, size, in, columns, DOTS);
		if (size) {
			assert_true(nr < size && nr == strlen(buf));
			assert_true(pfs_columns(buf) <= columns);
		}
		free(buf);
	}
}

static void test_quote(void **state)
{
	static const struct {
		const char *words;
		size_t len;
		const char *text;
	} lines[] = {
		{ "ls\0-l\0", 6, "ls -l" },
		{ "ls\0-l", 5, "ls -l" },
		{ "", 0, "" },
		{ "\0", 1, "''" },
		{ "a\0\0b\0", 5, "a '' b" },
		{ "sh\0-c\0echo 'a b'\0", 17, "sh -c 'echo '\\''a b'\\'''" },
		{ "x\0a=b\0--c=/d.e:f,g@h%i+j_k\0", 27, "x a=b --c=/d.e:f,g@h%i+j_k" },
		{ "x\0$HOME\0*\0~\0#\0;\0", 16, "x '$HOME' '*' '~' '#' ';'" },
		{ "x\0a\nb\0", 6, "x 'a\nb'" },
		{ "\xc3\xa4\0", 3, "\xc3\xa4" },
	};

	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *text = pfs_quote_words(lines[i].words, lines[i].len);

		assert_string_equal(text, lines[i].text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),	cmocka_unit_test(test_escape_any), cmocka_unit_test(test_escape_bounds),
		cmocka_unit_test(test_columns), cmocka_unit_test(test_fit),	   cmocka_unit_test(test_fit_any),
		cmocka_unit_test(test_quote),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
