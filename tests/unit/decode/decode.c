/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder's entrance: order, losses, strings in pieces, and whatever bytes there may be.
 */
#include "support/random.h"
#include "support/stap_forge.h"
#include "tapset/objects.h"

#include <errno.h>

static const struct forge_vma anon = { .vma = 0xa, .start = 0x10000, .end = 0x20000, .flags = VM_RW };

static void test_the_header(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec;

	forge_name(f, "fault");
	rec = forge_rec(f, PFS_REC_PROBE);
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_READY);
	rec.counters.skipped = 5; /* before the beginning: nobody's loss */
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_COUNTERS);
	rec.counters.skipped = 7;
	forge_put(f, &rec);
	forge_expect(f, "note key=\"probe\" value=\"fault\"\n"
			"note key=\"lacks\" value=\"what=filemap_map_pages tells=pages mapped by fault-around\"\n"
			"note key=\"start\" value=\"mono\"\n"
			"lost count=2 interval=1000\n");
	assert_true(pfs_decoder_stats(f->d)->ready);
	forge_free(f);
}

static void test_another_version(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec = forge_rec(f, PFS_REC_HELLO);

	rec.hello = (struct pfs_rec_hello){ PFS_WIRE_MAGIC, PFS_WIRE_VERSION + 1, sizeof(rec), 12, 1, 1, 0 };
	forge_put(f, &rec);
	assert_int_equal(pfs_decoder_flush(f->d, f->now_ns), -EPROTO);
	assert_int_equal(pfs_decoder_feed(f->d, &rec), -EPROTO);
	assert_int_equal(pfs_decoder_finish(f->d), -EPROTO);
	forge_free(f);
}

/* ---- order ---- */

static void comm_at(struct forge *f, uint16_t cpu, uint64_t ts_ns, const char *comm)
{
	struct pfs_rec rec;

	f->cpu = cpu;
	rec = forge_rec(f, PFS_REC_COMM);
	rec.ts_ns = ts_ns;
	strcpy(rec.comm.comm, comm);
	forge_put(f, &rec);
	f->cpu = 0;
}

static void test_processors_out_of_order(void **state)
{
	struct forge *f = forge_new();

	comm_at(f, 1, 1000003000, "third");
	comm_at(f, 2, 1000001000, "first");
	comm_at(f, 1, 1000004000, "fourth");
	comm_at(f, 2, 1000002000, "second");
	forge_expect(f, "comm cpu=2 comm=\"first\"\n"
			"comm cpu=2 comm=\"second\"\n"
			"comm cpu=1 comm=\"third\"\n"
			"comm cpu=1 comm=\"fourth\"\n");
	assert_int_equal(pfs_decoder_stats(f->d)->late, 0);
	forge_free(f);
}

/* The order of one processor is never changed, whatever its clock says. */
static void test_one_processor_keeps_its_order(void **state)
{
	struct forge *f = forge_new();

	comm_at(f, 1, 1000009000, "first");
	comm_at(f, 1, 1000001000, "second");
	comm_at(f, 2, 1000005000, "before");
	forge_expect(f, "comm cpu=2 comm=\"before\"\n"
			"comm cpu=1 comm=\"first\"\n"
			"comm cpu=1 comm=\"second\"\n");
	forge_free(f);
}

static void test_too_late_is_passed_on(void **state)
{
	struct forge *f = forge_new();

	comm_at(f, 1, 1000001000, "one");
	comm_at(f, 1, 1000005000, "two");
	assert_int_equal(pfs_decoder_flush(f->d, 1000004000), 0);
	comm_at(f, 2, 1000000900, "late");
	comm_at(f, 2, 1000002000, "early");
	forge_expect(f, "comm cpu=1 comm=\"one\"\ncomm cpu=2 comm=\"late\"\n"
			"comm cpu=2 comm=\"early\"\ncomm cpu=1 comm=\"two\"\n");
	assert_int_equal(pfs_decoder_stats(f->d)->late, 1);
	forge_free(f);
}

