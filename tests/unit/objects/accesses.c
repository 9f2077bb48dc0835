/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses seen at watched words: to which object they belong, and whether the estimates of all accesses lie as near to the
 * truth as they say: against a simulated kernel whose accesses are all known.
 */
#include "objects/accesses.h"
#include "support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define AT(i) (UINT64_C(0xffff888100000000) + (i)*UINT64_C(256))
#define IP(i) (UINT64_C(0xffffffff81000000) + (i)*16)
#define BYTES 64
#define WORDS (BYTES / 8)

struct heard {
	struct pfs_objects *objects;
	char *text;
	size_t len;
	FILE *out;
};

static int hear(void *ctx, const struct pfs_object *object, const struct pfs_object_end *end)
{
	struct heard *h = ctx;

	for (unsigned int i = 0; i < end->nr_accesses; i++)
		fprintf(h->out, "%lx@%lu %lx %d r%lu w%lu\n", (unsigned long)pfs_object_address(object) & 0xffff,
			(unsigned long)object->alloc_ns,
			(unsigned long)pfs_objects_site(h->objects, end->accesses[i].site)->addr & 0xffff,
			pfs_objects_who(h->objects, end->accesses[i].who)->pid, (unsigned long)end->accesses[i].reads,
			(unsigned long)end->accesses[i].writes);
	return 0;
}

static void give(struct heard *h, const struct pfs_event *ev)
{
	struct pfs_sink sink = pfs_objects_sink(h->objects);

	assert_int_equal(pfs_emit(&sink, ev), 0);
}

/* where NULL: nothing is watched */
static void begin(struct heard *h, const char *where)
{
	struct pfs_event ev = { .kind = PFS_NOTE };
	char value[100];

	*h = (struct heard){ 0 };
	h->out = open_memstream(&h->text, &h->len);
	h->objects = pfs_objects_new(NULL, &(struct pfs_object_sink){ .end = hear, .ctx = h });
	assert_non_null(h->objects);
	if (!where)
		return;
	snprintf(value, sizeof(value), "interval=1000 where=%s", where);
	PFS_SET(&ev, key, KEY, "watchpoints");
	PFS_SET(&ev, value, VALUE, value);
	give(h, &ev);
}

/* The lines of all objects; the caller frees. */
static char *finish(struct heard *h)
{
	assert_int_equal(pfs_objects_end(h->objects), 0);
	fclose(h->out);
	return h->text;
}

static struct pfs_event event(enum pfs_kind kind, uint64_t ts_ns, int32_t pid, uint64_t ptr)
{
	struct pfs_event ev = { .kind = kind, .ts_ns = ts_ns };

	PFS_SET(&ev, pid, PID, pid);
	PFS_SET(&ev, tid, TID, pid);
	PFS_SET(&ev, ptr, PTR, ptr);
	return ev;
}

static void alloc_of(struct heard *h, uint64_t ts_ns, uint64_t ptr, const char *cache, uint64_t bytes)
{
	struct pfs_event ev = event(PFS_ALLOC, ts_ns, 1, ptr);

	PFS_SET(&ev, size, SIZE, bytes);
	PFS_SET(&ev, allocated, ALLOCATED, bytes);
	PFS_SET(&ev, cache, CACHE, cache);
	PFS_SET(&ev, site, SITE, IP(1000));
	PFS_SET(&ev, func, FUNC, "make+0x10");
	give(h, &ev);
}

static void alloc(struct heard *h, uint64_t ts_ns, uint64_t ptr)
{
	alloc_of(h, ts_ns, ptr, "filp", BYTES);
}

static void release(struct heard *h, uint64_t ts_ns, uint64_t ptr)
{
	struct pfs_event ev = event(PFS_FREE, ts_ns, 1, ptr);

	give(h, &ev);
}

