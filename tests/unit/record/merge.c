/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The merge of streams: order, equal times, spools that grow while they are read, losses, damage,
 * and the strings of pfscope's own records that came in pieces.
 */
#include "base/bytes.h"
#include "base/write_all.h"
#include "record/merge.h"
#include "record/pfscope_records.h"
#include "record/ringpage.h"
#include "support/random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { PAGE = 512, MAX = 100000 };

#define FAULT(name, id)                                                        \
	"name: " name "\nID: " id "\nformat:\n"                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"           \
	"\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n"      \
	"\tfield:unsigned long ip;\toffset:16;\tsize:8;\tsigned:0;\n"          \
	"\tfield:unsigned long error_code;\toffset:24;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n"

struct seen {
	struct raw_event ev[MAX];
	size_t nr, stop_at, nr_at_once, nr_runs;
	char str[3][8192];
};

static struct seen seen;

static int keep(void *ctx, const struct raw_event *ev)
{
	struct seen *s = ctx;

	assert_true(s->nr < MAX);
	if (ev->str)
		snprintf(s->str[s->nr % 3], sizeof(s->str[0]), "%s", ev->str);
	s->ev[s->nr++] = *ev;
	return s->nr == s->stop_at ? -ECANCELED : 0;
}

/* The same from many at once. */
static int keep_faults(void *ctx, struct pfs_fault_run *runs, unsigned int nr)
{
	int ret = 0;

	assert_true(nr > 0);
	for (unsigned int i = 0; nr && !ret; i++) {
		struct raw_event ev = {
			.ts_ns = runs->ts_ns[i],
			.cpu = runs->cpu,
			.tid = runs->tid,
			.tgid = -1,
			.kind = runs->mode == PFS_USER ? RAW_FAULT_USER : RAW_FAULT_KERNEL,
			.arg = { runs->addr[i], runs->ip[i], runs->code },
		};

		assert_true(i < runs->nr);
		assert_true(runs->ip[i] != RAW_ABSENT);
		assert_true(!i || runs->ts_ns[i - 1] <= runs->ts_ns[i]);
		ret = keep(ctx, &ev);
		seen.nr_at_once++;
		if (i + 1 == runs->nr) {
			seen.nr_runs++;
			runs++;
			nr--;
			i = -1;
		}
	}
	return ret;
}

/* Each test runs twice: with page faults one by one, and (state) by the hundred. */
static struct pfs_merge *merge_new(void **state, const struct pfs_formats *f, unsigned int flags)
{
	struct pfs_merge *m = pfs_merge_new(f, flags);

	assert_non_null(m);
	memset(&seen, 0, sizeof(seen));
	if (*state)
		pfs_merge_take_faults(m, keep_faults);
	return m;
}

static struct pfs_formats *formats(void)
{
	static const char user[] = FAULT("page_fault_user", "10"), kernel[] = FAULT("page_fault_kernel", "11");
	struct pfs_formats *f = pfs_formats_new_host();

	assert_int_equal(pfs_formats_add(f, "exceptions", user, strlen(user)), 1);
	assert_int_equal(pfs_formats_add(f, "exceptions", kernel, strlen(kernel)), 1);
	seen.nr = seen.stop_at = 0;
	return f;
}

/* A record of that event, of 32 bytes and more. */
static void record(struct pfs_ringwrite *w, uint64_t ts, unsigned int id, uint32_t tid, const uint64_t args[3],
		   unsigned int len)
{
	uint8_t r[200] = { 0 };

	pfs_store16(r, id, false);
	pfs_store32(r + 4, tid, false);
	for (int i = 0; i < 3; i++)
		pfs_store64(r + 8 + 8 * i, args[i], false);
	assert_int_equal(pfs_ringwrite_append(w, ts, r, len), 0);
}

static void fault(struct pfs_ringwrite *w, uint64_t ts, uint32_t tid, uint64_t addr)
{
	record(w, ts, 10, tid, (uint64_t[]){ addr, addr + 1, addr + 2 }, 32);
}

