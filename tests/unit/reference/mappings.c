/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings: by a random walk, held against an array of pages that knows nothing of ranges.
 */
#include "reference/mappings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NR_PAGES = 64, PAGE_SIZE = 4096 };

/* Which mapping each page belongs to, by its key; 0: none. */
static uint32_t naive[NR_PAGES];

static void add_gaps(struct pfs_mappings *m, uint64_t start, uint64_t end, uint32_t *nr)
{
	struct pfs_mapping new;

	for (; start < end; start = new.end) {
		new = (struct pfs_mapping){ .start = start, .end = end, .key = ++*nr };
		if (!pfs_mappings_gap(m, &new.start, &new.end))
			break;
		new.base = new.start;
		for (uint64_t page = new.start; page < new.end; page++) {
			assert_int_equal(naive[page], 0);
			naive[page] = new.key;
		}
		assert_non_null(pfs_mappings_add(m, &new));
	}
}

static void move(struct pfs_mappings *m, uint64_t start, uint64_t len, uint64_t to)
{
	uint32_t moved[NR_PAGES];

	memcpy(moved, naive + start, len * sizeof(*moved));
	memset(naive + start, 0, len * sizeof(*moved));
	memset(naive + to, 0, len * sizeof(*moved));
	assert_int_equal(pfs_mappings_cut(m, to, to + len), 0);
	assert_int_equal(pfs_mappings_move(m, start, len, to), 0);
	memcpy(naive + to, moved, len * sizeof(*moved));
}

static void assert_same(const struct pfs_mappings *m)
{
	for (uint64_t page = 0; page < NR_PAGES; page++) {
		const struct pfs_mapping *found = pfs_mappings_find(m, page);

		assert_int_equal(found ? found->key : 0, naive[page]);
	}
	for (unsigned int i = 0; i < m->nr; i++) {
		assert_true(m->at[i]->start < m->at[i]->end);
		assert_true(!i || m->at[i - 1]->end <= m->at[i]->start);
	}
}

static void test_random(void **state)
{
	for (int seed = 0; seed < 500; seed++) {
		struct pfs_mappings m = { 0 };
		uint32_t nr = 0;

		srand(seed);
		memset(naive, 0, sizeof(naive));
		for (int step = 0; step < 60; step++) {
			uint64_t start = rand() % NR_PAGES, end = start + 1 + rand() % (NR_PAGES - start);

			if (rand() % 2) {
				add_gaps(&m, start, end, &nr);
			} else if (rand() % 3) {
				memset(naive + start, 0, (end - start) * sizeof(*naive));
				assert_int_equal(pfs_mappings_cut(&m, start, end), 0);
			} else if (start < NR_PAGES / 2) {
				uint64_t len = 1 + rand() % (NR_PAGES / 2 - start);

				move(&m, start, len, NR_PAGES / 2 + rand() % (NR_PAGES / 2 - len + 1));
			}
			assert_same(&m);
		}
		pfs_mappings_fini(&m);
	}
}

/* A hundred thousand downwards, as the kernel maps them: in the time of a test. */
static void test_many(void **state)
{
	struct pfs_mappings m = { 0 };

	for (uint64_t i = 100000; i > 0; i--) {
		struct pfs_mapping new = { .start = i * PAGE_SIZE, .end = (i + 1) * PAGE_SIZE };

		assert_non_null(pfs_mappings_add(&m, &new));
	}
	assert_int_equal(m.nr, 100000);
	assert_int_equal(pfs_mappings_find(&m, UINT64_C(70000) * PAGE_SIZE + 5)->start, UINT64_C(70000) * PAGE_SIZE);
	assert_null(pfs_mappings_find(&m, 0));
	assert_int_equal(pfs_mappings_cut(&m, 0, UINT64_MAX), 0);
	assert_int_equal(m.nr, 0);
	pfs_mappings_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
