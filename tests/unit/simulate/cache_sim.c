/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CLOCK and OPT against published examples and against memories that are searched from end to end: CLOCK as a
 * queue of pages with a second chance, OPT by looking forward.
 */
#include "support/strings.h"

#include "simulate/stack_distance.h"

#include <string.h>

static uint64_t clock_of(const struct pfs_string *string, uint64_t size, bool comes_in_set)
{
	uint64_t misses;

	assert_int_equal(pfs_clock_misses(string, size, comes_in_set, &misses), 0);
	return misses;
}

static uint64_t opt_of(const struct pfs_string *string, uint64_t size)
{
	uint32_t *next;
	uint64_t misses;

	assert_int_equal(pfs_next_uses(string, &next), 0);
	assert_int_equal(pfs_opt_misses(string, next, size, &misses), 0);
	free(next);
	return misses;
}

static void test_published(void **state)
{
	struct pfs_string belady = STRING_OF(belady_string), silberschatz = STRING_OF(silberschatz_string);
	struct pfs_string stallings = STRING_OF(stallings_string);

	assert_int_equal(opt_of(&belady, 3), 7);
	assert_int_equal(opt_of(&belady, 4), 6);
	assert_int_equal(opt_of(&silberschatz, 3), 9);
	assert_int_equal(opt_of(&stallings, 3), 6);
	assert_int_equal(clock_of(&stallings, 3, true), 8);
	/* No page is hit before it goes: as FIFO, anomaly and all. */
	assert_int_equal(clock_of(&belady, 3, true), 9);
	assert_int_equal(clock_of(&belady, 4, true), 10);
	pfs_string_fini(&belady);
	pfs_string_fini(&silberschatz);
	pfs_string_fini(&stallings);
}

/* Where all bits are set, the hit of 0 is forgotten in the first round; where new ones are clear, it saves it. */
static void test_bit_of_a_new_page(void **state)
{
	static const uint32_t pages[] = { 0, 1, 2, 0, 3, 0, 1 };
	struct pfs_string string = STRING_OF(pages);

	assert_int_equal(clock_of(&string, 3, true), 6);
	assert_int_equal(clock_of(&string, 3, false), 5);
	assert_int_equal(clock_of(&string, 2, true), 6);
	assert_int_equal(clock_of(&string, 2, false), 6);
	pfs_string_fini(&string);
}

static void test_trivial_sizes(void **state)
{
	struct pfs_string empty = { 0 }, belady = STRING_OF(belady_string);

	assert_int_equal(opt_of(&empty, 0) + opt_of(&empty, 3) + clock_of(&empty, 3, true), 0);
	assert_int_equal(opt_of(&belady, 0), 12);
	assert_int_equal(clock_of(&belady, 0, true), 12);
	assert_int_equal(opt_of(&belady, 1), 12);
	assert_int_equal(clock_of(&belady, 1, false), 12);
	pfs_string_fini(&belady);
}

/* ---- memories that are searched ---- */

struct resident {
	uint32_t page;
	bool bit;
};

static size_t index_of(const struct resident *memory, size_t nr, uint32_t page)
{
	size_t i = 0;

	while (i < nr && memory[i].page != page)
		i++;
	return i;
}

/* The oldest in front; one with its bit set goes to the end without it. */
static uint64_t naive_clock(const struct pfs_string *string, size_t size, bool comes_in_set)
{
	struct resident memory[256];
	size_t nr = 0;
	uint64_t misses = 0;

	for (size_t i = 0; i < string->nr; i++) {
		size_t at = index_of(memory, nr, string->pages[i]);

		if (at < nr) {
			memory[at].bit = true;
			continue;
		}
		misses++;
		while (nr == size) {
			struct resident oldest = memory[0];

			memmove(memory, memory + 1, --nr * sizeof(*memory));
			if (oldest.bit)
				memory[nr++] = (struct resident){ oldest.page, false };
		}
		memory[nr++] = (struct resident){ string->pages[i], comes_in_set };
	}
	return misses;
}

static size_t next_use(const struct pfs_string *string, size_t from, uint32_t page)
{
	while (from < string->nr && string->pages[from] != page)
		from++;
	return from;
}

static uint64_t naive_opt(const struct pfs_string *string, size_t size)
{
	struct resident memory[256];
	size_t nr = 0;
	uint64_t misses = 0;

	for (size_t i = 0; i < string->nr; i++) {
		size_t victim = 0;

		if (index_of(memory, nr, string->pages[i]) < nr)
			continue;
		misses++;
		for (size_t j = 1; nr == size && j < nr; j++)
			if (next_use(string, i, memory[j].page) > next_use(string, i, memory[victim].page))
				victim = j;
		memory[nr == size ? victim : nr++].page = string->pages[i];
	}
	return misses;
}

static const size_t sizes[] = { 1, 2, 3, 5, 8, 13, 30, 64, 100, 150, 199, 200, 201 };
#define NR_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static void test_clock_against_a_queue(void **state)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct pfs_string string = string_of_seed(seed, 5000);

		for (size_t i = 0; i < 2 * NR_SIZES; i++) {
			size_t size = sizes[i / 2];
			uint64_t misses = clock_of(&string, size, i % 2);
			uint64_t wanted = naive_clock(&string, size, i % 2);

			if (misses != wanted)
				fail_msg("seed %u, size %zu, set %zu: %u misses, not %u", (unsigned int)seed, size,
					 i % 2, (unsigned int)misses, (unsigned int)wanted);
		}
		pfs_string_fini(&string);
	}
}

static void test_opt_against_looking_forward(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct pfs_string string = string_of_seed(seed, seed % 10 ? 600 : 5000);

		for (size_t i = 0; i < NR_SIZES; i++) {
			uint64_t misses = opt_of(&string, sizes[i]), wanted = naive_opt(&string, sizes[i]);

			if (misses != wanted)
				fail_msg("seed %u, size %zu: %u misses, not %u", (unsigned int)seed, sizes[i],
					 (unsigned int)misses, (unsigned int)wanted);
		}
		pfs_string_fini(&string);
	}
}

/* None misses less than OPT, and OPT never more in a larger memory. */
static void test_opt_is_best(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct pfs_string string = string_of_seed(seed, 5000);
		struct pfs_stack_distance *s = pfs_stack_distance_new();
		uint64_t before = UINT64_MAX;
		struct pfs_lru_curve lru;

		for (size_t i = 0; i < string.nr; i++)
			assert_int_equal(pfs_stack_distance_refer(s, string.pages[i], NULL), 0);
		assert_int_equal(pfs_stack_distance_curve(s, &lru), 0);
		for (size_t i = 0; i < NR_SIZES; i++) {
			uint64_t best = opt_of(&string, sizes[i]);

			assert_true(best <= before && best <= pfs_lru_misses(&lru, sizes[i]) &&
				    best <= clock_of(&string, sizes[i], true) &&
				    best <= clock_of(&string, sizes[i], false) && best >= lru.pages);
			before = best;
		}
		free(lru.misses);
		pfs_stack_distance_free(s);
		pfs_string_fini(&string);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_bit_of_a_new_page),
		cmocka_unit_test(test_trivial_sizes),
		cmocka_unit_test(test_clock_against_a_queue),
		cmocka_unit_test(test_opt_against_looking_forward),
		cmocka_unit_test(test_opt_is_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
