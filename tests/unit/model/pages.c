/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sparse page tree against a naive array: random gets, moves, counts and walks.
 *
 * The array knows only a few windows of the address space, chosen where mistakes hide: page 0, the
 * middle of user memory, a leaf that is far from all others, and the topmost page.
 */
#include "support/random.h"
#include "support/page_at.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

enum { SHIFT = 12, SIZE = 1 << SHIFT, NR_WINDOWS = 5, WINDOW = 400, NR = NR_WINDOWS * WINDOW };

static const uint64_t window_start[NR_WINDOWS] = {
	0, 0x555555554000, 0x7ffff7c00000, 0xffff800000000000, -(uint64_t)WINDOW *SIZE,
};

struct naive {
	bool present[NR];
	struct pfs_page page[NR];
};

static uint64_t addr_of(unsigned int i)
{
	return window_start[i / WINDOW] + (uint64_t)(i % WINDOW) * SIZE;
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
static void naive_move(struct naive *from, unsigned int i, unsigned int nr, struct naive *to, unsigned int j)
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
	unsigned int i = 0;
	uint32_t flags;
	uint64_t nr;

	pfs_page_walk_start(&at, pages, start, end);
	while (pfs_page_walk_flags(&at, limit, &flags, &nr)) {
		assert_true(nr == 1 || !limit || at.addr < limit);
		for (; nr; nr--, i++) {
			while (i < NR && (!naive->present[i] || addr_of(i) < start))
				i++;
			assert_true(i < NR);
			assert_true(addr_of(i) >= at.addr);
			assert_true(nr == 1 || !limit || addr_of(i) < limit);
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

static void check_same(const struct pfs_pages *pages, const struct naive *naive, uint64_t start, uint64_t end)
{
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t nr = 0, nr_total = 0;
	unsigned int i = 0;

	pages_for_each(page, &at, pages, start, end)
	{
		for (; i < NR && (!naive->present[i] || addr_of(i) < start); i++)
			;
		assert_true(i < NR);
		assert_int_equal(at.addr, addr_of(i));
		assert_memory_equal(page, &naive->page[i], sizeof(*page));
		assert_memory_equal(page, page_at(pages, at.addr + 17), sizeof(*page));
		assert_true(page_has(pages, at.addr, page->flags));
		assert_false(page_has(pages, at.addr, ~page->flags));
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
	assert_int_equal(nr_total, pages_total(pages));
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

/* Faults that are alike, mostly upwards from page i on, some on a page twice or long after the one before. */
static void random_faults(struct pfs_pages *pages, struct naive *naive, uint64_t *seed, uint64_t now, unsigned int i,
			  unsigned int nr)
{
	uint64_t addr[WINDOW], ts[WINDOW];
	bool writes = !(next_random(seed) % 4);
	struct pfs_page what = {
		.first_tid = 1 + now % 3,
		.nr_faults = 1,
		.nr_read = !writes,
		.nr_write = writes,
		.flags = PFS_PAGE_USER | (writes ? PFS_PAGE_WRITE : PFS_PAGE_READ),
	};
	struct pfs_faults_on faults = { addr, ts, nr, what.first_tid, what.flags };

	if (!(next_random(seed) % 4)) /* out of order with all else */
		now /= 2;
	for (unsigned int k = 0, at = i; k < nr; k++) {
		uint64_t r = next_random(seed);

		ts[k] = now += r % 50 ? r % 3 : UINT64_C(3) << 30;
		addr[k] = addr_of(at) + 9;
		what.first_ns = what.last_ns = now;
		naive->present[at] = true;
		naive_add(&naive->page[at], &what);
		at = r >> 8 & 15 ? at + 1 : i + (r >> 16) % nr;
		if (at == i + nr)
			at = i;
	}
	assert_int_equal(pfs_pages_faults(pages, &faults), 0);
}

/* Marks pages that have none of some flags. */
static void mark_run(struct pfs_pages *pages, struct naive *naive, unsigned int i, unsigned int nr, uint64_t *seed,
		     uint64_t now)
{
	struct pfs_page what = random_event(seed, now);
	uint32_t unless = next_random(seed) % 2 ? 1u << next_random(seed) % 12 : 0;
	uint64_t marked, wanted = 0;

	assert_int_equal(pfs_pages_mark(pages, addr_of(i), addr_of(i + nr - 1) + SIZE, &what, unless, &marked), 0);
	for (; nr; nr--, i++) {
		if (naive->present[i] && naive->page[i].flags & unless)
			continue;
		naive->present[i] = true;
		naive_add(&naive->page[i], &what);
		wanted++;
	}
	assert_int_equal(marked, wanted);
}

static void random_step(struct pfs_pages *pages[2], struct naive *naive[2], uint64_t *seed, uint64_t now)
{
	unsigned int i, j, nr, room, to = next_random(seed) % 2;

	random_run(seed, &i, &nr);
	if (!(next_random(seed) % 4)) {
		random_faults(pages[to], naive[to], seed, now, i, nr);
		return;
	}
	if (!(next_random(seed) % 30)) { /* all there is from a page on, or below it: whole nodes */
		bool below = next_random(seed) % 2;
		uint64_t start = below ? 0 : addr_of(i), end = below ? addr_of(i) : 0;

		assert_int_equal(pfs_pages_move(pages[0], start, end, pages[1], 0), 0);
		naive_move(naive[0], below ? 0 : i, below ? i : NR - i, naive[1], below ? 0 : i);
		return;
	}
	if (next_random(seed) % 4 == 0) {
		mark_run(pages[to], naive[to], i, nr, seed, now);
		return;
	}
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
	if (next_random(seed) % 2 && i / 64 * 64 + 64 < NR) /* whole leaves, too */
		j = j / WINDOW * WINDOW + i % WINDOW;
	assert_int_equal(
		pfs_pages_move(pages[0], addr_of(i), addr_of(i + nr - 1) + SIZE, pages[to], addr_of(j) - addr_of(i)),
		0);
	naive_move(naive[0], i, nr, naive[to], j);
}

static void test_random(void **state)
{
	for (uint64_t run = 1; run <= 6; run++) {
		struct pfs_pages *one = pfs_pages_new(SHIFT);
		struct pfs_pages *other = run % 3 ? pfs_pages_new_beside(one, 0, 0) : pfs_pages_new(SHIFT);
		struct pfs_pages *pages[2] = { one, other };
		struct naive *naive[2] = { calloc(1, sizeof(**naive)), calloc(1, sizeof(**naive)) };
		uint64_t seed = run;

		for (uint64_t now = 1; now <= 150; now++) {
			uint64_t start = addr_of(next_random(&seed) % NR);

			random_step(pages, naive, &seed, now << 30);
			for (unsigned int i = 0; i < 2; i++) {
				check_same(pages[i], naive[i], 0, 0);
				check_same(pages[i], naive[i], start, start + 100 * SIZE);
				check_same(pages[i], naive[i], start, 0);
			}
		}
		for (unsigned int i = 0; i < 2; i++) {
			run == 2 && !i ? pfs_pages_free_all(pages[i]) : pfs_pages_free(pages[i]);
			free(naive[i]);
		}
	}
}

static const struct pfs_page a_read = {
	.first_ns = 7,
	.last_ns = 7,
	.first_tid = 3,
	.flags = PFS_PAGE_READ | PFS_PAGE_USER,
	.nr_read = 1,
	.nr_faults = 1,
};

/* ---- long ranges: as many pages as make several levels of the tree ---- */

enum { MANY = 13000 };
#define MANY_START ((UINT64_C(4096) - 70) * SIZE) /* level 1 begins at 4096, 8192 */

static void check_many(const struct pfs_pages *pages, const struct pfs_page *naive)
{
	uint64_t nr_total = 0, nr_walked = 0, last = 0, nr;
	const struct pfs_page *page;
	struct pfs_page_walk at;

	for (unsigned int i = 0; i < MANY; i++) {
		struct pfs_page found = { 0 };
		bool there = page_copy(pages, MANY_START + (uint64_t)i * SIZE, &found);

		assert_int_equal(there, naive[i].flags != 0);
		assert_memory_equal(&found, &naive[i], sizeof(found));
		nr_total += there;
	}
	assert_int_equal(pages_total(pages), nr_total);
	pfs_page_walk_start(&at, pages, MANY_START + 3 * SIZE, MANY_START + (MANY - 3) * SIZE);
	while ((page = pfs_page_walk_row(&at, &nr))) {
		uint64_t i = (at.addr - MANY_START) / SIZE;

		assert_true(!nr_walked || i > last);
		for (last = i; i < last + nr; i++, nr_walked++)
			assert_memory_equal(page, &naive[i], sizeof(*page));
		last = i - 1;
	}
	for (unsigned int i = 3; i < MANY - 3; i++)
		nr_walked -= naive[i].flags != 0;
	assert_int_equal(nr_walked, 0);
}

static void many_step(struct pfs_pages *pages[2], struct pfs_page *naive[2], uint64_t *seed, uint64_t now)
{
	static struct pfs_page aside[MANY];
	struct pfs_page what = random_event(seed, now);
	unsigned int i = next_random(seed) % MANY, to = next_random(seed) % 2, n, j;
	uint64_t start, nr;

	n = next_random(seed) % 3 ? 1 + next_random(seed) % (MANY - i) : 1 + i % 3;
	n = n > MANY - i ? MANY - i : n;
	start = MANY_START + (uint64_t)i * SIZE;
	if (next_random(seed) % 2) {
		uint32_t unless = next_random(seed) % 2 ? 1u << next_random(seed) % 12 : 0;

		assert_int_equal(pfs_pages_mark(pages[to], start, start + (uint64_t)n * SIZE, &what, unless, &nr), 0);
		for (unsigned int k = i; k < i + n; k++)
			if (!(naive[to][k].flags & unless))
				naive_add(&naive[to][k], &what);
		return;
	}
	j = next_random(seed) % (MANY - n + 1);
	if (next_random(seed) % 3 == 0 && j > 4096) /* whole subtrees */
		j -= (j - i) % 4096;
	if (j > MANY - n)
		j = i;
	assert_int_equal(
		pfs_pages_move(pages[0], start, start + (uint64_t)n * SIZE, pages[to], ((uint64_t)j - i) * SIZE), 0);
	memcpy(aside, naive[0], sizeof(aside));
	memset(naive[0] + i, 0, n * sizeof(*aside));
	for (unsigned int k = 0; k < n; k++)
		if (aside[i + k].flags)
			naive_add(&naive[to][j + k], &aside[i + k]);
}

static void test_many(void **state)
{
	for (uint64_t run = 1; run <= 20; run++) {
		struct pfs_pages *pages[2] = { pfs_pages_new(SHIFT), pfs_pages_new(SHIFT) };
		struct pfs_page *naive[2] = { calloc(MANY, sizeof(**naive)), calloc(MANY, sizeof(**naive)) };
		uint64_t seed = run;

		for (uint64_t now = 1; now <= 20; now++) {
			many_step(pages, naive, &seed, now);
			check_many(pages[0], naive[0]);
			check_many(pages[1], naive[1]);
		}
		for (unsigned int i = 0; i < 2; i++) {
			pfs_pages_free(pages[i]);
			free(naive[i]);
		}
	}
}

/* How many rows, and how many pages in them. */
static uint64_t rows_of(const struct pfs_pages *pages, uint64_t *nr_pages)
{
	struct pfs_page_walk at;
	uint64_t nr_rows = 0, nr;

	pfs_page_walk_start(&at, pages, 0, 0);
	for (*nr_pages = 0; pfs_page_walk_row(&at, &nr); nr_rows++)
		*nr_pages += nr;
	return nr_rows;
}

/* All of memory takes no more than a few pages do. */
static void test_long_ranges(void **state)
{
	const struct pfs_page populated = { .first_ns = 5, .last_ns = 5, .flags = PFS_PAGE_POPULATED };
	const uint64_t terabyte = UINT64_C(1) << 40;
	struct pfs_pages *pages = pfs_pages_new(SHIFT), *other = pfs_pages_new(SHIFT);
	uint64_t nr, nr_pages;
	struct pfs_page page;

	/* to the very top: an address that goes on behind it would begin again at 0 */
	assert_int_equal(pfs_pages_mark(pages, 0x1000, UINT64_MAX, &populated, 0, &nr), 0);
	assert_int_equal(nr, (UINT64_C(1) << 52) - 1);
	assert_int_equal(pages_total(pages), nr);
	assert_int_equal(pfs_pages_mark(pages, 0, 0, &populated, PFS_PAGE_POPULATED, &nr), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(pfs_pages_add(pages, 5 * terabyte + 7, &a_read), 0);
	assert_int_equal(pfs_pages_came_of(pages, 6 * terabyte, PFS_PAGE_MAJOR), 0);
	assert_true(rows_of(pages, &nr_pages) < 2000);
	assert_int_equal(nr_pages, UINT64_C(1) << 52);
	assert_true(page_copy(pages, 5 * terabyte, &page));
	assert_int_equal(page.flags, populated.flags | a_read.flags);
	assert_true(page_copy(pages, 5 * terabyte + SIZE, &page));
	assert_memory_equal(&page, &populated, sizeof(page));
	assert_true(page_has(pages, 6 * terabyte, PFS_PAGE_MAJOR));
	/* three terabytes, elsewhere and not as they were aligned; then over the top of memory */
	assert_int_equal(pfs_pages_move(pages, 4 * terabyte, 7 * terabyte, other, 9 * SIZE), 0);
	assert_int_equal(pages_total(other), 3 * terabyte / SIZE);
	assert_false(pfs_pages_any(pages, 4 * terabyte, 7 * terabyte));
	assert_true(page_has(other, 5 * terabyte + 9 * SIZE, PFS_PAGE_READ));
	assert_false(pfs_pages_any(other, 0, 4 * terabyte + 9 * SIZE));
	assert_false(pfs_pages_any(other, 7 * terabyte + 9 * SIZE, 0));
	assert_int_equal(pfs_pages_move(other, 0, 0, pages, -5 * terabyte), 0);
	assert_int_equal(pages_total(other), 0);
	assert_true(page_has(pages, 9 * SIZE, PFS_PAGE_READ));
	assert_true(rows_of(pages, &nr_pages) < 2500);
	assert_int_equal(nr_pages, pages_total(pages));
	assert_int_equal(nr_pages, (UINT64_C(1) << 52) - 3 * terabyte / SIZE);
	pfs_pages_free(pages);
	pfs_pages_free(other);
}

static void test_empty(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);

	assert_null(page_at(pages, 0));
	assert_null(page_at(pages, UINT64_MAX));
	assert_false(pfs_pages_any(pages, 0, 0));
	assert_int_equal(pfs_pages_came_of(pages, 0, PFS_PAGE_SIGNAL), 0);
	assert_int_equal(pfs_pages_move(pages, 0, 0, pages, SIZE), 0);
	assert_int_equal(pages_total(pages), 0);
	pfs_pages_free(pages);
	pfs_pages_free(NULL);
	assert_null(pfs_pages_new(63));
}

static void test_ends_of_a_walk(void **state)
{
	struct pfs_pages *pages = pfs_pages_new(SHIFT);

	assert_int_equal(pfs_pages_add(pages, 0x7f0012345678, &a_read), 0);
	assert_true(pfs_pages_any(pages, 0, 0));
	assert_true(pfs_pages_any(pages, 0x7f0012345fff, 0)); /* whole pages */
	assert_false(pfs_pages_any(pages, 0x7f0012346000, 0));
	assert_false(pfs_pages_any(pages, 0, 0x7f0012345000));
	assert_true(pfs_pages_any(pages, 0, 0x7f0012345001));
	assert_false(pfs_pages_any(pages, 0x7f0012345001, 0x7f0012345001));
	assert_int_equal(pages_total(pages), 1);
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
/* A node is hung over only if all its pages are to go. */
static void test_part_of_a_node(void **state)
{
	struct pfs_pages *from = pfs_pages_new(SHIFT), *to = pfs_pages_new_beside(from, 0, 0);

	for (uint64_t i = 0; i < 8192; i++)
		assert_int_equal(pfs_pages_add(from, i * SIZE, &a_read), 0);
	assert_int_equal(pfs_pages_move(from, 64 * SIZE, 0, to, 0), 0);
	assert_int_equal(pages_total(from), 64);
	assert_int_equal(pages_total(to), 8192 - 64);
	assert_int_equal(pfs_pages_move(to, 0, 8000 * SIZE, from, 0), 0);
	assert_int_equal(pages_total(from), 8000);
	assert_null(page_at(to, 7999 * SIZE));
	assert_null(page_at(from, 8000 * SIZE));
	pfs_pages_free(from);
	pfs_pages_free(to);
}

/* One fault on each of ten pages from page i on; two of them can be told apart by what is given. */
static void fault_ten(struct pfs_pages *pages, uint64_t i, uint64_t ns, int32_t tid, uint32_t flags)
{
	uint64_t addr[10], ts[10];
	struct pfs_faults_on faults = { addr, ts, 10, tid, flags | PFS_PAGE_USER };

	for (unsigned int k = 0; k < 10; k++) {
		addr[k] = (i + k) * SIZE;
		ts[k] = ns + k;
	}
	assert_int_equal(pfs_pages_faults(pages, &faults), 0);
}

/* Faults of several threads beside one another, each with its own time, thread and flags. */
static void test_neighbours_that_differ(void **state)
{
	static const struct {
		uint64_t ns;
		int32_t tid;
		uint32_t flags;
	} tens[] = {
		{ 1000, 1, PFS_PAGE_READ }, { 2000, 2, PFS_PAGE_READ },
		{ 500, 2, PFS_PAGE_READ },  { UINT64_C(1) << 40, 1, PFS_PAGE_WRITE },
		{ 100, 1, PFS_PAGE_WRITE },
	};
	struct pfs_pages *pages = pfs_pages_new(SHIFT);
	const struct pfs_page *page;
	struct pfs_page_walk at;
	uint64_t first = UINT64_MAX, last = 0, nr, seen = 0;
	uint32_t flags;

	for (unsigned int i = 0; i < 5; i++)
		fault_ten(pages, 10 * i, tens[i].ns, tens[i].tid, tens[i].flags);
	for (uint64_t i = 0; i < 50; i++) {
		page = page_at(pages, i * SIZE);
		assert_true(page->first_ns == tens[i / 10].ns + i % 10 && page->last_ns == page->first_ns);
		assert_int_equal(page->first_tid, tens[i / 10].tid);
		assert_int_equal(page->flags, tens[i / 10].flags | PFS_PAGE_USER);
		assert_int_equal(page->nr_faults, 1);
	}
	pfs_page_walk_start(&at, pages, 0, 0);
	for (; pfs_page_walk_flags(&at, 100 * SIZE, &flags, &nr); seen += nr)
		for (uint64_t i = seen; i < seen + nr; i++)
			assert_int_equal(flags, tens[i / 10].flags | PFS_PAGE_USER);
	assert_int_equal(seen, 50);
	pfs_pages_free(pages);

	/* as many pages at once as are alike: the times are those of all */
	pages = pfs_pages_new(SHIFT);
	for (unsigned int i = 0; i < 3; i++)
		fault_ten(pages, 10 * i, tens[i].ns, tens[i].tid, tens[i].flags);
	pfs_page_walk_start(&at, pages, 0, 0);
	while ((page = pfs_page_walk_alike(&at, &nr))) {
		first = page->first_ns < first ? page->first_ns : first;
		last = page->last_ns > last ? page->last_ns : last;
	}
	assert_true(first == 500 && last == 2009);
	pfs_pages_free(pages);
}

/* Trees for one range only, and what they are for: to take pages over, and give them back. */
static void test_of_a_range(void **state)
{
	static const struct {
		uint64_t first, nr;
	} ranges[] = {
		{ 5, 1 }, { 63, 2 }, { 70, 500 }, { 4000, 1000 }, { 4000, 5000 }, { 4096, 8192 }, { 100, 20000 },
	};

	for (unsigned int i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		uint64_t start = 0x7ff000000000 + ranges[i].first * SIZE, end = start + ranges[i].nr * SIZE;
		struct pfs_pages *from = pfs_pages_new(SHIFT);
		struct pfs_pages *to = pfs_pages_new_beside(from, start, end);
		struct pfs_pages *other = pfs_pages_new_beside(from, 0, 0);
		struct pfs_page_walk at;

		for (uint64_t addr = start - 3 * SIZE; addr < end + 3 * SIZE; addr += SIZE)
			assert_int_equal(pfs_pages_add(from, addr, &a_read), 0);
		assert_int_equal(pfs_pages_move(from, start, end, to, 0), 0);
		assert_int_equal(pages_total(from), 6);
		assert_int_equal(pages_total(to), ranges[i].nr);
		assert_non_null(page_at(to, start));
		assert_non_null(page_at(to, end - SIZE));
		assert_null(page_at(to, start - SIZE));
		assert_null(page_at(to, end));
		assert_true(pfs_pages_any(to, end - SIZE, end));
		assert_false(pfs_pages_any(to, 0, start));
		assert_false(pfs_pages_any(to, end, 0));
		pfs_page_walk_start(&at, to, 0, 0);
		for (uint64_t addr = start; addr < end; addr += SIZE) {
			assert_non_null(pfs_page_walk_next(&at));
			assert_true(at.addr == addr);
		}
		assert_null(pfs_page_walk_next(&at));
		assert_int_equal(pfs_pages_add(to, start, &a_read), 0);
		/* there and back, and all that there is of it */
		assert_int_equal(pfs_pages_move(to, 0, 0, other, 0), 0);
		assert_int_equal(pfs_pages_move(other, 0, 0, to, 0), 0);
		assert_int_equal(pages_total(to), ranges[i].nr);
		assert_int_equal(page_at(to, start)->nr_faults, 2);
		assert_int_equal(pfs_pages_move(to, start, end, from, 0), 0);
		assert_int_equal(pages_total(to), 0);
		assert_int_equal(pages_total(from), ranges[i].nr + 6);
		assert_int_equal(page_at(from, start)->nr_faults, 2);
		pfs_pages_free(to);
		pfs_pages_free(other);
		pfs_pages_free(from);
	}
}

/* Pages that came from another tree are there when that is no more. */
static void test_moved_from_afar(void **state)
{
	struct pfs_pages *from = pfs_pages_new(SHIFT), *to = pfs_pages_new(SHIFT);
	char *other[64];

	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(pfs_pages_add(from, i * SIZE, &a_read), 0);
	assert_int_equal(pfs_pages_move(from, 0, 0, to, 0), 0);
	pfs_pages_free(from);
	for (unsigned int i = 0; i < 64; i++) {
		other[i] = malloc(4096u << i % 8);
		memset(other[i], 0xff, 4096u << i % 8);
	}
	assert_int_equal(pages_total(to), 5000);
	for (uint64_t i = 0; i < 5000; i++)
		assert_memory_equal(page_at(to, i * SIZE), &a_read, sizeof(a_read));
	for (unsigned int i = 0; i < 64; i++)
		free(other[i]);
	pfs_pages_free(to);
}

/* What is freed of trees beside one another, others get. */
static void test_memory_is_used_again(void **state)
{
	struct pfs_pages *one = pfs_pages_new(SHIFT);
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (unsigned int round = 0; round < 200; round++) {
		struct pfs_pages *pages = pfs_pages_new_beside(one, 0, 0);

		for (uint64_t addr = 0; addr < 6400 * SIZE; addr += SIZE) {
			assert_int_equal(pfs_pages_add(pages, addr, &a_read), 0);
			if (!(addr % (64 * SIZE))) /* a long leaf: 3 KiB */
				assert_int_equal(pfs_pages_add(pages, addr, &a_read), 0);
		}
		pfs_pages_free(pages);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 20 << 10);
	pfs_pages_free(one);
}

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
	assert_int_equal(pages_total(pages), 1);
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
		pages_for_each(page, &at, pages, 0, 0) nr += page->nr_read;
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
		cmocka_unit_test(test_memory_is_used_again),
		cmocka_unit_test(test_neighbours_that_differ),
		cmocka_unit_test(test_part_of_a_node),
		cmocka_unit_test(test_of_a_range),
		cmocka_unit_test(test_moved_from_afar),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_other_page_sizes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_long_ranges),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
