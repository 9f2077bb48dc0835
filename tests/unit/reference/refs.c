/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References: what is one, of which page of what, and that neither depends on where things happen to be mapped.
 */
#include "support/feed.h"
#include "reference/refs.h"

#include <errno.h>
#include <stdio.h>

#define LIBC 0xfe00000, 77, "/lib/libc.so"

struct string {
	char text[4096];
	size_t len;
	struct pfs_refs *refs;
	struct feed f;
};

/* "1.1 anon#1+2 w frame 0": process.thread, page, access, frame; "again" and "sampled" where it is so. */
static int write_ref(void *ctx, const struct pfs_ref *ref)
{
	static const char access[] = "-rwx";
	struct string *s = ctx;
	char name[PFS_OBJECT_TEXT_MAX];

	s->len += snprintf(s->text + s->len, sizeof(s->text) - s->len, "%u.%u %s%+d %c f%u%s%s\n", ref->process,
			   ref->thread, pfs_object_text(ref->object, name, sizeof(name)), (int)ref->page,
			   access[ref->access], ref->frame, ref->again ? " again" : "", ref->sampled ? " sampled" : "");
	assert_int_equal(ref->addr % PAGE, 0);
	return 0;
}

static void begin(struct string *s, const struct pfs_refs_options *options)
{
	s->len = 0;
	s->text[0] = '\0';
	s->f = feed_new(10);
	s->refs = pfs_refs_new(s->f.model, options, write_ref, s);
	assert_non_null(s->refs);
	s->f.behind = pfs_refs_observer(s->refs);
	feed_note(&s->f, "snapshot", "first", true);
}

static void end(struct string *s, const char *wanted)
{
	assert_int_equal(pfs_refs_end(s->refs), 0);
	assert_string_equal(s->text, wanted);
	pfs_refs_free(s->refs);
	feed_free(&s->f);
}

static const struct pfs_refs_options all;

static void test_objects(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_brk(&s.f, 0x600000, 0x610000);
	feed_map(&s.f, 0x600000, 0x610000, RW, "[heap]");
	feed_map(&s.f, 0x700000, 0x710000, RW, "");
	feed_map(&s.f, 0x7ff000, 0x800000, R, "[vdso]");
	feed_map(&s.f, 0x900000, 0x910000, RW, "[stack]");
	feed_maps_line(&s.f, 0x400000, 0x410000, R, 0x3000, LIBC);
	feed_fault(&s.f, 0x600123, PFS_WRITE);
	feed_fault(&s.f, 0x602000, PFS_WRITE);
	feed_fault(&s.f, 0x703fff, PFS_READ);
	feed_fault(&s.f, 0x7ff000, PFS_READ);
	feed_fault(&s.f, 0x90f000, PFS_WRITE);
	feed_fault(&s.f, 0x401000, PFS_EXECUTE);
	feed_fault(&s.f, 0x600123, PFS_READ);
	end(&s, "1.1 [heap]+0 w f0\n"
		"1.1 [heap]+2 w f1\n"
		"1.1 anon#1+3 r f2\n"
		"1.1 [vdso]+0 r f3\n"
		"1.1 [stack]-1 w f4\n"
		"1.1 /lib/libc.so+4 x f5\n"
		"1.1 [heap]+0 r f0 again\n");
}

/* Whatever the kernel makes of neighbours, what was mapped apart stays apart, in the order of first touches. */
static void test_mappings_that_merge(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	feed_map(&s.f, 0x6fc000, 0x704000, RW, ""); /* one more below it: one region now */
	feed_fault(&s.f, 0x6fd000, PFS_WRITE);
	feed_fault(&s.f, 0x702000, PFS_WRITE);
	end(&s, "1.1 anon#1+1 w f0\n"
		"1.1 anon#2+1 w f1\n"
		"1.1 anon#1+2 w f2\n");
}

/* As the region tree and the side-band tell two mmaps of which the kernel makes one region before any touch. */
static void feed_mmap(struct feed *f, uint64_t start, uint64_t end, uint64_t id)
{
	feed_row(f, start, end, id);
	feed_map(f, start, end, RW, "");
}