/* Without being asked for: what is older than anything that can still come, or too much to hold. */
static void test_how_long_records_are_held(void **state)
{
	struct forge *f = forge_new();

	comm_at(f, 1, 1000001000, "one");
	comm_at(f, 1, 1000001000 + PFS_DECODE_WINDOW_NS - 1, "two");
	assert_int_equal(f->len, 0);
	comm_at(f, 1, 1000001000 + PFS_DECODE_WINDOW_NS, "three");
	assert_string_equal(f->got, "comm cpu=1 comm=\"one\"\n");
	forge_forget(f);
	f->now_ns = 1000001000 + PFS_DECODE_WINDOW_NS;
	for (unsigned int i = 0; i < PFS_DECODE_HELD_MAX; i++)
		forge_comm(f, "four", 0, 0);
	assert_int_equal(f->len, 0);
	forge_comm(f, "five", 0, 0);
	assert_string_equal(f->got, "comm comm=\"four\"\n");
	forge_free(f);
}

/* ---- losses ---- */

static void test_a_gap_is_told_where_it_is(void **state)
{
	struct forge *f = forge_new();

	forge_comm(f, "one", 0, 0);
	f->seq[0] += 5;
	forge_comm(f, "two", 0, 0);
	forge_expect(f, "comm comm=\"one\"\nlost count=5 interval=1000\ncomm comm=\"two\"\n");
	assert_int_equal(pfs_decoder_stats(f->d)->lost, 5);
	forge_free(f);
}

static void test_numbers_begin_at_0_and_wrap(void **state)
{
	struct forge *f = forge_new();

	f->cpu = 1;
	f->seq[1] = 2;
	forge_comm(f, "one", 0, 0);
	forge_expect(f, "lost cpu=1 count=2\ncomm cpu=1 comm=\"one\"\n");
	for (uint64_t at = 0x60000000; at < UINT32_MAX; at += 0x60000000) {
		f->seq[1] = at;
		forge_comm(f, "far", 0, 0);
	}
	f->seq[1] = UINT32_MAX - 1;
	forge_comm(f, "near", 0, 0);
	forge_forget(f);
	forge_comm(f, "last", 0, 0);
	f->seq[1] = 0;
	forge_comm(f, "next", 0, 0);
	forge_expect(f, "comm cpu=1 comm=\"last\"\ncomm cpu=1 comm=\"next\"\n");
	forge_free(f);
}

/* A number that goes back is damage; counting goes on from there. */
static void test_numbers_that_go_back(void **state)
{
	struct forge *f = forge_new();

	forge_comm(f, "one", 0, 0);
	f->seq[0] = 1;
	forge_comm(f, "two", 0, 0);
	forge_comm(f, "three", 0, 0);
	forge_expect(f, "comm comm=\"one\"\ncomm comm=\"two\"\nlost\ncomm comm=\"three\"\n");
	assert_int_equal(pfs_decoder_stats(f->d)->damaged, 1);
	assert_int_equal(pfs_decoder_stats(f->d)->lost, 0);
	forge_free(f);
}

static void test_the_end_says_what_is_missing(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec;

	forge_comm(f, "one", 0, 0);
	for (uint32_t cpu = 0; cpu < 3; cpu++) { /* 0 is the one that says it */
		rec = forge_rec(f, PFS_REC_CPU);
		rec.end = (struct pfs_rec_cpu){ cpu, cpu == 2 ? 7 : cpu == 1 ? 0 : 2 };
		forge_put(f, &rec);
	}
	rec = forge_rec(f, PFS_REC_END);
	rec.counters.skipped = 4;
	forge_put(f, &rec);
	assert_int_equal(pfs_decoder_finish(f->d), 0);
	assert_string_equal(f->got, "comm comm=\"one\"\nlost count=4\nlost cpu=2 count=7\n");
	assert_int_equal(pfs_decoder_stats(f->d)->lost, 7);
	assert_int_equal(pfs_decoder_stats(f->d)->skipped, 4);
	assert_true(pfs_decoder_stats(f->d)->ended);
	forge_free(f);
}

static void test_no_end(void **state)
{
	struct forge *f = forge_new();

	assert_int_equal(pfs_decoder_finish(f->d), 0);
	assert_string_equal(f->got, "lost\n");
	assert_false(pfs_decoder_stats(f->d)->ended);
	forge_free(f);
}

