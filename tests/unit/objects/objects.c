/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairing: against a list that is searched from its beginning, on random allocations and frees some of whose events are
 * lost; whose objects are wanted; what they add up to.
 */
#include "objects/pairs.h"
#include "objects/tally.h"
#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- what comes out, as lines ---- */

struct heard {
	struct pfs_objects *objects;
	char *text;
	size_t len;
	FILE *out;
};

static int hear(void *ctx, const struct pfs_object *object, const struct pfs_object_end *end)
{
	static const char *const fates[] = { "freed", "unseen", "alive", "evicted" };
	struct heard *h = ctx;

	fprintf(h->out, "%lx %lu %s", (unsigned long)pfs_object_address(object), (unsigned long)object->alloc_ns,
		fates[end->fate]);
	if (end->fate == PFS_OBJECT_FREED)
		fprintf(h->out, " %lu", (unsigned long)end->ts_ns);
	fputs(end->unsure ? " unsure\n" : "\n", h->out);
	return 0;
}

static void begin(struct heard *h, const struct pfs_object_filter *filter)
{
	h->out = open_memstream(&h->text, &h->len);
	h->objects = pfs_objects_new(filter, &(struct pfs_object_sink){ .end = hear, .ctx = h });
	assert_non_null(h->objects);
}

static void give(struct heard *h, const struct pfs_event *ev)
{
	struct pfs_sink sink = pfs_objects_sink(h->objects);

	assert_int_equal(pfs_emit(&sink, ev), 0);
}

static void finish(struct heard *h)
{
	assert_int_equal(pfs_objects_end(h->objects), 0);
	fclose(h->out);
}

static void end(struct heard *h, const char *wanted)
{
	finish(h);
	assert_string_equal(h->text, wanted);
	free(h->text);
	pfs_objects_free(h->objects);
}

static struct pfs_event event(enum pfs_kind kind, uint64_t ts_ns, int32_t pid, uint64_t ptr)
{
	struct pfs_event ev = { .kind = kind, .ts_ns = ts_ns };

	PFS_SET(&ev, pid, PID, pid);
	PFS_SET(&ev, tid, TID, pid);
	if (ptr)
		PFS_SET(&ev, ptr, PTR, ptr);
	if (kind == PFS_ALLOC) {
		PFS_SET(&ev, size, SIZE, 100);
		PFS_SET(&ev, allocated, ALLOCATED, 128);
		PFS_SET(&ev, cache, CACHE, "filp");
		PFS_SET(&ev, site, SITE, 0xffffffff81000000 + ptr % 7 * 8);
	}
	return ev;
}

static void alloc(struct heard *h, uint64_t ts_ns, int32_t pid, uint64_t ptr)
{
	struct pfs_event ev = event(PFS_ALLOC, ts_ns, pid, ptr);

	give(h, &ev);
}

static void release(struct heard *h, uint64_t ts_ns, int32_t pid, uint64_t ptr)
{
	struct pfs_event ev = event(PFS_FREE, ts_ns, pid, ptr);

	give(h, &ev);
}

static void note_at(struct heard *h, uint64_t ts_ns, const char *key, const char *value)
{
	struct pfs_event ev = { .kind = PFS_NOTE, .ts_ns = ts_ns };

	PFS_SET(&ev, key, KEY, key);
	PFS_SET(&ev, value, VALUE, value);
	give(h, &ev);
}

static void note(struct heard *h, const char *key, const char *value)
{
	note_at(h, 0, key, value);
}

static void comm(struct heard *h, int32_t pid, const char *name)
{
	struct pfs_event ev = event(PFS_COMM, 1, pid, 0);

	PFS_SET(&ev, comm, COMM, name);
	give(h, &ev);
}

static void fork_child(struct heard *h, int32_t pid, int32_t child)
{
	struct pfs_event ev = event(PFS_FORK, 1, pid, 0);

	PFS_SET(&ev, child, CHILD, child);
	give(h, &ev);
}

/* ---- one at a time ---- */

