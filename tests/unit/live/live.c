/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `pfscope top` shows of a model: rates, lines, and screens that fit the terminal.
 */
#include "live/live.h"

#include "base/escape.h"
#include "support/draw.h"
#include "support/scenario.h"

static struct feed feed_behind(struct pfs_moment *moment)
{
	struct feed f = feed_new(0);

	pfs_moment_init(moment, f.model);
	f.behind = pfs_moment_observer(moment);
	return f;
}

static void end(struct feed *f, struct pfs_moment *moment)
{
	pfs_moment_fini(moment);
	feed_free(f);
}

static uint64_t sum_of(const struct pfs_moment *moment, enum pfs_live_by by)
{
	struct pfs_live_lines lines;
	uint64_t sum = 0;

	assert_int_equal(pfs_live_gather(&lines, moment, NULL, by, PFS_LIVE_BY_RATE, NULL), 0);
	for (size_t i = 0; i < lines.nr; i++)
		sum += lines.line[i].faults;
	pfs_live_free(&lines);
	return sum;
}

/* A fault that many tenths of a second after the start. */
static void fault_at(struct feed *f, uint64_t tenths, uint64_t addr)
{
	f->now_ns = 1000000000 + tenths * 100000000;
	feed_fault(f, addr, PFS_WRITE);
}

static void test_rates(void **state)
{
	struct pfs_moment m;
	struct feed f = feed_behind(&m);

	feed_as(&f, 100, 100);
	feed_map(&f, 0x10000, 0x20000, RW, "");
	for (int i = 0; i < 16; i++)
		fault_at(&f, i, 0x10000 + i * PAGE);
	assert_int_equal(pfs_rate_at(&m.rate, m.now_ns), 10);
	assert_int_equal(pfs_rate_at(&m.rate, m.now_ns + 400000000), 6);
	assert_int_equal(pfs_rate_at(&m.rate, m.now_ns + 2000000000), 0);
	assert_int_equal(pfs_moment_region_rate(&m, f.outcome.region), 10);
	assert_int_equal(pfs_moment_second(&m, 0), 10);
	assert_int_equal(pfs_moment_second(&m, 1), 6);
	assert_int_equal(pfs_moment_second(&m, 2), 0);
	fault_at(&f, 10000, 0x10000); /* long after */
	assert_int_equal(pfs_rate_at(&m.rate, m.now_ns), 1);
	assert_int_equal(pfs_moment_second(&m, 1), 0);
	assert_int_equal(pfs_moment_second(&m, 1000), 1);
	end(&f, &m);
}

/* The model forgets a thread whose number is used again; its faults stay. */
static void test_reused_number(void **state)
{
	struct pfs_live_lines lines;
	struct pfs_moment m;
	struct feed f = feed_behind(&m);

	feed_as(&f, 100, 100);
	feed_map(&f, 0x10000, 0x20000, RW, "");
	for (int i = 0; i < 3; i++) {
		feed_as(&f, 100, 100);
		feed_thread(&f, 101);
		feed_as(&f, 100, 101);
		feed_fault(&f, 0x10000, PFS_WRITE);
		feed_exit(&f, false);
	}
	assert_int_equal(pfs_live_gather(&lines, &m, NULL, PFS_LIVE_THREAD, PFS_LIVE_BY_RATE, NULL), 0);
	assert_int_equal(lines.nr, 3);
	pfs_live_free(&lines);
	assert_int_equal(sum_of(&m, PFS_LIVE_THREAD), 3);
	end(&f, &m);
}

static void test_lines(void **state)
{
	struct pfs_live_lines lines;
	struct pfs_moment m;
	struct feed f = feed_behind(&m);
	uint64_t before = UINT64_MAX;

	scenario(&f);
	assert_int_equal(sum_of(&m, PFS_LIVE_PROCESS), f.model->counts.faults);
	assert_int_equal(sum_of(&m, PFS_LIVE_THREAD), f.model->counts.faults);
	assert_int_equal(sum_of(&m, PFS_LIVE_REGION), sum_of(&m, PFS_LIVE_FILE));
	assert_int_equal(pfs_live_gather(&lines, &m, NULL, PFS_LIVE_REGION, PFS_LIVE_BY_TOUCHED, "LIBC"), 0);
	assert_true(lines.nr >= 3);
	for (size_t i = 0; i < lines.nr; i++) {
		assert_true(lines.line[i].touched <= before);
		before = lines.line[i].touched;
		assert_string_equal(lines.line[i].name, "libc.so.6");
		assert_int_equal(pfs_live_find(&lines, lines.line[i].key), i);
	}
	pfs_live_free(&lines);
	end(&f, &m);
}

/* Without colours: "\033[7mselected\033[0m". */
static void strip(char *text)
{
	char *to = text;

	while (*text) {
		if (*text == '\033')
			text += strcspn(text, "m") + 1;
		else
			*to++ = *text++;
	}
	*to = '\0';
}

/* Exactly so many lines, none of which is too wide. */
static void assert_fits(struct pfs_screen *screen, const struct pfs_moment *m, const struct pfs_live_lines *lines)
{
	unsigned int nr = 0;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	pfs_screen_draw(out, screen, m, NULL, lines);
	fclose(out);
	strip(text);
	assert_narrow(text, screen->width);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		nr++;
	assert_int_equal(nr, screen->height);
	free(text);
}

static void test_screens(void **state)
{
	struct pfs_screen screen = { .title = "process 4711 with a name that is longer than a terminal",
				     .state = "live" };
	struct pfs_live_lines lines;
	struct pfs_moment m;
	struct feed f = feed_behind(&m);

	scenario(&f);
	for (unsigned int by = 0; by < PFS_NR_LIVE_BY; by++) {
		screen.by = by;
		assert_int_equal(pfs_live_gather(&lines, &m, NULL, by, PFS_LIVE_BY_NAME, NULL), 0);
		assert_true(lines.nr > 0);
		strcpy(screen.selected, lines.line[lines.nr - 1].key);
		for (screen.show = PFS_SCREEN_LINES; screen.show <= PFS_SCREEN_HELP; screen.show++)
			for (screen.width = 40; screen.width < 220; screen.width += 7)
				for (screen.height = 8; screen.height < 60; screen.height += 17)
					assert_fits(&screen, &m, &lines);
		pfs_live_free(&lines);
	}
	end(&f, &m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_reused_number),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_screens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
