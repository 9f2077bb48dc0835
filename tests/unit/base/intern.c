/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * String interning: one pointer a text, whatever memory the text came from.
 */
#include "base/intern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_same_pointer(void **state)
{
	struct pfs_intern *pool = NULL;
	char text[] = "/usr/bin/cat";
	const char *first = pfs_intern(&pool, text);

	assert_string_equal(first, "/usr/bin/cat");
	assert_ptr_not_equal(first, text);
	text[5] = 'B';
	assert_string_equal(first, "/usr/bin/cat");
	assert_ptr_equal(first, pfs_intern(&pool, "/usr/bin/cat"));
	assert_ptr_not_equal(first, pfs_intern(&pool, text));
	assert_null(pfs_intern(&pool, NULL));
	assert_string_equal(pfs_intern(&pool, ""), "");
	assert_ptr_equal(pfs_intern(&pool, ""), pfs_intern(&pool, ""));
	pfs_intern_free(pool);
	pfs_intern_free(NULL);
}

static void test_many(void **state)
{
	struct pfs_intern *pool = NULL;
	static const char *seen[5000];
	char text[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "region-%d", i);
			if (!round)
				seen[i] = pfs_intern(&pool, text);
			assert_ptr_equal(seen[i], pfs_intern(&pool, text));
			assert_string_equal(seen[i], text);
		}
	}
	pfs_intern_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_pointer),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