static void test_fates(void **state)
{
	struct heard h;

	begin(&h, NULL);
	alloc(&h, 10, 1, 0x1000);
	alloc(&h, 11, 1, 0x2000);
	alloc(&h, 12, 1, 0x3000);
	release(&h, 20, 2, 0x1000);
	release(&h, 21, 2, 0x9000); /* from before */
	alloc(&h, 30, 1, 0x2000);
	finish(&h);
	assert_string_equal(h.text, "1000 10 freed 20\n2000 11 unseen\n3000 12 alive\n2000 30 alive\n");
	assert_int_equal(pfs_objects_stats(h.objects)->allocs, 4);
	assert_int_equal(pfs_objects_stats(h.objects)->frees, 1);
	assert_int_equal(pfs_objects_stats(h.objects)->by_others, 1);
	assert_int_equal(pfs_objects_stats(h.objects)->unseen, 1);
	assert_int_equal(pfs_objects_stats(h.objects)->foreign_frees, 1);
	free(h.text);
	pfs_objects_free(h.objects);
}

static void test_pages(void **state)
{
	struct pfs_event ev = { .kind = PFS_ALLOC, .ts_ns = 10 };
	struct heard h;

	begin(&h, NULL);
	PFS_SET(&ev, pfn, PFN, 0x1000);
	PFS_SET(&ev, order, ORDER, 2);
	PFS_SET(&ev, size, SIZE, 16384);
	alloc(&h, 5, 1, 0x8000);
	give(&h, &ev);
	release(&h, 11, 1, 0x8000); /* the object, not the pages */
	end(&h, "8000 5 freed 11\n1000 10 alive\n");
}

static void test_losses_make_the_living_unsure(void **state)
{
	struct pfs_event lost = { .kind = PFS_LOST, .ts_ns = 15 };
	struct heard h;

	begin(&h, NULL);
	alloc(&h, 10, 1, 0x1000);
	give(&h, &lost);
	alloc(&h, 20, 1, 0x2000);
	end(&h, "1000 10 alive unsure\n2000 20 alive\n");
}

static void test_pauses(void **state)
{
	const struct pfs_objects_stats *s;
	struct heard h;

	begin(&h, NULL);
	alloc(&h, 10, 1, 0x1000);
	alloc(&h, 11, 1, 0x2000);
	alloc(&h, 12, 1, 0x3000);
	alloc(&h, 13, 1, 0x5000);
	release(&h, 14, 1, 0x5000);
	note_at(&h, 15, "paused", "yes");
	note_at(&h, 25, "resumed", "yes");
	alloc(&h, 30, 1, 0x1000);
	release(&h, 31, 1, 0x2000); /* or of another one, which was allocated meanwhile */
	alloc(&h, 32, 1, 0x4000);
	release(&h, 33, 1, 0x4000);
	finish(&h);
	assert_string_equal(h.text, "5000 13 freed 14\n1000 10 unseen unsure\n2000 11 freed 31 unsure\n"
				    "4000 32 freed 33\n3000 12 alive unsure\n1000 30 alive\n");
	s = pfs_objects_stats(h.objects);
	assert_int_equal(s->unseen, 1);
	assert_int_equal(s->unseen_paused, 1);
	assert_int_equal(s->nr_pauses, 1);
	assert_int_equal(s->paused_ns, 10);
	assert_int_equal(s->last_ns - s->first_ns, 23);
	free(h.text);
	pfs_objects_free(h.objects);
}

/* It ends while it is paused. */
static void test_pause_at_the_end(void **state)
{
	const struct pfs_objects_stats *s;
	struct heard h;

	begin(&h, NULL);
	alloc(&h, 10, 1, 0x1000);
	note_at(&h, 15, "paused", "yes");
	note_at(&h, 40, "end", "mono");
	finish(&h);
	assert_string_equal(h.text, "1000 10 alive unsure\n");
	s = pfs_objects_stats(h.objects);
	assert_int_equal(s->paused_ns, 25);
	assert_int_equal(s->last_ns - s->first_ns, 30);
	free(h.text);
	pfs_objects_free(h.objects);
}

