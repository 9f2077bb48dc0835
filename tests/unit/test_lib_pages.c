/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sparse page tree against a naive array: random gets, moves, counts and walks.
 *
 * The array knows only a few windows of the address space, chosen where mistakes hide: page 0, the
 * middle of user memory, a leaf that is far from all others, and the topmost page.
 */
#include "pages.h"

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

static void touch(struct pfs_page *page, uint64_t now, uint32_t flags)
{
	if (!page->flags) {
		page->first_ns = now;
		page->first_tid = 1 + now % 7;
	}
	page->last_ns = now;
	page->flags |= flags;
	page->nr_faults++;
	page->nr_write += !!(flags & PFS_PAGE_WRITE);
}

static void naive_merge(struct pfs_page *to, const struct pfs_page *page)
{
	if (!to->flags) {
		*to = *page;
		return;
	}
	if (page->first_ns < to->first_ns) {
		to->first_ns = page->first_ns;
		to->first_tid = page->first_tid;
	}
	if (page->last_ns > to->last_ns)
		to->last_ns = page->last_ns;
	to->flags |= page->flags;
	to->nr_faults += page->nr_faults;
	to->nr_write += page->nr_write;
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
		naive_merge(&to->page[j + k], &aside.page[i + k]);
	}
}

static void check_same(const struct pfs_pages *pages, const struct naive *naive, uint64_t start,
		       uint64_t end)
{
	struct pfs_page *page;
	uint64_t a, nr = 0, nr_total = 0, nr_written = 0;
	unsigned int i = 0;

	pfs_pages_for_each(page, pages, a, start, end, SIZE) {
		for (; i < NR && (!naive->present[i] || addr_of(i) < start); i++)
			;
		assert_true(i < NR);
		assert_int_equal(a, addr_of(i));
		assert_memory_equal(page, &naive->page[i], sizeof(*page));
		assert_ptr_equal(page, pfs_pages_find(pages, a + 17));
		nr_written += !!(page->flags & PFS_PAGE_WRITE);
		i++;
		nr++;
	}
	for (i = 0; i < NR; i++) {
		nr_total += naive->present[i];
		if (addr_of(i) >= start && (addr_of(i) < end || !end))
			nr -= naive->present[i];
		if (!naive->present[i])
			assert_null(pfs_pages_find(pages, addr_of(i)));
	}
	assert_int_equal(nr, 0);
	assert_int_equal(nr_total, pfs_pages_total(pages));
	assert_int_equal(nr_written, pfs_pages_count(pages, start, end, PFS_PAGE_WRITE));
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
	uint32_t flags = 1u << next_random(seed) % 12;

	random_run(seed, &i, &nr);
	if (next_random(seed) % 8) {
		for (; nr; nr -= nr > 4 ? 4 : nr) {
			struct pfs_page *page = pfs_pages_get(pages[to], addr_of(i + nr - 1) + 5);

			assert_non_null(page);
			touch(page, now, flags);
			naive[to]->present[i + nr - 1] = true;
			touch(&naive[to]->page[i + nr - 1], now, flags);
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
	uint64_t a = 0;

	assert_null(pfs_pages_find(pages, 0));
	assert_null(pfs_pages_find(pages, UINT64_MAX));
	assert_null(pfs_pages_next(pages, &a, 0));
	assert_int_equal(pfs_pages_count(pages, 0, 0, UINT32_MAX), 0);
	assert_int_equal(pfs_pages_move(pages, 0, 0, pages, SIZE), 0);
	assert_int_equal(pfs_pages_total(pages), 0);
	pfs_pages_free(pages);
	pfs_pages_free(NULL);
	assert_null(pfs_pages_new(63));
}

/* A page that was got is a page, though nothing was written to it yet. */
static void test_presence(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);
	struct pfs_page *page = pfs_pages_get(pages, 0x7f0012345678);
	uint64_t a = 0;

	assert_int_equal(page->flags | page->nr_faults, 0);
	assert_ptr_equal(pfs_pages_next(pages, &a, 0), page);
	assert_int_equal(a, 0x7f0012345000);
	a += SIZE;
	assert_null(pfs_pages_next(pages, &a, 0));
	a = 0;
	assert_null(pfs_pages_next(pages, &a, 0x7f0012345000));
	assert_ptr_equal(pfs_pages_next(pages, &a, 0x7f0012345001), page);
	assert_ptr_equal(pfs_pages_get(pages, 0x7f0012345000), page);
	assert_int_equal(pfs_pages_total(pages), 1);
	pfs_pages_free(pages);
}

/* A taken page starts again from nothing. */
static void test_taken(void **state)
{
	struct pfs_pages *live = pfs_pages_new(SHIFT), *retired = pfs_pages_new(SHIFT);

	touch(pfs_pages_get(live, 0x1000), 7, PFS_PAGE_READ);
	touch(pfs_pages_get(live, 0x2000), 8, PFS_PAGE_READ);
	assert_int_equal(pfs_pages_move(live, 0x1000, 0x2000, retired, 0), 0);
	assert_null(pfs_pages_find(live, 0x1000));
	assert_non_null(pfs_pages_find(live, 0x2000));
	assert_int_equal(pfs_pages_find(retired, 0x1000)->first_ns, 7);
	assert_int_equal(pfs_pages_get(live, 0x1000)->flags, 0);
	pfs_pages_free(live);
	pfs_pages_free(retired);
}

/* Counters stop at their greatest value instead of starting again. */
static void test_saturation(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);

	*pfs_pages_get(pages, 0) = (struct pfs_page){ .flags = 1, .nr_read = UINT32_MAX - 1 };
	*pfs_pages_get(pages, SIZE) = (struct pfs_page){ .flags = 1, .nr_read = 2 };
	assert_int_equal(pfs_pages_move(pages, SIZE, 2 * SIZE, pages, -(uint64_t)SIZE), 0);
	assert_int_equal(pfs_pages_find(pages, 0)->nr_read, UINT32_MAX);
	assert_int_equal(pfs_pages_total(pages), 1);
	pfs_pages_free(pages);
}

/* 64 KiB pages, and the smallest there could be. */
static void test_other_page_sizes(void **state)
{
	static const unsigned int shifts[] = { 0, 12, 14, 16, 40 };

	for (unsigned int i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
		struct pfs_pages *pages = pfs_pages_new(shifts[i]);
		uint64_t a, nr = 0;
		struct pfs_page *page;

		pfs_pages_get(pages, UINT64_MAX)->flags = PFS_PAGE_READ;
		pfs_pages_get(pages, 0)->flags = PFS_PAGE_READ;
		pfs_pages_for_each(page, pages, a, 0, 0, UINT64_C(1) << shifts[i])
			nr++;
		assert_int_equal(nr, 2);
		assert_int_equal(pfs_pages_count(pages, 0, 0, PFS_PAGE_TOUCHED), 2);
		pfs_pages_free(pages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_presence),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_other_page_sizes),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