static void test_mappings_that_merge_untouched(void **state)
{
	const uint64_t gaps[] = { 0, PAGE };

	for (int i = 0; i < 2; i++) {
		uint64_t below = 0x6fc000 - gaps[i];
		struct string s;

		begin(&s, &all);
		feed_mmap(&s.f, 0x700000, 0x704000, 1);
		feed_mmap(&s.f, below, gaps[i] ? below + 0x4000 : 0x704000, i + 1);
		feed_protect(&s.f, below + 0x2000, below + 0x3000, R);
		feed_fault(&s.f, below, PFS_WRITE);
		feed_fault(&s.f, 0x700000, PFS_WRITE);
		feed_fault(&s.f, 0x701000, PFS_WRITE);
		feed_fault(&s.f, below + 0x3000, PFS_WRITE);
		end(&s, "1.1 anon#1+0 w f0\n"
			"1.1 anon#2+0 w f1\n"
			"1.1 anon#2+1 w f2\n"
			"1.1 anon#1+3 w f3\n");
	}
}

/* A child has the mappings of its parent, and what an exec mapped stays apart from what is mapped beside it. */
static void test_mappings_of_a_child(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_mmap(&s.f, 0x700000, 0x704000, 1);
	feed_mmap(&s.f, 0x6fc000, 0x704000, 1);
	feed_fork(&s.f, 20, false);
	feed_as(&s.f, 20, 20);
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	feed_fault(&s.f, 0x6fd000, PFS_WRITE);
	s.f.space = PFS_SPACE_EXEC;
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_exec(&s.f, "/bin/x", "x");
	feed_map(&s.f, 0x6fc000, 0x704000, RW, "");
	feed_fault(&s.f, 0x6fd000, PFS_WRITE);
	feed_fault(&s.f, 0x703000, PFS_WRITE);
	end(&s, "1.1 anon#1+1 w f0\n"
		"1.1 anon#2+1 w f1\n"
		"1.1 anon#1+1 w f2\n"
		"1.1 anon#2+3 w f3\n");
}

/* What is mapped into a hole of another one is another one, also if all is one region again. */
static void test_mapping_in_a_hole(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_mmap(&s.f, 0x700000, 0x708000, 1);
	feed_fault(&s.f, 0x702000, PFS_WRITE);
	feed_unmap(&s.f, 0x702000, 0x704000);
	feed_mmap(&s.f, 0x700000, 0x708000, 1);
	feed_fault(&s.f, 0x702000, PFS_WRITE);
	feed_fault(&s.f, 0x704000, PFS_WRITE);
	feed_map(&s.f, 0x710000, 0x720000, RW, ""); /* its beginning goes before it is touched */
	feed_unmap(&s.f, 0x710000, 0x718000);
	feed_fault(&s.f, 0x719000, PFS_WRITE);
	end(&s, "1.1 anon#1+2 w f0\n"
		"1.1 anon#2+0 w f1\n"
		"1.1 anon#1+4 w f2\n"
		"1.1 anon#3+1 w f3\n");
}

/* The fault comes first, and is told once the stack has grown; what it does not reach was outside. */
static void test_stack_that_grows(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x710000, RW, "");
	feed_map(&s.f, 0x90f000, 0x910000, RW, "[stack]");
	feed_fault(&s.f, 0x90e010, PFS_WRITE);
	assert_int_equal(pfs_refs_stats(s.refs)->outside, 1);
	assert_string_equal(s.text, "");
	feed_map(&s.f, 0x90d000, 0x910000, RW, "[stack]");
	assert_int_equal(pfs_refs_stats(s.refs)->outside, 0);
	feed_map(&s.f, 0x90c000, 0x910000, RW, "[stack]"); /* by nothing that faulted */
	feed_fault(&s.f, 0x908000, PFS_WRITE);		   /* not reached by that: */
	feed_map(&s.f, 0x90b000, 0x910000, RW, "[stack]");
	feed_fault(&s.f, 0x90a000, PFS_WRITE); /* the end of it: something else comes first */
	feed_fault(&s.f, 0x700000, PFS_READ);
	feed_map(&s.f, 0x90a000, 0x910000, RW, "[stack]");
	feed_fault(&s.f, 0x600000, PFS_WRITE); /* below, but not just below the stack */
	feed_map(&s.f, 0x600000, 0x601000, RW, "");
	assert_int_equal(pfs_refs_stats(s.refs)->outside, 3);
	end(&s, "1.1 [stack]-2 w f0\n"
		"1.1 anon#1+0 r f1\n");
}

