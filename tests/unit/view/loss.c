/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Losses: which regions of which processes a gap may concern, and which it certainly does not.
 */
#include "support/feed.h"

#include "view/loss.h"
#include "view/view.h"

#include <errno.h>
#include <string.h>

#define RW (PFS_PERM_R | PFS_PERM_W)

/* Of the one process' newest image, the region that begins there; at: its epoch. */
static const struct pfs_row *row_at(const struct feed *f, int32_t pid, uint64_t start, struct pfs_epochs *at)
{
	static struct pfs_row found;
	struct pfs_rows rows;

	*at = (struct pfs_epochs){ .model = f->model };
	while (pfs_epochs_next(at) && (at->proc->pid != pid || at->index + 1 < at->proc->nr_epochs))
		;
	assert_non_null(at->proc);
	assert_int_equal(pfs_rows_collect(&rows, at), 0);
	for (unsigned int i = 0; i < rows.nr; i++) {
		if (rows.row[i].start != start)
			continue;
		found = rows.row[i];
		pfs_rows_free(&rows);
		return &found;
	}
	fail_msg("no region at %llx", (unsigned long long)start);
	return NULL;
}

/* How many gaps may concern the region that begins there. */
static uint64_t gaps_of(const struct feed *f, int32_t pid, uint64_t start)
{
	struct pfs_gaps all = pfs_gaps_shown(f->model, NULL), gaps;
	const struct pfs_row *row;
	struct pfs_epochs at;

	row = row_at(f, pid, start, &at);
	gaps = pfs_gaps_of(all, &at, row);
	return pfs_gaps_sum(gaps).nr;
}

static void test_only_what_was_there(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x100000, 0x110000, RW, ""); /* gone before */
	feed_fault(&f, 0x100000, PFS_WRITE);
	feed_unmap(&f, 0x100000, 0x110000);
	feed_map(&f, 0x200000, 0x210000, RW, ""); /* there, and goes after */
	feed_map(&f, 0x300000, 0x310000, RW, ""); /* there, goes meanwhile */
	feed_map(&f, 0x500000, 0x510000, RW, "");
	feed_unmap(&f, 0x300000, 0x310000);
	feed_map(&f, 0x400000, 0x410000, RW, ""); /* comes meanwhile */
	feed_gap(&f, 1, 7, 2500);
	feed_unmap(&f, 0x200000, 0x210000);
	feed_map(&f, 0x600000, 0x610000, RW, ""); /* comes after */
	assert_int_equal(gaps_of(&f, 1, 0x100000), 0);
	assert_int_equal(gaps_of(&f, 1, 0x200000), 1);
	assert_int_equal(gaps_of(&f, 1, 0x300000), 1);
	assert_int_equal(gaps_of(&f, 1, 0x400000), 1);
	assert_int_equal(gaps_of(&f, 1, 0x500000), 1);
	assert_int_equal(gaps_of(&f, 1, 0x600000), 0);
	feed_free(&f);
}

/* Both ends belong to the window: what is lost may have been at either's very time. */
static void test_the_ends(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x100000, 0x101000, RW, "");
	feed_fault(&f, 0x100000, PFS_WRITE);
	feed_unmap(&f, 0x100000, 0x101000);
	feed_gap(&f, 0, 1, 999);
	assert_int_equal(gaps_of(&f, 1, 0x100000), 0);
	feed_gap(&f, 0, 1, 2000);
	assert_int_equal(gaps_of(&f, 1, 0x100000), 1);
	f.now_ns -= 1000;
	feed_map(&f, 0x200000, 0x201000, RW, ""); /* as the first event behind the gap */
	assert_int_equal(gaps_of(&f, 1, 0x200000), 1);
	feed_map(&f, 0x300000, 0x301000, RW, "");
	assert_int_equal(gaps_of(&f, 1, 0x300000), 0);
	feed_gap(&f, 2, 1, 0); /* since nobody knows when */
	assert_int_equal(gaps_of(&f, 1, 0x100000), 2);
	feed_note(&f, "lost", "5 on cpu 7", false); /* nobody knows when at all */
	feed_map(&f, 0x400000, 0x401000, RW, "");
	assert_int_equal(gaps_of(&f, 1, 0x400000), 1);
	feed_free(&f);
}

