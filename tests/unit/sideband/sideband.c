/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue of own records: what comes late is written all the same, as the last one.
 */
#include "sideband/sideband.h"

#include "record/ringpage.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct written {
	struct pfs_ringwrite *pages;
	uint64_t ts_ns[8], what[8];
	unsigned int nr;
};

/* Pages refuse a record that is earlier than the one before. */
static int write_event(void *ctx, const struct raw_event *ev)
{
	struct written *w = ctx;
	uint64_t record[2] = { ev->arg[0] };

	assert_true(w->nr < 8);
	w->ts_ns[w->nr] = ev->ts_ns;
	w->what[w->nr++] = ev->arg[0];
	return pfs_ringwrite_append(w->pages, ev->ts_ns, record, sizeof(record));
}

static void put(struct pfs_sideband *sb, int32_t tid, uint64_t ts_ns, uint64_t what)
{
	struct raw_event ev = raw_event_own(RAW_PFS_MAP, ts_ns, tid);

	ev.arg[0] = what;
	assert_int_equal(pfs_sideband_put(sb, &ev), 0);
}

static void assert_written(const struct written *w, unsigned int i, uint64_t what, uint64_t ts_ns)
{
	assert_true(i < w->nr);
	assert_int_equal(w->what[i], what);
	assert_int_equal(w->ts_ns[i], ts_ns);
}

/* A thread was preempted between the time of its record and the record itself. */
static void test_late(void **state)
{
	const struct pfs_ring_layout ring = { .long_size = 8, .commit_at = 8, .data_at = 16 };
	struct written w = { .pages = pfs_ringwrite_new(-1, &ring, 4096) };
	struct pfs_sideband *sb = pfs_sideband_new(NULL);

	assert_non_null(sb);
	assert_non_null(w.pages);
	put(sb, 10, 300, 3);
	put(sb, 10, 100, 1);
	assert_int_equal(pfs_sideband_flush(sb, 0, 200, write_event, &w), 0);
	assert_written(&w, 0, 1, 100);
	assert_int_equal(pfs_sideband_flush(sb, 0, 400, write_event, &w), 0);
	assert_written(&w, 1, 3, 300);
	put(sb, 11, 450, 4);
	put(sb, 11, 250, 2);
	put(sb, 10, 90, 0);
	assert_int_equal(pfs_sideband_flush(sb, 0, 500, write_event, &w), 0);
	assert_written(&w, 2, 0, 300);
	assert_written(&w, 3, 2, 300);
	assert_written(&w, 4, 4, 450);
	assert_int_equal(w.nr, 5);
	pfs_ringwrite_free(w.pages);
	pfs_sideband_free(sb);
}

/* What is passed on for one thread ahead of the others does not make those late. */
static void test_late_of_thread(void **state)
{
	const struct pfs_ring_layout ring = { .long_size = 8, .commit_at = 8, .data_at = 16 };
	struct written w = { .pages = pfs_ringwrite_new(-1, &ring, 4096) };
	struct pfs_sideband *sb = pfs_sideband_new(NULL);

	assert_non_null(sb);
	put(sb, 10, 100, 1);
	put(sb, 11, 200, 2);
	put(sb, 10, 300, 3);
	assert_int_equal(pfs_sideband_flush(sb, 11, 250, write_event, &w), 0);
	assert_written(&w, 0, 2, 200);
	pfs_ringwrite_free(w.pages);
	w.pages = pfs_ringwrite_new(-1, &ring, 4096);
	assert_int_equal(pfs_sideband_flush(sb, 0, 400, write_event, &w), 0);
	assert_written(&w, 1, 1, 100);
	assert_written(&w, 2, 3, 300);
	pfs_ringwrite_free(w.pages);
	pfs_sideband_free(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_of_thread),
	};

	return cmocka_run_group_tests_name("side-band", tests, NULL, NULL);
}
