/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages that a huge page may have mapped beside a fault: what makes the doubt, and what settles it. */
#include "support/feed.h"

#include "model/presence.h"
#include <stdio.h>
#include "support/page_at.h"

#define HUGE ((uint64_t)2 << 20)

enum { PID = 1, ABSENT = 4, PROTECTION = 5, START = 0x40000000, INO = 7 };

static struct feed feed_huge_pages(const char *setting)
{
	struct feed f = feed_new(PID);

	pfs_model_track_presence(f.model);
	feed_note(&f, "machine", "x86_64", false);
	feed_note(&f, "huge_pages", setting, false);
	return f;
}

static void fault(struct feed *f, int page, int access, int code)
{
	struct pfs_event ev = feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(MODE) | (code ? HAS(CODE) : 0));

	ev.addr = START + (uint64_t)page * PAGE;
	ev.access = access;
	ev.mode = PFS_USER;
	ev.code = code;
	feed_apply(f, &ev);
}

/* 2 regions of that kind, of 2 MiB, in one. */
static void map_anon(struct feed *f, int traits)
{
	struct pfs_event ev = feed_event(f, PFS_PROTECT, HAS(START) | HAS(END) | HAS(TRAITS));

	feed_map(f, START, START + 2 * HUGE, RW, "");
	ev.start = START;
	ev.end = START + 2 * HUGE;
	ev.traits = traits;
	if (traits)
		feed_apply(f, &ev);
}

static void map_file(struct feed *f, int perms, uint32_t dev, uint64_t off)
{
	feed_maps_line(f, START, START + 2 * HUGE, perms, off, dev, INO, "/file");
}

/* How many pages have exactly these flags, and how many have that presence. */
static void expect(const struct feed *f, uint32_t flags, unsigned int wanted, uint32_t presence, unsigned int present)
{
	const struct pfs_space *space = pfs_proc_space(pfs_model_proc(f->model, PID));
	unsigned int nr = 0, nr_present = 0;

	for (uint64_t addr = START; addr < START + 2 * HUGE; addr += PAGE) {
		const struct pfs_page *page = page_at(space->pages, addr);

		nr += page && page->flags == flags;
		nr_present += presence_at(space, addr) == presence;
	}
	assert_int_equal(nr, wanted);
	assert_int_equal(nr_present, present);
}

static void maybe(const struct feed *f, unsigned int nr)
{
	expect(f, PFS_PAGE_MAYBE, nr, PFS_MAYBE_HUGE, nr);
}

