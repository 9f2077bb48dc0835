/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The growing array. */
#include "base/array.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_it_grows_and_keeps(void **state)
{
	uint16_t *numbers = NULL;
	size_t nr = 0, max = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		uint16_t *number = pfs_array_add(numbers, nr, max);

		assert_non_null(number);
		assert_true(nr == i + 1 && nr <= max);
		*number = i;
	}
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], i);
	assert_true(pfs_array_reserve(numbers, nr, max, 5000));
	assert_true(max >= 6000 && nr == 1000 && numbers[999] == 999);
	free(numbers);
}

static void test_counters_of_any_width(void **state)
{
	uint64_t *numbers = NULL;
	unsigned char nr = 0, max = 0;

	for (unsigned int i = 0; i < 128; i++)
		assert_non_null(pfs_array_add(numbers, nr, max));
	assert_int_equal(max, 128);
	/* the next capacity is 256, which its counter cannot hold */
	assert_null(pfs_array_add(numbers, nr, max));
	assert_true(nr == 128 && max == 128);
	free(numbers);
}

static void test_sizes_that_overflow_are_refused(void **state)
{
	uint64_t *numbers = NULL;
	size_t nr = 0, max = 0;

	assert_false(pfs_array_reserve(numbers, nr, max, SIZE_MAX / 4));
	assert_false(pfs_array_reserve(numbers, nr, max, SIZE_MAX));
	assert_true(!numbers && !nr && !max);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_grows_and_keeps),
		cmocka_unit_test(test_counters_of_any_width),
		cmocka_unit_test(test_sizes_that_overflow_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