/* Many streams of random times come out in order, each stream's own order kept. */
static void test_order(void **state)
{
	enum { STREAMS = 37, EVENTS = 400 };
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, 0);
	int fds[STREAMS];
	uint64_t rnd = 1, last[STREAMS] = { 0 };

	for (int i = 0; i < STREAMS; i++) {
		struct pfs_ringwrite *w;
		uint64_t ts = 1000000;

		fds[i] = pfs_temp_open(NULL);
		w = pfs_ringwrite_new(fds[i], &f->ring, PAGE);
		for (int k = 0; k < EVENTS; k++) {
			/* often the same time as in other streams */
			ts += next_random(&rnd) % 4 * 1000;
			fault(w, ts, i, k + 1);
		}
		pfs_ringwrite_flush(w);
		pfs_ringwrite_free(w);
		assert_int_equal(
			pfs_merge_add(m, i, pfs_page_source_file(fds[i], 0, lseek(fds[i], 0, SEEK_END), PAGE), NULL),
			0);
	}
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
	assert_int_equal(seen.nr, STREAMS * EVENTS);
	for (size_t i = 0; i < seen.nr; i++) {
		const struct raw_event *ev = &seen.ev[i], *prev = ev - 1;

		assert_int_equal(ev->arg[0], ++last[ev->cpu]);
		assert_int_equal(ev->arg[1], ev->arg[0] + 1);
		assert_int_equal(ev->arg[2], ev->arg[0] + 2);
		assert_int_equal(ev->cpu, ev->tid);
		if (i)
			assert_true(prev->ts_ns < ev->ts_ns || (prev->ts_ns == ev->ts_ns && prev->cpu <= ev->cpu));
	}
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
	assert_int_equal(seen.nr, STREAMS * EVENTS);
	assert_int_equal(pfs_merge_stats(m)->records, STREAMS * EVENTS);
	assert_int_equal(seen.nr_at_once, *state ? STREAMS * EVENTS : 0);
	pfs_merge_free(m);
	pfs_formats_free(f);
	for (int i = 0; i < STREAMS; i++)
		close(fds[i]);
}

/* Spools that grow: each call passes what is before its time, and later ones the rest. */
static void test_growing(void **state)
{
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, 0);
	struct pfs_ringwrite *w[2];
	size_t expect = 0;
	int fds[2];

	for (int i = 0; i < 2; i++) {
		fds[i] = pfs_temp_open(NULL);
		w[i] = pfs_ringwrite_new(fds[i], &f->ring, PAGE);
		pfs_merge_add(m, i, pfs_page_source_growing(fds[i], PAGE), NULL);
	}
	assert_int_equal(pfs_merge_run(m, 10, keep, &seen, NULL), 0);
	for (uint64_t ts = 0; ts < 2000; ts++) {
		fault(w[ts % 2], ts, 1, ts);
		if (ts % 97)
			continue;
		pfs_ringwrite_flush(w[0]);
		pfs_ringwrite_flush(w[1]);
		expect = ts > 50 ? ts - 50 : 0;
		assert_int_equal(pfs_merge_run(m, expect, keep, &seen, NULL), 0);
		assert_int_equal(seen.nr, expect);
	}
	pfs_ringwrite_flush(w[0]);
	pfs_ringwrite_flush(w[1]);
	/* half a sub-buffer at the end is not looked at yet */
	assert_int_equal(pwrite(fds[0], "\377\377\377\377", 4, lseek(fds[0], 0, SEEK_END)), 4);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
	assert_int_equal(seen.nr, 2000);
	for (size_t i = 0; i < seen.nr; i++)
		assert_int_equal(seen.ev[i].arg[0], i);
	for (int i = 0; i < 2; i++) {
		pfs_ringwrite_free(w[i]);
		close(fds[i]);
	}
	pfs_merge_free(m);
	pfs_formats_free(f);
}

