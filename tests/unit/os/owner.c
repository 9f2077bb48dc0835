/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owners: the names of what they make, and that one lives as long as its lock is held, whoever looks.
 */
#include "os/owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_names(void **state)
{
	char name[PFS_OWNER_NAME_MAX], wanted[64];

	pfs_owner_name(0x1234, '-', name);
	snprintf(wanted, sizeof(wanted), "pfscope-%d-0000000000001234", getpid());
	assert_string_equal(name, wanted);
	assert_int_equal(pfs_owner_of_name(name), 0x1234);
	pfs_owner_name(UINT64_MAX, '_', name);
	assert_int_equal(pfs_owner_of_name(name), UINT64_MAX);
	assert_int_equal(pfs_owner_of_name("pfscope_4194303_ffffffffffffffff"), UINT64_MAX);
	assert_int_equal(pfs_owner_of_name(""), 0);
	assert_int_equal(pfs_owner_of_name("pfscope"), 0);
	assert_int_equal(pfs_owner_of_name("pfscope-1"), 0);
	assert_int_equal(pfs_owner_of_name("pfscope_1_"), 0);
	assert_int_equal(pfs_owner_of_name("pfscope_1_2_3"), 0);
	assert_int_equal(pfs_owner_of_name("pfscope-1-2 "), 0);
	assert_int_equal(pfs_owner_of_name("pfscope.1.2"), 0);
	assert_int_equal(pfs_owner_of_name("stap_1_2"), 0);
}

/* Only root can see the locks. */
static void test_state(void **state)
{
	struct pfs_owner first, second;
	bool locks;

	pfs_owner_open(&first);
	locks = pfs_owner_state(first.id) != PFS_OWNER_UNKNOWN;
	if (!locks)
		skip();
	pfs_owner_open(&second);
	assert_true(first.id != second.id);
	assert_int_equal(pfs_owner_state(first.id), PFS_OWNER_LIVES);
	assert_int_equal(pfs_owner_state(first.id + 1), PFS_OWNER_DEAD);
	pfs_owner_close(&first);
	pfs_owner_close(&first);
	assert_int_equal(pfs_owner_state(first.id), PFS_OWNER_DEAD);
	assert_int_equal(pfs_owner_state(second.id), PFS_OWNER_LIVES);
	pfs_owner_close(&second);
	assert_int_equal(pfs_owner_state(second.id), PFS_OWNER_DEAD);
	assert_int_equal(pfs_owner_state(UINT64_MAX), PFS_OWNER_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
