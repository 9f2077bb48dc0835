/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reference strings for the tests of what simulates memory: published ones, and random ones of several shapes.
 */
#ifndef PFS_TEST_STRINGS_H
#define PFS_TEST_STRINGS_H

#include "simulate/cache_sim.h"
#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

/* Belady, Nelson and Shedler, 1969: FIFO's anomaly. */
static const uint32_t belady_string[] = { 1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5 };
/* Silberschatz, Galvin and Gagne, Operating System Concepts, page replacement. */
static const uint32_t silberschatz_string[] = { 7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1 };
/* Stallings, Operating Systems, replacement policies. */
static const uint32_t stallings_string[] = { 2, 3, 2, 1, 5, 2, 4, 5, 3, 2, 5, 2 };

#define STRING_OF(array) string_of(array, sizeof(array) / sizeof((array)[0]))

static inline struct pfs_string string_of(const uint32_t *pages, size_t nr)
{
	struct pfs_string string = { 0 };

	for (size_t i = 0; i < nr; i++)
		assert_int_equal(pfs_string_add(&string, pages[i]), 0);
	return string;
}

static inline uint32_t string_random(uint64_t *state, uint32_t below)
{
	return next_random(state) % below;
}

enum { STRING_UNIFORM, STRING_LOOP, STRING_SKEWED, STRING_SCANS, STRING_PHASES, NR_STRING_SHAPES };

/* One page of a string of that shape, the nth. */
static inline uint32_t string_page(int shape, uint32_t nr_pages, size_t n, uint64_t *state)
{
	uint32_t page = string_random(state, nr_pages);

	switch (shape) {
	case STRING_LOOP:
		return n % nr_pages;
	case STRING_SKEWED: /* as Zipf's law has it: the lowest are the most likely */
		return string_random(state, page + 1);
	case STRING_SCANS: /* some are hot, between runs through all of them */
		return n / 50 % 3 ? string_random(state, nr_pages / 8 + 1) : n % nr_pages;
	case STRING_PHASES:
		return (n / 100 * 7 + string_random(state, nr_pages / 5 + 1)) % nr_pages;
	default:
		return page;
	}
}

/* 1 to 200 pages, 0 to max_refs references. */
static inline struct pfs_string string_of_seed(uint64_t seed, uint32_t max_refs)
{
	uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	uint32_t nr_pages = 1 + string_random(&state, 200), nr = string_random(&state, max_refs + 1);
	struct pfs_string string = { 0 };

	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(pfs_string_add(&string, string_page(seed % NR_STRING_SHAPES, nr_pages, i, &state)), 0);
	return string;
}

#endif