static void test_mapped_anew(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	feed_unmap(&s.f, 0x700000, 0x704000);
	feed_map(&s.f, 0x700000, 0x702000, RW, "");
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	end(&s, "1.1 anon#1+1 w f0\n"
		"1.1 anon#2+1 w f1\n");
}

static void test_moved(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	feed_move(&s.f, 0x700000, 0x4000, 0x800000, 0x808000);
	feed_fault(&s.f, 0x801000, PFS_READ);
	feed_fault(&s.f, 0x805000, PFS_WRITE); /* it grew there */
	feed_fault(&s.f, 0x701000, PFS_WRITE); /* MREMAP_DONTUNMAP: fresh memory */
	feed_unmap(&s.f, 0x700000, 0x704000);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	end(&s, "1.1 anon#1+1 w f0\n"
		"1.1 anon#1+1 r f0 again\n"
		"1.1 anon#1+5 w f1\n"
		"1.1 anon#2+1 w f2\n"
		"1.1 anon#3+1 w f3\n");
}

/* A file's page is one for all, until somebody's private copy of it is written. */
static void test_files(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_maps_line(&s.f, 0x400000, 0x410000, RW, 0, LIBC);
	feed_maps_line(&s.f, 0x500000, 0x510000, RW | S, 0, LIBC);
	feed_maps_line(&s.f, 0x510000, 0x520000, R, 0, 0xfe00000, 78, "/lib/libc.so");
	feed_fault(&s.f, 0x403000, PFS_READ);
	feed_fault(&s.f, 0x503000, PFS_WRITE);
	feed_fault(&s.f, 0x403000, PFS_WRITE);
	feed_fault(&s.f, 0x403000, PFS_READ);
	feed_fault(&s.f, 0x404000, PFS_READ);
	feed_fault(&s.f, 0x510000, PFS_READ);
	end(&s, "1.1 /lib/libc.so+3 r f0\n"
		"1.1 /lib/libc.so+3 w f0 again\n"
		"1.1 /lib/libc.so+3 w f1\n"
		"1.1 /lib/libc.so+3 r f1 again\n"
		"1.1 /lib/libc.so+4 r f2\n"
		"1.1 /lib/libc.so#2+0 r f3\n");
}

static void test_processes_and_threads(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_maps_line(&s.f, 0x400000, 0x410000, R, 0, LIBC);
	feed_thread(&s.f, 12);
	feed_thread(&s.f, 11);
	s.f.tid = 11;
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	s.f.tid = 12;
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	s.f.tid = 10;
	feed_fork(&s.f, 20, false);
	s.f.pid = s.f.tid = 20;
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	feed_fault(&s.f, 0x400000, PFS_READ);
	s.f.pid = s.f.tid = 10;
	feed_fault(&s.f, 0x400000, PFS_READ);
	assert_int_equal(pfs_refs_end(s.refs), 0);
	assert_int_equal(pfs_refs_stats(s.refs)->processes, 2);
	assert_int_equal(pfs_refs_stats(s.refs)->images, 2);
	assert_int_equal(pfs_refs_stats(s.refs)->frames, 3);
	end(&s, "1.3 anon#1+0 w f0\n"
		"1.2 anon#1+0 w f0 again\n"
		"2.1 anon#1+0 w f1\n"
		"2.1 /lib/libc.so+0 r f2\n"
		"1.1 /lib/libc.so+0 r f2 again\n");
}

/* ---- what is no reference ---- */

