/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of caches as /sys/kernel/slab has them.
 */
#include "os/slabs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_os_slabs.XXXXXX";

static int hear(void *ctx, const char *names)
{
	strcat(strcat(ctx, names), "\n");
	return 0;
}

static int stop(void *ctx, const char *names)
{
	return -ECANCELED;
}

static void test_merged(void **state)
{
	static const char *const names[][2] = {
		{ "pid", ":A-0000192" },	   { "cred", ":A-0000192" }, { "anon_vma_chain", ":A-0000064" },
		{ "eventpoll_pwq", ":A-0000064" }, { "lonely", ":0000032" },
	};
	char heard[300] = "";

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(pfs_slabs_merged(dir, hear, heard), 0);
	assert_string_equal(heard, "");
	assert_int_equal(mkdir("filp", 0700), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(symlink(names[i][1], names[i][0]), 0);
	assert_int_equal(pfs_slabs_merged(dir, hear, heard), 0);
	assert_string_equal(heard, "anon_vma_chain eventpoll_pwq\ncred pid\n");
	assert_int_equal(pfs_slabs_merged(dir, stop, NULL), -ECANCELED);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i][0]);
	rmdir("filp");
	rmdir(dir);
	assert_int_equal(pfs_slabs_merged(dir, hear, heard), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
