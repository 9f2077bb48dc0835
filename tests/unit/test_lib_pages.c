/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sparse page tree against a naive array: random gets, moves, counts and walks.
 *
 * The array knows only a few windows of the address space, chosen where mistakes hide: page 0, the
 * middle of user memory, a leaf that is far from all others, and the topmost page.
 */
#include "page_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SHIFT = 12, SIZE = 1 << SHIFT, NR_WINDOWS = 5, WINDOW = 400, NR = NR_WINDOWS * WINDOW };

static const uint64_t window_start[NR_WINDOWS] = {
	0, 0x555555554000, 0x7ffff7c00000, 0xffff800000000000, -(uint64_t)WINDOW * SIZE,
};

struct naive {
	bool present[NR];
	struct pfs_page page[NR];
};

static uint64_t addr_of(unsigned int i)
{
	return window_start[i / WINDOW] + (uint64_t)(i % WINDOW) * SIZE;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Half of them the everyday fault, which is kept in brief. */
static struct pfs_page random_event(uint64_t *seed, uint64_t now)
{
	struct pfs_page what = { .first_ns = now, .last_ns = now, .first_tid = 1 + now % 7, .nr_faults = 1 };

	switch (next_random(seed) % 8) {
	case 0:
		what.flags = PFS_PAGE_READ | PFS_PAGE_USER;
		what.nr_read = 1;
		break;
	case 1:
	case 2:
		what.flags = PFS_PAGE_WRITE | PFS_PAGE_KERNEL | PFS_PAGE_MAJOR;
		what.nr_write = what.nr_kernel = 1;
		break;
	case 3:
		what.flags = PFS_PAGE_ACCESS_UNKNOWN;
		break;
	case 4:
		what.flags = PFS_PAGE_AROUND;
		what.first_tid = what.nr_faults = 0;
		break;
	case 5:
		what.flags = PFS_PAGE_WRITE;
		what.nr_faults = what.nr_write = 7;
		break;
	default:
		what.flags = 1u << next_random(seed) % 12;
		what.nr_write = !!(what.flags & PFS_PAGE_WRITE);
	}
	return what;
}

static void naive_add(struct pfs_page *to, const struct pfs_page *page)
{
	if (!to->flags) {
		*to = *page;
		return;
	}
	if (page->first_tid && (!to->first_tid || page->first_ns < to->first_ns))
		to->first_tid = page->first_tid;
	if (page->first_ns < to->first_ns)
		to->first_ns = page->first_ns;
	if (page->last_ns > to->last_ns)
		to->last_ns = page->last_ns;
	to->flags |= page->flags;
	to->nr_faults += page->nr_faults;
	to->nr_read += page->nr_read;
	to->nr_write += page->nr_write;
	to->nr_kernel += page->nr_kernel;
	to->nr_signal += page->nr_signal;
}

/* Moves [i, i + nr) of `from` to j on in `to`: all out first, then in. */
static void naive_move(struct naive *from, unsigned int i, unsigned int nr, struct naive *to,
		       unsigned int j)
{
	static struct naive aside;

	memcpy(&aside, from, sizeof(aside));
	memset(from->present + i, 0, nr);
	memset(from->page + i, 0, nr * sizeof(from->page[0]));
	for (unsigned int k = 0; k < nr; k++) {
		if (!aside.present[i + k])
			continue;
		if (!to->present[j + k])
			to->page[j + k] = (struct pfs_page){ 0 };
		to->present[j + k] = true;
		naive_add(&to->page[j + k], &aside.page[i + k]);
	}
}

/* Walks that give several pages at once give each of them once, and say of it what is so. */
static void check_groups(const struct pfs_pages *pages, const struct naive *naive, uint64_t start, uint64_t end)
{
	uint64_t limit = start + 37 * SIZE, first = UINT64_MAX, last = 0, faults = 0;
	const struct pfs_page *page;
	struct pfs_page_walk at;
	unsigned int nr, i = 0;
	uint32_t flags;

	pfs_page_walk_start(&at, pages, start, end);
	while (pfs_page_walk_flags(&at, limit, &flags, &nr)) {
		assert_true(nr == 1 || at.addr < limit);
		for (; nr; nr--, i++) {
			while (i < NR && (!naive->present[i] || addr_of(i) < start))
				i++;
			assert_true(i < NR);
			assert_true(addr_of(i) >= at.addr);
			assert_true(nr == 1 || addr_of(i) < limit);
			assert_int_equal(naive->page[i].flags, flags);
		}
		limit += at.addr >= limit ? 100 * SIZE : 0;
	}
	pfs_page_walk_start(&at, pages, start, end);
	while ((page = pfs_page_walk_alike(&at, &nr))) {
		first = page->first_ns < first ? page->first_ns : first;
		last = page->last_ns > last ? page->last_ns : last;
		faults += nr * page->nr_faults;
	}
	for (; i < NR && (!naive->present[i] || addr_of(i) < start); i++)
		;
	assert_true(i == NR || (end && addr_of(i) >= end));
	for (i = 0; i < NR; i++) {
		if (!naive->present[i] || addr_of(i) < start || (end && addr_of(i) >= end))
			continue;
		assert_true(first <= naive->page[i].first_ns && last >= naive->page[i].last_ns);
		faults -= naive->page[i].nr_faults;
	}
	assert_int_equal(faults, 0);
}

static void check_same(const struct pfs_pages *pages, const struct naive *naive, uint64_t start,
		       uint64_t end)
{
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t nr = 0, nr_total = 0;
	unsigned int i = 0;

	pfs_pages_for_each(page, &at, pages, start, end) {
		for (; i < NR && (!naive->present[i] || addr_of(i) < start); i++)
			;
		assert_true(i < NR);
		assert_int_equal(at.addr, addr_of(i));
		assert_memory_equal(page, &naive->page[i], sizeof(*page));
		assert_memory_equal(page, page_at(pages, at.addr + 17), sizeof(*page));
		assert_true(pfs_pages_has(pages, at.addr, page->flags));
		assert_false(pfs_pages_has(pages, at.addr, ~page->flags));
		i++;
		nr++;
	}
	for (i = 0; i < NR; i++) {
		nr_total += naive->present[i];
		if (addr_of(i) >= start && (addr_of(i) < end || !end))
			nr -= naive->present[i];
		if (!naive->present[i])
			assert_null(page_at(pages, addr_of(i)));
	}
	assert_int_equal(nr, 0);
	assert_int_equal(nr_total, pfs_pages_total(pages));
	check_groups(pages, naive, start, end);
}

/* A run of pages within one window, so that addresses and indices agree. */
static void random_run(uint64_t *seed, unsigned int *i, unsigned int *nr)
{
	*i = next_random(seed) % NR;
	*nr = 1 + next_random(seed) % (next_random(seed) % 4 ? 70 : WINDOW);
	if (*i % WINDOW + *nr > WINDOW)
		*nr = WINDOW - *i % WINDOW;
}

static void random_step(struct pfs_pages *pages[2], struct naive *naive[2], uint64_t *seed,
			uint64_t now)
{
	unsigned int i, j, nr, room, to = next_random(seed) % 2;

	random_run(seed, &i, &nr);
	if (next_random(seed) % 8) {
		struct pfs_page what = random_event(seed, now);
		bool alike = next_random(seed) % 2;

		for (; nr; nr -= nr > 4 && !alike ? 4 : 1) {
			if (!alike)
				what = random_event(seed, now);

			assert_int_equal(pfs_pages_add(pages[to], addr_of(i + nr - 1) + 5, &what), 0);
			naive[to]->present[i + nr - 1] = true;
			naive_add(&naive[to]->page[i + nr - 1], &what);
		}
		return;
	}
	room = WINDOW - nr;
	j = next_random(seed) % NR_WINDOWS * WINDOW + (room ? next_random(seed) % room : 0);
	if (next_random(seed) % 2 && i / 64 * 64 + 64 < NR)	/* whole leaves, too */
		j = j / WINDOW * WINDOW + i % WINDOW;
	assert_int_equal(pfs_pages_move(pages[0], addr_of(i), addr_of(i + nr - 1) + SIZE, pages[to],
					addr_of(j) - addr_of(i)), 0);
	naive_move(naive[0], i, nr, naive[to], j);
}

static void test_random(void **state)
{
	for (uint64_t run = 1; run <= 6; run++) {
		struct pfs_pages *pages[2] = { pfs_pages_new(SHIFT), pfs_pages_new(SHIFT) };
		struct naive *naive[2] = { calloc(1, sizeof(**naive)), calloc(1, sizeof(**naive)) };
		uint64_t seed = run;

		for (uint64_t now = 1; now <= 150; now++) {
			uint64_t start = addr_of(next_random(&seed) % NR);

			random_step(pages, naive, &seed, now);
			for (unsigned int i = 0; i < 2; i++) {
				check_same(pages[i], naive[i], 0, 0);
				check_same(pages[i], naive[i], start, start + 100 * SIZE);
				check_same(pages[i], naive[i], start, 0);
			}
		}
		for (unsigned int i = 0; i < 2; i++) {
			pfs_pages_free(pages[i]);
			free(naive[i]);
		}
	}
}

static void test_empty(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);

	assert_null(page_at(pages, 0));
	assert_null(page_at(pages, UINT64_MAX));
	assert_false(pfs_pages_any(pages, 0, 0));
	assert_int_equal(pfs_pages_came_of(pages, 0, PFS_PAGE_SIGNAL), 0);
	assert_int_equal(pfs_pages_move(pages, 0, 0, pages, SIZE), 0);
	assert_int_equal(pfs_pages_total(pages), 0);
	pfs_pages_free(pages);
	pfs_pages_free(NULL);
	assert_null(pfs_pages_new(63));
}

