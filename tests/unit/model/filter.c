/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter: how its options are read, which touches it lets through, when it stops the source, and
 * what of it the views show.
 */
#include "support/page_at.h"
#include "support/draw.h"

#include <inttypes.h>

static const struct pfs_view_options plain = { .width = 80 };

/* ---- options ---- */

static void assert_time(const char *s, uint64_t ns, bool of_clock)
{
	struct pfs_time time = { 0 };

	assert_int_equal(pfs_time_parse(s, &time, NULL), 0);
	assert_int_equal(time.ns, ns);
	assert_int_equal(time.of_clock, of_clock);
	assert_true(time.set);
}

static void test_times(void **state)
{
	static const char *const bad[] = {
		"",
		"@",
		".",
		"-1",
		"+1",
		"1.",
		"1,5",
		"1m",
		" 1",
		"1 ",
		"0x10",
		"1e3",
		"@@1",
		"1.2.3",
		"0.1234567891",
		"18446744074",
		"99999999999999999999",
		"nan",
		"1.-5",
	};
	struct pfs_err err;

	assert_time("0", 0, false);
	assert_time("12", 12000000000, false);
	assert_time("0.25", 250000000, false);
	assert_time(".5", 500000000, false);
	assert_time("250ms", 250000000, false);
	assert_time("@1.5s", 1500000000, true);
	assert_time("1.000000001", 1000000001, false);
	assert_time("@1234.567890123", 1234567890123, true);
	assert_time("0.1234567890000", 123456789, false);
	assert_time("18446744072.999999999", 18446744072999999999u, false);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct pfs_time time = { .ns = 7 };

		assert_int_equal(pfs_time_parse(bad[i], &time, &err), -EINVAL);
		assert_int_equal(time.ns, 7);
		assert_false(time.set);
		assert_non_null(strstr(err.msg, bad[i]));
	}
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {
		"", ",", "1,", ",1", "x", "0", "-1", "1x", "1,,2", "2147483648", " 1", "1 ", "99999999999999999999",
	};
	struct pfs_filter filter = { 0 };
	struct pfs_err err;

	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_PID, "1,22,2147483647", NULL), 0);
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_PID, "5", NULL), 0);
	assert_int_equal(filter.nr_pids, 4);
	assert_int_equal(filter.pids[2], INT32_MAX);
	assert_int_equal(filter.pids[3], 5);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_TID, bad[i], &err), -EINVAL);
	assert_string_equal(err.msg, "'99999999999999999999' is no process or thread number");
	pfs_filter_fini(&filter);
}

static void test_region_globs(void **state)
{
	struct pfs_filter filter = { 0 };

	assert_true(pfs_filter_region(NULL, NULL, 0, PAGE));
	assert_true(pfs_filter_region(&filter, "/a", 0, PAGE));
	pfs_filter_add(&filter, PFS_FILTER_REGION, "libc.so*", NULL);
	pfs_filter_add(&filter, PFS_FILTER_REGION, "00400000-*", NULL);
	pfs_filter_add(&filter, PFS_FILTER_REGION, "\\[heap\\]", NULL);
	pfs_filter_add(&filter, PFS_FILTER_REGION, "/opt/*", NULL);
	assert_true(pfs_filter_region(&filter, "/usr/lib/libc.so.6", PAGE, 2 * PAGE));
	assert_false(pfs_filter_region(&filter, "/usr/lib/libm.so.6", PAGE, 2 * PAGE));
	assert_true(pfs_filter_region(&filter, NULL, 0x400000, 0x401000));
	assert_false(pfs_filter_region(&filter, NULL, 0x401000, 0x402000));
	assert_true(pfs_filter_region(&filter, "[heap]", PAGE, 2 * PAGE));
	assert_true(pfs_filter_region(&filter, "/opt/x/y.so", PAGE, 2 * PAGE));
	assert_false(pfs_filter_region(&filter, "[stack]", PAGE, 2 * PAGE));
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, "[stack]", NULL), 0);
	assert_true(pfs_filter_region(&filter, "[stack]", PAGE, 2 * PAGE));
	pfs_filter_fini(&filter);
}

/* ---- which touches ---- */

static uint64_t faults_with(enum pfs_filter_key key, const char *arg)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(10);
	uint64_t faults;

	assert_int_equal(pfs_filter_add(&filter, key, arg, NULL), 0);
	f.filter = &filter;
	feed_comm(&f, "main");
	feed_map(&f, 0x400000, 0x410000, RW, "");
	feed_thread(&f, 11);
	feed_faults(&f, 0x400000, 1, PFS_WRITE);
	feed_as(&f, 0, 11); /* whose process only the model knows */
	feed_comm(&f, "worker");
	feed_faults(&f, 0x401000, 2, PFS_WRITE);
	feed_fork(&f, 12, false);
	feed_as(&f, 12, 12);
	feed_faults(&f, 0x404000, 4, PFS_WRITE);
	feed_comm(&f, "child");
	feed_faults(&f, 0x408000, 8, PFS_WRITE);
	faults = f.model->counts.faults;
	assert_int_equal(f.model->nr_procs, 2);
	assert_int_equal(pfs_proc_space(f.model->procs)->nr_live, 1);
	pfs_filter_fini(&filter);
	feed_free(&f);
	return faults;
}

