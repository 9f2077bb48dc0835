/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written to tracefs for wprobe events: the lines, as the kernel takes them. */
#include "tracefs/wprobes.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void test_readme(void **state)
{
	assert_true(pfs_wprobes_in("\t           t[:[<group>/][<event>]] <tracepoint> [<args>]\n"
				   "\t           w[:[<group>/][<event>]] [r|w|rw]@<addr>[:<len>]\n"));
	assert_false(
		pfs_wprobes_in("\t           t[:[<group>/][<event>]] <tracepoint> [<args>]\n"
			       "\t           e[:[<group>/][<event>]] <attached-group>.<attached-event> [<args>]\n"));
	assert_false(pfs_wprobes_in(""));
}

static void test_lines(void **state)
{
	const struct pfs_wprobe first = { .off = 0, .event = "kmem_cache_alloc", .filter = "" };
	const struct pfs_wprobe third = { .off = 16, .event = "kmalloc", .filter = "name ~ \"filp\"" };
	char line[256];

	pfs_wprobe_name(line, sizeof(line), 2);
	assert_string_equal(line, "pfs_word2");
	pfs_wprobe_define(line, sizeof(line), 0, &first);
	assert_string_equal(line,
			    "w:wprobes/pfs_word0 rw@-1:8 addr=$addr:x64 off=\\0:x64 value=+0($addr):x64 word=\\0:x64");
	pfs_wprobe_define(line, sizeof(line), 2, &third);
	assert_string_equal(line,
			    "w:wprobes/pfs_word2 rw@-1:8 addr=$addr:x64 off=\\16:x64 value=+0($addr):x64 word=\\2:x64");
	pfs_wprobe_set(line, sizeof(line), 0, &first);
	assert_string_equal(line, "set_wprobe:pfs_word0:ptr+0 if bytes_alloc >= 8");
	pfs_wprobe_set(line, sizeof(line), 2, &third);
	assert_string_equal(line, "set_wprobe:pfs_word2:ptr+16 if name ~ \"filp\" && bytes_alloc >= 24");
	pfs_wprobe_clear(line, sizeof(line), 2, &third);
	assert_string_equal(line, "clear_wprobe:pfs_word2:ptr+16");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readme),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