static void watch(struct heard *h, uint64_t ts_ns, uint64_t ptr, uint64_t off, uint64_t count, bool last)
{
	struct pfs_event ev = { .kind = PFS_WATCH, .ts_ns = ts_ns };

	PFS_SET(&ev, ptr, PTR, ptr);
	PFS_SET(&ev, off, OFF, off);
	PFS_SET(&ev, len, LEN, 8);
	PFS_SET(&ev, count, COUNT, count);
	if (last)
		PFS_SET(&ev, last, LAST, 1);
	give(h, &ev);
}

static void touch(struct heard *h, uint64_t ts_ns, int32_t pid, uint64_t ptr, uint64_t off, uint64_t ip, int access)
{
	struct pfs_event ev = event(PFS_ACCESS, ts_ns, pid, ptr);

	PFS_SET(&ev, off, OFF, off);
	PFS_SET(&ev, len, LEN, 8);
	PFS_SET(&ev, access, ACCESS, access);
	PFS_SET(&ev, site, SITE, ip);
	give(h, &ev);
}

static void end(struct heard *h, const char *wanted)
{
	char *text = finish(h);

	assert_string_equal(text, wanted);
	free(text);
	pfs_objects_free(h->objects);
}

/* ---- whose they are ---- */

static void test_of_an_object(void **state)
{
	struct heard h;
	const struct pfs_access_stats *s;
	char *text;

	begin(&h, "random");
	alloc(&h, 10, AT(0));
	watch(&h, 20, AT(0), 16, 8, false);
	touch(&h, 21, 7, AT(0), 16, IP(1), PFS_READ);
	touch(&h, 22, 7, AT(0), 16, IP(1), PFS_WRITE);
	touch(&h, 23, 8, AT(0), 16, IP(1), PFS_READ);
	touch(&h, 24, 7, AT(0), 16, IP(2), PFS_READ);
	touch(&h, 25, 7, AT(0), 16, IP(1), PFS_READ);
	watch(&h, 30, AT(0), 16, 2, true);
	touch(&h, 31, 7, AT(0), 16, IP(1), PFS_READ); /* nothing is watched */
	release(&h, 50, AT(0));
	text = finish(&h);
	assert_string_equal(text, "0@10 10 7 r2 w1\n0@10 10 8 r1 w0\n0@10 20 7 r1 w0\n");
	free(text);
	s = &pfs_objects_accesses(h.objects)->stats;
	assert_int_equal(s->nr_objects, 1);
	assert_int_equal(s->nr_watched, 1);
	assert_int_equal(s->nr_words, 1);
	assert_int_equal(s->strays, 1);
	assert_int_equal(s->lost, 2);
	assert_true(s->byte_ns == 40.0 * BYTES);
	assert_true(s->watched_byte_ns == 10.0 * 8);
	pfs_objects_free(h.objects);
}

/* The place stays watched, whoever lives there. */
static void test_of_its_successor(void **state)
{
	struct heard h;
	const struct pfs_access_stats *s;
	char *text;

	begin(&h, "random");
	alloc(&h, 10, AT(0));
	watch(&h, 20, AT(0), 16, 8, false);
	touch(&h, 21, 7, AT(0), 16, IP(1), PFS_READ);
	release(&h, 30, AT(0));
	touch(&h, 31, 7, AT(0), 16, IP(1), PFS_READ); /* of the allocator, or a use after free */
	alloc(&h, 40, AT(0));
	touch(&h, 41, 7, AT(0), 16, IP(1), PFS_WRITE);
	alloc(&h, 50, AT(0)); /* freed unseen */
	touch(&h, 51, 7, AT(0), 16, IP(3), PFS_WRITE);
	watch(&h, 60, AT(0), 16, 0, true);
	text = finish(&h);
	assert_string_equal(text, "0@10 10 7 r1 w0\n0@40 10 7 r0 w1\n0@50 30 7 r0 w1\n");
	free(text);
	s = &pfs_objects_accesses(h.objects)->stats;
	assert_int_equal(s->nr_watched, 3);
	assert_int_equal(s->strays, 1);
	assert_true(s->watched_byte_ns == 8.0 * (10 + 10 + 10));
	pfs_objects_free(h.objects);
}

