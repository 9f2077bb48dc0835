/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of huge pages as kernels print them.
 */
#include "os/huge_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/test_ftrace_huge_pages.XXXXXX";

/* NULL: there is no such file. */
static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	if (!text)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* `enabled`, and those of two sizes. */
static enum pfs_huge_pages with(const char *all, const char *small, const char *large)
{
	put("enabled", all);
	put("hugepages-64kB/enabled", small);
	put("hugepages-2048kB/enabled", large);
	return pfs_huge_pages(dir);
}

static void one_setting_for_all(void **state)
{
	assert_int_equal(with("always madvise [never]\n", NULL, NULL), PFS_HUGE_NEVER);
	assert_int_equal(with("always [madvise] never\n", NULL, NULL), PFS_HUGE_ADVISED);
	assert_int_equal(with("[always] madvise never\n", NULL, NULL), PFS_HUGE_ALWAYS);
	assert_int_equal(with("", NULL, NULL), PFS_HUGE_NEVER);
}

static void a_kernel_without(void **state)
{
	assert_int_equal(with(NULL, NULL, NULL), PFS_HUGE_NEVER);
	assert_int_equal(pfs_huge_pages("/nowhere"), PFS_HUGE_NEVER);
}

static void a_setting_for_each_size(void **state)
{
	const char *never = "always inherit madvise [never]\n", *inherit = "always [inherit] madvise never\n";
	const char *advised = "always inherit [madvise] never\n", *always = "[always] inherit madvise never\n";

	assert_int_equal(with("always madvise [never]\n", never, inherit), PFS_HUGE_NEVER);
	assert_int_equal(with("always [madvise] never\n", never, inherit), PFS_HUGE_ADVISED);
	assert_int_equal(with("always madvise [never]\n", advised, inherit), PFS_HUGE_ADVISED);
	assert_int_equal(with("always madvise [never]\n", always, advised), PFS_HUGE_ALWAYS);
	assert_int_equal(with("always [madvise] never\n", advised, always), PFS_HUGE_ALWAYS);
}

static int make_dir(void **state)
{
	char path[128];

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/hugepages-64kB", dir);
	if (mkdir(path, 0700))
		return -1;
	snprintf(path, sizeof(path), "%s/hugepages-2048kB", dir);
	return mkdir(path, 0700);
}

static int remove_dir(void **state)
{
	char path[128];

	with(NULL, NULL, NULL);
	snprintf(path, sizeof(path), "%s/hugepages-64kB", dir);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/hugepages-2048kB", dir);
	rmdir(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_setting_for_all),
		cmocka_unit_test(a_kernel_without),
		cmocka_unit_test(a_setting_for_each_size),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