/* The time begins anew, and goes on being paused. */
static void test_cleared(void **state)
{
	const struct pfs_objects_stats *s;
	struct heard h;

	begin(&h, NULL);
	comm(&h, 1, "sh");
	note_at(&h, 10, "paused", "yes");
	note_at(&h, 12, "resumed", "yes");
	note_at(&h, 15, "paused", "yes");
	note_at(&h, 20, "cleared", "yes");
	note_at(&h, 30, "resumed", "yes");
	release(&h, 35, 1, 0x9000);
	alloc(&h, 40, 1, 0x1000);
	finish(&h);
	assert_string_equal(h.text, "1000 40 alive\n");
	s = pfs_objects_stats(h.objects);
	assert_int_equal(s->nr_pauses, 1);
	assert_int_equal(s->paused_ns, 10);
	assert_int_equal(s->last_ns - s->first_ns, 20);
	free(h.text);
	pfs_objects_free(h.objects);
}

/* What the events do not count is counted at the end. */
static void test_losses_that_the_kernel_counts(void **state)
{
	struct pfs_event lost = { .kind = PFS_LOST, .ts_ns = 15 };
	struct heard h;

	begin(&h, NULL);
	alloc(&h, 10, 1, 0x1000);
	give(&h, &lost);
	alloc(&h, 20, 1, 0x2000);
	PFS_SET(&lost, count, COUNT, 3);
	lost.ts_ns = 21;
	give(&h, &lost);
	note(&h, "lost", "count=5 cpu=0");
	note(&h, "lost", "count=2 cpu=1");
	finish(&h);
	assert_int_equal(pfs_objects_stats(h.objects)->lost, 7);
	assert_false(pfs_objects_stats(h.objects)->lost_unknown);
	free(h.text);
	pfs_objects_free(h.objects);
}

/* Without an event of it, it may have been until the end. */
static void test_losses_at_the_end(void **state)
{
	struct heard h;

	begin(&h, NULL);
	alloc(&h, 10, 1, 0x1000);
	note(&h, "lost", "count=5 cpu=0");
	end(&h, "1000 10 alive unsure\n");
}

/* Of a recorded command, its children, and nobody else; whoever frees. */
static void test_recorded_processes(void **state)
{
	struct heard h;

	begin(&h, NULL);
	note(&h, "launch", "7");
	alloc(&h, 10, 7, 0x1000);
	alloc(&h, 11, 8, 0x2000);
	fork_child(&h, 7, 9);
	fork_child(&h, 8, 10);
	alloc(&h, 12, 9, 0x3000);
	alloc(&h, 13, 10, 0x4000);
	release(&h, 14, 8, 0x1000);
	release(&h, 15, 8, 0x2000);
	alloc(&h, 16, 8, 0x3000); /* another's now: what 9 had is gone */
	fork_child(&h, 8, 9);	  /* the number is used again */
	alloc(&h, 17, 9, 0x5000);
	end(&h, "1000 10 freed 14\n3000 12 unseen\n");
}

static void test_filters(void **state)
{
	const struct pfs_object_filter by_comm = { .comm = "s?" },
				       by_pid = { .pids = (int32_t[]){ 3, 2 }, .nr_pids = 2 };
	const struct pfs_object_filter by_size = { .min = 101 }, by_cache = { .cache = "kmalloc*" };
	const struct pfs_object_filter *const filters[] = { &by_comm, &by_pid, &by_size, &by_cache };
	static const char *const wanted[] = { "1000 10 alive\n", "2000 11 alive\n", "", "" };

	for (int i = 0; i < 4; i++) {
		struct heard h;

		begin(&h, filters[i]);
		comm(&h, 1, "sh");
		comm(&h, 2, "bash");
		alloc(&h, 10, 1, 0x1000);
		alloc(&h, 11, 2, 0x2000);
		end(&h, wanted[i]);
	}
}

/* ---- random, against a list ---- */

enum { NR_ADDRESSES = 300, NR_EVENTS = 20000 };

struct naive {
	uint64_t ptr, ts_ns;
	bool live;
};