static void test_not_served(void **state)
{
	const struct pfs_refs_stats *stats;
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x701000, R, "");
	feed_map(&s.f, 0x710000, 0x713000, RW, "");
	feed_fault(&s.f, 0x800000, PFS_WRITE);
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	feed_fault_mode(&s.f, 0x700000, PFS_WRITE, PFS_KERNEL);
	feed_fault_mode(&s.f, 0x710000, PFS_WRITE, PFS_KERNEL);
	feed_fault_mode(&s.f, 0x710000, PFS_WRITE, PFS_KERNEL);
	feed_populate(&s.f, 0x710000, 0x713000);
	assert_int_equal(pfs_refs_end(s.refs), 0);
	stats = pfs_refs_stats(s.refs);
	assert_int_equal(stats->outside, 1);
	assert_int_equal(stats->refused, 2);
	assert_int_equal(stats->tried_again, 1);
	assert_int_equal(stats->refs, 1);
	assert_int_equal(stats->unasked, 2);
	end(&s, "1.1 anon#1+0 w f0\n");
}

/* The last fault of a thread may end in a signal: it and all that come after it wait until the thread goes on. */
static void test_signals(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x710000, RW, "");
	feed_maps_line(&s.f, 0x400000, 0x410000, RW | S, 0, LIBC);
	feed_thread(&s.f, 11);
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	feed_fault(&s.f, 0x405000, PFS_WRITE); /* beyond the file's end */
	feed_as(&s.f, 10, 11);
	feed_fault(&s.f, 0x401000, PFS_WRITE);
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	assert_string_equal(s.text, "1.1 anon#1+0 w f0\n");
	feed_as(&s.f, 10, 10);
	feed_major(&s.f, 0xfe00000, 77, 0x5000);
	assert_string_equal(s.text, "1.1 anon#1+0 w f0\n");
	feed_signal(&s.f, 7);
	assert_string_equal(s.text, "1.1 anon#1+0 w f0\n1.2 /lib/libc.so+1 w f1\n");
	feed_fault(&s.f, 0x702000, PFS_EXECUTE); /* served, and then forbidden: */
	feed_fault(&s.f, 0x702000, PFS_EXECUTE);
	feed_signal(&s.f, 11);
	feed_signal(&s.f, 11); /* another one, of no fault */
	feed_exit(&s.f, false);
	feed_as(&s.f, 10, 11);
	feed_populate(&s.f, 0x70a000, 0x70b000); /* the last fault is over */
	feed_signal(&s.f, 11);
	assert_int_equal(pfs_refs_stats(s.refs)->refused, 2);
	assert_int_equal(s.f.model->counts.signal, 2);
	end(&s, "1.1 anon#1+0 w f0\n"
		"1.2 /lib/libc.so+1 w f1\n"
		"1.2 anon#1+1 w f2\n"
		"1.1 anon#1+2 x f3\n");
}

/* Where it was is asked when it happens: what is mapped there by the time it is told is another thing. */
static void test_told_late(void **state)
{
	struct string s;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_thread(&s.f, 11);
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	feed_as(&s.f, 10, 11);
	feed_unmap(&s.f, 0x700000, 0x704000);
	feed_maps_line(&s.f, 0x700000, 0x710000, R, 0, LIBC);
	feed_fault(&s.f, 0x701000, PFS_READ);
	assert_string_equal(s.text, "");
	end(&s, "1.1 anon#1+0 w f0\n"
		"1.2 /lib/libc.so+1 r f1\n");
}

/* A thread that never goes on holds others up for so long only. */
static void test_sleeper(void **state)
{
	static const struct pfs_refs_options first = { .first_only = true };
	struct string s;

	begin(&s, &first);
	feed_map(&s.f, 0x700000, 0x704000, RW, "");
	feed_thread(&s.f, 11);
	feed_fault(&s.f, 0x700000, PFS_WRITE);
	feed_as(&s.f, 10, 11);
	for (int i = 0; i < 65535; i++)
		feed_fault(&s.f, 0x701000, PFS_WRITE);
	assert_string_equal(s.text, "");
	feed_fault(&s.f, 0x701000, PFS_WRITE);
	assert_string_equal(s.text, "1.1 anon#1+0 w f0\n1.2 anon#1+1 w f1\n");
	feed_as(&s.f, 10, 10);
	feed_signal(&s.f, 11); /* too late */
	assert_int_equal(pfs_refs_stats(s.refs)->refused, 0);
	end(&s, "1.1 anon#1+0 w f0\n1.2 anon#1+1 w f1\n");
}