/* What SystemTap itself left out has no place and no processor. */
static void test_skipped(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec = forge_rec(f, PFS_REC_COUNTERS);

	rec.counters.skipped = 3;
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_COUNTERS);
	rec.counters.skipped = 10;
	rec.counters.transport_failures = 5; /* these have numbers, and are counted as gaps */
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_COUNTERS);
	rec.counters.skipped = 10;
	rec.counters.no_memory = 1;
	forge_put(f, &rec);
	forge_expect(f, "lost count=3\nlost count=7 interval=1000\nlost interval=1000\n");
	forge_free(f);
}

/* SystemTap counts the probes that the kernel has missed when it removes them: they may be of any time. */
static void test_missed(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec = forge_rec(f, PFS_REC_READY);

	rec.counters.skipped = 2;
	forge_put(f, &rec);
	forge_forget(f);
	rec = forge_rec(f, PFS_REC_COUNTERS);
	rec.counters.skipped = 3;
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_END);
	rec.counters.skipped = 7;
	forge_put(f, &rec);
	forge_expect(f, "lost count=1 interval=1000\nlost count=4 interval=2000\n");
	forge_free(f);
}

/* ---- strings ---- */

static void test_long_names(void **state)
{
	struct forge *f = forge_new();
	char name[301], line[500];
	struct forge_vma v = anon;

	memset(name, 'x', 300);
	name[0] = '/';
	name[300] = '\0';
	v.name = name;
	v.ino = 7;
	forge_comm(f, "cat", 0, 0);
	LAYOUT(f, START, 0, UINT64_MAX, v);
	snprintf(line, sizeof(line),
		 "comm comm=\"cat\"\nmap start=10000 end=20000 id=1 perms=rw-p "
		 "off=0 dev=fe:00 ino=7 traits=none name=\"%s\"\n"
		 "note key=\"snapshot\" value=\"op=start\"\n",
		 name);
	forge_expect(f, line);
	forge_free(f);
}

/* The string is not known then; the region is. */
static void test_a_name_with_a_gap(void **state)
{
	for (int piece = 0; piece < 4; piece++) {
		struct forge *f = forge_new();
		char name[301];
		struct pfs_rec rec;

		memset(name, 'x', 300);
		name[300] = '\0';
		for (int i = 0; i < 4; i++) {
			rec = forge_rec(f, PFS_REC_NAME);
			rec.name.total = 300;
			rec.name.offset = 88 * i;
			rec.len = i == 3 ? 300 - 88 * 3 : 88;
			memcpy(rec.name.piece, name, rec.len);
			if (i != piece)
				forge_put(f, &rec);
		}
		rec = forge_life(f, PFS_REC_EXEC, "new");
		forge_put(f, &rec);
		forge_expect(f, "lost count=1 interval=2000\nexec comm=\"new\"\n");
		forge_free(f);
	}
}

/* A string belongs to the very next record. */
static void test_a_name_for_another_record(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec;

	forge_name(f, "/bin/other");
	forge_comm(f, "one", 0, 0);
	rec = forge_life(f, PFS_REC_EXEC, "new");
	forge_put(f, &rec);
	forge_expect(f, "comm comm=\"one\"\nexec comm=\"new\"\n");
	forge_free(f);
}

/* ---- damage ---- */

static void test_damaged_records(void **state)
{
	struct forge *f = forge_new();
	struct pfs_rec rec = { 0 };

	forge_put(f, &rec); /* fills up a batch */
	rec.type = PFS_REC_OBJECTS_NR;
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_NAME);
	rec.len = 255;
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_NAME);
	rec.name.total = UINT32_MAX;
	forge_put(f, &rec);
	rec = forge_rec(f, PFS_REC_UNMAP);
	rec.range.mm = f->mm;
	rec.range.start = 5;
	forge_put(f, &rec);
	forge_expect(f, "lost\nlost\n"); /* the first one is missing from the numbers */
	assert_int_equal(pfs_decoder_stats(f->d)->damaged, 3);
	forge_free(f);
}