static struct naive *find_live(struct naive *list, size_t nr, uint64_t ptr)
{
	for (size_t i = 0; i < nr; i++)
		if (list[i].live && list[i].ptr == ptr)
			return &list[i];
	return NULL;
}

/* Some addresses hash to neighbours, and one event in eight is lost. */
static void compare_random(uint64_t seed)
{
	struct naive *list = calloc(NR_EVENTS, sizeof(*list)), *at;
	size_t nr = 0, len;
	bool has[NR_ADDRESSES] = { 0 };
	char *text;
	FILE *out = open_memstream(&text, &len);
	struct heard h;

	begin(&h, NULL);
	for (uint64_t ts = 1; ts <= NR_EVENTS; ts++) {
		unsigned int i = next_random(&seed) % NR_ADDRESSES;
		uint64_t ptr = i % 3 ? 0xffff888000000000 + i * 8 : (i + 1) * UINT64_C(0x100000000);
		bool lost = !(next_random(&seed) % 8);

		has[i] = !has[i];
		if (lost)
			continue;
		at = find_live(list, nr, ptr);
		if (has[i]) {
			if (at)
				fprintf(out, "%lx %lu unseen\n", (unsigned long)ptr, (unsigned long)at->ts_ns);
			if (at)
				at->live = false;
			list[nr++] = (struct naive){ ptr, ts, true };
			alloc(&h, ts, 1 + i % 5, ptr);
			continue;
		}
		release(&h, ts, 1 + i % 4, ptr);
		if (at)
			fprintf(out, "%lx %lu freed %lu\n", (unsigned long)ptr, (unsigned long)at->ts_ns,
				(unsigned long)ts);
		if (at)
			at->live = false;
	}
	for (size_t i = 0; i < nr; i++)
		if (list[i].live)
			fprintf(out, "%lx %lu alive\n", (unsigned long)list[i].ptr, (unsigned long)list[i].ts_ns);
	fclose(out);
	end(&h, text);
	free(text);
	free(list);
}

static void test_random(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		compare_random(seed);
}

/* ---- random, with pauses, against what happened ---- */

struct truth {
	uint64_t ptr, freed_ns; /* 0: alive */
	bool recorded;
};

/* "ffff888000000008 12 freed 40", with "unsure" behind it if that may be wrong: else it is true. */
static void check_line(const char *line, struct truth *all)
{
	uint64_t ptr, alloc_ns, free_ns = 0;
	char fate[16] = "", unsure[16] = "";
	int n = sscanf(line, "%lx %lu %15s", &ptr, &alloc_ns, fate);

	assert_int_equal(n, 3);
	if (!strcmp(fate, "freed"))
		sscanf(line, "%*x %*u %*s %lu %15s", &free_ns, unsure);
	else
		sscanf(line, "%*x %*u %*s %15s", unsure);
	assert_true(all[alloc_ns].recorded);
	assert_int_equal(all[alloc_ns].ptr, ptr);
	all[alloc_ns].recorded = false; /* once */
	if (*unsure)
		return;
	assert_string_not_equal(fate, "unseen");
	assert_int_equal(all[alloc_ns].freed_ns, free_ns);
}

