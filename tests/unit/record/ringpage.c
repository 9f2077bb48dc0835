/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of sub-buffers on sub-buffers made by hand, in both byte orders and both long sizes,
 * and its opposite, the writer, through libtraceevent's own walker (kbuffer) and through ours.
 */
#include "base/bytes.h"
#include "support/random.h"
#include "base/write_all.h"
#include "record/ringpage.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <kbuffer.h>
#include <cmocka.h>

enum { PAGE = 512, PADDING = 29, EXTEND = 30, STAMP = 31 };

/* A sub-buffer under construction. */
struct maker {
	struct pfs_ring_layout ring;
	uint8_t bytes[PAGE];
	uint32_t used;
};

static struct maker make(bool big_endian, unsigned int long_size, uint64_t ts)
{
	struct maker m = { .ring = { .big_endian = big_endian,
				     .swap = big_endian != PFS_HOST_BIG_ENDIAN,
				     .long_size = long_size,
				     .commit_at = 8,
				     .data_at = 8 + long_size } };

	pfs_store64(m.bytes, ts, m.ring.swap);
	return m;
}

static void word(struct maker *m, uint32_t v)
{
	pfs_store32(m->bytes + m->ring.data_at + m->used, v, m->ring.swap);
	m->used += 4;
}

static void header(struct maker *m, uint32_t type, uint32_t delta)
{
	word(m, m->ring.big_endian ? type << 27 | delta : delta << 5 | type);
}

/* A record of one word. */
static void data(struct maker *m, uint32_t delta, uint32_t value)
{
	header(m, 1, delta);
	word(m, value);
}

static int load(struct maker *m, uint64_t flags, struct pfs_ring_page *page)
{
	if (m->ring.long_size == 8)
		pfs_store64(m->bytes + 8, m->used | flags, m->ring.swap);
	else
		pfs_store32(m->bytes + 8, m->used | flags, m->ring.swap);
	return pfs_ring_page_load(page, &m->ring, m->bytes, PAGE);
}

static void expect(struct pfs_ring_page *page, uint64_t ts, uint32_t value)
{
	const uint8_t *payload;
	uint32_t len;

	assert_int_equal(pfs_ring_page_next(page, &payload, &len), 1);
	assert_int_equal(page->ts, ts);
	assert_true(len >= 4);
	assert_int_equal(pfs_load32(payload, page->ring->swap), value);
}

static int next(struct pfs_ring_page *page)
{
	const uint8_t *payload;
	uint32_t len;

	return pfs_ring_page_next(page, &payload, &len);
}

static void walk_all_kinds(bool big_endian, unsigned int long_size)
{
	struct maker m = make(big_endian, long_size, 1000);
	struct pfs_ring_page page;
	const uint8_t *payload;
	uint32_t len;

	data(&m, 0, 11);
	data(&m, (1u << 27) - 1, 12);
	header(&m, EXTEND, 5);
	word(&m, 3);
	data(&m, 7, 13);
	header(&m, PADDING, 1); /* a record that was taken back: 8 bytes with this word */
	word(&m, 8);
	word(&m, 99);
	header(&m, 0, 2); /* 6 bytes in 8 */
	word(&m, 10);
	word(&m, 14);
	word(&m, 0);
	header(&m, PADDING, 0);
	data(&m, 1, 98); /* behind the end */
	assert_int_equal(load(&m, 0, &page), 0);
	assert_int_equal(page.lost, 0);
	assert_int_equal(page.ts, 1000);
	expect(&page, 1000, 11);
	expect(&page, 1000 + (1u << 27) - 1, 12);
	expect(&page, 1000 + (4ull << 27) - 1 + 5 + 7, 13);
	assert_int_equal(pfs_ring_page_next(&page, &payload, &len), 1);
	assert_int_equal(len, 6);
	assert_int_equal(pfs_load32(payload, m.ring.swap), 14);
	assert_int_equal(page.ts, 1000 + (4ull << 27) - 1 + 5 + 7 + 1 + 2);
	assert_int_equal(next(&page), 0);
	assert_int_equal(next(&page), 0);
}