/* A callback that stops the run has had its event: the next run goes on behind it. */
static void test_stop(void **state)
{
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, 0);
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, PAGE);

	for (uint64_t i = 0; i < 10; i++)
		fault(w, i, 1, i);
	pfs_ringwrite_flush(w);
	pfs_merge_add(m, 0, pfs_page_source_growing(fd, PAGE), NULL);
	seen.stop_at = 4;
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), -ECANCELED);
	assert_int_equal(seen.nr, 4);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
	assert_int_equal(seen.nr, 10);
	assert_int_equal(seen.ev[4].arg[0], 4);
	pfs_ringwrite_free(w);
	pfs_merge_free(m);
	pfs_formats_free(f);
	close(fd);
}

/* A last time of all ones is still passed, and times are converted before they are compared. */
static void test_times(void **state)
{
	static const struct pfs_ts_conv conv = { .mult = 3, .shift = 1, .offset_ns = -100 };
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, 0);
	int fds[2];

	for (int i = 0; i < 2; i++) {
		struct pfs_ringwrite *w;

		fds[i] = pfs_temp_open(NULL);
		w = pfs_ringwrite_new(fds[i], &f->ring, PAGE);
		fault(w, 1000, i, 0);
		if (!i)
			fault(w, UINT64_MAX, i, 0);
		pfs_ringwrite_flush(w);
		pfs_ringwrite_free(w);
		pfs_merge_add(m, i, pfs_page_source_growing(fds[i], PAGE), i ? &conv : NULL);
	}
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
	assert_int_equal(seen.nr, 3);
	assert_int_equal(seen.ev[0].ts_ns, 1000);
	assert_int_equal(seen.ev[1].ts_ns, 1400);
	assert_true(seen.ev[2].ts_ns == UINT64_MAX);
	pfs_merge_free(m);
	pfs_formats_free(f);
	close(fds[0]);
	close(fds[1]);
}

/* Changes one sub-buffer's length word. */
static void set_commit(int fd, unsigned int page, uint64_t set, uint64_t clear)
{
	uint8_t commit[8];
	uint64_t v;

	assert_int_equal(pread(fd, commit, 8, page * PAGE + 8), 8);
	v = (pfs_load64(commit, false) & ~clear) | set;
	pfs_store64(commit, v, false);
	assert_int_equal(pwrite(fd, commit, 8, page * PAGE + 8), 8);
}

/* Losses come before the sub-buffer that tells of them; damage ends it, or counts and is a loss. */
static void test_lost_and_damage(void **state)
{
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, PFS_MERGE_SALVAGE);
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, PAGE);
	struct pfs_err err = { "" };

	for (uint64_t page = 0; page < 4; page++) {
		fault(w, 100 * page + 1, 1, page);
		fault(w, 100 * page + 2, 1, page);
		pfs_ringwrite_flush(w);
	}
	set_commit(fd, 1, 1u << 31, 0);
	set_commit(fd, 2, 46, UINT32_MAX); /* ends within the second record */
	pfs_merge_add(m, 3, pfs_page_source_growing(fd, PAGE), NULL);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, &err), 0);
	assert_int_equal(seen.nr, 9);
	assert_int_equal(seen.ev[2].kind, RAW_LOST);
	assert_int_equal(seen.ev[2].cpu, 3);
	assert_int_equal(seen.ev[2].ts_ns, 101);
	assert_true(seen.ev[2].arg[0] == UINT64_MAX);
	assert_int_equal(seen.ev[2].arg[1], 2); /* of the record before */
	assert_int_equal(seen.ev[5].arg[0], 2);
	assert_int_equal(seen.ev[6].arg[1], 201); /* the last one that could be read */
	assert_int_equal(seen.ev[6].kind, RAW_LOST);
	assert_int_equal(seen.ev[6].ts_ns, 301);
	assert_int_equal(pfs_merge_stats(m)->damaged, 1);
	assert_int_equal(pfs_merge_stats(m)->lost_unknown, 2);
	assert_string_equal(pfs_merge_stats(m)->first_damage.msg, "damaged trace data at offset "
								  "1076, in the page at offset 1024 of CPU 3");
	pfs_merge_free(m);

	seen.nr = 0;
	m = merge_new(state, f, 0);
	pfs_merge_add(m, 3, pfs_page_source_growing(fd, PAGE), NULL);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, &err), -EBADMSG);
	assert_int_equal(seen.nr, 6);
	assert_non_null(strstr(err.msg, "offset 1076"));
	pfs_merge_free(m);
	pfs_ringwrite_free(w);
	pfs_formats_free(f);
	close(fd);
}

