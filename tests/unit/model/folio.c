/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large folios of files, of which a fault maps all pages since 6.18: what is known of them by the page cache. */
#include "support/feed.h"

#include "model/presence.h"

enum { PID = 1, DEV = 0xfe00000, INO = 7, ABSENT = 4, SHOWN = 32, FILE_PAGES = 256, START = 0x40000000 };

static struct feed feed_file(const char *kernel, int perms, int off_pages)
{
	struct feed f = feed_new(PID);

	pfs_model_track_presence(f.model);
	feed_note(&f, "machine", "x86_64", false);
	feed_note(&f, "kernel", kernel, false);
	feed_maps_line(&f, START, START + FILE_PAGES * PAGE, perms, (uint64_t)off_pages * PAGE, DEV, INO, "/file");
	return f;
}

static void fault_in(struct feed *f, int page, int access, int mode)
{
	struct pfs_event ev = feed_event(f, PFS_FAULT, HAS(ADDR) | HAS(ACCESS) | HAS(MODE) | HAS(CODE));

	f->now_ns += 1000;
	ev.ts_ns = f->now_ns;
	ev.addr = START + (uint64_t)page * PAGE + 5;
	ev.access = access;
	ev.mode = mode;
	ev.code = ABSENT;
	feed_apply(f, &ev);
}

static void fault(struct feed *f, int page, int access)
{
	fault_in(f, page, access, PFS_USER);
}

static void around(struct feed *f, int from, int to)
{
	f->now_ns += 1000;
	feed_around(f, DEV, INO, (uint64_t)from * PAGE, (uint64_t)to * PAGE);
}

/* Pages of the file, in order; -1: the order is not known. */
static void cached(struct feed *f, int from, int to, enum pfs_cached state, int order, bool last)
{
	struct pfs_event ev = feed_event(f, PFS_CACHED, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF) | HAS(STATE));

	f->now_ns += 1000;
	ev.ts_ns = f->now_ns;
	ev.have = (ev.have & ~(HAS(TID) | HAS(PID))) | HAS(LAST) | (order >= 0 ? HAS(ORDER) : 0);
	ev.dev = DEV;
	ev.ino = INO;
	ev.off = (uint64_t)from * PAGE;
	ev.end_off = (uint64_t)to * PAGE;
	ev.state = state;
	ev.order = order;
	ev.last = last;
	feed_apply(f, &ev);
}

/* A letter for each of the region's first pages. */
static void expect(const struct feed *f, const char *wanted)
{
	const struct pfs_space *space = pfs_proc_space(pfs_model_proc(f->model, PID));
	char got[SHOWN + 1] = "";

	for (int i = 0; i < SHOWN; i++) {
		switch (presence_at(space, START + (uint64_t)i * PAGE)) {
		case PFS_PRESENT:
			got[i] = 'P';
			break;
		case PFS_MAYBE_FOLIO:
			got[i] = 'f';
			break;
		case PFS_MAYBE_AROUND:
			got[i] = 'a';
			break;
		case PFS_MAYBE_UNDER_WAY:
			got[i] = 'u';
			break;
		case PFS_MAYBE_TRUNCATED:
			got[i] = 't';
			break;
		case PFS_MAYBE_PAGED_OUT:
			got[i] = 'c';
			break;
		default:
			got[i] = '.';
		}
	}
	assert_string_equal(got, wanted);
}

#define NOTHING	  "................................"
#define ALL_FOLIO "ffffffff"
#define EIGHT	  "PPPPPPPP"
#define NONE_OF_8 "........"