static void test_settings(void **state)
{
	static const struct {
		const char *setting;
		int traits, access, maybe;
	} cases[] = {
		{ "anon=always any=always zero=1", 0, PFS_READ, 511 },
		{ "anon=always any=always zero=1", 0, PFS_WRITE, 0 },
		{ "anon=always any=always zero=1", PFS_TRAIT_NO_THP, PFS_READ, 0 },
		{ "anon=always any=always zero=0", 0, PFS_READ, 0 },
		{ "anon=madvise any=madvise zero=1", PFS_TRAIT_THP, PFS_EXECUTE, 511 },
		{ "anon=madvise any=madvise zero=1", 0, PFS_READ, 0 },
		{ "anon=never any=always zero=1", PFS_TRAIT_THP, PFS_READ, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f = feed_huge_pages(cases[i].setting);

		map_anon(&f, cases[i].traits);
		fault(&f, 5, cases[i].access, ABSENT);
		maybe(&f, cases[i].maybe);
		feed_free(&f);
	}
}

/* The newer of the two holds. */
static void test_advice_is_taken_back(void **state)
{
	struct feed f = feed_huge_pages("anon=madvise any=madvise zero=1");

	map_anon(&f, PFS_TRAIT_NO_THP);
	map_anon(&f, PFS_TRAIT_THP);
	fault(&f, 5, PFS_READ, ABSENT);
	maybe(&f, 511);
	feed_free(&f);
}

/* A page of its own is no huge zero page; the kernel reports the allocation of a huge one. */
static void test_without_zero_page(void **state)
{
	struct feed f = feed_huge_pages("anon=always any=always zero=1");
	struct pfs_event ev;

	feed_note(&f, "zero_page", "no", false);
	map_anon(&f, 0);
	fault(&f, 5, PFS_READ, ABSENT);
	maybe(&f, 0);
	fault(&f, 600, PFS_READ, ABSENT);
	ev = feed_event(&f, PFS_HUGE, HAS(ORDER));
	ev.order = 9;
	feed_apply(&f, &ev);
	expect(&f, PFS_PAGE_HUGE, 511, PFS_PRESENT, 513);
	feed_free(&f);
}

static void test_later_faults_settle(void **state)
{
	struct feed f = feed_huge_pages("anon=always any=always zero=1");

	map_anon(&f, 0);
	fault(&f, 5, PFS_READ, ABSENT);
	fault(&f, 600, PFS_READ, ABSENT);
	maybe(&f, 1022);
	fault(&f, 6, PFS_READ, 0); /* whatever that was */
	maybe(&f, 1021);
	fault(&f, 7, PFS_WRITE, ABSENT | 2);
	maybe(&f, 511);
	fault(&f, 8, PFS_READ, ABSENT); /* there are page tables now */
	maybe(&f, 511);
	fault(&f, 601, PFS_WRITE, PROTECTION | 2);
	maybe(&f, 0);
	expect(&f, PFS_PAGE_HUGE | PFS_PAGE_MAYBE, 510, PFS_PRESENT, 512 + 4);
	feed_free(&f);
}

static void test_files(void **state)
{
	static const struct {
		const char *shmem;
		int perms, dev, off, access, maybe;
	} cases[] = {
		{ "", R, 0xfe00000, 0, PFS_READ, 511 },
		{ "", R, 0xfe00000, PAGE, PFS_READ, 0 },
		{ "", RW, 0xfe00000, 0, PFS_WRITE, 0 },
		{ "", RW | S, 0xfe00000, 0, PFS_WRITE, 511 },
		{ " shmem=0:1=never 0:1a=always", RW | S, 0x1, 0, PFS_WRITE, 0 },
		{ " shmem=0:1=never 0:1a=always", RW | S, 0x1a, 0, PFS_WRITE, 511 },
		{ " shmem=0:1=never 0:1a=always", RW | S, 0x1a, PAGE, PFS_WRITE, 510 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char setting[128];
		struct feed f;

		snprintf(setting, sizeof(setting), "anon=never any=never zero=1%s", cases[i].shmem);
		f = feed_huge_pages(setting);
		map_file(&f, cases[i].perms, cases[i].dev, cases[i].off);
		fault(&f, 5, cases[i].access, ABSENT);
		maybe(&f, cases[i].maybe);
		feed_free(&f);
	}
}

static void test_around_and_major_settle(void **state)
{
	struct feed f = feed_huge_pages("anon=never any=never zero=1");

	map_file(&f, R, 1, 0);
	fault(&f, 5, PFS_READ, ABSENT);
	feed_around(&f, 1, INO, 0, 16 * PAGE);
	maybe(&f, 0);
	expect(&f, PFS_PAGE_MAYBE_AROUND, 15, PFS_MAYBE_AROUND, 15);
	fault(&f, 600, PFS_READ, ABSENT);
	maybe(&f, 511);
	feed_major(&f, 1, INO, (uint64_t)600 * PAGE);
	maybe(&f, 0);
	feed_free(&f);
}

/* Only what the fault allocated is its own; a copy of a private page is small. */
static void test_allocations(void **state)
{
	static const struct {
		int file, perms, access, order, huge;
	} cases[] = {
		{ 0, RW, PFS_WRITE, 9, 511 },	{ 0, RW, PFS_WRITE, 4, 15 }, { 0, RW, PFS_READ, 9, 0 },
		{ 1, RW, PFS_READ, 9, 511 },	{ 1, RW, PFS_WRITE, 9, 0 },  { 1, RW | S, PFS_WRITE, 9, 511 },
		{ 1, RW | S, PFS_WRITE, 4, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f = feed_huge_pages("anon=always any=always zero=1 shmem=0:1=always");
		const struct pfs_space *space;
		unsigned int huge = 0;

		if (cases[i].file)
			map_file(&f, cases[i].perms, 1, 0);
		else
			map_anon(&f, 0);
		fault(&f, 5, cases[i].access, ABSENT);
		feed_huge(&f, cases[i].order);
		feed_huge(&f, 9); /* of a write(2) later */
		space = pfs_proc_space(pfs_model_proc(f.model, PID));
		for (int page = 0; page < 1024; page++) {
			const struct pfs_page *at = page_at(space->pages, START + (uint64_t)page * PAGE);

			huge += page != 5 && at && at->flags & PFS_PAGE_HUGE;
		}
		if (cases[i].order == 9 || !cases[i].file)
			assert_int_equal(huge, cases[i].huge);
		feed_free(&f);
	}
}

/* A private mapping's huge page is taken away as a whole when one of its pages is copied. */
static void test_split(void **state)
{
	struct feed f = feed_huge_pages("anon=never any=never zero=1 shmem=0:1=always");

	map_file(&f, RW, 1, 0);
	fault(&f, 5, PFS_READ, ABSENT);
	feed_huge(&f, 9);
	expect(&f, PFS_PAGE_MAYBE, 0, PFS_PRESENT, 512);
	fault(&f, 7, PFS_WRITE, PROTECTION | 2);
	expect(&f, PFS_PAGE_MAYBE, 0, PFS_MAYBE_HUGE, 511);
	feed_free(&f);
}

static void test_nothing_without_the_note(void **state)
{
	struct feed f = feed_new(PID);

	map_anon(&f, PFS_TRAIT_THP);
	fault(&f, 5, PFS_READ, ABSENT);
	expect(&f, PFS_PAGE_MAYBE, 0, 0, 1024);
	feed_free(&f);
}

/* Without its event, fault-around may have mapped any of 16 pages. */
static void test_around_is_not_reported(void **state)
{
	static const struct {
		const char *lacks;
		int access;
		unsigned int maybe;
	} cases[] = {
		{ "filemap:mm_filemap_map_pages (pages mapped by fault-around)", PFS_READ, 15 },
		{ "filemap_map_pages (pages mapped by fault-around)", PFS_READ, 15 },
		{ "filemap:mm_filemap_map_pages", PFS_EXECUTE, 15 },
		{ "filemap:mm_filemap_map_pages", PFS_WRITE, 0 },
		{ "signal:signal_generate", PFS_READ, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f = feed_new(PID);

		pfs_model_track_presence(f.model);
		feed_note(&f, "machine", "x86_64", false);
		feed_note(&f, "lacks", cases[i].lacks, false);
		map_file(&f, R, 1, 0);
		fault(&f, 5, cases[i].access, ABSENT);
		expect(&f, 0, 0, PFS_MAYBE_AROUND, cases[i].maybe);
		feed_free(&f);
	}
}

/* A fault that shows that no huge page was mapped has pages mapped around it, too. */
static void test_around_what_settles(void **state)
{
	struct feed f = feed_huge_pages("anon=always any=always zero=1");

	feed_note(&f, "lacks", "filemap:mm_filemap_map_pages (pages mapped by fault-around)", false);
	map_file(&f, RX, 1, 0);
	fault(&f, 0, PFS_EXECUTE, ABSENT | 16);
	expect(&f, PFS_PAGE_MAYBE, 511, PFS_MAYBE_AROUND, 15);
	fault(&f, 16, PFS_EXECUTE, ABSENT | 16);
	expect(&f, PFS_PAGE_MAYBE, 0, PFS_MAYBE_AROUND, 30);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_advice_is_taken_back),
		cmocka_unit_test(test_without_zero_page),
		cmocka_unit_test(test_later_faults_settle),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_around_and_major_settle),
		cmocka_unit_test(test_allocations),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_nothing_without_the_note),
		cmocka_unit_test(test_around_is_not_reported),
		cmocka_unit_test(test_around_what_settles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