static void feed_counted(struct feed *f, uint64_t addr, uint64_t count)
{
	struct pfs_event ev = feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(COUNT) | HAS(INTERVAL));

	ev.addr = addr;
	ev.count = count;
	ev.interval_ns = 1000000;
	feed_apply(f, &ev);
}

/* What the kernel mapped by itself and what was only counted, of the regions that are asked for. */
static void test_unseen(void **state)
{
	static const struct {
		const char *regions;
		uint64_t unasked, huge, counted, left_out;
	} cases[] = {
		{ "*", 2 + 3 + 511, 511, 12, 0 },
		{ "anon", 3 + 511, 511, 5, 1 + 7 },
		{ "file:libc*", 2, 0, 7, 2 + 5 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pfs_filter filter = { 0 };
		struct pfs_refs_options options = { .filter = &filter };
		const struct pfs_refs_stats *stats;
		struct pfs_err err;
		struct string s;

		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, cases[i].regions, &err), 0);
		begin(&s, &options);
		feed_map(&s.f, 0x800000, 0xc00000, RW, "");
		feed_maps_line(&s.f, 0x400000, 0x410000, R, 0, LIBC);
		feed_fault(&s.f, 0x401000, PFS_READ);
		feed_around(&s.f, 0xfe00000, 77, 0, 3 * PAGE);
		feed_fault(&s.f, 0x805000, PFS_WRITE);
		feed_huge(&s.f, 9);
		feed_fault(&s.f, 0xa00000, PFS_WRITE);
		feed_populate(&s.f, 0xa00000, 0xa04000);
		feed_unmap(&s.f, 0xa00000, 0xc00000);
		feed_counted(&s.f, 0x805000, 5);
		feed_counted(&s.f, 0x402000, 7);
		assert_int_equal(pfs_refs_end(s.refs), 0);
		stats = pfs_refs_stats(s.refs);
		assert_int_equal(stats->unasked, cases[i].unasked);
		assert_int_equal(stats->unasked_huge, cases[i].huge);
		assert_int_equal(stats->counted, cases[i].counted);
		assert_int_equal(stats->left_out, cases[i].left_out);
		pfs_refs_free(s.refs);
		feed_free(&s.f);
		pfs_filter_fini(&filter);
	}
}

static void test_sampled(void **state)
{
	struct string s;
	struct pfs_event ev;

	begin(&s, &all);
	feed_map(&s.f, 0x700000, 0x710000, RW, "");
	ev = feed_event(&s.f, PFS_ACCESS, HAS(ADDR) | HAS(INTERVAL));
	ev.addr = 0x705000;
	ev.interval_ns = 1000000;
	feed_apply(&s.f, &ev);
	ev.have &= ~HAS(INTERVAL); /* nobody knows since when: sampled all the same */
	ev.interval_ns = 0;
	feed_apply(&s.f, &ev);
	assert_int_equal(pfs_refs_end(s.refs), 0);
	assert_int_equal(pfs_refs_stats(s.refs)->sampled, 2);
	end(&s, "1.1 anon#1+5 - f0 sampled\n"
		"1.1 anon#1+5 - f0 again sampled\n");
}

/* ---- options ---- */

static void feed_code_and_data(struct string *s)
{
	feed_map(&s->f, 0x700000, 0x710000, RW, "");
	feed_brk(&s->f, 0x600000, 0x610000);
	feed_map(&s->f, 0x600000, 0x610000, RW, "[heap]");
	feed_maps_line(&s->f, 0x400000, 0x410000, RX, 0, LIBC);
	feed_maps_line(&s->f, 0x410000, 0x420000, R, 0x10000, LIBC);
	feed_map(&s->f, 0x900000, 0x910000, RW, "[stack]");
	feed_fault(&s->f, 0x400000, PFS_EXECUTE);
	feed_fault(&s->f, 0x401000, PFS_READ);
	feed_fault(&s->f, 0x410000, PFS_READ);
	feed_fault(&s->f, 0x700000, PFS_WRITE);
	feed_fault(&s->f, 0x600000, PFS_WRITE);
	feed_fault(&s->f, 0x600000, PFS_WRITE);
	feed_fault(&s->f, 0x90f000, PFS_WRITE);
}

