/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "buffer_size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define KB UINT64_C(1024)
#define GB (1024 * 1024 * KB)

static void test_grows(void **state)
{
	assert_int_equal(pfs_buffer_size(8192, 0, 65536), 8192);
	assert_int_equal(pfs_buffer_size(8192, 4096 * KB, 65536), 8192);	/* half full: it may stay */
	assert_int_equal(pfs_buffer_size(8192, 4096 * KB + 1, 65536), 16384);
	assert_int_equal(pfs_buffer_size(8192, 8192 * KB, 65536), 16384);
	assert_int_equal(pfs_buffer_size(16384, 8192 * KB, 65536), 16384);
}

static void test_has_an_end(void **state)
{
	assert_int_equal(pfs_buffer_size(40000, 40000 * KB, 65536), 65536);
	assert_int_equal(pfs_buffer_size(65536, 65536 * KB, 65536), 65536);
	assert_int_equal(pfs_buffer_size(8192, 8192 * KB, 4096), 8192);		/* never smaller */
	assert_int_equal(pfs_buffer_size(UINT32_MAX, UINT64_MAX, UINT32_MAX), UINT32_MAX);
}

static void test_share_of_memory(void **state)
{
	assert_int_equal(pfs_buffer_max_kb(4 * GB, 2), 128 * KB);
	assert_int_equal(pfs_buffer_max_kb(1024 * GB, 2), 256 * KB);
	assert_int_equal(pfs_buffer_max_kb(1 * GB, 64), 1 * KB);
	assert_int_equal(pfs_buffer_max_kb(0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows),
		cmocka_unit_test(test_has_an_end),
		cmocka_unit_test(test_share_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
