/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From events to curves: which string each process has, what is said of it, and the sizes that a ladder has.
 */
#include "support/draw.h"
#include "view/mrc.h"

struct run {
	struct feed f;
	struct pfs_refs *refs;
	struct pfs_mrc mrc;
};

static const struct pfs_refs_options all;

static void begin(struct run *r, struct pfs_mrc_options options)
{
	r->f = feed_new(10);
	options.policies = options.policies ? options.policies : UINT32_C(1) << PFS_MRC_LRU;
	pfs_mrc_init(&r->mrc, r->f.model, &options);
	r->refs = pfs_refs_new(r->f.model, &all, pfs_mrc_refer, &r->mrc);
	assert_non_null(r->refs);
	r->f.behind = pfs_refs_observer(r->refs);
	feed_note(&r->f, "snapshot", "first", true);
	feed_map(&r->f, 0x700000, 0x780000, RW, "");
}

static void end(struct run *r)
{
	pfs_refs_free(r->refs);
	pfs_mrc_fini(&r->mrc);
	feed_free(&r->f);
}

static void touch(struct run *r, unsigned int page)
{
	feed_fault(&r->f, 0x700000 + page * PAGE, PFS_READ);
}

static void sample(struct run *r, unsigned int page, uint64_t interval_ns)
{
	struct pfs_event ev = feed_event(&r->f, PFS_ACCESS, HAS(ADDR) | HAS(INTERVAL));

	ev.addr = 0x700000 + page * PAGE;
	ev.interval_ns = interval_ns;
	feed_apply(&r->f, &ev);
}

/* The caller frees the text. */
static struct drawing drawn(struct run *r, enum pfs_view_format format, unsigned int width)
{
	struct pfs_mrc_view view = { &r->mrc, pfs_refs_stats(r->refs), NULL, 0, false };
	struct drawing d = { 0 };
	struct pfs_view_options options = { .out = open_memstream(&d.text, &d.len), .format = format, .width = width };

	assert_int_equal(pfs_refs_end(r->refs), 0);
	d.ret = pfs_mrc_end(&r->mrc, &d.err);
	assert_int_equal(d.ret, 0);
	d.ret = pfs_view_mrc_draw(&view, &options, &d.err);
	fclose(options.out);
	return d;
}

static void assert_part(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not in it: %s\nall of it:\n%s", part, text);
}

static void test_text(void **state)
{
	const uint64_t window = 4000;
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ .policies = UINT32_C(1) << PFS_MRC_LRU | UINT32_C(1) << PFS_MRC_OPT,
					    .windows_ns = &window,
					    .nr_windows = 1,
					    .series = true });
	for (unsigned int i = 0; i < 6; i++)
		touch(&r, i % 3);
	feed_fault(&r.f, 0x10000, PFS_WRITE);
	feed_populate(&r.f, 0x740000, 0x742000);
	d = drawn(&r, PFS_VIEW_TEXT, 100);
	assert_int_equal(d.ret, 0);
	assert_same_text(
		d.text,
		"Seen: 6 references to 3 pages: 3 first touches, 3 repeated; all exact\n"
		"Not seen: accesses to a page between two of its faults; accesses to 2 pages that the kernel mapped,\n"
		"  or may have mapped, by itself, until they fault; misses and ratios are those of the references\n"
		"  seen, not of the program's accesses\n"
		"\n"
		"Misses of the references seen, by memory\n"
		"  policy  pages  memory  misses  repeated  miss ratio\n"
		"  lru         1      4K       6         3    1.000000  ########################\n"
		"  opt         1      4K       6         3    1.000000  ########################\n"
		"  lru         2      8K       6         3    1.000000  ########################\n"
		"  opt         2      8K       4         1    0.666667  ################\n"
		"  lru         3     12K       3         0    0.500000  ############\n"
		"  opt         3     12K       3         0    0.500000  ############\n"
		"\n"
		"Working set: pages of the references seen in a window of time\n"
		"  window  mean pages  memory  max pages  memory\n"
		"    4 us    2.400000      8K          3     12K\n"
		"\n"
		"Working set over time, a window each\n"
		"  window     until  pages  memory\n"
		"    4 us  0.000004      3     12K  ########################\n"
		"    4 us  0.000008      2      8K  ################\n"
		"\n"
		"Faults that are not references: 1 where nothing was mapped\n"
		"no events lost\n");
	free(d.text);
	end(&r);
}

