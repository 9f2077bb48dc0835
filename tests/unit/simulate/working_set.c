/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Working sets against counting: of each moment, the pages that were referenced in the window before it.
 */
#include "support/strings.h"

#include "simulate/working_set.h"

#include <errno.h>
#include <string.h>

enum { MAX_REFS = 400 };

struct dated {
	size_t nr;
	uint32_t pages[MAX_REFS];
	uint64_t ts[MAX_REFS];
};

/* Times are small, so that every nanosecond can be looked at; several references may have the same. */
static struct dated dated_of_seed(uint64_t seed)
{
	struct pfs_string string = string_of_seed(seed, MAX_REFS);
	struct dated d = { .nr = string.nr };
	uint64_t state = seed + 77, now = 1 + string_random(&state, 20);

	for (size_t i = 0; i < d.nr; i++) {
		d.pages[i] = string.pages[i];
		d.ts[i] = now;
		now += string_random(&state, 20) ? string_random(&state, 4) : string_random(&state, 200);
	}
	pfs_string_fini(&string);
	return d;
}

/* W(t, tau). */
static uint32_t naive(const struct dated *d, uint64_t t, uint64_t tau)
{
	bool in[256] = { false };
	uint32_t pages = 0;

	for (size_t i = 0; i < d->nr; i++) {
		if (d->ts[i] > t || d->ts[i] + tau <= t)
			continue;
		pages += !in[d->pages[i]];
		in[d->pages[i]] = true;
	}
	return pages;
}

static const uint64_t windows[] = { 1, 2, 7, 50, 1000, 1000000 };
enum { NR_WINDOWS = sizeof(windows) / sizeof(windows[0]) };

static struct pfs_working_sets *fed(const struct dated *d, bool series)
{
	struct pfs_working_sets *w = pfs_working_sets_new(windows, NR_WINDOWS, series, 0);

	assert_non_null(w);
	for (size_t i = 0; i < d->nr; i++)
		assert_int_equal(pfs_working_sets_refer(w, d->pages[i], d->ts[i]), 0);
	assert_int_equal(pfs_working_sets_end(w), 0);
	return w;
}

static void check_window(const struct dated *d, const struct pfs_working_sets *w, unsigned int nr, uint64_t seed)
{
	struct pfs_working_set set = pfs_working_sets_get(w, nr);
	uint64_t first = d->ts[0], last = d->ts[d->nr - 1], sum = 0;
	uint32_t max = 0;

	assert_int_equal(set.window_ns, windows[nr]);
	for (uint64_t t = first; t <= last; t++) {
		uint32_t pages = naive(d, t, windows[nr]);

		sum += t < last ? pages : 0; /* until t + 1 */
		max = pages > max ? pages : max;
	}
	if (set.max != max)
		fail_msg("seed %u, window %u: at most %u, not %u", (unsigned int)seed, nr, set.max, max);
	if (first < last && (uint64_t)(set.mean * (last - first) + 0.5) != sum)
		fail_msg("seed %u, window %u: mean %f, not %f", (unsigned int)seed, nr, set.mean,
			 (double)sum / (last - first));
}

static void check_steps(const struct dated *d, const struct pfs_working_sets *w, unsigned int nr, uint64_t seed)
{
	struct pfs_working_set set = pfs_working_sets_get(w, nr);
	uint64_t tau = windows[nr], end = (d->ts[0] + tau - 1) / tau * tau;

	for (unsigned int i = 0; i < set.nr_steps; i++, end += tau)
		if (set.steps[i].end_ns != end || set.steps[i].pages != naive(d, end, tau))
			fail_msg("seed %u, window %u, step %u to %u: %u pages", (unsigned int)seed, nr, i,
				 (unsigned int)set.steps[i].end_ns, set.steps[i].pages);
	assert_true(set.nr_steps && end - tau >= d->ts[d->nr - 1] && end - 2 * tau + 1 <= d->ts[d->nr - 1] + 1);
}

static void test_against_counting(void **state)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct dated d = dated_of_seed(seed);
		struct pfs_working_sets *w = fed(&d, true);

		for (unsigned int i = 0; d.nr && i < NR_WINDOWS; i++) {
			check_window(&d, w, i, seed);
			check_steps(&d, w, i, seed);
		}
		pfs_working_sets_free(w);
	}
}

/* One page at 10 and 14, another at 12; a window of 3: 1 from 10, 2 from 12, 1 from 13, 2 from 14 on. */
static void test_by_hand(void **state)
{
	static const struct dated d = { 3, { 0, 1, 0 }, { 10, 12, 14 } };
	const uint64_t window = 3;
	struct pfs_working_sets *w = pfs_working_sets_new(&window, 1, false, 0);
	struct pfs_working_set set;

	for (size_t i = 0; i < d.nr; i++)
		assert_int_equal(pfs_working_sets_refer(w, d.pages[i], d.ts[i]), 0);
	assert_int_equal(pfs_working_sets_end(w), 0);
	set = pfs_working_sets_get(w, 0);
	assert_int_equal(set.max, 2);
	assert_int_equal((int)(set.mean * 4 + 0.5), 1 + 1 + 2 + 1);
	assert_int_equal(set.nr_steps, 0);
	pfs_working_sets_free(w);
}

static void test_no_time(void **state)
{
	static const struct dated none = { 0 }, one = { 2, { 3, 4 }, { 9, 9 } };
	struct pfs_working_sets *w = fed(&none, true);

	assert_int_equal(pfs_working_sets_get(w, 0).max, 0);
	assert_int_equal(pfs_working_sets_get(w, 0).nr_steps, 0);
	pfs_working_sets_free(w);
	w = fed(&one, true);
	assert_int_equal(pfs_working_sets_get(w, 0).max, 2);
	assert_int_equal((int)pfs_working_sets_get(w, 0).mean, 2);
	assert_int_equal(pfs_working_sets_get(w, 0).nr_steps, 1);
	assert_int_equal(pfs_working_sets_get(w, 0).steps[0].pages, 2);
	pfs_working_sets_free(w);
}

/* Time does not go back. */
static void test_out_of_order(void **state)
{
	static const struct dated d = { 3, { 0, 1, 0 }, { 50, 40, 51 } };
	struct pfs_working_sets *w = fed(&d, true);

	assert_int_equal(pfs_working_sets_get(w, 0).max, 2);
	assert_int_equal(pfs_working_sets_get(w, 0).nr_steps, 2);
	pfs_working_sets_free(w);
}

static void test_too_many_steps(void **state)
{
	const uint64_t window = 1;
	struct pfs_working_sets *w = pfs_working_sets_new(&window, 1, true, 0);

	assert_int_equal(pfs_working_sets_refer(w, 0, 1), 0);
	assert_int_equal(pfs_working_sets_refer(w, 0, UINT64_MAX - 1), -EOVERFLOW);
	pfs_working_sets_free(w);
	pfs_working_sets_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),	       cmocka_unit_test(test_against_counting),
		cmocka_unit_test(test_no_time),	       cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_too_many_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