static void test_only_of_the_choice(void **state)
{
	struct heard h;

	begin(&h, "cache=fil*");
	alloc_of(&h, 10, AT(0), "dentry", BYTES);
	alloc_of(&h, 10, AT(1), "filp", BYTES);
	alloc_of(&h, 10, AT(2), "filp", 16); /* ends before the word */
	for (int i = 0; i < 3; i++)
		watch(&h, 20, AT(i), 16, 24, false);
	for (int i = 0; i < 4; i++) /* the last of no object */
		touch(&h, 21, 7, AT(i), 16, IP(i), PFS_READ);
	end(&h, "100@10 10 7 r1 w0\n");
	begin(&h, "site=make");
	alloc(&h, 10, AT(0));
	watch(&h, 20, AT(0), 16, 24, false);
	touch(&h, 21, 7, AT(0), 16, IP(1), PFS_READ);
	end(&h, "0@10 10 7 r1 w0\n");
	begin(&h, "site=mak");
	alloc(&h, 10, AT(0));
	watch(&h, 20, AT(0), 16, 24, false);
	touch(&h, 21, 7, AT(0), 16, IP(1), PFS_READ);
	end(&h, "");
}

/* Accesses to a page, by other means. */
static void test_of_pages(void **state)
{
	struct pfs_event ev = { .kind = PFS_ACCESS, .ts_ns = 5 };
	struct heard h;

	begin(&h, "random");
	PFS_SET(&ev, addr, ADDR, 0x1000);
	give(&h, &ev);
	end(&h, "");
}

/* ---- samples of data addresses ---- */

static void sample(struct heard *h, uint64_t ts_ns, uint64_t addr, int access)
{
	struct pfs_event ev = event(PFS_ACCESS, ts_ns, 7, addr);

	PFS_SET(&ev, access, ACCESS, access);
	PFS_SET(&ev, site, SITE, IP(1));
	give(h, &ev);
}

static uint64_t random_below(uint64_t *state, uint64_t nr)
{
	return next_random(state) % nr;
}

/* Objects of random sizes come and go; which of them an address is in, a look at each of them tells. */
static void test_samples(void **state)
{
	enum { NR = 60 };
	struct {
		uint64_t begin, bytes, ts_ns, nr[2]; /* bytes 0: none is there */
	} at[NR] = { 0 };
	uint64_t random = 5, strays = 0, seen = 0, lines = 0, wanted = 0;
	const struct pfs_accesses *a;
	struct heard h;
	char *text;

	begin(&h, NULL);
	for (uint64_t ts = 10; ts < 40000; ts++) {
		uint64_t i = random_below(&random, NR), addr = AT(0) + random_below(&random, NR * 256);
		bool write = random_below(&random, 2), in = false;

		if (random_below(&random, 20) == 0) {
			if (at[i].bytes)
				release(&h, ts, at[i].begin);
			wanted += at[i].bytes && (at[i].nr[0] || at[i].nr[1]);
			at[i].bytes = at[i].bytes ? 0 : 8 + random_below(&random, 120);
			at[i].begin = AT(i) + 8 * random_below(&random, 16);
			at[i].nr[0] = at[i].nr[1] = 0;
			if (at[i].bytes)
				alloc_of(&h, ts, at[i].begin, "filp", at[i].bytes);
			continue;
		}
		sample(&h, ts, addr, write ? PFS_WRITE : PFS_READ);
		for (int k = 0; k < NR; k++)
			if (addr - at[k].begin < at[k].bytes) {
				at[k].nr[write]++;
				in = true;
			}
		strays += !in;
		seen += in;
	}
	for (int k = 0; k < NR; k++)
		wanted += at[k].bytes && (at[k].nr[0] || at[k].nr[1]);
	text = finish(&h);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	assert_int_equal(lines, wanted);
	for (int k = 0; k < NR; k++) { /* the last ones, by their lines */
		char line[100];

		snprintf(line, sizeof(line), "%lx@", (unsigned long)at[k].begin & 0xffff);
		if (at[k].bytes && (at[k].nr[0] || at[k].nr[1]))
			assert_non_null(strstr(text, line));
		snprintf(line, sizeof(line), " 7 r%lu w%lu\n", (unsigned long)at[k].nr[0], (unsigned long)at[k].nr[1]);
		if (at[k].bytes && (at[k].nr[0] || at[k].nr[1]))
			assert_non_null(strstr(text, line));
	}
	free(text);
	a = pfs_objects_accesses(h.objects);
	assert_true(seen > 1000 && strays > 1000);
	assert_int_equal(a->stats.strays, strays);
	assert_int_equal(a->nr_sums, 1);
	assert_int_equal(a->sums[0].seen[0] + a->sums[0].seen[1], seen);
	assert_int_equal(a->stats.nr_watched, wanted);
	assert_true(a->sums[0].estimate[0] == 0); /* how many accesses a sample stands for is not known */
	pfs_objects_free(h.objects);
}

