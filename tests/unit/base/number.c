/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers from outside: what libc's readers accept beside digits is refused.
 */
#include "base/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_parse(void **state)
{
	static const char *const bad[] = { "",	  "-1",	 "+1",	" 1",  "1 ",	      "\t1",
					   "1\n", "12a", "0x1", "1e3", "99999999999", "18446744073709551617" };
	uint64_t nr = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(pfs_number_parse(bad[i], 0, UINT32_MAX, &nr));
		assert_int_equal(pfs_pid_parse(bad[i]), 0);
	}
	assert_false(pfs_number_parse("4", 5, 9, &nr));
	assert_false(pfs_number_parse("10", 5, 9, &nr));
	assert_int_equal(nr, 7);
	assert_true(pfs_number_parse("9", 5, 9, &nr) && nr == 9);
	assert_true(pfs_number_parse("0012", 0, 12, &nr) && nr == 12);
	assert_int_equal(pfs_pid_parse("0"), 0);
	assert_int_equal(pfs_pid_parse("2147483648"), 0);
	assert_int_equal(pfs_pid_parse("2147483647"), INT32_MAX);
}

static void test_take(void **state)
{
	const char *at = "18446744073709551615-ffffffffffffffff:10000000000000000";
	uint64_t nr = 0;

	assert_true(pfs_take_dec(&at, UINT64_MAX, &nr) && nr == UINT64_MAX && *at == '-');
	assert_false(pfs_take_dec(&at, UINT64_MAX, &nr));
	at++;
	assert_false(pfs_take_dec(&at, UINT64_MAX, &nr));
	assert_false(pfs_take_hex(&at, UINT64_MAX - 1, &nr));
	assert_true(pfs_take_hex(&at, UINT64_MAX, &nr) && nr == UINT64_MAX && *at == ':');
	at++;
	assert_false(pfs_take_hex(&at, UINT64_MAX, &nr)); /* 17 digits */
	assert_true(*at == '1');
}

static void test_any(void **state)
{
	static const char kernels[] = "0x1f -6 10 0x add_to";
	const char *at = kernels;
	uint64_t nr = 0;

	at = pfs_any_number(at, 10, &nr);
	assert_true(*at++ == ' ' && nr == 0x1f);
	at = pfs_any_number(at, 10, &nr);
	assert_true(*at++ == ' ' && nr == (uint64_t)-6);
	at = pfs_any_number(at, 16, &nr);
	assert_true(*at++ == ' ' && nr == 0x10);
	assert_ptr_equal(pfs_any_number(at, 16, &nr), at);
	assert_ptr_equal(pfs_any_number(at + 3, 16, &nr), at + 3);
}

static void test_behind(void **state)
{
	static const char status[] = "Name:\tTgid: 5\nTgid:\t4711\nPPid:\t-1\nVmRSS:\t  120 kB\n";
	uint64_t nr = 7;

	assert_true(pfs_number_behind(status, "\nTgid:", &nr) && nr == 4711);
	assert_true(pfs_number_behind(status, "VmRSS:", &nr) && nr == 120);
	assert_false(pfs_number_behind(status, "\nPPid:", &nr));
	assert_false(pfs_number_behind(status, "\nUid:", &nr));
	assert_int_equal(nr, 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_any),
		cmocka_unit_test(test_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