static int keep_until(void *ctx, const struct raw_event *ev)
{
	int ret = keep(ctx, ev);

	return ret ? ret : ev->ts_ns > 100 ? -ECANCELED : 0;
}

/* Nothing is wanted behind 100: but a loss that began before it is, wherever it ends. */
static void test_losses_over_the_end(void **state)
{
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, 0);
	struct pfs_err err = { "" };
	int fd[3];

	for (int cpu = 0; cpu < 3; cpu++) {
		struct pfs_ringwrite *w;

		fd[cpu] = pfs_temp_open(NULL);
		w = pfs_ringwrite_new(fd[cpu], &f->ring, PAGE);
		fault(w, 50 + cpu, 1, 0);
		pfs_ringwrite_flush(w);
		fault(w, 200 - 10 * cpu, 1, 0);
		pfs_ringwrite_flush(w);
		pfs_ringwrite_free(w);
		if (cpu < 2)
			set_commit(fd[cpu], 1, 1u << 31, 0);
		pfs_merge_add(m, cpu, pfs_page_source_growing(fd[cpu], PAGE), NULL);
	}
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep_until, &seen, &err), -ECANCELED);
	assert_int_equal(seen.nr, 6);
	assert_int_equal(seen.ev[3].cpu, 2); /* the first one behind it */
	for (int i = 4; i < 6; i++) {
		assert_int_equal(seen.ev[i].kind, RAW_LOST);
		assert_int_equal(seen.ev[i].ts_ns, 200 - 10 * seen.ev[i].cpu);
		assert_int_equal(seen.ev[i].arg[1], 50 + seen.ev[i].cpu);
	}
	assert_int_equal(seen.ev[4].cpu + seen.ev[5].cpu, 1);
	pfs_merge_free(m);
	pfs_formats_free(f);
	for (int cpu = 0; cpu < 3; cpu++)
		close(fd[cpu]);
}

/* What cannot be read at the end of a stream is missing until the end of all. */
static void test_loss_at_the_end(void **state)
{
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, PFS_MERGE_SALVAGE);
	struct pfs_err err = { "" };
	int fd[2];

	for (int cpu = 0; cpu < 2; cpu++) {
		struct pfs_ringwrite *w;

		fd[cpu] = pfs_temp_open(NULL);
		w = pfs_ringwrite_new(fd[cpu], &f->ring, PAGE);
		fault(w, 10 + 90 * cpu, 1, 0);
		fault(w, 11 + 90 * cpu, 1, 0);
		pfs_ringwrite_flush(w);
		pfs_ringwrite_free(w);
		pfs_merge_add(m, cpu, pfs_page_source_growing(fd[cpu], PAGE), NULL);
	}
	set_commit(fd[0], 0, 46, UINT32_MAX); /* ends within the second record */
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, &err), 0);
	assert_int_equal(seen.nr, 4);
	assert_int_equal(seen.ev[3].kind, RAW_LOST);
	assert_int_equal(seen.ev[3].cpu, 0);
	assert_true(seen.ev[3].arg[0] == UINT64_MAX);
	assert_int_equal(seen.ev[3].arg[1], 10);
	assert_int_equal(seen.ev[3].ts_ns, 101);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, &err), 0);
	assert_int_equal(seen.nr, 4); /* told once */
	pfs_merge_free(m);
	pfs_formats_free(f);
	close(fd[0]);
	close(fd[1]);
}

