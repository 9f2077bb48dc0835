/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of page faults by the hundred: a reader that hands them on in runs gives what one gives that reads
 * each, of whatever lines, in whatever pieces.
 */
#include "text/text.h"
#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define AT "           touch-6166    [001] d....   999.000001: "

enum { NR_LINES = 3000, MAX_EVENTS = 2 * NR_LINES };

struct got {
	struct raw_event ev[MAX_EVENTS];
	char named[MAX_EVENTS]; /* the first byte of the thread's name, or 0 */
	unsigned int nr, nr_in_runs;
	unsigned int since; /* the last event that made threads others */
};

static int keep(void *ctx, const struct raw_event *ev)
{
	struct got *got = ctx;

	assert_true(got->nr < MAX_EVENTS);
	got->named[got->nr] = ev->comm ? *ev->comm : 0;
	got->ev[got->nr++] = *ev;
	if (ev->kind == RAW_RENAME || ev->kind == RAW_FORK || ev->kind == RAW_EXIT)
		got->since = got->nr;
	return 0;
}

/* A fault of a run has no name: its thread must have had an event with one since it became what it is. */
static bool was_named(const struct got *got, int32_t tid)
{
	for (unsigned int i = got->nr; i-- > got->since;)
		if (got->ev[i].tid == tid && got->named[i])
			return true;
	return false;
}

static int keep_runs(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	struct got *got = ctx;

	for (unsigned int i = 0; i < nr; i++) {
		assert_true(runs[i].nr > 0 && was_named(got, runs[i].tid));
		for (uint32_t k = 0; k < runs[i].nr; k++) {
			struct raw_event ev = {
				.ts_ns = runs[i].ts_ns[k],
				.cpu = runs[i].cpu,
				.tid = runs[i].tid,
				.tgid = -1,
				.kind = runs[i].mode == PFS_USER ? RAW_FAULT_USER : RAW_FAULT_KERNEL,
				.arg = { runs[i].addr[k], runs[i].ip[k], runs[i].code, RAW_ABSENT, RAW_ABSENT,
					 RAW_ABSENT, RAW_ABSENT, RAW_ABSENT },
			};

			assert_true(!k || runs[i].ts_ns[k - 1] <= runs[i].ts_ns[k]);
			assert_true(ev.arg[1] != RAW_ABSENT);
			keep(ctx, &ev);
			got->nr_in_runs++;
		}
	}
	return 0;
}

/* Lines that are no fault, or faults told in another way. */
static void odd_line(FILE *out, uint64_t r)
{
	static const char *const lines[] = {
		AT "task_rename: pid=6166 oldcomm=a newcomm=b oom_score_adj=0",
		AT "sched_process_fork: comm=a pid=1 child_comm=b child_pid=6167",
		AT "sched_process_exit: comm=a pid=6166 prio=120",
		"CPU:1 [LOST 5 EVENTS]",
		"# a comment",
		AT "page_fault_user: address=main ip=0x12 error_code=0x6",
		AT "page_fault_user: address=0x1 ip=0xffffffffffffffff error_code=0x6",
		AT "page_fault_user: address=0x12345678901234567 ip=0x2 error_code=0x6",
		AT "page_fault_user: address=0x1 ip=0x2 error_code=0x6 more",
		AT "page_fault_user: address=0x1 ip=0x2 error_code=0x",
		AT "page_fault_user: address=0x1 ip=0x2 error_code=0x6\r",
		AT "sched_switch: prev_comm=page_fault_user: address=0x1",
		AT "(+12) page_fault_user: address=0x1 ip=0x2 error_code=0x6",
		"   touch-6166      1d.... 1281049542us+: page_fault_user: address=0x1 ip=0x2 error_code=0x6",
		"           touch-6166    [001] d....   999.123: "
		"page_fault_user: address=0x1 ip=0x2 error_code=0x6",
		"    page_fault_user: address=0x7f00000000000 ip=0x2 error_code=0x6",
	};
	const char *line = lines[r % (sizeof(lines) / sizeof(lines[0]))];

	fprintf(out, "%s\n%s\n", line, line);
}

