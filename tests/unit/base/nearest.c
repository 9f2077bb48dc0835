/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nearest of some names.
 */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The nearest of a region's usual names within that many letters; "": none. */
static const char *nearest_of(const char *word, unsigned int most)
{
	static const char *const names[] = { "[heap]", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "anon" };
	struct pfs_nearest nearest = { .word = word, .most = most };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		pfs_nearest_try(&nearest, names[i]);
	return nearest.name ? nearest.name : "";
}

static void test_words(void **state)
{
	assert_string_equal(nearest_of("libc.so.6", 0), "libc.so.6");
	assert_string_equal(nearest_of("libcso.6", 2), "libc.so.6");   /* left out */
	assert_string_equal(nearest_of("llibm.so.6", 2), "libm.so.6"); /* added */
	assert_string_equal(nearest_of("aonn", 2), "anon");	       /* changed */
	assert_string_equal(nearest_of("lib?.so.5", 2), "libc.so.6");  /* the first of two */
	assert_string_equal(nearest_of("heap", 2), "[heap]");
	assert_string_equal(nearest_of("heap", 1), "");
	assert_string_equal(nearest_of("", 3), "");
}

static void test_globs(void **state)
{
	assert_string_equal(nearest_of("lbm*", 2), "libm.so.6");
	assert_string_equal(nearest_of("*x86_64*", 2), "ld-linux-x86-64.so.2");
	assert_string_equal(nearest_of("*", 0), "[heap]");
	assert_string_equal(nearest_of("zzz*", 2), "");
}

static void test_long(void **state)
{
	char a[200], b[200];
	struct pfs_nearest nearest = { .word = a, .most = 0 };

	for (size_t i = 0; i < sizeof(a) - 1; i++)
		a[i] = b[i] = 'x';
	a[199] = b[199] = '\0';
	b[100] = 'y';
	pfs_nearest_try(&nearest, b);
	assert_ptr_equal(nearest.name, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