static void test_who(void **state)
{
	assert_int_equal(faults_with(PFS_FILTER_PID, "10"), 3);
	assert_int_equal(faults_with(PFS_FILTER_PID, "12"), 12);
	assert_int_equal(faults_with(PFS_FILTER_PID, "10,12"), 15);
	assert_int_equal(faults_with(PFS_FILTER_PID, "11"), 0);
	assert_int_equal(faults_with(PFS_FILTER_TID, "11"), 2);
	assert_int_equal(faults_with(PFS_FILTER_TID, "10,12"), 13);
	assert_int_equal(faults_with(PFS_FILTER_COMM, "worker"), 6);
	assert_int_equal(faults_with(PFS_FILTER_COMM, "[cm]*"), 9);
	assert_int_equal(faults_with(PFS_FILTER_COMM, "x"), 0);
}

/* What hangs on a hidden fault is hidden with it. */
static void test_what_belongs_to_a_touch(void **state)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(10);

	f.filter = &filter;
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_PID, "99", NULL), 0);
	feed_maps_line(&f, 0x400000, 0x440000, RW, 0, 1, 2, "/f");
	feed_fault(&f, 0x400000, PFS_READ);
	feed_around(&f, 1, 2, 0, 0x4000);
	feed_major(&f, 1, 2, 0);
	feed_huge(&f, 2);
	feed_signal(&f, 11);
	feed_populate(&f, 0x400000, 0x402000);
	assert_int_equal(pages_total(pfs_proc_space(f.model->procs)->pages), 0);
	assert_int_equal(
		f.model->counts.signal + f.model->counts.major + f.model->counts.populated + f.model->counts.huge, 0);
	pfs_filter_fini(&filter);
	feed_free(&f);
}

/* The pages are the address space's, whichever of the processes that share it touches them. */
static void test_a_process_in_shared_memory(void **state)
{
	static const struct {
		const char *pid;
		uint64_t faults;
	} cases[] = { { "10", 2 }, { "20", 3 }, { "30", 2 }, { "40", 0 }, { "99", 0 } };

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pfs_filter filter = { 0 };
		struct feed f = feed_new(10);

		f.filter = &filter;
		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_PID, cases[i].pid, NULL), 0);
		feed_map(&f, 0x400000, 0x410000, RW, "");
		feed_fork(&f, 20, true);
		feed_fork(&f, 30, false);
		feed_fault(&f, 0x400000, PFS_WRITE);
		feed_as(&f, 20, 20);
		feed_fault(&f, 0x401000, PFS_WRITE);
		feed_exec(&f, "/new", "new");
		feed_fault(&f, 0x402000, PFS_WRITE);
		feed_as(&f, 30, 30);
		feed_fault(&f, 0x403000, PFS_WRITE);
		feed_fork(&f, 40, true);
		feed_as(&f, 40, 40);
		feed_exit(&f, true);
		feed_as(&f, 30, 30);
		feed_fault(&f, 0x404000, PFS_WRITE); /* 40 has ended */
		assert_int_equal(f.model->counts.faults, cases[i].faults);
		pfs_filter_fini(&filter);
		feed_free(&f);
	}
}

/* ---- times ---- */

/* One page a microsecond from @2.000000 on, after a start at @1.999990. Returns how many were taken. */
static uint64_t pages_between(const char *from, const char *to, const char *at, int *last)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(10);
	struct pfs_event ev;
	uint64_t faults;
	int ret = 0;

	f.filter = &filter;
	if (from)
		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_FROM, from, NULL), 0);
	if (to)
		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_TO, to, NULL), 0);
	if (at)
		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_AT, at, NULL), 0);
	f.now_ns = 0;
	feed_note(&f, "clock", "mono", false); /* header notes have no time */
	f.now_ns = 1999980000;
	feed_map(&f, 0x400000, 0x500000, RW, "");
	f.now_ns = 1999990000;
	feed_note(&f, "start", "", false);
	f.now_ns = 2000000000;
	for (int i = 0; i < 100 && !ret; i++) {
		ev = feed_event(&f, PFS_FAULT, HAS(ADDR));
		ev.addr = 0x400000 + i * PAGE;
		ret = feed_try(&f, &ev);
	}
	if (last)
		*last = ret;
	faults = f.model->counts.faults;
	pfs_filter_fini(&filter);
	feed_free(&f);
	return faults;
}