/* A file that is shorter than it was. */
static void test_shrunk(void **state)
{
	struct pfs_formats *f = formats();
	struct pfs_merge *m = merge_new(state, f, 0);
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, PAGE);
	struct pfs_err err = { "" };

	fault(w, 1, 1, 1);
	pfs_ringwrite_flush(w);
	pfs_merge_add(m, 0, pfs_page_source_file(fd, 0, 4 * PAGE, PAGE), NULL);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, &err), -EBADMSG);
	assert_non_null(strstr(err.msg, "shorter"));
	pfs_ringwrite_free(w);
	pfs_merge_free(m);
	pfs_formats_free(f);
	close(fd);
}

/* Own records: of no processor, and a string in pieces is whole again. */
static void test_own(void **state)
{
	struct pfs_formats *f = formats();
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, PAGE);
	struct raw_event ev = { .kind = RAW_PFS_MAP, .ts_ns = 5, .tid = 7 };
	struct pfs_merge *m;
	struct pfs_records own;
	char name[4097];

	assert_int_equal(pfs_records_init(&own, f), 0);
	m = merge_new(state, f, 0);
	memset(name, 'n', sizeof(name) - 1);
	name[4096] = 0;
	ev.str = name;
	for (int i = 0; i < RAW_MAX_ARGS; i++)
		ev.arg[i] = i == 4 ? RAW_ABSENT : 0x1000u * i;
	assert_int_equal(pfs_records_write(&own, w, &ev), 0);
	ev = (struct raw_event){ .kind = RAW_PFS_TASK, .ts_ns = 6, .tid = 7, .str = "x" };
	assert_int_equal(pfs_records_write(&own, w, &ev), 0);
	pfs_ringwrite_flush(w);
	pfs_merge_add(m, 9, pfs_page_source_growing(fd, PAGE), NULL);
	assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.ev[0].kind, RAW_PFS_MAP);
	assert_int_equal(seen.ev[0].cpu, -1);
	assert_int_equal(seen.ev[0].tid, 7);
	for (int i = 0; i < RAW_MAX_ARGS; i++)
		assert_true(seen.ev[0].arg[i] == (i == 4 ? RAW_ABSENT : 0x1000u * i));
	assert_string_equal(seen.str[0], name);
	assert_string_equal(seen.str[1], "x");
	pfs_ringwrite_free(w);
	pfs_merge_free(m);
	pfs_formats_free(f);
	close(fd);
}

/* What random_stream() writes now and then: neither like the fault before it, nor of the everyday form. */
static void odd_record(struct pfs_ringwrite *w, uint64_t ts, uint64_t r, uint64_t addr)
{
	uint64_t args[] = { addr, 5, 6 };

	switch (r % 6) {
	case 0:
		record(w, ts, 12, 1, args, 32);
		break; /* of no use */
	case 1:
		record(w, ts, 10, 1, args, 40 + r % 3);
		break;
	case 2:
		record(w, ts, 10, 1, args, 200);
		break;
	case 3:
		record(w, ts, 10, 1, args, 20);
		break;
	case 4:
		args[1] = RAW_ABSENT;
		record(w, ts, 10, 1, args, 32);
		break;
	case 5:
		args[2] = RAW_ABSENT;
		record(w, ts, 11, 1, args, 32);
		break;
	}
}

/* Faults in bursts that are alike, with everything else in between that can be. */
static int random_stream(const struct pfs_formats *f, uint64_t *rnd, unsigned int nr)
{
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &f->ring, PAGE);
	uint64_t ts = 1000000, args[3] = { 0, 5, 6 };
	unsigned int id = 10, tid = 1;

	for (unsigned int i = 0; i < nr; i++) {
		uint64_t r = next_random(rnd);

		ts += r % 8 ? r % 4 * 1000 : r % 80 ? 50000 : UINT64_C(1) << 28;
		args[0] += 4096;
		args[1] = 5 + r % 3;
		switch (r >> 8 & 63) {
		case 0:
			id = 10 + (r >> 16 & 1);
			break;
		case 1:
			tid = 1 + (r >> 16 & 1);
			break;
		case 2:
			args[2] = 4 + (r >> 16 & 2);
			break;
		case 3:
			odd_record(w, ts, r >> 16, args[0]);
			break;
		}
		record(w, ts, id, tid, args, 32);
	}
	pfs_ringwrite_flush(w);
	pfs_ringwrite_free(w);
	return fd;
}