/* A fault on page 10 with a fault-around of pages 8 to 11; folios of 8 pages. */
static void test_a_probe_afterwards(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	expect(&f, ALL_FOLIO "faua"
			     "ffff" ALL_FOLIO ALL_FOLIO);
	fault(&f, 100, PFS_READ);
	expect(&f, ALL_FOLIO "faPa"
			     "ffff" ALL_FOLIO ALL_FOLIO);
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, ALL_FOLIO EIGHT ALL_FOLIO ALL_FOLIO); /* because of page 100, whose thread has not gone on */
	fault(&f, 101, PFS_READ);
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, ALL_FOLIO EIGHT ALL_FOLIO ALL_FOLIO); /* and of page 101 */
	around(&f, 101, 102);
	expect(&f, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

static void test_a_probe_before(void **state)
{
	static const struct {
		const char *kernel;
		int perms, off, access, order;
		enum pfs_cached state;
		const char *wanted;
	} cases[] = {
		{ "6.18.3", R, 0, PFS_READ, 3, PFS_CACHE_READY, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8 },
		{ "6.18.3", R, 0, PFS_READ, 2, PFS_CACHE_READY, NONE_OF_8 "PPPP...." NONE_OF_8 NONE_OF_8 },
		{ "6.18.3", R, 0, PFS_READ, 0, PFS_CACHE_READY, NONE_OF_8 ".PPP...." NONE_OF_8 NONE_OF_8 },
		{ "6.12.3", R, 0, PFS_READ, 3, PFS_CACHE_READY, NONE_OF_8 ".PuP...." NONE_OF_8 NONE_OF_8 },
		{ "6.18.3", R, 0, PFS_READ, -1, PFS_CACHE_READY, ALL_FOLIO "fPuPffff" ALL_FOLIO ALL_FOLIO },
		/* as large as a page of page tables: such a one may be mapped as a huge page */
		{ "6.18.3", R, 0, PFS_READ, 9, PFS_CACHE_READY, ALL_FOLIO "fPuPffff" ALL_FOLIO ALL_FOLIO },
		/* the folio begins before the region: only what the event has */
		{ "6.18.3", R, 4, PFS_READ, 4, PFS_CACHE_READY,
		  "....."
		  "PPP" NONE_OF_8 NONE_OF_8 NONE_OF_8 },
		/* what is not ready is not mapped beside; that of the fault itself is, when its thread has gone on */
		{ "6.18.3", R, 0, PFS_READ, 3, PFS_CACHE_HELD,
		  ALL_FOLIO "faua"
			    "ffff" ALL_FOLIO ALL_FOLIO },
		{ "6.18.3", R | W | S, 0, PFS_WRITE, 3, PFS_CACHE_READY, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feed f = feed_file(cases[i].kernel, cases[i].perms, cases[i].off);

		cached(&f, 0, FILE_PAGES, cases[i].state, cases[i].order, true);
		fault(&f, 10 - cases[i].off, cases[i].access);
		around(&f, 9, 12);
		expect(&f, cases[i].wanted);
		feed_free(&f);
	}
}

/* A fault-around is not needed: the thread has gone on. */
static void test_without_around(void **state)
{
	struct feed f = feed_file("6.18.3", R | W | S, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_HELD, 3, true);
	fault(&f, 10, PFS_WRITE);
	expect(&f, ALL_FOLIO "ffuf"
			     "ffff" ALL_FOLIO ALL_FOLIO);
	fault(&f, 200, PFS_WRITE);
	fault(&f, 201, PFS_WRITE); /* mapped already: pfscope need not know */
	fault(&f, 202, PFS_WRITE);
	expect(&f, ALL_FOLIO EIGHT ALL_FOLIO ALL_FOLIO);
	feed_signal(&f, 7);
	expect(&f, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* If another page of the folio was mapped, a fault that fault-around did not serve maps its own only. */
static void test_partly_mapped(void **state)
{
	struct feed f = feed_file("6.18.3", RW, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_HELD, 3, true);
	fault(&f, 12, PFS_WRITE); /* a copy of one page: no doubt */
	expect(&f, NONE_OF_8 "....u..." NONE_OF_8 NONE_OF_8);
	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	fault(&f, 300, PFS_WRITE); /* elsewhere */
	expect(&f, NONE_OF_8 "faPaPfff" NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* A fault beyond the end of the file is not served, but what fault-around found is mapped. */
static void test_refused(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	fault(&f, 30, PFS_READ);
	around(&f, 0, 10);
	feed_signal(&f, 7);
	cached(&f, 0, 8, PFS_CACHE_READY, 3, false);
	cached(&f, 8, 10, PFS_CACHE_READY, 0, true);
	expect(&f, EIGHT "PP......" NONE_OF_8 NONE_OF_8);
	feed_free(&f);
	f = feed_file("6.18.3", R, 0);
	fault(&f, 1, PFS_READ); /* of an unknown size */
	fault(&f, 30, PFS_READ);
	around(&f, 0, 2);
	feed_signal(&f, 7);
	expect(&f, "fPffffff" ALL_FOLIO ALL_FOLIO "ffffff.f");
	feed_free(&f);
}

/* Nobody knows what an access by the kernel that found nothing in the page cache has mapped. */
static void test_kernel_access(void **state)
{
	struct feed f = feed_file("6.18.3", R | W | S, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	fault_in(&f, 10, PFS_WRITE, PFS_KERNEL);
	fault(&f, 300, PFS_WRITE);
	expect(&f, ALL_FOLIO "ffuf"
			     "ffff" ALL_FOLIO ALL_FOLIO);
	feed_free(&f);
}

/* Both ends of the fault-around reach into other folios. */
static void test_folios_at_the_ends(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 0, 8, PFS_CACHE_READY, 3, false);
	cached(&f, 8, 16, PFS_CACHE_READY, 2, false);
	cached(&f, 16, FILE_PAGES, PFS_CACHE_HELD, 3, true);
	fault(&f, 10, PFS_READ);
	around(&f, 6, 18);
	cached(&f, 0, 8, PFS_CACHE_READY, 3, false);
	cached(&f, 8, 16, PFS_CACHE_READY, 2, false);
	cached(&f, 16, FILE_PAGES, PFS_CACHE_HELD, 3, true);
	expect(&f, EIGHT EIGHT NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* Kernels differ in what they map of the last folio of a file. */
static void test_end_of_file(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 0, 16, PFS_CACHE_READY, 3, true);
	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	expect(&f, NONE_OF_8 "fPuPffff" NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* What the recorded processes read or wrote themselves, of which no probe knows. */
static void test_added_and_removed(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 8, 16, PFS_CACHE_ADDED, 3, false);
	cached(&f, 16, 17, PFS_CACHE_ADDED, 0, false);
	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	expect(&f, ALL_FOLIO "faua"
			     "ffff" ALL_FOLIO ALL_FOLIO);
	fault(&f, 300, PFS_WRITE); /* elsewhere */
	expect(&f, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* A large folio that two probes do not have alike was changed in between, nobody knows when. */
static void test_folios_change(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, -1, true);
	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8);
	feed_free(&f);
	f = feed_file("6.18.3", R, 0);
	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	cached(&f, 8, 16, PFS_CACHE_ADDED, 2, false);
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, ALL_FOLIO "ffuf"
			     "ffff" ALL_FOLIO ALL_FOLIO);
	feed_free(&f);
}

/* Pages that were discarded after the fault are not mapped by it. */
static void test_discarded_meanwhile(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);
	struct pfs_event ev;

	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	f.now_ns += 1000;
	ev = feed_event(&f, PFS_ADVISE, HAS(START) | HAS(END) | HAS(ADVICE));
	ev.advice = PFS_ADVICE_DONTNEED;
	ev.start = START + 12 * PAGE;
	ev.end = START + 14 * PAGE;
	feed_apply(&f, &ev);
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, NONE_OF_8 "PPPP..PP" NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* A call that populates part of a region maps more where large folios reach beyond. */
static void test_populated(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	f.now_ns += 1000;
	feed_reached(&f, DEV, INO, 12 * PAGE);
	feed_populate(&f, START + 10 * PAGE, START + 12 * PAGE);
	f.now_ns += 1000;
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, NONE_OF_8 EIGHT NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* A region of another file, of the same size. */
static void map_other(struct feed *f, uint64_t start)
{
	f->now_ns += 1000;
	feed_maps_line(f, start, start + FILE_PAGES * PAGE, R, 0, DEV, INO + 1, "/other");
}

/* What is learned of a file when its mapping has ended says nothing of another one that was moved to its place. */
static void test_another_file_in_its_place(void **state)
{
	const uint64_t elsewhere = START + 2 * FILE_PAGES * PAGE;
	struct feed f = feed_file("6.18.3", R, 0);

	map_other(&f, elsewhere);
	f.now_ns += 1000;
	feed_fault(&f, elsewhere + 20 * PAGE, PFS_READ);
	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	fault(&f, 300, PFS_WRITE); /* elsewhere */
	feed_unmap(&f, START, START + FILE_PAGES * PAGE);
	f.now_ns += 1000;
	feed_move(&f, elsewhere, FILE_PAGES * PAGE, START, START + FILE_PAGES * PAGE);
	expect(&f, "aaaaaaaaaaaaaaaa"
		   "aaaaPaaa"
		   "aaaaaaaa");
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, "aaaaaaaaaaaaaaaa"
		   "aaaaPaaa"
		   "aaaaaaaa");
	feed_free(&f);
}

/* The same of a later mapping of the same file, of which is known by then that its pages were not mapped. */
static void test_same_file_again(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	fault(&f, 10, PFS_READ);
	around(&f, 9, 12);
	fault(&f, 300, PFS_WRITE); /* elsewhere */
	feed_unmap(&f, START, START + FILE_PAGES * PAGE);
	f.now_ns += 1000;
	feed_maps_line(&f, START, START + FILE_PAGES * PAGE, R, 0, DEV, INO, "/file");
	fault(&f, 20, PFS_READ);
	feed_signal(&f, 7);
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, NOTHING);
	feed_free(&f);
}

static void evict(struct feed *f, int from, int to)
{
	struct pfs_event ev = feed_event(f, PFS_EVICT, HAS(DEV) | HAS(INO) | HAS(OFF) | HAS(END_OFF));

	f->now_ns += 1000;
	ev.ts_ns = f->now_ns;
	ev.dev = DEV;
	ev.ino = INO;
	ev.off = (uint64_t)from * PAGE;
	ev.end_off = (uint64_t)to * PAGE;
	feed_apply(f, &ev);
}

static void cold(struct feed *f, int from, int to)
{
	struct pfs_event ev = feed_event(f, PFS_ADVISE, HAS(START) | HAS(END) | HAS(ADVICE));

	f->now_ns += 1000;
	ev.ts_ns = f->now_ns;
	ev.advice = PFS_ADVICE_COLD;
	ev.start = START + (uint64_t)from * PAGE;
	ev.end = START + (uint64_t)to * PAGE;
	feed_apply(f, &ev);
}

/* Two folios of 8 pages are mapped, by faults on pages 3 and 10. */
static struct feed feed_two_folios(int order)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, order, true);
	fault(&f, 3, PFS_READ);
	around(&f, 0, 8);
	fault(&f, 10, PFS_READ);
	around(&f, 8, 16);
	expect(&f, EIGHT EIGHT NONE_OF_8 NONE_OF_8);
	return f;
}

/* What loses a part is split, and nobody has the rest mapped any more. Of which sizes the rest is, is not known then. */
static void test_a_split_folio_is_unmapped(void **state)
{
	struct feed f = feed_two_folios(3);

	evict(&f, 12, 14);
	expect(&f, EIGHT "tttt..tt" NONE_OF_8 NONE_OF_8);
	fault(&f, 9, PFS_READ);
	around(&f, 8, 10);
	cached(&f, 0, 8, PFS_CACHE_READY, 3, false);
	cached(&f, 8, 16, PFS_CACHE_READY, 1, false);
	cached(&f, 16, FILE_PAGES, PFS_CACHE_READY, 3, true);
	expect(&f, EIGHT "PPtt..tt" NONE_OF_8 NONE_OF_8);
	cold(&f, 6, 7);
	expect(&f, "cccccccc"
		   "PPtt..tt" NONE_OF_8 NONE_OF_8);
	feed_free(&f);
	f = feed_two_folios(3);
	evict(&f, 8, 16); /* all of it */
	expect(&f, EIGHT NONE_OF_8 NONE_OF_8 NONE_OF_8);
	cold(&f, 16, 17);
	cold(&f, 3, 3);
	expect(&f, EIGHT NONE_OF_8 NONE_OF_8 NONE_OF_8);
	cold(&f, 7, 9);
	expect(&f, "cccccccc" NONE_OF_8 NONE_OF_8 NONE_OF_8);
	feed_free(&f);
	f = feed_two_folios(0);
	evict(&f, 12, 13);
	cold(&f, 0, 8);
	expect(&f, EIGHT "PPPP.PPP" NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

/* Another process maps the same file, and tries to map these pages of it at the same time. */
static void around_of_another(struct feed *f, int page, int from, int to)
{
	feed_as(f, PID + 1, PID + 1);
	feed_maps_line(f, START, START + FILE_PAGES * PAGE, R, 0, DEV, INO, "/file");
	fault(f, page, PFS_READ);
	feed_as(f, PID, PID);
	fault(f, page, PFS_READ);
	feed_as(f, PID + 1, PID + 1);
	around(f, from, to);
	feed_as(f, PID, PID);
}

/* What it had locked is not known to be mapped, even if an earlier fault was in doubt about the same pages. */
static void test_locked_meanwhile(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	fault(&f, 20, PFS_READ);
	around_of_another(&f, 10, 9, 12);
	around(&f, 6, 12);
	fault(&f, 300, PFS_WRITE); /* elsewhere */
	cached(&f, 0, FILE_PAGES, PFS_CACHE_READY, 0, true);
	expect(&f, "......PP"
		   "PaPa...."
		   "....P..." NONE_OF_8);
	feed_free(&f);
}

/* Nor is the large folio at an end of the range, then. */
static void test_folio_locked_meanwhile(void **state)
{
	struct feed f = feed_file("6.18.3", R, 0);

	cached(&f, 0, 8, PFS_CACHE_READY, 3, false);
	cached(&f, 8, 16, PFS_CACHE_READY, 2, false);
	cached(&f, 16, FILE_PAGES, PFS_CACHE_READY, 3, true);
	around_of_another(&f, 10, 6, 8);
	around(&f, 6, 18);
	fault(&f, 300, PFS_WRITE); /* elsewhere */
	expect(&f, "ffffffaa" EIGHT EIGHT NONE_OF_8);
	feed_free(&f);
}

/* What left the page cache between two looks may have been mapped while it was there, also if it lost its mark. */
static void test_vanished(void **state)
{
	struct feed f = feed_file("6.12.1", R, 0);

	cached(&f, 0, FILE_PAGES, PFS_CACHE_HELD, 0, true);
	fault(&f, 10, PFS_READ);
	around(&f, 8, 12);
	fault(&f, 100, PFS_READ);
	cached(&f, 0, 9, PFS_CACHE_HELD, 0, false);
	cached(&f, 10, FILE_PAGES, PFS_CACHE_HELD, 0, true);
	expect(&f, NONE_OF_8 ".aP....." NONE_OF_8 NONE_OF_8);
	feed_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_probe_afterwards),
		cmocka_unit_test(test_a_probe_before),
		cmocka_unit_test(test_without_around),
		cmocka_unit_test(test_partly_mapped),
		cmocka_unit_test(test_kernel_access),
		cmocka_unit_test(test_folios_at_the_ends),
		cmocka_unit_test(test_end_of_file),
		cmocka_unit_test(test_added_and_removed),
		cmocka_unit_test(test_folios_change),
		cmocka_unit_test(test_discarded_meanwhile),
		cmocka_unit_test(test_a_split_folio_is_unmapped),
		cmocka_unit_test(test_populated),
		cmocka_unit_test(test_another_file_in_its_place),
		cmocka_unit_test(test_same_file_again),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_vanished),
		cmocka_unit_test(test_locked_meanwhile),
		cmocka_unit_test(test_folio_locked_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