static void test_kinds(void **state)
{
	walk_all_kinds(false, 8);
	walk_all_kinds(false, 4);
	walk_all_kinds(true, 8);
	walk_all_kinds(true, 4);
}

/* An absolute time stamp has 59 bits; the rest is that of the time before, or one more. */
static void test_absolute(void **state)
{
	const uint64_t high = 3ull << 59;
	struct maker m = make(false, 8, high + 1000);
	struct pfs_ring_page page;

	header(&m, STAMP, 44);
	word(&m, 9);
	data(&m, 1, 1);
	header(&m, STAMP, 40); /* less than before: the low bits went round */
	word(&m, 9);
	data(&m, 0, 2);
	assert_int_equal(load(&m, 0, &page), 0);
	expect(&page, high + (9ull << 27) + 45, 1);
	expect(&page, high + (1ull << 59) + (9ull << 27) + 40, 2);

	/* without high bits it is taken as it is, also backwards */
	m = make(true, 8, 1ull << 40);
	header(&m, STAMP, 44);
	word(&m, 9);
	data(&m, 0, 3);
	assert_int_equal(load(&m, 0, &page), 0);
	expect(&page, (9ull << 27) + 44, 3);
}

static void lost(bool big_endian, unsigned int long_size)
{
	struct maker m = make(big_endian, long_size, 5);
	struct pfs_ring_page page;

	data(&m, 0, 1);
	assert_int_equal(load(&m, 1u << 31, &page), 0);
	assert_true(page.lost == PFS_LOST_UNKNOWN);
	expect(&page, 5, 1);
	assert_int_equal(next(&page), 0);

	if (long_size == 8)
		pfs_store64(m.bytes + m.ring.data_at + m.used, 77, m.ring.swap);
	else
		pfs_store32(m.bytes + m.ring.data_at + m.used, 77, m.ring.swap);
	assert_int_equal(load(&m, 3u << 30, &page), 0);
	assert_int_equal(page.lost, 77);
	expect(&page, 5, 1);
	assert_int_equal(next(&page), 0);
}

static void test_lost(void **state)
{
	lost(false, 8);
	lost(false, 4);
	lost(true, 8);
	lost(true, 4);
}

/* The number of lost events does not fit behind the data although its flag says so. */
static void test_lost_no_room(void **state)
{
	struct maker m = make(false, 8, 5);
	struct pfs_ring_page page;

	m.used = PAGE - m.ring.data_at - 4;
	assert_int_equal(load(&m, 3u << 30, &page), 0);
	assert_true(page.lost == PFS_LOST_UNKNOWN);
}

static void test_damaged(void **state)
{
	struct maker m = make(false, 8, 5);
	struct pfs_ring_page page;

	/* more than there is room for: what there is is walked */
	data(&m, 0, 1);
	m.used = PAGE;
	assert_int_equal(load(&m, 0, &page), -EBADMSG);
	expect(&page, 5, 1);

	/* no room for its own header */
	assert_int_equal(pfs_ring_page_load(&page, &m.ring, m.bytes, 12), -EBADMSG);
	assert_int_equal(next(&page), 0);

	/* records that go beyond the end */
	m = make(false, 8, 5);
	header(&m, 2, 0);
	word(&m, 1);
	assert_int_equal(load(&m, 0, &page), 0);
	assert_int_equal(next(&page), -EBADMSG);
	assert_int_equal(next(&page), 0);
	for (uint32_t bad = 0; bad < 3; bad++) {
		static const uint32_t length[] = { 0, 3, 12 };

		m = make(false, 8, 5);
		header(&m, 0, 0);
		word(&m, length[bad]);
		word(&m, 0);
		assert_int_equal(load(&m, 0, &page), 0);
		assert_int_equal(next(&page), -EBADMSG);
	}
	m = make(false, 8, 5);
	header(&m, EXTEND, 0);
	assert_int_equal(load(&m, 0, &page), 0);
	assert_int_equal(next(&page), -EBADMSG);
}

