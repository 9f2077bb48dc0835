/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses without a fault: whose they are, by the notes that number DAMON's targets, and what is none.
 */
#include "support/raw_feed.h"

#define SAW(f, target, start, end) RAW(f, RAW_DAMON, target, start, end, 1)

/* DAMON's thread is 900. */
static void setup(struct raw_feed *f)
{
	raw_feed_init(f);
	f->tid = 0;
	NOTE(f, "refault=idle every 50000000 ns");
	NOTE(f, "access_targets=0-1:100 2-2:200");
	NOTE(f, "access_by=900");
	forget(f);
	f->tid = 900;
	f->comm = "kdamond.0";
}

static void an_access_is_its_process_s(void **state)
{
	struct raw_feed f;

	setup(&f);
	SAW(&f, 0, 0x5000, 0x6000);
	SAW(&f, 1, 0x7000, 0x8000);
	SAW(&f, 2, 0x5000, 0x6000);
	expect(&f, "access pid=100 tid~100 addr=5000 interval=50000000\n"
		   "access pid=100 tid~100 addr=7000 interval=50000000\n"
		   "access pid=200 tid~200 addr=5000 interval=50000000\n");
	f.tid = 0;
	NOTE(&f, "access_targets=1-1:300");
	forget(&f);
	f.tid = 900;
	SAW(&f, 1, 0x5000, 0x6000);
	SAW(&f, 0, 0x5000, 0x6000);
	expect(&f, "access pid=300 tid~300 addr=5000 interval=50000000\n"
		   "access pid=100 tid~100 addr=5000 interval=50000000\n");
	raw_feed_fini(&f);
}

static void what_is_not_known_is_no_access(void **state)
{
	struct raw_feed f;

	setup(&f);
	SAW(&f, 3, 0x5000, 0x6000);
	SAW(&f, RAW_ABSENT, 0x5000, 0x6000);
	SAW(&f, 0, RAW_ABSENT, 0x6000);
	SAW(&f, 0, 0x5000, 0x7000); /* of which page? */
	RAW(&f, RAW_DAMON, 0, 0x5000, 0x6000, 0);
	expect(&f, "");
	f.tid = 0;
	NOTE(&f, "access_targets=0-4000000000:100");
	NOTE(&f, "access_targets=x");
	forget(&f);
	SAW(&f, 70000, 0x5000, 0x6000);
	expect(&f, "");
	raw_feed_fini(&f);
}

/* Somebody else's, recorded beside: it says neither whose the targets are nor how long an interval is. */
static void without_notes_there_is_none(void **state)
{
	struct raw_feed f;

	raw_feed_init(&f);
	SAW(&f, 0, 0x5000, 0x6000);
	f.tid = 0;
	NOTE(&f, "access_targets=0-0:100");
	NOTE(&f, "refault=pageout every 50000000 ns");
	forget(&f);
	SAW(&f, 0, 0x5000, 0x6000);
	expect(&f, "");
	raw_feed_fini(&f);
}

static void damons_thread_is_no_process(void **state)
{
	struct raw_feed f;

	setup(&f);
	SAW(&f, 0, 0x5000, 0x6000);
	f.comm = "kdamond.0";
	RAW(&f, RAW_EXIT, 900, 1);
	expect(&f, "access pid=100 tid~100 addr=5000 interval=50000000\n");
	f.comm = "new";
	f.tgid = 900;
	RAW(&f, RAW_FAULT_USER, 0x5000, 0x400000, 6); /* another one of that number */
	assert_non_null(strstr(f.got, "comm pid=900 tid=900"));
	assert_non_null(strstr(f.got, "fault pid=900 tid=900 "));
	raw_feed_fini(&f);
}

static void what_has_ended_accesses_nothing(void **state)
{
	struct raw_feed f;

	setup(&f);
	f.tid = 100;
	f.comm = NULL;
	f.str = "";
	RAW(&f, RAW_EXIT, 100, 1);
	forget(&f);
	f.tid = 900;
	SAW(&f, 0, 0x5000, 0x6000);
	expect(&f, "");
	raw_feed_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_access_is_its_process_s),	   cmocka_unit_test(what_is_not_known_is_no_access),
		cmocka_unit_test(without_notes_there_is_none),	   cmocka_unit_test(damons_thread_is_no_process),
		cmocka_unit_test(what_has_ended_accesses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
