/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stack distances against the stack itself: a list, the page that was referenced last in front.
 */
#include "support/strings.h"

#include "simulate/stack_distance.h"

#include <errno.h>
#include <string.h>

/* The distance by its definition, and the page to the front. 0: not in the list. */
static uint32_t naive_distance(uint32_t *list, uint32_t *nr, uint32_t page)
{
	uint32_t at = 0;

	while (at < *nr && list[at] != page)
		at++;
	memmove(list + 1, list, at * sizeof(*list));
	list[0] = page;
	if (at < *nr)
		return at + 1;
	++*nr;
	return 0;
}

static uint64_t naive_misses(const struct pfs_string *string, uint32_t size)
{
	uint32_t *list = calloc(string->nr + 1, sizeof(*list)), nr = 0;
	uint64_t misses = 0;

	for (size_t i = 0; i < string->nr; i++) {
		uint32_t distance = naive_distance(list, &nr, string->pages[i]);

		misses += !distance || distance > size;
	}
	free(list);
	return misses;
}

static struct pfs_stack_distance *fed(const struct pfs_string *string)
{
	struct pfs_stack_distance *s = pfs_stack_distance_new();

	assert_non_null(s);
	for (size_t i = 0; i < string->nr; i++)
		assert_int_equal(pfs_stack_distance_refer(s, string->pages[i], NULL), 0);
	return s;
}

static uint64_t misses_of(const struct pfs_string *string, uint64_t size)
{
	struct pfs_stack_distance *s = fed(string);
	struct pfs_lru_curve curve;
	uint64_t misses;

	assert_int_equal(pfs_stack_distance_curve(s, &curve), 0);
	misses = pfs_lru_misses(&curve, size);
	free(curve.misses);
	pfs_stack_distance_free(s);
	return misses;
}

static void test_published(void **state)
{
	struct pfs_string belady = STRING_OF(belady_string), silberschatz = STRING_OF(silberschatz_string);
	struct pfs_string stallings = STRING_OF(stallings_string);

	assert_int_equal(misses_of(&belady, 3), 10);
	assert_int_equal(misses_of(&belady, 4), 8);
	assert_int_equal(misses_of(&belady, 5), 5);
	assert_int_equal(misses_of(&belady, 1000), 5);
	assert_int_equal(misses_of(&belady, 0), 12);
	assert_int_equal(misses_of(&silberschatz, 3), 12);
	assert_int_equal(misses_of(&stallings, 3), 7);
	pfs_string_fini(&belady);
	pfs_string_fini(&silberschatz);
	pfs_string_fini(&stallings);
}

static void test_empty(void **state)
{
	struct pfs_stack_distance *s = pfs_stack_distance_new();
	struct pfs_lru_curve curve;

	assert_int_equal(pfs_stack_distance_curve(s, &curve), 0);
	assert_int_equal(curve.refs + curve.pages + curve.enough, 0);
	assert_int_equal(pfs_lru_misses(&curve, 0) + pfs_lru_misses(&curve, 5), 0);
	free(curve.misses);
	pfs_stack_distance_free(s);
	pfs_stack_distance_free(NULL);
}

/* Each distance, not only their sums. */
static void test_distances_against_the_list(void **state)
{
	uint32_t list[256];

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct pfs_string string = string_of_seed(seed, 5000);
		struct pfs_stack_distance *s = pfs_stack_distance_new();
		uint32_t nr = 0;

		for (size_t i = 0; i < string.nr; i++) {
			uint64_t distance, wanted = naive_distance(list, &nr, string.pages[i]);

			assert_int_equal(pfs_stack_distance_refer(s, string.pages[i], &distance), 0);
			if (distance != wanted)
				fail_msg("seed %u, reference %zu: distance %u, not %u", (unsigned int)seed, i,
					 (unsigned int)distance, (unsigned int)wanted);
		}
		pfs_stack_distance_free(s);
		pfs_string_fini(&string);
	}
}

static void test_curves_against_the_list(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct pfs_string string = string_of_seed(seed, 1500);
		struct pfs_stack_distance *s = fed(&string);
		struct pfs_lru_curve curve;

		assert_int_equal(pfs_stack_distance_curve(s, &curve), 0);
		assert_int_equal(curve.refs, string.nr);
		for (uint32_t size = 0; size <= 210; size++)
			if (pfs_lru_misses(&curve, size) != naive_misses(&string, size))
				fail_msg("seed %u, size %u", (unsigned int)seed, size);
		assert_int_equal(pfs_lru_misses(&curve, curve.enough), curve.pages);
		if (curve.enough)
			assert_true(pfs_lru_misses(&curve, curve.enough - 1) > curve.pages);
		free(curve.misses);
		pfs_stack_distance_free(s);
		pfs_string_fini(&string);
	}
}

/* Many more references than positions, and pages that come when there are many: 3 loops over ever more. */
static void test_many_pages(void **state)
{
	enum { LOOPS = 3, STEP = 10007 };
	struct pfs_stack_distance *s = pfs_stack_distance_new();
	uint64_t distance;

	for (uint32_t pages = STEP; pages <= 4 * STEP; pages += STEP) {
		for (uint32_t i = 0; i < LOOPS * pages; i++) {
			uint32_t page = i % pages, known = i < pages ? pages - STEP : pages;

			assert_int_equal(pfs_stack_distance_refer(s, page, &distance), 0);
			assert_int_equal(distance, page < known ? known : 0);
		}
	}
	pfs_stack_distance_free(s);
}

static void test_too_many_pages(void **state)
{
	struct pfs_stack_distance *s = pfs_stack_distance_new();

	assert_int_equal(pfs_stack_distance_refer(s, UINT32_MAX, NULL), -EOVERFLOW);
	pfs_stack_distance_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_distances_against_the_list),
		cmocka_unit_test(test_curves_against_the_list),
		cmocka_unit_test(test_many_pages),
		cmocka_unit_test(test_too_many_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