static const struct pfs_page a_read = {
	.first_ns = 7, .last_ns = 7, .first_tid = 3, .flags = PFS_PAGE_READ | PFS_PAGE_USER,
	.nr_read = 1, .nr_faults = 1,
};

static void test_ends_of_a_walk(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);

	assert_int_equal(pfs_pages_add(pages, 0x7f0012345678, &a_read), 0);
	assert_true(pfs_pages_any(pages, 0, 0));
	assert_true(pfs_pages_any(pages, 0x7f0012345fff, 0));	/* whole pages */
	assert_false(pfs_pages_any(pages, 0x7f0012346000, 0));
	assert_false(pfs_pages_any(pages, 0, 0x7f0012345000));
	assert_true(pfs_pages_any(pages, 0, 0x7f0012345001));
	assert_false(pfs_pages_any(pages, 0x7f0012345001, 0x7f0012345001));
	assert_int_equal(pfs_pages_total(pages), 1);
	pfs_pages_free(pages);
}

/* A taken page starts again from nothing. */
static void test_taken(void **state)
{
	struct pfs_pages *live = pfs_pages_new(SHIFT), *retired = pfs_pages_new(SHIFT);

	assert_int_equal(pfs_pages_add(live, 0x1000, &a_read), 0);
	assert_int_equal(pfs_pages_add(live, 0x1000, &a_read), 0);
	assert_int_equal(pfs_pages_add(live, 0x2000, &a_read), 0);
	assert_int_equal(pfs_pages_move(live, 0x1000, 0x2000, retired, 0), 0);
	assert_null(page_at(live, 0x1000));
	assert_non_null(page_at(live, 0x2000));
	assert_int_equal(page_at(retired, 0x1000)->nr_faults, 2);
	assert_int_equal(pfs_pages_add(live, 0x1000, &a_read), 0);
	assert_int_equal(page_at(live, 0x1000)->nr_faults, 1);
	pfs_pages_free(live);
	pfs_pages_free(retired);
}