/* A region that moves, splits or grows takes what was touched in it along, and what was not recorded. */
static void test_what_became_of_a_region(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x100000, 0x110000, RW, "");
	feed_fault(&f, 0x100000, PFS_WRITE);
	feed_lost(&f, 1, 7);
	feed_move(&f, 0x100000, 0x10000, 0x800000, 0x810000);
	assert_int_equal(gaps_of(&f, 1, 0x800000), 1);
	feed_protect(&f, 0x804000, 0x808000, PFS_PERM_R);
	assert_int_equal(gaps_of(&f, 1, 0x804000), 1);
	assert_int_equal(gaps_of(&f, 1, 0x808000), 1);
	feed_row(&f, 0x900000, 0x910000, 77); /* found: it may always have been there */
	assert_int_equal(gaps_of(&f, 1, 0x900000), 1);
	feed_map(&f, 0xa00000, 0xa10000, RW, "");
	feed_map(&f, 0xa10000, 0xa20000, RW, "");
	assert_int_equal(gaps_of(&f, 1, 0xa00000), 0);
	feed_free(&f);
}

/* A process that began, ended or became another one before or after is not concerned as that. */
static void test_processes(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_gaps all;
	struct pfs_epochs life;

	feed_map(&f, 0x100000, 0x110000, RW, "");
	feed_fork(&f, 2, false);
	feed_fork(&f, 3, false);
	feed_as(&f, 2, 2);
	feed_fault(&f, 0x100000, PFS_WRITE);
	feed_clear(&f);
	feed_exit(&f, true);
	feed_as(&f, 1, 1);
	feed_lost(&f, 1, 7);
	feed_fork(&f, 4, false);
	feed_as(&f, 3, 3);
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x500000, 0x510000, RW, "");
	feed_exec(&f, "/bin/c", "c");
	f.space = 0;
	assert_int_equal(gaps_of(&f, 1, 0x100000), 1);
	assert_int_equal(gaps_of(&f, 2, 0x100000), 0);
	assert_int_equal(gaps_of(&f, 3, 0x500000), 0);
	assert_int_equal(gaps_of(&f, 4, 0x100000), 0);
	all = pfs_gaps_shown(f.model, NULL);
	life = pfs_whole_life(f.model, pfs_model_proc(f.model, 3)); /* what it was before, is */
	all = pfs_gaps_of(all, &life, NULL);
	assert_int_equal(pfs_gaps_sum(all).nr, 1);
	feed_as(&f, 9, 9); /* of which no fork is known: it may have lived all the time */
	feed_fault(&f, 0x700000, PFS_WRITE);
	assert_int_equal(gaps_of(&f, 9, 0x700000), 1);
	feed_free(&f);
}

/* What exec builds is touched (arguments) before it runs. */
static void test_an_image_before_its_exec(void **state)
{
	struct feed f = feed_new(1);

	feed_map(&f, 0x100000, 0x110000, RW, "");
	f.space = PFS_SPACE_EXEC;
	feed_map(&f, 0x500000, 0x510000, RW, "");
	f.space = 0;
	feed_lost(&f, 1, 7);
	f.now_ns += 100000;
	feed_exec(&f, "/bin/c", "c");
	assert_int_equal(gaps_of(&f, 1, 0x500000), 1);
	feed_free(&f);
}

/* A layout that was read off a process that ran may be as old as it. */
static void test_a_layout_that_was_found(void **state)
{
	struct feed f = feed_new(1);

	feed_gap(&f, 1, 7, 100);
	feed_map(&f, 0x100000, 0x110000, RW, "");
	assert_int_equal(gaps_of(&f, 1, 0x100000), 0);
	feed_note(&f, "snapshot", "first", true);
	assert_int_equal(gaps_of(&f, 1, 0x100000), 1);
	feed_map(&f, 0x200000, 0x210000, RW, "");
	feed_note(&f, "snapshot", "later 1", true); /* that it began meanwhile was seen */
	assert_int_equal(gaps_of(&f, 1, 0x200000), 0);
	feed_free(&f);
}

