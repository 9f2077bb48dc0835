/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults by the hundred: an assembler that is given runs of them passes on what one that is given each does.
 */
#include "support/random.h"
#include "support/raw_feed.h"

#include <stdio.h>

enum { MAX_PENDING = 64 };

/* The same raw events to two assemblers; to `many` faults in runs, as they are gathered here. */
struct both {
	struct raw_feed one, many;
	uint64_t ts_ns[MAX_PENDING], addr[MAX_PENDING], ip[MAX_PENDING];
	struct pfs_fault_run run[MAX_PENDING];
	unsigned int nr, nr_runs;
	unsigned int nr_passed; /* by the sink that takes runs */
};

static int sink_runs(void *ctx, const struct pfs_fault_run *runs, unsigned int nr)
{
	struct both *b = (struct both *)((char *)ctx - offsetof(struct both, many));

	assert_true(nr > 0);
	for (unsigned int i = 0; i < nr; i++) {
		assert_true(runs[i].nr > 0);
		for (uint32_t k = 0; k < runs[i].nr; k++) {
			struct pfs_event ev;

			pfs_run_event(&ev, &runs[i], k);
			assert_int_equal(raw_feed_sink(ctx, &ev), 0);
			b->nr_passed++;
		}
	}
	return 0;
}

/* Nearly every thread has a name that the file knows. */
static const char *name_of(void *ctx, int32_t tid)
{
	return tid % 5 ? "file" : NULL;
}

static void both_init(struct both *b)
{
	struct pfs_sink sink = { .fn = raw_feed_sink, .ctx = &b->many, .faults = sink_runs };

	b->nr = b->nr_runs = b->nr_passed = 0;
	raw_feed_init(&b->one);
	raw_feed_init(&b->many);
	pfs_assembler_free(b->many.a);
	b->many.a = pfs_assembler_new(&sink);
	for (int32_t tid = 100; tid < 106; tid++) {
		assert_int_equal(pfs_assembler_thread(b->one.a, tid, tid < 103 ? 100 : 103), 0);
		assert_int_equal(pfs_assembler_thread(b->many.a, tid, tid < 103 ? 100 : 103), 0);
	}
	assert_int_equal(pfs_assembler_thread(b->one.a, 107, 0), 0);
	assert_int_equal(pfs_assembler_thread(b->many.a, 107, 0), 0);
	pfs_assembler_set_names(b->one.a, name_of, NULL);
	pfs_assembler_set_names(b->many.a, name_of, NULL);
	assert_int_equal(pfs_assembler_header(b->one.a, "clock", "mono"), 0);
	assert_int_equal(pfs_assembler_header(b->many.a, "clock", "mono"), 0);
}

static void both_fini(struct both *b)
{
	raw_feed_fini(&b->one);
	raw_feed_fini(&b->many);
}

/* Hands on what is pending, and compares. */
static void flush(struct both *b)
{
	if (b->nr_runs)
		assert_int_equal(pfs_assembler_faults(b->many.a, b->run, b->nr_runs), 0);
	b->nr = b->nr_runs = 0;
	assert_string_equal(b->many.got, b->one.got);
	forget(&b->one);
	forget(&b->many);
}

static void fault(struct both *b, int32_t tid, int32_t cpu, enum pfs_mode mode, uint64_t code)
{
	struct pfs_fault_run *run = &b->run[b->nr_runs];
	uint64_t addr = 0x1000 * b->one.now_ns;

	b->ts_ns[b->nr] = b->one.now_ns;
	b->addr[b->nr] = addr;
	b->ip[b->nr] = addr + 1;
	if (b->nr_runs && run[-1].tid == tid && run[-1].cpu == cpu && run[-1].mode == mode && run[-1].code == code) {
		run[-1].nr++;
	} else {
		*run = (struct pfs_fault_run){
			.ts_ns = &b->ts_ns[b->nr],
			.addr = &b->addr[b->nr],
			.ip = &b->ip[b->nr],
			.nr = 1,
			.cpu = cpu,
			.tid = tid,
			.code = code,
			.mode = mode,
		};
		b->nr_runs++;
	}
	b->nr++;
	b->one.tid = tid;
	b->one.cpu = cpu;
	RAW(&b->one, mode == PFS_USER ? RAW_FAULT_USER : RAW_FAULT_KERNEL, addr, addr + 1, code);
	if (b->nr == MAX_PENDING)
		flush(b);
}