static void test_the_sink_says_stop(void **state)
{
	struct forge *f = forge_new();

	forge_comm(f, "one", 0, 0);
	f->ret = -ENOSPC;
	assert_int_equal(pfs_decoder_flush(f->d, f->now_ns), -ENOSPC);
	f->ret = 0;
	assert_int_equal(pfs_decoder_finish(f->d), -ENOSPC);
	forge_free(f);
}

/* Plausible here and there, so that it gets deep; any bytes elsewhere. */
static void random_rec(struct pfs_rec *rec, uint64_t *s, uint32_t seq[4])
{
	uint64_t words[12];

	for (int i = 0; i < 12; i++) {
		words[i] = random_u64(s);
		if (words[i] % 4)
			words[i] = random_u64(s) % 8 * 0x1000 + random_u64(s) % 2 * 0x10000;
		if (random_u64(s) % 16 == 0)
			words[i] = UINT64_MAX;
	}
	memset(rec, 0, sizeof(*rec));
	memcpy(rec->body, words, sizeof(words));
	rec->type = random_u64(s) % (PFS_REC_OBJECTS_NR + 2);
	rec->cpu = random_u64(s) % 64 ? random_u64(s) % 4 : random_u64(s);
	rec->seq = rec->cpu < 4 && random_u64(s) % 16 ? seq[rec->cpu]++ : random_u64(s);
	rec->ts_ns = 1000000000 + random_u64(s) % 100000000;
	rec->pid = random_u64(s) % 4;
	rec->tid = random_u64(s) % 6;
	rec->len = random_u64(s);
	if (rec->type == PFS_REC_HELLO)
		rec->type = PFS_REC_LAYOUT_END;
	if (random_u64(s) % 4 == 0)
		return;
	switch (rec->type) {
	case PFS_REC_FORK:
	case PFS_REC_THREAD:
	case PFS_REC_EXEC:
		rec->life.child_pid = random_u64(s) % 4;
		rec->life.child_tid = random_u64(s) % 6;
		break;
	case PFS_REC_LAYOUT:
	case PFS_REC_LAYOUT_END:
		rec->layout.why = random_u64(s) % 5;
		rec->layout.nr_regions = random_u64(s) % 3;
		rec->layout.mm = random_u64(s) % 4;
		break;
	case PFS_REC_REGION:
		rec->region.mm = random_u64(s) % 4;
		rec->region.special = random_u64(s) % 4;
		rec->region.name_len = random_u64(s) % 26;
		break;
	case PFS_REC_FAULT:
		rec->fault.mm = random_u64(s) % 4;
		rec->fault.what = random_u64(s);
		rec->fault.latency_ns = random_u64(s) % 1000;
		break;
	}
}

/* Nothing crashes, and what comes out is something that the model takes. */
static void test_any_bytes(void **state)
{
	uint64_t seed = 5;

	for (int round = 0; round < 60; round++) {
		struct forge *f = forge_new();
		uint32_t seq[4] = { 1 };
		struct pfs_rec rec;

		f->model = pfs_model_new();
		f->quiet = true;
		for (int i = 0; i < 1500; i++) {
			random_rec(&rec, &seed, seq);
			forge_put(f, &rec);
		}
		assert_int_equal(pfs_decoder_finish(f->d), 0);
		assert_true(f->model->nr_events > 100);
		forge_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_header),
		cmocka_unit_test(test_another_version),
		cmocka_unit_test(test_processors_out_of_order),
		cmocka_unit_test(test_one_processor_keeps_its_order),
		cmocka_unit_test(test_too_late_is_passed_on),
		cmocka_unit_test(test_how_long_records_are_held),
		cmocka_unit_test(test_a_gap_is_told_where_it_is),
		cmocka_unit_test(test_numbers_begin_at_0_and_wrap),
		cmocka_unit_test(test_numbers_that_go_back),
		cmocka_unit_test(test_the_end_says_what_is_missing),
		cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_missed),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_a_name_with_a_gap),
		cmocka_unit_test(test_a_name_for_another_record),
		cmocka_unit_test(test_damaged_records),
		cmocka_unit_test(test_the_sink_says_stop),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