/* A fault as the kernel prints it, with a tgid, as trace-cmd report does, or with nanoseconds. */
static void fault_line(FILE *out, unsigned int form, uint64_t now, uint64_t r, uint64_t i)
{
	static const char *const columns[] = {
		"%16s-%-7d [%03d] d.... ",
		"%16s-%-7d (   4818) [%03d] d..1. ",
		"%16s-%-5d [%03d] ",
	};
	static const char *const comms[] = { "touch", "a b-7  [1] 2.3:", "x" };
	int tid = 6166 + r % 3;

	fprintf(out, columns[form % 3], comms[tid % 3], tid, (int)(r >> 2 & 1));
	if (form == 3)
		fprintf(out, "%5llu.%09llu: ", (unsigned long long)(now / 1000000000),
			(unsigned long long)(now % 1000000000));
	else
		fprintf(out, "%5llu.%06llu: ", (unsigned long long)(now / 1000000000),
			(unsigned long long)(now % 1000000000 / 1000));
	fprintf(out, "page_fault_%s:%s address=0x%llx ip=0x%llx error_code=0x%x\n", r >> 3 & 7 ? "user" : "kernel",
		form == 2 ? "     " : "", 0x7f0000000000 + 4096ull * i, 0x400000ull + i % 7, r >> 6 & 7 ? 6 : 4);
}

static char *random_text(uint64_t *seed, size_t *len)
{
	uint64_t now = 998000000000, r = 0;
	char *text;
	FILE *out = open_memstream(&text, len);

	for (unsigned int i = 0; i < NR_LINES; i++) {
		uint64_t odd = next_random(seed);

		if (!(i % 16))
			r = next_random(seed);
		now += odd % 200 ? 1000 + odd % 5 * 300 : 700000000;
		now -= odd % 300 ? 0 : 5000;
		if (odd % 50)
			fault_line(out, i / 700 % 4, now, r, i);
		else
			odd_line(out, odd / 50);
	}
	fault_line(out, 0, now, r, 1);
	fputs("CPU:1 [LOST 5 EVENTS]\n", out);
	fclose(out);
	return text;
}

/* Some bytes become others. */
static void damage(char *text, size_t len, uint64_t *seed)
{
	static const char bytes[] = "09afg: .-[]=x\n\tA\r(+";

	for (size_t i = next_random(seed) % 2000; i < len; i += 1 + next_random(seed) % 2000)
		text[i] = bytes[next_random(seed) % (sizeof(bytes) - 1)];
}

static void read_all(struct got *got, const char *text, size_t len, bool in_runs, uint64_t seed,
		     struct pfs_text_stats *stats)
{
	struct pfs_text *t = pfs_text_new(keep, got, NULL);
	size_t piece;

	got->nr = got->nr_in_runs = got->since = 0;
	if (in_runs)
		pfs_text_take_faults(t, keep_runs);
	for (size_t at = 0; at < len; at += piece) {
		piece = 1 + next_random(&seed) % 20000;
		if (piece > len - at)
			piece = len - at;
		assert_int_equal(pfs_text_feed(t, text + at, piece), 0);
	}
	assert_int_equal(pfs_text_finish(t), 0);
	*stats = *pfs_text_stats(t);
	pfs_text_free(t);
}

static void assert_same(const struct got *one, const struct got *many)
{
	assert_int_equal(one->nr, many->nr);
	for (unsigned int i = 0; i < one->nr; i++) {
		const struct raw_event *a = &one->ev[i], *b = &many->ev[i];

		assert_true(a->ts_ns == b->ts_ns);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->cpu, b->cpu);
		assert_int_equal(a->tid, b->tid);
		assert_memory_equal(a->arg, b->arg, sizeof(a->arg));
	}
}

static void test_same(void **state)
{
	static struct got one, many;
	struct pfs_text_stats stats[2];
	uint64_t seed = 1;

	for (unsigned int round = 0; round < 40; round++) {
		size_t len;
		char *text = random_text(&seed, &len);

		if (round % 2)
			damage(text, len, &seed);
		read_all(&one, text, len, false, seed, &stats[0]);
		read_all(&many, text, len, true, seed, &stats[1]);
		assert_same(&one, &many);
		assert_memory_equal(&stats[0], &stats[1], sizeof(stats[0]));
		if (!(round % 2))
			assert_true(many.nr_in_runs > many.nr / 2);
		free(text);
	}
}

/* What stops a reader stops it with many at once, too. */
static int refuse(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	return -7;
}

static void test_stop(void **state)
{
	static const char line[] = AT "page_fault_user: address=0x1 ip=0x2 error_code=0x6\n";
	static struct got got;
	struct pfs_text *t = pfs_text_new(keep, &got, NULL);

	pfs_text_take_faults(t, refuse);
	assert_int_equal(pfs_text_feed(t, line, strlen(line)), 0);
	assert_int_equal(pfs_text_feed(t, line, strlen(line)), -7);
	pfs_text_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