/* Where words are watched, an address without a word is no sample of the rest. */
static void test_samples_beside_words(void **state)
{
	struct heard h;

	begin(&h, "random");
	alloc(&h, 10, AT(0));
	watch(&h, 20, AT(0), 16, 8, false);
	sample(&h, 21, AT(0) + 16, PFS_READ);
	touch(&h, 22, 7, AT(0), 16, IP(1), PFS_READ);
	end(&h, "0@10 10 7 r1 w0\n");
}

/* ---- estimates ---- */

/* When all words are watched, nothing is estimated. */
static void test_census(void **state)
{
	const struct pfs_access_sum *sum;
	struct heard h;

	begin(&h, "random");
	alloc_of(&h, 10, AT(0), "filp", 16);
	watch(&h, 20, AT(0), 0, 2, false);
	watch(&h, 20, AT(0), 8, 2, false);
	for (int i = 0; i < 5; i++)
		touch(&h, 21, 7, AT(0), 0, IP(1), PFS_READ);
	touch(&h, 21, 7, AT(0), 8, IP(1), PFS_READ);
	touch(&h, 21, 7, AT(0), 8, IP(1), PFS_WRITE);
	watch(&h, 30, AT(0), 0, 0, true);
	watch(&h, 30, AT(0), 8, 0, true);
	free(finish(&h));
	assert_int_equal(pfs_objects_accesses(h.objects)->nr_sums, 1);
	sum = &pfs_objects_accesses(h.objects)->sums[0];
	assert_int_equal(sum->seen[0], 6);
	assert_int_equal(sum->seen[1], 1);
	assert_true(sum->estimate[0] == 6 && sum->variance[0] == 0);
	assert_true(sum->estimate[1] == 1 && sum->variance[1] == 0);
	pfs_objects_free(h.objects);
}

/*
 * 20 objects of 8 words; the rate of each word is its own, from none to many, and changes with time. Of each interval a tenth
 * is not watched, and no part of the truth. Returns how often the truth was in the interval, in so many recordings.
 */
enum { SLOTS = 20, STEP = 1000 };

/* Two words of 160. */
static void watch_two(struct heard *h, uint64_t ts_ns, const uint64_t words[2], bool last)
{
	for (int i = 0; i < 2; i++)
		watch(h, ts_ns, AT(words[i] / WORDS), words[i] % WORDS * 8, last ? 0 : SLOTS * WORDS, last);
}

static void choose_two(uint64_t *state, uint64_t words[2])
{
	words[0] = random_below(state, SLOTS * WORDS);
	do
		words[1] = random_below(state, SLOTS * WORDS);
	while (words[0] == words[1]);
}