/* Anything else, of that thread. */
static void other(struct both *b, int32_t tid, enum raw_kind kind, enum raw_sys nr, uint64_t arg0, uint64_t arg1,
		  const char *str)
{
	struct raw_feed *of[] = { &b->one, &b->many };

	flush(b);
	b->many.now_ns = b->one.now_ns;
	for (int i = 0; i < 2; i++) {
		of[i]->tid = tid;
		of[i]->cpu = 1;
		of[i]->str = str;
		assert_int_equal(raw_feed_event(of[i], kind, nr, RAW_ARGS(arg0, arg1)), 0);
	}
	flush(b);
}

/* Threads that are named, known, begin, end and exec, on a few processors. */
static void random_step(struct both *b, uint64_t r)
{
	int32_t tid = 100 + (r >> 8) % 8, cpu = (int32_t)((r >> 12) % 4) - !(r >> 16 & 31);
	unsigned int nr = 1 + (r >> 24) % 20;

	switch (r % 60) {
	case 0:
		other(b, tid, RAW_RENAME, SYS_OTHER, tid, RAW_ABSENT, "new");
		break;
	case 1:
		other(b, tid, RAW_EXIT, SYS_OTHER, tid, 0, "new");
		break;
	case 2:
		other(b, tid, RAW_SYS_ENTER, SYS_EXECVE, 0, 0, "new");
		break;
	case 3:
		other(b, tid, RAW_EXIT_MMAP, SYS_OTHER, 0, 0, "new");
		break;
	case 4:
		other(b, tid, RAW_EXEC, SYS_OTHER, tid, tid, "new");
		break;
	case 5:
		other(b, 100, RAW_FORK, SYS_OTHER, 100, tid, "new");
		break;
	}
	for (; nr; nr--)
		fault(b, tid, cpu, r >> 32 & 7 ? PFS_USER : PFS_KERNEL, r >> 40 & 15 ? 4 + (r >> 48 & 2) : RAW_ABSENT);
}

static void test_runs(void **state)
{
	uint64_t seed = 1;

	for (int round = 0; round < 20; round++) {
		struct both b;

		both_init(&b);
		/* a thread that has been seen, but not been named yet */
		other(&b, 103, RAW_PFS_NOTE, SYS_OTHER, RAW_ABSENT, RAW_ABSENT, "a=b");
		fault(&b, 103, 1, PFS_USER, 6);
		for (int i = 0; i < 200; i++) {
			random_step(&b, random_u64(&seed));
		}
		flush(&b);
		assert_int_equal(pfs_assembler_stats(b.one.a)->raw, pfs_assembler_stats(b.many.a)->raw);
		assert_true(b.nr_passed > 200 * 2);
		both_fini(&b);
	}
}

/* Where only one process is wanted, the processor is unknown, or handlers are watched, all are events. */
static void test_never_plain(void **state)
{
	static const char *const notes[] = { "only=100", "machine=vax", "probes=yes" };

	for (unsigned int i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		struct both b;

		both_init(&b);
		for (int k = 0; k < 4; k++)
			fault(&b, 100 + k % 2 * 6, 1, PFS_USER, 6);
		b.nr_passed = 0;
		other(&b, 100, RAW_PFS_NOTE, SYS_OTHER, RAW_ABSENT, RAW_ABSENT, notes[i]);
		for (int k = 0; k < 40; k++)
			fault(&b, 100 + k / 10 % 2 * 6, 1, PFS_USER, 6);
		flush(&b);
		assert_int_equal(b.nr_passed, 0);
		both_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_never_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