/* Pages that --refault could not take away: the worst moment of each region counts, and only where its regions are. */
static void test_not_observed(void **state)
{
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ .policies = UINT32_C(1) << PFS_MRC_LRU });
	touch(&r, 0);
	touch(&r, 0);
	feed_map(&r.f, 0x7f0000000000, 0x7f0000010000, R, "/shared");
	feed_note(&r.f, "refault_stayed", "pid=10 start=7f0000000000 end=7f0000010000 pages=12 stayed=9", false);
	feed_note(&r.f, "refault_stayed", "pid=10 start=7f0000000000 end=7f0000010000 pages=12 stayed=3", false);
	feed_note(&r.f, "refault_stayed", "pid=10 start=100000 end=200000 pages=12 stayed=3", false);
	feed_note(&r.f, "refault_stayed", "pid=77 start=7f0000000000 end=7f0000010000 pages=12 stayed=10", false);
	d = drawn(&r, PFS_VIEW_TEXT, 100);
	assert_part(d.text, "1 repeated; all exact where observed\n");
	assert_part(d.text, "Not observed: up to 9 of 12 pages in memory (75.0 %)");
	free(d.text);
	d = drawn(&r, PFS_VIEW_CSV, 0);
	assert_part(d.text, ",0.500000,exact where observed\n");
	assert_part(d.text, ",9,12\n");
	free(d.text);
	end(&r);
}

/* What each process references of a page that both have is its own. */
static void test_each_process(void **state)
{
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ .each_process = true });
	feed_maps_line(&r.f, 0x400000, 0x410000, R, 0, 0xfe00000, 77, "/lib/libc.so");
	feed_comm(&r.f, "first");
	feed_fault(&r.f, 0x400000, PFS_READ);
	feed_fault(&r.f, 0x401000, PFS_READ);
	feed_fork(&r.f, 20, false);
	r.f.pid = r.f.tid = 20;
	feed_comm(&r.f, "sec\tond");
	feed_fault(&r.f, 0x401000, PFS_READ);
	feed_fault(&r.f, 0x401000, PFS_READ);
	feed_fault(&r.f, 0x402000, PFS_READ);
	d = drawn(&r, PFS_VIEW_CSV, 0);
	assert_part(d.text, "string,1,10,first,2,2,2,0,2,0,0,0,\"2 references to 2 pages: ");
	assert_part(d.text, "No page was seen referenced a second time");
	assert_part(d.text, "string,2,20,sec\\tond,3,2,2,1,3,0,0,0,\"3 references to 2 pages: ");
	assert_part(d.text, "\nmisses,1,10,first,lru,1,4096,2,2,0,1.000000,exact\n"
			    "misses,2,20,sec\\tond,lru,1,4096,2,2,0,0.666667,exact\n");
	free(d.text);
	d = drawn(&r, PFS_VIEW_TEXT, 80);
	assert_part(d.text, "pid 10 first\nSeen: ");
	assert_part(d.text, "\n\npid 20 sec\\tond\nSeen: ");
	free(d.text);
	end(&r);
}

/* Never mixed in silence. */
static void test_sampled(void **state)
{
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ 0 });
	sample(&r, 1, 5000000);
	sample(&r, 1, 1000);
	d = drawn(&r, PFS_VIEW_CSV, 0);
	assert_part(d.text, "0 exact, 2 sampled: each of these occurred at some time in the 5 ms before");
	assert_part(d.text, ",\"all accesses in a sample's interval but one; misses");
	assert_part(d.text, ",0.500000,sampled\n");
	free(d.text);
	touch(&r, 1);
	d = drawn(&r, PFS_VIEW_JSON, 0);
	assert_part(d.text, "1 exact, 2 sampled");
	assert_part(d.text, "\"accesses to a page between two of its faults; all accesses in a sample's "
			    "interval but one; ");
	assert_part(d.text, "\"references\": \"exact and sampled\"}");
	free(d.text);
	end(&r);
}