/* What came of a fault says nothing of when, or of how often; but signals are counted. */
static void test_what_came_of_a_fault(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);
	struct pfs_page wanted = a_read;

	assert_int_equal(pfs_pages_add(pages, 0x1000, &a_read), 0);
	assert_int_equal(pfs_pages_came_of(pages, 0x1000, PFS_PAGE_MAJOR), 0);
	wanted.flags |= PFS_PAGE_MAJOR;
	assert_memory_equal(page_at(pages, 0x1000), &wanted, sizeof(wanted));
	for (wanted.nr_signal = 1; wanted.nr_signal < 4; wanted.nr_signal++) {
		assert_int_equal(pfs_pages_came_of(pages, 0x1000, PFS_PAGE_SIGNAL), 0);
		wanted.flags |= PFS_PAGE_SIGNAL;
		assert_memory_equal(page_at(pages, 0x1000), &wanted, sizeof(wanted));
	}
	assert_int_equal(pfs_pages_came_of(pages, 0x2000, PFS_PAGE_SIGNAL), 0);
	assert_null(page_at(pages, 0x2000));
	pfs_pages_free(pages);
}

/* Counters stop at their greatest value instead of starting again. */
static void test_saturation(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);
	struct pfs_page many = { .flags = 1, .nr_read = UINT32_MAX - 1 }, two = { .flags = 1, .nr_read = 2 };

	assert_int_equal(pfs_pages_add(pages, 0, &many), 0);
	assert_int_equal(pfs_pages_add(pages, SIZE, &two), 0);
	assert_int_equal(pfs_pages_move(pages, SIZE, 2 * SIZE, pages, -(uint64_t)SIZE), 0);
	assert_int_equal(page_at(pages, 0)->nr_read, UINT32_MAX);
	assert_int_equal(pfs_pages_total(pages), 1);
	pfs_pages_free(pages);
}

/* 64 KiB pages, and the smallest there could be. */
static void test_other_page_sizes(void **state)
{
	static const unsigned int shifts[] = { 0, 12, 14, 16, 40 };

	for (unsigned int i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		struct pfs_pages *pages = pfs_pages_new(shifts[i]);
		const struct pfs_page *page;
		struct pfs_page_walk at;
		unsigned int nr = 0;

		assert_int_equal(pfs_pages_add(pages, UINT64_MAX, &a_read), 0);
		assert_int_equal(pfs_pages_add(pages, 0, &a_read), 0);
		pfs_pages_for_each(page, &at, pages, 0, 0)
			nr += page->nr_read;
		assert_int_equal(nr, 2);
		pfs_pages_free(pages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_ends_of_a_walk),
		cmocka_unit_test(test_what_came_of_a_fault),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_other_page_sizes),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