static unsigned int times_right(uint64_t seed, unsigned int recordings, int intervals, double *sum_of_errors)
{
	unsigned int right = 0;

	for (unsigned int r = 0; r < recordings; r++) {
		uint64_t state = seed + r, truth[2] = { 0 };
		const struct pfs_access_sum *sum = NULL;
		const struct pfs_accesses *seen;
		struct heard h;

		begin(&h, "random");
		for (int i = 0; i < SLOTS; i++)
			alloc(&h, 1, AT(i));
		for (int t = 1; t <= intervals; t++) {
			uint64_t from = (uint64_t)t * STEP, words[2];

			choose_two(&state, words);
			watch_two(&h, from, words, false);
			/* 10 moments, of which the last is not watched */
			for (int moment = 0; moment < 10; moment++) {
				if (moment == 9)
					watch_two(&h, from + 900, words, true);
				for (uint64_t w = 0; w < SLOTS * WORDS; w++) {
					unsigned int nr = w % 3 ? random_below(&state, 1 + w % 7 + t % 5) : 0;

					for (unsigned int i = 0; i < nr; i++) {
						int access = w % 2 ? PFS_WRITE : PFS_READ;

						truth[access == PFS_WRITE] += moment < 9;
						if (moment < 9 && (w == words[0] || w == words[1]))
							touch(&h, from + moment * 100 + 1, 7, AT(w / WORDS),
							      w % WORDS * 8, IP(1), access);
					}
				}
			}
		}
		free(finish(&h));
		assert_int_equal(pfs_objects_accesses(h.objects)->nr_sums, 1);
		seen = pfs_objects_accesses(h.objects);
		sum = &seen->sums[0];
		for (int write = 0; write < 2; write++) {
			double off = sum->estimate[write] - truth[write];
			double interval[2];

			pfs_access_interval(seen, sum, write, interval);
			*sum_of_errors += off / truth[write];
			right += truth[write] >= interval[0] && truth[write] <= interval[1];
			assert_true(intervals < 100 || interval[1] - interval[0] < 2 * truth[write]);
		}
		pfs_objects_free(h.objects);
	}
	return right;
}

static void test_interval(void **state)
{
	double errors = 0;
	unsigned int right = times_right(11, 200, 150, &errors);

	print_message("%u of 400 in the interval, mean error %.2f %%\n", right, errors / 4);
	assert_in_range(right, 400 * 93 / 100, 400 * 985 / 1000);
	assert_true(fabs(errors / 400) < 0.01);
}

/* The spread of few choices is itself an estimate; many of them saw none of the words that are used most. */
static void test_interval_of_few_choices(void **state)
{
	static const int few[] = { 4, 6, 10, 20, 40 };

	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		double errors = 0;
		unsigned int right = times_right(11, 200, few[i], &errors);

		print_message("%d choices: %u of 400 in the interval\n", few[i], right);
		assert_in_range(right, 400 * 93 / 100, 400);
	}
}

/* One word is used: most choices see nothing of it. Was it seen, and is the truth in the interval? */
static bool rare_hits(uint64_t seed, int choices, bool *right)
{
	uint64_t state = seed, truth = 0, words[2];
	const struct pfs_accesses *seen;
	double interval[2] = { 0 };
	struct heard h;
	bool is_seen;

	begin(&h, "random");
	for (int i = 0; i < SLOTS; i++)
		alloc(&h, 1, AT(i));
	for (int t = 1; t <= choices; t++) {
		uint64_t from = (uint64_t)t * STEP, nr = random_below(&state, 12);

		choose_two(&state, words);
		watch_two(&h, from, words, false);
		for (uint64_t i = 0; i < nr && (!words[0] || !words[1]); i++)
			touch(&h, from + 1, 7, AT(0), 0, IP(1), PFS_WRITE);
		watch_two(&h, from + 900, words, true);
		truth += nr;
	}
	free(finish(&h));
	seen = pfs_objects_accesses(h.objects);
	is_seen = seen->nr_sums;
	if (is_seen)
		pfs_access_interval(seen, &seen->sums[0], true, interval);
	*right = truth >= interval[0] && truth <= interval[1];
	pfs_objects_free(h.objects);
	return is_seen;
}