static bool shown(const struct feed *f, const struct pfs_filter *filter, char text[PFS_LOST_TEXT_MAX])
{
	struct pfs_gaps gaps = pfs_gaps_shown(f->model, filter);

	return pfs_lost_text(text, gaps);
}

static void test_the_time_that_is_shown(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_filter filter = { .from = { .ns = 12500, .set = true } };
	char text[PFS_LOST_TEXT_MAX];

	feed_note(&f, "start", "mono", false);
	f.now_ns += 9000;
	feed_gap(&f, 0, 3, 5000); /* 5 to 10 us */
	feed_gap(&f, 1, 4, 1000); /* 10 to 11 */
	f.now_ns += 3000;
	feed_gap(&f, 0, 0, 3000); /* 12 to 15 */
	assert_true(shown(&f, NULL, text));
	assert_string_equal(text, "lost 3 events and an unknown number more on CPU 0 between 0.000005 and 0.000015 s, "
				  "4 events on CPU 1 between 0.000010 and 0.000011 s");
	assert_true(shown(&f, &filter, text));
	assert_string_equal(text, "lost an unknown number of events on CPU 0 between 0.000012 and 0.000015 s");
	filter.from.ns = 15001;
	assert_false(shown(&f, &filter, text));
	filter = (struct pfs_filter){ .to = { .ns = 10000, .set = true } }; /* not included */
	assert_true(shown(&f, &filter, text));
	assert_string_equal(text, "lost 3 events on CPU 0 between 0.000005 and 0.000010 s");
	filter = (struct pfs_filter){ .at = { .ns = 10000, .set = true } }; /* included */
	assert_true(shown(&f, &filter, text));
	assert_non_null(strstr(text, "on CPU 1"));
	filter = (struct pfs_filter){ .to = { .set = true, .of_clock = true } };
	assert_false(shown(&f, &filter, text));
	feed_free(&f);
}

/* A gap that reaches over the end of what is wanted is told behind that. */
static void test_a_gap_over_the_end(void **state)
{
	struct pfs_filter filter = { .to = { .ns = 1000010000, .set = true, .of_clock = true } };
	struct feed f = feed_new(1);
	struct pfs_event ev = { .kind = PFS_LOST,
				.cpu = 1,
				.count = 4,
				.ts_ns = 1000030000,
				.interval_ns = 21000,
				.have = HAS(CPU) | HAS(COUNT) | HAS(INTERVAL) };
	struct pfs_event fault = { .kind = PFS_FAULT,
				   .ts_ns = 1000020000,
				   .tid = 1,
				   .pid = 1,
				   .addr = 0x1000,
				   .have = HAS(TID) | HAS(PID) | HAS(ADDR) };

	feed_fault(&f, 0x1000, PFS_WRITE);
	assert_int_equal(pfs_filter_apply(&filter, f.model, &fault, NULL), -ECANCELED);
	assert_int_equal(pfs_filter_apply(&filter, f.model, &ev, NULL), 0);
	assert_int_equal(f.model->nr_losses, 1);
	assert_int_equal(f.model->losses[0].from_ns, 1000009000);
	assert_int_equal(f.model->losses[0].to_ns, 1000009999);
	assert_int_equal(f.model->last_ns, 1000009999);
	ev.interval_ns = 20000; /* begins at the end */
	assert_int_equal(pfs_filter_apply(&filter, f.model, &ev, NULL), -ECANCELED);
	ev.have &= ~HAS(INTERVAL);
	assert_int_equal(pfs_filter_apply(&filter, f.model, &ev, NULL), -ECANCELED);
	assert_int_equal(f.model->nr_losses, 1);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_was_there),	 cmocka_unit_test(test_the_ends),
		cmocka_unit_test(test_what_became_of_a_region),	 cmocka_unit_test(test_processes),
		cmocka_unit_test(test_an_image_before_its_exec), cmocka_unit_test(test_a_layout_that_was_found),
		cmocka_unit_test(test_the_time_that_is_shown),	 cmocka_unit_test(test_a_gap_over_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