static void compare_paused(uint64_t seed)
{
	struct truth *all = calloc(NR_EVENTS + 1, sizeof(*all));
	uint64_t live[NR_ADDRESSES] = { 0 }; /* when it was allocated */
	unsigned int nr_recorded = 0, nr_sure = 0;
	bool paused = false;
	struct heard h;
	char *save;

	begin(&h, NULL);
	for (uint64_t ts = 1; ts <= NR_EVENTS; ts++) {
		unsigned int i = next_random(&seed) % NR_ADDRESSES;
		uint64_t ptr = 0xffff888000000000 + i * 8;

		if (!(next_random(&seed) % 1500)) {
			paused = !paused;
			note_at(&h, ts, paused ? "paused" : "resumed", "yes");
		}
		if (live[i]) {
			all[live[i]].freed_ns = ts;
			live[i] = 0;
			if (!paused)
				release(&h, ts, 1, ptr);
		} else {
			live[i] = ts;
			all[ts] = (struct truth){ ptr, 0, !paused };
			nr_recorded += !paused;
			if (!paused)
				alloc(&h, ts, 1, ptr);
		}
	}
	note_at(&h, NR_EVENTS + 1, "end", "mono");
	finish(&h);
	for (char *line = strtok_r(h.text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		check_line(line, all);
		nr_recorded--;
		nr_sure += !strstr(line, "unsure");
	}
	assert_int_equal(nr_recorded, 0);
	assert_in_range(nr_sure, NR_EVENTS / 10, NR_EVENTS);
	free(h.text);
	pfs_objects_free(h.objects);
	free(all);
}

static void test_random_pauses(void **state)
{
	for (uint64_t seed = 1; seed <= 8; seed++)
		compare_paused(seed);
}

/* ---- random, at most so many at a time ---- */

/* The next line, which begins with the object; its fate. */
static const char *next_line(char **text, uint64_t *ptr, uint64_t *ts_ns, char fate[20])
{
	unsigned long p = 0, ts = 0;

	assert_int_equal(sscanf(*text, "%lx %lu %19s", &p, &ts, fate), 3);
	*text += strcspn(*text, "\n") + 1;
	*ptr = p;
	*ts_ns = ts;
	return fate;
}

/* The next line is the end of that object, which lives no longer. */
static void expect_end(char **text, struct naive *object, const char *wanted)
{
	uint64_t ptr, ts_ns;
	char fate[20];

	assert_string_equal(next_line(text, &ptr, &ts_ns, fate), wanted);
	assert_int_equal(ptr, object->ptr);
	assert_int_equal(ts_ns, object->ts_ns);
	object->live = false;
}

/* The next line is the eviction of any object that lives but this one. */
static void expect_eviction(char **text, struct naive *list, size_t nr, uint64_t not_ptr)
{
	uint64_t ptr, ts_ns;
	struct naive *object;
	char fate[20];

	assert_string_equal(next_line(text, &ptr, &ts_ns, fate), "evicted");
	assert_int_not_equal(ptr, not_ptr);
	object = find_live(list, nr, ptr);
	assert_non_null(object);
	assert_int_equal(ts_ns, object->ts_ns);
	object->live = false;
}

/* Which one is evicted is read from the lines; all else follows. */
static void compare_evicting(uint64_t seed, size_t most)
{
	const struct pfs_object_filter filter = { .max_objects = most };
	struct naive *list = calloc(NR_EVENTS, sizeof(*list)), *at;
	uint64_t replayed = seed, evicted = 0, unknown = 0;
	size_t nr = 0, nr_live = 0;
	struct heard h;
	char *text;

	begin(&h, &filter);
	for (uint64_t ts = 1; ts <= NR_EVENTS; ts++) {
		uint64_t ptr = (1 + next_random(&seed) % NR_ADDRESSES) * 64;

		if (next_random(&seed) % 2)
			alloc(&h, ts, 1, ptr);
		else
			release(&h, ts, 1, ptr);
	}
	finish(&h);
	text = h.text;
	for (uint64_t ts = 1; ts <= NR_EVENTS; ts++) {
		uint64_t ptr = (1 + next_random(&replayed) % NR_ADDRESSES) * 64;
		bool allocates = next_random(&replayed) % 2;

		at = find_live(list, nr, ptr);
		unknown += !allocates && !at;
		if (at)
			expect_end(&text, at, allocates ? "unseen" : "freed");
		nr_live -= at != NULL;
		if (!allocates)
			continue;
		list[nr++] = (struct naive){ ptr, ts, true };
		if (++nr_live <= most)
			continue;
		expect_eviction(&text, list, nr, ptr);
		evicted++;
		nr_live--;
	}
	for (size_t i = 0; i < nr; i++)
		if (list[i].live)
			expect_end(&text, &list[i], "alive");
	assert_string_equal(text, "");
	assert_int_equal(pfs_objects_stats(h.objects)->evicted, evicted);
	assert_int_equal(pfs_objects_stats(h.objects)->foreign_frees, unknown);
	free(h.text);
	free(list);
	pfs_objects_free(h.objects);
}

static void test_random_evictions(void **state)
{
	static const size_t most[] = { 1, 2, 40, NR_ADDRESSES - 1, NR_ADDRESSES };

	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++)
		compare_evicting(i + 1, most[i]);
}