static void test_nothing(void **state)
{
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ 0 });
	d = drawn(&r, PFS_VIEW_TEXT, 80);
	assert_int_equal(d.ret, -ENOENT);
	assert_string_equal(d.text, "");
	free(d.text);
	feed_fault(&r.f, 0x10000, PFS_WRITE);
	d = drawn(&r, PFS_VIEW_TEXT, 80);
	assert_int_equal(d.ret, -ENOENT);
	assert_part(d.err.msg, "1 faults were where nothing was mapped");
	free(d.text);
	end(&r);
}

static void test_lost(void **state)
{
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ 0 });
	touch(&r, 1);
	feed_gap(&r.f, 0, 12, 1000);
	d = drawn(&r, PFS_VIEW_TEXT, 80);
	assert_part(d.text, "lost 12 events on CPU 0");
	assert_part(d.text, "(references may be among\n  them)\n");
	free(d.text);
	d = drawn(&r, PFS_VIEW_JSON, 80);
	assert_part(d.text, "\"lost\": 12,");
	free(d.text);
	end(&r);
}

/* Without a layout a page is an address, which is said. */
static void test_unknown_layout(void **state)
{
	struct drawing d;
	struct run r;

	begin(&r, (struct pfs_mrc_options){ 0 });
	r.f.pid = r.f.tid = 20;
	feed_fault(&r.f, 0x10000, PFS_WRITE);
	feed_fault(&r.f, 0x10000, PFS_WRITE);
	d = drawn(&r, PFS_VIEW_CSV, 80);
	assert_part(d.text,
		    "\nstring,,,,2,1,1,1,2,0,0,2,\"2 references to 1 page: 1 first touch, 1 repeated; all exact; 2 "
		    "at unknown layout, where an address counts as one page throughout\",");
	free(d.text);
	end(&r);
}

/* ---- ladders ---- */

static void ladder_of(const uint64_t *misses, uint32_t pages, uint32_t enough, bool all_pages, const char *wanted)
{
	struct pfs_lru_curve curve = { misses[0], pages, enough, (uint64_t *)misses };
	char text[512] = "";
	unsigned int nr;
	uint64_t *sizes;

	assert_int_equal(pfs_mrc_ladder(&curve, all_pages, &sizes, &nr), 0);
	for (unsigned int i = 0; i < nr; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %u", (unsigned int)sizes[i]);
	free(sizes);
	assert_string_equal(text, wanted);
}

static void test_ladder(void **state)
{
	enum { LARGE = 100000 };
	uint64_t *misses = calloc(LARGE + 1, sizeof(*misses)), *sizes;
	struct pfs_lru_curve curve;
	unsigned int nr;

	misses[0] = 7;
	ladder_of(misses, 7, 0, false, " 1");
	ladder_of(misses, 7, 0, true, " 1 7");
	/* a cliff at 100 */
	for (unsigned int i = 0; i <= 1000; i++)
		misses[i] = i < 100 ? 5000 : i < 1000 ? 1001 : 1000;
	ladder_of(misses, 1000, 1000, false, " 1 2 4 8 16 32 64 99 100 128 256 512 1000");
	ladder_of(misses, 1200, 1000, true, " 1 2 4 8 16 32 64 99 100 128 256 512 1000 1200");
	/* a straight line has no knee */
	for (unsigned int i = 0; i <= 64; i++)
		misses[i] = 164 - i;
	ladder_of(misses, 100, 64, false, " 1 2 4 8 16 32 64");
	/* cliffs without end: eight of their edges are enough */
	for (unsigned int i = 0; i <= LARGE; i++)
		misses[i] = LARGE - i / 5000 * 5000;
	curve = (struct pfs_lru_curve){ LARGE, 0, LARGE, misses };
	assert_int_equal(pfs_mrc_ladder(&curve, false, &sizes, &nr), 0);
	assert_int_equal(nr, 17 + 8 + 1);
	for (unsigned int i = 1; i < nr; i++)
		assert_true(sizes[i - 1] < sizes[i]);
	free(sizes);
	free(misses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	       cmocka_unit_test(test_not_observed),
		cmocka_unit_test(test_each_process),   cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_nothing),	       cmocka_unit_test(test_lost),
		cmocka_unit_test(test_unknown_layout), cmocka_unit_test(test_ladder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
