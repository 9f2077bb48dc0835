/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines after an exec: those of this process are read, and given up if the side-band has something later of it.
 */
#include "sideband/execs.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* No process has it. */
#define NOBODY 0x7fffffff

struct seen {
	unsigned int nr;
	int32_t tid;
	char value[256];
};

static int take(void *ctx, const struct raw_event *ev)
{
	struct seen *seen = ctx;

	seen->nr++;
	seen->tid = ev->tid;
	snprintf(seen->value, sizeof(seen->value), "%s", ev->str);
	return 0;
}

static struct seen put(struct pfs_execs *execs)
{
	struct seen seen = { 0 };

	assert_int_equal(pfs_execs_put(execs, take, &seen), 0);
	return seen;
}

static void test_read(void **state)
{
	struct pfs_execs execs = { 0 };
	uint64_t now = pfs_now_ns();
	char wanted[64];
	struct seen seen;

	assert_false(pfs_execs_read(&execs));
	assert_int_equal(pfs_execs_add(&execs, getpid(), now, false), 0);
	assert_true(pfs_execs_read(&execs));
	seen = put(&execs);
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.tid, getpid());
	snprintf(wanted, sizeof(wanted), "args=exec=%llu text=", (unsigned long long)now);
	assert_memory_equal(seen.value, wanted, strlen(wanted));
	assert_non_null(strstr(seen.value, "execs"));
	assert_false(pfs_execs_read(&execs)); /* only once */
	assert_int_equal(put(&execs).nr, 0);
	pfs_execs_fini(&execs);
}

static void test_something_later(void **state)
{
	struct pfs_execs execs = { 0 };
	uint64_t now = pfs_now_ns();

	pfs_execs_add(&execs, getpid(), now, false);
	assert_true(pfs_execs_read(&execs));
	pfs_execs_add(&execs, getpid(), now + 1, false); /* an exec between the two readings */
	assert_int_equal(put(&execs).nr, 0);
	assert_true(pfs_execs_read(&execs)); /* it is read in its turn */
	pfs_execs_add(&execs, getpid(), now + 2, true);
	assert_int_equal(put(&execs).nr, 0);
	pfs_execs_add(&execs, getpid(), now + 1, false); /* of another CPU's ring, before the end */
	assert_false(pfs_execs_read(&execs));
	pfs_execs_add(&execs, getpid(), now + 1, false);
	assert_false(pfs_execs_read(&execs));
	assert_int_equal(execs.nr, 0);

	pfs_execs_add(&execs, getpid(), now + 3, false);
	assert_true(pfs_execs_read(&execs));
	pfs_execs_forget(&execs); /* records were lost */
	assert_int_equal(put(&execs).nr, 0);
	pfs_execs_fini(&execs);
}

static void test_bounds(void **state)
{
	struct pfs_execs execs = { 0 };
	uint64_t now = pfs_now_ns();

	pfs_execs_add(&execs, NOBODY, now, false);
	assert_false(pfs_execs_read(&execs)); /* an exec may be under way: it stays */
	assert_int_equal(execs.nr, 1);
	pfs_execs_add(&execs, NOBODY - 1, now > 10000000000 ? now - 10000000000 : 0, false);
	if (now > 10000000000) {
		assert_false(pfs_execs_read(&execs));
		assert_int_equal(execs.nr, 1); /* but not for ten seconds */
	}
	for (int i = 0; i < 10000; i++)
		assert_int_equal(pfs_execs_add(&execs, NOBODY - i, now, false), 0);
	assert_true(execs.nr < 5000);
	pfs_execs_fini(&execs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_something_later),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