static void test_when(void **state)
{
	int last;

	assert_int_equal(pages_between(NULL, NULL, NULL, &last), 100);
	assert_int_equal(last, 0);
	/* at: that moment included */
	assert_int_equal(pages_between(NULL, NULL, "@2.000009", &last), 10);
	assert_int_equal(last, -ECANCELED);
	assert_int_equal(pages_between(NULL, NULL, "@2.000008999", NULL), 9);
	assert_int_equal(pages_between(NULL, NULL, "0.00001", NULL), 1);
	assert_int_equal(pages_between(NULL, NULL, "@3", &last), 100);
	assert_int_equal(last, 0);
	/* from and to: half-open, so that two intervals that meet hold each touch once */
	assert_int_equal(pages_between("@2.000010", NULL, NULL, &last), 90);
	assert_int_equal(last, 0);
	assert_int_equal(pages_between(NULL, "@2.000010", NULL, &last), 10);
	assert_int_equal(last, -ECANCELED);
	assert_int_equal(pages_between("0.00002", "0.00003", NULL, NULL), 10);
	assert_int_equal(pages_between("0", NULL, NULL, NULL), 100);
	assert_int_equal(pages_between("@9", NULL, NULL, NULL), 0);
}

/* Without a note of the start, the first event is the start. */
static void test_without_a_start(void **state)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(10);
	struct pfs_event ev;

	f.filter = &filter;
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_AT, "0.000001", NULL), 0);
	feed_fault(&f, 0x1000, PFS_READ);
	feed_fault(&f, 0x2000, PFS_READ);
	ev = feed_event(&f, PFS_FAULT, HAS(ADDR));
	assert_int_equal(feed_try(&f, &ev), -ECANCELED);
	pfs_filter_fini(&filter);
	feed_free(&f);
}

/* ---- what the views make of it ---- */

static void test_views_hide_processes(void **state)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(10);

	f.filter = &filter;
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_COMM, "b*", NULL), 0);
	feed_comm(&f, "aa");
	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_fork(&f, 11, false);
	feed_as(&f, 11, 11);
	feed_comm(&f, "bb");
	feed_fork(&f, 12, false);
	feed_as(&f, 12, 12);
	feed_comm(&f, "cc");
	feed_thread(&f, 13);
	feed_as(&f, 12, 13);
	feed_comm(&f, "bthread");
	feed_fault(&f, 0x400000, PFS_WRITE);
	assert_false(drawn_with(&f, "by-address", plain, "pid 10"));
	assert_true(drawn_with(&f, "by-address", plain, "pid 11 bb"));
	/* One of its threads has the name and touched something. */
	assert_true(drawn_with(&f, "by-address", plain, "pid 12 cc"));
	pfs_filter_fini(&filter);
	feed_free(&f);
}

static void test_views_hide_regions(void **state)
{
	struct pfs_filter filter = { 0 };
	struct feed f = feed_new(10);

	f.filter = &filter;
	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_map(&f, 0x500000, 0x501000, RW, "/usr/lib/libm.so");
	feed_fault(&f, 0x400000, PFS_WRITE);
	feed_fault(&f, 0x500000, PFS_READ);
	feed_fault(&f, 0x900000, PFS_READ);
	assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, "anon", NULL), 0);
	assert_drawn(&f, "classic", plain, "Region: 00400000 - 00401000 (   1 pages): |X|\n");
	filter.regions[0] = "libm*";
	assert_drawn(&f, "classic", plain, "Region: 00500000 - 00501000 (   1 pages): |X|\n");
	assert_true(drawn_with(&f, "by-address", plain, "1 fault, 1 page touched, 1 region,"));
	filter.regions[0] = "(no known*";
	assert_drawn(&f, "classic", plain, "Unknown: 00900000 - 00901000 (   1 pages): |X|\n");
	filter.regions[0] = "00500000-00501000";
	assert_drawn(&f, "classic", plain, "Region: 00500000 - 00501000 (   1 pages): |X|\n");
	filter.regions[0] = "nothing";
	assert_true(drawn_with(&f, "by-address", plain, "0 faults, 0 pages touched, 0 regions,"));
	pfs_filter_fini(&filter);
	feed_free(&f);
}

/* At a moment: what had gone by then is no part of the layout, nor is a process that had ended. */
static void test_views_at(void **state)
{
	struct pfs_filter filter = { .at = { .ns = 3600000000000, .set = true } };
	struct feed f = feed_new(10);

	f.filter = &filter;
	feed_map(&f, 0x400000, 0x401000, RW, "");
	feed_fault(&f, 0x400000, PFS_WRITE);
	feed_unmap(&f, 0x400000, 0x401000);
	feed_map(&f, 0x500000, 0x501000, RW, "");
	feed_fork(&f, 11, false);
	feed_as(&f, 11, 11);
	feed_clear(&f);
	feed_exit(&f, true);
	assert_drawn(&f, "classic", plain, "Region: 00500000 - 00501000 (   1 pages): |.|\n");
	assert_true(drawn_with(&f, "by-address", plain, "1 region with 1 page touched, unmapped by then"));
	assert_true(drawn_with(&f, "by-address", plain, "drawn as of 3600.000000 s"));
	assert_false(drawn_with(&f, "by-address", plain, "pid 11"));
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_region_globs),
		cmocka_unit_test(test_who),
		cmocka_unit_test(test_what_belongs_to_a_touch),
		cmocka_unit_test(test_a_process_in_shared_memory),
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_without_a_start),
		cmocka_unit_test(test_views_hide_processes),
		cmocka_unit_test(test_views_hide_regions),
		cmocka_unit_test(test_views_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
