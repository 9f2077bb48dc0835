/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of a process are watched: this one's own. DAMON itself is in tests/vm/idle.t.
 */
#include "refault/idle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_at(void *ctx, const struct pfs_smap *region)
{
	return region->start == (uintptr_t)ctx;
}

/* Memory of so many bytes, of which each `step`th page, `nr` in all, is there; at an end of its own. */
static char *map(size_t bytes, unsigned int nr, unsigned int step)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *start = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(start, MAP_FAILED);
	start += page;
	assert_int_equal(mprotect(start, bytes, PROT_READ | PROT_WRITE), 0);
	madvise(start, bytes, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < nr; i++)
		start[i * step * page] = 1;
	return start;
}

static struct pfs_pageout seen(char *start)
{
	const struct pfs_pageout_want want = { .wanted = is_at, .ctx = start };
	struct pfs_pageout sums = { 0 };
	struct pfs_damon damon = { 0 };
	struct pfs_idle *idle = pfs_idle_new(&damon, 4);

	assert_non_null(idle);
	assert_int_equal(pfs_idle_see(idle, getpid(), &want, &sums), 0);
	free(idle);
	return sums;
}

static void pages_in_memory_are_seen(void **state)
{
	struct pfs_pageout sums = seen(map(64 << 20, 20, 700));

	assert_int_equal(sums.pages, 20);
	assert_int_equal(sums.fixed, 0);
	assert_int_equal(sums.nr_processes, 1);
}

static void what_is_too_long_is_counted(void **state)
{
	struct pfs_pageout sums = seen(map((size_t)5 << 30, 7, 1));

	assert_int_equal(sums.pages, 0);
	assert_int_equal(sums.fixed, 7);
}

/* A page in each of more page tables than there are targets. */
static void what_is_too_much_is_counted(void **state)
{
	char *start = mmap(NULL, (size_t)9000 << 21, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct pfs_damon damon = { 0 };
	struct pfs_idle *idle = pfs_idle_new(&damon, 4);
	struct pfs_pageout sums = { 0 };

	assert_ptr_not_equal(start, MAP_FAILED);
	for (size_t i = 0; i < 3; i++) { /* of at most 4 GiB each, one beside the other but for a page */
		char *part = start + i * ((size_t)1500 << 21);
		const struct pfs_pageout_want want = { .wanted = is_at, .ctx = part };
		size_t len = ((size_t)1500 << 21) - (1 << 21);

		assert_int_equal(mprotect(part, len, PROT_READ | PROT_WRITE), 0);
		madvise(part, len, MADV_NOHUGEPAGE);
		for (size_t k = 0; k < 1499; k++)
			part[k << 21] = 1;
		assert_int_equal(pfs_idle_see(idle, getpid(), &want, &sums), 0);
	}
	assert_int_equal(sums.pages + sums.fixed, 3 * 1499);
	assert_int_equal(sums.pages, 4096);
	free(idle);
	munmap(start, (size_t)9000 << 21);
}

static void who_is_gone_has_none(void **state)
{
	const struct pfs_pageout_want want = { 0 };
	struct pfs_pageout sums = { 0 };
	struct pfs_damon damon = { 0 };
	struct pfs_idle *idle = pfs_idle_new(&damon, 4);

	assert_int_equal(pfs_idle_see(idle, INT32_MAX, &want, &sums), 0);
	assert_int_equal(sums.pages + sums.nr_processes, 0);
	free(idle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_in_memory_are_seen),
		cmocka_unit_test(what_is_too_long_is_counted),
		cmocka_unit_test(what_is_too_much_is_counted),
		cmocka_unit_test(who_is_gone_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
