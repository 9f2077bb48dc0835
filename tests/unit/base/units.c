/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sizes, durations and numbers: parsed and printed.
 */
#include "base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_parse(void **state)
{
	static const struct {
		const char *word;
		uint64_t size, ns; /* 0: invalid */
		bool unit;
	} words[] = {
		{ .word = "1.5s", .ns = 1500000000 },
		{ .word = "10ms", .ns = 10000000 },
		{ .word = "20us", .ns = 20000 },
		{ .word = "0.000000001s", .ns = 1 },
		{ .word = "1000000000s", .ns = UINT64_C(1000000000000000000) },
		{ .word = "1000000000.1s" },
		{ .word = "1.0000000001s" },
		{ .word = "0.25", .ns = 250000000 },
		{ .word = "20000000000000000000ns" },
		{ .word = ".5s", .ns = 500000000 },
		{ .word = "0s" },
		{ .word = "-1s" },
		{ .word = "1", .size = 1, .ns = 1000000000 },
		{ .word = "4096", .size = 4096, .ns = 4096000000000 },
		{ .word = "1099511627775", .size = 1099511627775 },
		{ .word = "1099511627776" },
		{ .word = "64K", .size = 65536, .unit = true },
		{ .word = "10M", .size = 10485760, .unit = true },
		{ .word = "2T", .size = UINT64_C(1) << 41, .unit = true },
		{ .word = "1048575T", .size = UINT64_C(1048575) << 40, .unit = true },
		{ .word = "1048576T" },
		{ .word = "1P" },
		{ .word = "1k" },
		{ .word = "1KB" },
		{ .word = "0" },
		{ .word = "-1" },
		{ .word = "" },
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint64_t value;
		bool unit;

		assert_int_equal(pfs_size_parse(words[i].word, &value, &unit), words[i].size != 0);
		if (words[i].size) {
			assert_int_equal(value, words[i].size);
			assert_int_equal(unit, words[i].unit);
		}
		assert_int_equal(pfs_duration_parse(words[i].word, &value), words[i].ns != 0);
		if (words[i].ns)
			assert_int_equal(value, words[i].ns);
	}
}

static void test_seconds(void **state)
{
	static const char *const bad[] = { "",	   ".",	  "1.",		  "-1",		 "1m",		 "1 s",
					   "1.5.", "0x1", "1.0000000001", "18446744074", "18446744074s", "s" };
	uint64_t ns;

	assert_true(pfs_seconds_parse("12", &ns) && ns == 12000000000);
	assert_true(pfs_seconds_parse(".000000001", &ns) && ns == 1);
	assert_true(pfs_seconds_parse("0ms", &ns) && ns == 0);
	assert_true(pfs_seconds_parse("18446744072.5s", &ns) && ns == 18446744072500000000U);
	assert_true(pfs_seconds_parse("1.50000000000", &ns) && ns == 1500000000);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(pfs_seconds_parse(bad[i], &ns));
}

static void test_sizes(void **state)
{
	char buf[32];

	assert_string_equal(pfs_size_text(buf, 4096), "4K");
	assert_string_equal(pfs_size_text(buf, 512), "0.5K");
	assert_string_equal(pfs_size_text(buf, 1536 << 10), "1.5M");
	assert_string_equal(pfs_size_text(buf, UINT64_MAX), "16E");
	assert_string_equal(pfs_bytes_text(buf, 999), "999 bytes");
	assert_string_equal(pfs_bytes_text(buf, 1234), "1.2 kB");
	assert_string_equal(pfs_bytes_text(buf, 34000000000), "34 GB");
	assert_string_equal(pfs_bytes_text(buf, UINT64_MAX), "18446744 TB");
}

static void test_numbers(void **state)
{
	char number[32];

	assert_string_equal(pfs_short_number(number, 0), "0");
	assert_string_equal(pfs_short_number(number, 99999), "99999");
	assert_string_equal(pfs_short_number(number, 100000), "97.7K");
	assert_string_equal(pfs_short_number(number, 256 << 20), "256M");
	assert_string_equal(pfs_short_number(number, UINT64_MAX), "16E");
	assert_string_equal(pfs_grouped_text(number, 0), "0");
	assert_string_equal(pfs_grouped_text(number, 999), "999");
	assert_string_equal(pfs_grouped_text(number, 4016219), "4,016,219");
	assert_string_equal(pfs_grouped_text(number, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(pfs_decimal_text(number, 0), "0");
	assert_string_equal(pfs_decimal_text(number, 0.000004), "4e-06");
	assert_string_equal(pfs_decimal_text(number, 0.25), "0.25");
	assert_string_equal(pfs_decimal_text(number, 2.54), "2.5");
	assert_string_equal(pfs_decimal_text(number, 99999), "99999");
	assert_string_equal(pfs_decimal_text(number, 100000), "100k");
	assert_string_equal(pfs_decimal_text(number, 999999), "1.0M");
	assert_string_equal(pfs_decimal_text(number, 5040915), "5.0M");
	assert_string_equal(pfs_decimal_text(number, 1e9), "1G");
	assert_string_equal(pfs_decimal_text(number, 3e21), "3000E");
	assert_string_equal(pfs_fixed_text(number, 1204, 6), "0.001204");
	assert_string_equal(pfs_fixed_text(number, UINT64_MAX, 3), "18446744073709551.615");
	assert_string_equal(pfs_plural(number, sizeof(number), 1, "pass"), "1 pass");
	assert_string_equal(pfs_plural(number, sizeof(number), 0, "page"), "0 pages");
	assert_string_equal(pfs_plural(number, sizeof(number), 2, "process"), "2 processes");
}

static void test_durations(void **state)
{
	char text[32];

	assert_string_equal(pfs_duration_text(text, 7, 3), "7 ns");
	assert_string_equal(pfs_duration_text(text, 250000, 3), "250 us");
	assert_string_equal(pfs_duration_text(text, 1500000000, 3), "1.5 s");
	assert_string_equal(pfs_duration_text(text, 1234567, 3), "1.23 ms");
	assert_string_equal(pfs_duration_text(text, 1234567, 10), "1.234567 ms");
	assert_string_equal(pfs_duration_text(text, 3600900000000, 3), "3600 s");
	assert_string_equal(pfs_duration_text(text, 3600900000000, 10), "3600.9 s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	cmocka_unit_test(test_seconds),	  cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