static void test_no_code(void **state)
{
	static const struct pfs_refs_options options = { .no_code = true, .first_only = true };
	struct string s;

	begin(&s, &options);
	feed_code_and_data(&s);
	assert_int_equal(pfs_refs_stats(s.refs)->left_out, 3);
	end(&s, "1.1 /lib/libc.so+16 r f0\n"
		"1.1 anon#1+0 w f1\n"
		"1.1 [heap]+0 w f2\n"
		"1.1 [stack]-1 w f3\n");
}

static void test_regions(void **state)
{
	static const struct {
		const char *regions, *wanted;
	} cases[] = {
		{ "heap,anon", "1.1 anon#1+0 w f0\n1.1 [heap]+0 w f1\n1.1 [heap]+0 w f1 again\n" },
		{ "stack", "1.1 [stack]-1 w f0\n" },
		{ "file:libc*,stack", "1.1 /lib/libc.so+0 x f0\n1.1 /lib/libc.so+1 r f1\n"
				      "1.1 /lib/libc.so+16 r f2\n1.1 [stack]-1 w f3\n" },
		{ "file:/lib/*", "1.1 /lib/libc.so+0 x f0\n1.1 /lib/libc.so+1 r f1\n1.1 /lib/libc.so+16 r f2\n" },
		{ "file:heap", "" },
		{ "[[]st*", "1.1 [stack]-1 w f0\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pfs_filter filter = { 0 };
		struct pfs_refs_options options = { .filter = &filter };
		struct pfs_err err;
		struct string s;

		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, cases[i].regions, &err), 0);
		begin(&s, &options);
		feed_code_and_data(&s);
		end(&s, cases[i].wanted);
		pfs_filter_fini(&filter);
	}
}

/* A list in which a word is mistyped is no glob that fits nothing; a name with a comma is one. */
static void test_region_lists(void **state)
{
	static const struct {
		const char *regions;
		int ret;
	} cases[] = {
		{ "heap,anno", -EINVAL },
		{ "anno,heap", -EINVAL },
		{ "heap,", -EINVAL },
		{ ",heap", -EINVAL },
		{ "file:libc*,stak", -EINVAL },
		{ "heap,,anon", -EINVAL },
		{ "anno", 0 },
		{ "a, b.so", 0 },
		{ ",", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pfs_filter filter = { 0 };
		struct pfs_err err = { "" };

		assert_int_equal(pfs_filter_add(&filter, PFS_FILTER_REGION, cases[i].regions, &err), cases[i].ret);
		assert_int_equal(!cases[i].ret, !err.msg[0]);
		assert_int_equal(filter.nr_files, 0);
		assert_int_equal(filter.nr_regions, !cases[i].ret);
		pfs_filter_fini(&filter);
	}
}

static int stop(void *ctx, const struct pfs_ref *ref)
{
	return -ECANCELED;
}

static void test_stopped(void **state)
{
	struct feed f = feed_new(1);
	struct pfs_refs *refs = pfs_refs_new(f.model, &all, stop, NULL);
	struct pfs_observer behind = pfs_refs_observer(refs);
	struct pfs_event ev;

	feed_note(&f, "snapshot", "first", true);
	feed_map(&f, 0x700000, 0x710000, RW, "");
	ev = feed_event(&f, PFS_FAULT, HAS(ADDR));
	ev.addr = 0x700000;
	feed_apply(&f, &ev);
	assert_int_equal(behind.event(refs, &ev, &f.outcome), 0);
	assert_int_equal(behind.event(refs, &ev, &f.outcome), -ECANCELED);
	assert_int_equal(pfs_refs_end(refs), -ECANCELED);
	pfs_refs_free(refs);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_mappings_that_merge),
		cmocka_unit_test(test_mappings_that_merge_untouched),
		cmocka_unit_test(test_mappings_of_a_child),
		cmocka_unit_test(test_mapping_in_a_hole),
		cmocka_unit_test(test_stack_that_grows),
		cmocka_unit_test(test_mapped_anew),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_processes_and_threads),
		cmocka_unit_test(test_not_served),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_told_late),
		cmocka_unit_test(test_sleeper),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_region_lists),
		cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