/* By the hundred or one by one, the same comes out, whatever comes between. */
static void test_runs(void **state)
{
	enum { STREAMS = 3, EVENTS = 3000 };
	/* one clock is a little fast, one is set back now and then */
	static struct pfs_sync_sample samples[20000];
	static const struct pfs_sync sync = { samples, 20000, false };
	static const struct pfs_ts_conv convs[STREAMS] = { [1] = { .offset_ns = 7 }, [2] = { .sync = &sync } };
	static struct seen single;
	static bool by_the_hundred = true;
	struct pfs_formats *f = formats();
	uint64_t rnd = 5;
	int fds[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		fds[i] = random_stream(f, &rnd, i ? EVENTS : 10 * EVENTS);
	for (int i = 0; i < 20000; i++)
		samples[i] = (struct pfs_sync_sample){ .time = 100000 * i, .offset = -3000 * i, .scaling = 1 };
	for (int way = 0; way < 2; way++) {
		bool *how = way ? &by_the_hundred : NULL;
		struct pfs_merge *m = merge_new((void **)&how, f, PFS_MERGE_OTHER);

		for (int i = 0; i < STREAMS; i++)
			assert_int_equal(
				pfs_merge_add(m, i, pfs_page_source_file(fds[i], 0, lseek(fds[i], 0, SEEK_END), PAGE),
					      &convs[i]),
				0);
		for (uint64_t until = 1000000; until; until = until < UINT64_C(1) << 40 ? until * 3 / 2 : 0)
			assert_int_equal(pfs_merge_run(m, until, keep, &seen, NULL), 0);
		assert_int_equal(pfs_merge_run(m, UINT64_MAX, keep, &seen, NULL), 0);
		pfs_merge_free(m);
		if (!way)
			single = seen;
	}
	assert_true(seen.nr > 12 * EVENTS);
	assert_true(seen.nr_at_once > seen.nr * 9 / 10 && seen.nr_runs * 5 < seen.nr_at_once);
	assert_int_equal(seen.nr, single.nr);
	for (size_t i = 0; i < seen.nr; i++) {
		const struct raw_event *a = &single.ev[i], *b = &seen.ev[i];

		assert_true(a->ts_ns == b->ts_ns && a->kind == b->kind && a->cpu == b->cpu && a->tid == b->tid);
		if (a->kind != RAW_OTHER)
			assert_memory_equal(a->arg, b->arg, 3 * sizeof(a->arg[0]));
	}
	for (int i = 0; i < STREAMS; i++)
		close(fds[i]);
	pfs_formats_free(f);
}

int main(void)
{
	static const CMUnitTestFunction by_either[] = {
		test_order,
		test_growing,
		test_times,
		test_lost_and_damage,
		test_shrunk,
		test_own,
		test_losses_over_the_end,
		test_loss_at_the_end,
	};
	enum { NR = sizeof(by_either) / sizeof(by_either[0]) };
	struct CMUnitTest tests[2 * NR + 2] = {
		[2 * NR] = cmocka_unit_test(test_stop),
		cmocka_unit_test(test_runs),
	};
	static const char *const names[] = {
		"order",
		"growing",
		"times",
		"lost and damage",
		"shrunk",
		"own records",
		"losses over the end",
		"loss at the end",
	};
	static char of[2 * NR][64];
	static bool by_the_hundred = true;

	for (int i = 0; i < 2 * NR; i++) {
		snprintf(of[i], sizeof(of[i]), "%s, %s", names[i / 2], i % 2 ? "by the hundred" : "one by one");
		tests[i] = (struct CMUnitTest){ .name = of[i],
						.test_func = by_either[i / 2],
						.initial_state = i % 2 ? &by_the_hundred : NULL };
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
