/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The random choice of a word among the places of objects: each word as often as any other, no two the same at a time. */
#include "objects/slots.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define AT(i) (UINT64_C(0xffff888100000000) + (i)*UINT64_C(4096))

static struct pfs_slots *new_slots(uint64_t seed)
{
	struct pfs_slots *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->seed = seed;
	return s;
}

static void test_each_word_as_often(void **state)
{
	static const uint64_t bytes[] = { 8, 64, 232, 4096, 20 }; /* 1, 8, 29, 512, 2 words */
	enum { NR = 5, WORDS = 552, DRAWS = 400000 };
	struct pfs_slots *s = new_slots(7);
	struct pfs_slot_word words[2];
	unsigned int *times = calloc(NR * 512, sizeof(*times)), used = 0;
	double expected = DRAWS * 2.0 / WORDS, chi = 0;

	for (int i = 0; i < NR; i++)
		pfs_slots_add(s, AT(i), bytes[i]);
	assert_int_equal(pfs_slots_words(s), WORDS);
	for (int i = 0; i < DRAWS; i++) {
		assert_int_equal(pfs_slots_choose(s, words, 2), 2);
		assert_true(words[0].ptr != words[1].ptr || words[0].off != words[1].off);
		for (int k = 0; k < 2; k++) {
			uint64_t slot = (words[k].ptr - AT(0)) / 4096;

			assert_true(slot < NR && words[k].off % 8 == 0 && words[k].off + 8 <= bytes[slot]);
			times[slot * 512 + words[k].off / 8]++;
		}
	}
	for (int i = 0; i < NR * 512; i++) {
		used += times[i] > 0;
		chi += times[i] ? pow(times[i] - expected, 2) / expected : 0;
	}
	assert_int_equal(used, WORDS);
	assert_true(fabs(chi - WORDS) < 6 * sqrt(2 * WORDS)); /* as of a fair choice */
	free(times);
	free(s);
}

static void test_few_words(void **state)
{
	struct pfs_slots *s = new_slots(1);
	struct pfs_slot_word words[2];

	assert_int_equal(pfs_slots_choose(s, words, 2), 0);
	pfs_slots_add(s, AT(1), 7); /* less than a word */
	assert_int_equal(pfs_slots_choose(s, words, 2), 0);
	pfs_slots_add(s, AT(1), 8);
	assert_int_equal(pfs_slots_choose(s, words, 2), 1);
	assert_int_equal(words[0].ptr, AT(1));
	free(s);
}

/* The place was given to objects of another size. */
static void test_other_size(void **state)
{
	struct pfs_slots *s = new_slots(3);
	struct pfs_slot_word words[2];

	for (int i = 0; i < 10; i++)
		pfs_slots_add(s, AT(i), 64);
	for (int i = 0; i < 10; i++)
		pfs_slots_add(s, AT(i), i % 2 ? 64 : 16);
	assert_int_equal(s->nr, 10);
	assert_int_equal(pfs_slots_words(s), 5 * 8 + 5 * 2);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(pfs_slots_choose(s, words, 2), 2);
		assert_true((words[0].ptr - AT(0)) / 4096 % 2 || words[0].off < 16);
	}
	free(s);
}

static void test_too_many(void **state)
{
	enum { NR = 5 * PFS_SLOTS_MAX };
	struct pfs_slots *s = new_slots(5);
	struct pfs_slot_word words[2];
	unsigned int upper = 0;

	for (int again = 0; again < 2; again++) /* what was forgotten stays so */
		for (uint64_t i = 0; i < NR; i++)
			pfs_slots_add(s, AT(i), 64);
	assert_in_range(s->nr, PFS_SLOTS_MAX / 4, PFS_SLOTS_MAX);
	assert_true(fabs(pfs_slots_words(s) / (8.0 * NR) - 1) < 0.03);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(pfs_slots_choose(s, words, 2), 2);
		upper += words[0].ptr >= AT(NR / 2);
	}
	assert_true(abs((int)upper - 1000) < 190);
	free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_word_as_often),
		cmocka_unit_test(test_few_words),
		cmocka_unit_test(test_other_size),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