/* The table keeps up when it grows, and is empty when all is freed. */
static void test_many(void **state)
{
	struct pfs_pairs pairs = { 0 };
	struct pfs_object o = { 0 }, old;

	for (uint64_t i = 1; i <= 100000; i++) {
		o.key = i << 6;
		assert_int_equal(pfs_pairs_add(&pairs, &o, &old), 0);
	}
	assert_int_equal(pairs.nr, 100000);
	for (uint64_t i = 1; i <= 100000; i++) {
		assert_true(pfs_pairs_take(&pairs, i << 6, &old));
		assert_int_equal(old.key, i << 6);
		assert_false(pfs_pairs_take(&pairs, i << 6, &old));
	}
	assert_int_equal(pairs.nr, 0);
	for (size_t i = 0; i < pairs.max; i++)
		assert_int_equal(pairs.keys[i], 0);
	pfs_pairs_fini(&pairs);
}

/* ---- sums ---- */

static struct pfs_tally_row *only_site(struct pfs_tally *tally)
{
	assert_int_equal(tally->by[PFS_TALLY_SITE].nr, 1);
	return &tally->by[PFS_TALLY_SITE].rows[0];
}

static void tally_some(struct pfs_tally *tally, unsigned int nr, unsigned int freed_of_ten)
{
	struct pfs_object_sink to = pfs_tally_sink(tally);
	struct heard h = { .objects = pfs_objects_new(NULL, &to) };

	tally->objects = h.objects;
	for (unsigned int i = 0; i < nr; i++) {
		alloc(&h, 1000000 * (i + 1), 1, 0x7000 * (i + 1));
		if (i % 10 < freed_of_ten)
			release(&h, 1000000 * (i + 1) + 1000, 1, 0x7000 * (i + 1));
	}
	assert_int_equal(pfs_objects_end(h.objects), 0);
	pfs_tally_sort(tally);
}

static void test_sums(void **state)
{
	struct pfs_tally tally = { 0 };
	struct pfs_tally_row *row;

	tally_some(&tally, 100, 9);
	row = only_site(&tally);
	assert_int_equal(row->allocs, 100);
	assert_int_equal(row->frees, 90);
	assert_int_equal(row->live, 10);
	assert_int_equal(row->peak, 10);
	assert_int_equal(row->peak_bytes, 1280);
	assert_int_equal(row->asked, 10000);
	assert_int_equal(row->used, 12800);
	assert_int_equal(row->longest_ns, 1000);
	assert_int_equal(pfs_tally_life_ns(row, 500), 1000);
	assert_true(pfs_tally_leaks(row));
	pfs_objects_free(tally.objects);
	pfs_tally_fini(&tally);
}

static void test_no_leak(void **state)
{
	struct pfs_tally tally = { 0 };

	tally_some(&tally, 100, 10);
	assert_false(pfs_tally_leaks(only_site(&tally)));
	assert_int_equal(only_site(&tally)->peak, 1);
	pfs_objects_free(tally.objects);
	pfs_tally_fini(&tally);
}

static void test_few_are_no_leak(void **state)
{
	struct pfs_tally tally = { 0 };

	tally_some(&tally, 4, 0);
	assert_false(pfs_tally_leaks(only_site(&tally)));
	pfs_objects_free(tally.objects);
	pfs_tally_fini(&tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fates),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_pause_at_the_end),
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_random_pauses),
		cmocka_unit_test(test_losses_make_the_living_unsure),
		cmocka_unit_test(test_losses_that_the_kernel_counts),
		cmocka_unit_test(test_losses_at_the_end),
		cmocka_unit_test(test_recorded_processes),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_evictions),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_no_leak),
		cmocka_unit_test(test_few_are_no_leak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