static void test_interval_of_rare_hits(void **state)
{
	for (int choices = 10; choices <= 640; choices *= 2) {
		unsigned int right = 0, seen = 0;

		for (uint64_t r = 0; r < 1000; r++) {
			bool is_right;

			if (rare_hits(choices + r * 7777, choices, &is_right)) {
				seen++;
				right += is_right;
			}
		}
		print_message("%d choices: %u of %u in the interval\n", choices, right, seen);
		assert_in_range(right, seen * 93 / 100, seen);
	}
}

/* ---- words that were not chosen at random, as those of wprobe events ---- */

static void watch_one(struct heard *h, uint64_t ts_ns, uint64_t ptr, bool last)
{
	struct pfs_event ev = { .kind = PFS_WATCH, .ts_ns = ts_ns };

	PFS_SET(&ev, ptr, PTR, ptr);
	PFS_SET(&ev, off, OFF, 8);
	PFS_SET(&ev, len, LEN, 8);
	if (last) {
		PFS_SET(&ev, last, LAST, 1);
		PFS_SET(&ev, count, COUNT, 0);
	}
	give(h, &ev);
}

/* They begin and end one by one: one stays from the first to the last, the other takes 20 objects. */
static void test_not_random(void **state)
{
	const struct pfs_accesses *a;
	struct heard h;
	char *text;

	begin(&h, "cache=filp");
	alloc(&h, 1, AT(100));
	watch_one(&h, 1, AT(100), false);
	for (unsigned int i = 0; i < 20; i++) {
		alloc(&h, 10 + i * 10, AT(i));
		watch_one(&h, 11 + i * 10, AT(i), false);
		touch(&h, 12 + i * 10, 7, AT(i), 8, IP(1), PFS_WRITE);
		touch(&h, 13 + i * 10, 7, AT(100), 8, IP(1), PFS_READ);
		watch_one(&h, 15 + i * 10, AT(i), true);
		release(&h, 15 + i * 10, AT(i));
	}
	watch_one(&h, 301, AT(100), true);
	release(&h, 301, AT(100));
	text = finish(&h);
	a = pfs_objects_accesses(h.objects);
	assert_true(a->stats.not_random);
	assert_int_equal(a->stats.nr_words, 21);
	assert_int_equal(a->stats.nr_watched, 21);
	assert_int_equal(a->stats.strays, 0);
	assert_int_equal(a->stats.watched_ns, 0);
	assert_false(a->stats.lost_unknown);
	assert_true(a->stats.watched_byte_ns == 300.0 * 8 + 20 * 4.0 * 8);
	assert_int_equal(a->nr_sums, 1);
	for (int write = 0; write < 2; write++) {
		assert_int_equal(a->sums[0].seen[write], 20);
		assert_true(a->sums[0].estimate[write] == 0 && a->sums[0].variance[write] == 0);
	}
	assert_non_null(strstr(text, "6400@1 10 7 r20 w0\n"));
	assert_non_null(strstr(text, "1300@200 10 7 r0 w1\n"));
	free(text);
	pfs_objects_free(h.objects);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_an_object),
		cmocka_unit_test(test_of_its_successor),
		cmocka_unit_test(test_only_of_the_choice),
		cmocka_unit_test(test_of_pages),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_samples_beside_words),
		cmocka_unit_test(test_census),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_interval_of_few_choices),
		cmocka_unit_test(test_interval_of_rare_hits),
		cmocka_unit_test(test_not_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