/* Any bytes: it ends, and stays inside (the sanitizers look). */
static void test_random(void **state)
{
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		struct maker m = make(round & 1, round & 2 ? 8 : 4, 5);
		struct pfs_ring_page page;
		uint8_t *copy = malloc(PAGE); /* of its own, so that overruns are seen */

		for (int i = 0; i < PAGE; i++) {
			m.bytes[i] = next_random(&seed) >> 23 & (round % 3 ? 0xff : 0x1c);
		}
		if (round & 4) {
			m.used = PAGE - m.ring.data_at;
			load(&m, 0, &page);
		}
		memcpy(copy, m.bytes, PAGE);
		pfs_ring_page_load(&page, &m.ring, copy, PAGE - round % 9);
		for (int i = 0; next(&page) > 0; i++)
			assert_true(i < PAGE);
		free(copy);
	}
}

/* What the writer is given comes back, from our walker and from libtraceevent's. */
static void round_trip(bool big_endian, unsigned int long_size)
{
	static const uint64_t deltas[] = { 0, 1, (1u << 27) - 1, 1u << 27, 1ull << 40, 1ull << 58, 1ull << 59, 3 };
	struct maker m = make(big_endian, long_size, 0);
	int fd = pfs_temp_open(NULL);
	struct pfs_ringwrite *w = pfs_ringwrite_new(fd, &m.ring, PAGE);
	struct kbuffer *kbuf = kbuffer_alloc(long_size == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
					     big_endian ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE);
	uint8_t record[PAGE], bytes[PAGE];
	uint64_t ts = 1234567890123, kts = ts;
	uint32_t nr = 0, i = 0, max = pfs_ringwrite_max(w);

	for (; i < 120; i++) {
		uint32_t len = 1 + (i * 37) % max;

		memset(record, i, sizeof(record));
		assert_int_equal(pfs_ringwrite_append(w, ts, record, len), 0);
		ts += deltas[i % 8];
	}
	assert_int_equal(pfs_ringwrite_append(w, 5, record, 4), -EINVAL);
	assert_int_equal(pfs_ringwrite_append(w, ts, record, max + 1), -EMSGSIZE);
	assert_int_equal(pfs_ringwrite_append(w, ts, record, 0), -EMSGSIZE);
	assert_int_equal(pfs_ringwrite_flush(w), 0);
	assert_int_equal(pfs_ringwrite_flush(w), 0);
	for (off_t pos = 0; pread(fd, bytes, PAGE, pos) == PAGE; pos += PAGE) {
		struct pfs_ring_page page;
		const uint8_t *payload;
		unsigned long long kernel_ts;
		uint32_t len;

		assert_int_equal(pfs_ring_page_load(&page, &m.ring, bytes, PAGE), 0);
		kbuffer_load_subbuffer(kbuf, bytes);
		for (; pfs_ring_page_next(&page, &payload, &len); nr++) {
			void *event = kbuffer_read_event(kbuf, &kernel_ts);
			uint32_t want = 1 + (nr * 37) % max;

			assert_ptr_equal(event, payload);
			assert_int_equal(page.ts, kts);
			assert_int_equal(page.ts, kernel_ts);
			assert_true(len >= want && len < want + 4);
			memset(record, nr, sizeof(record));
			assert_memory_equal(payload, record, want);
			kts += deltas[nr % 8];
			kbuffer_next_event(kbuf, NULL);
		}
	}
	assert_int_equal(nr, 120);
	kbuffer_free(kbuf);
	pfs_ringwrite_free(w);
	close(fd);
}

static void test_round_trip(void **state)
{
	round_trip(false, 8);
	round_trip(false, 4);
	round_trip(true, 8);
	round_trip(true, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	     cmocka_unit_test(test_absolute), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_no_room), cmocka_unit_test(test_damaged),  cmocka_unit_test(test_random),
		cmocka_unit_test(test_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
