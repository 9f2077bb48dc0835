// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The walker of a sub-buffer. merge.c runs it; ringwrite.c is its opposite.
 *
 * A header is 32 bits: type_len (5 bits, the low ones on little-endian machines, the high ones on
 * big-endian) and the time since the record before (27 bits).
 */
#include "record/ringpage.h"

#include "base/bytes.h"

#include <errno.h>

/* Bits of the commit word beside the length of the data. */
#define COMMIT_LEN    ((1u << 27) - 1)
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30) /* their number follows the data, as a long */

/* An absolute time stamp has 59 bits; the others are those of the time before it. */
#define TS_HIGH (UINT64_C(0x1f) << 59)

int pfs_ring_page_load(struct pfs_ring_page *page, const struct pfs_ring_layout *ring, const uint8_t *bytes,
		       uint32_t size)
{
	uint32_t commit, room;

	*page = (struct pfs_ring_page){ .ring = ring };
	if (size < ring->data_at || size < ring->ts_at + 8u || size < (uint32_t)ring->commit_at + ring->long_size)
		return -EBADMSG;
	page->data = bytes + ring->data_at;
	page->ts = pfs_load64(bytes + ring->ts_at, ring->swap);
	commit = pfs_load_long(bytes + ring->commit_at, ring->long_size, ring->swap);
	page->end = commit & COMMIT_LEN;
	room = size - ring->data_at;
	if (commit & MISSED_EVENTS) {
		page->lost = PFS_LOST_UNKNOWN;
		if (commit & MISSED_STORED && page->end + ring->long_size <= room)
			page->lost = pfs_load_long(page->data + page->end, ring->long_size, ring->swap);
	}
	if (page->end <= room)
		return 0;
	page->end = room;
	return -EBADMSG;
}

/* A time stamp record: absolute, but for the bits that it has no room for. */
static uint64_t absolute(uint64_t before, uint64_t stamp)
{
	uint64_t ts = stamp | (before & TS_HIGH);

	/* the low bits went round since */
	if (before & TS_HIGH && ts < before)
		ts += UINT64_C(1) << 59;
	return ts;
}

static int broken(struct pfs_ring_page *page)
{
	page->end = page->pos;
	return -EBADMSG;
}

/*
 * A header that is not short data: moves past it. 1 if it was data, 0 if it only was time or
 * padding, or -EBADMSG. The word after the header is `array` bytes long data, or part of a time.
 */
static int take_special(struct pfs_ring_page *page, uint32_t type, uint32_t delta, uint32_t left, uint32_t *len)
{
	uint32_t array;

	if (left < 4)
		return broken(page);
	array = pfs_load32(page->data + page->pos + 4, page->ring->swap);
	if (type == PFS_RING_TIME_EXTEND) {
		page->ts += ((uint64_t)array << PFS_RING_TIME_BITS) + delta;
		page->pos += 8;
		return 0;
	}
	if (type == PFS_RING_TIME_STAMP) {
		page->ts = absolute(page->ts, ((uint64_t)array << PFS_RING_TIME_BITS) + delta);
		page->pos += 8;
		return 0;
	}
	/* data with this word among its bytes, or a record that was taken back */
	if (array > left || (!type && array < 4))
		return broken(page);
	page->ts += delta;
	page->pos += 4 + ((array + 3) & ~3u);
	*len = array - 4;
	return !type;
}

int pfs_ring_page_next(struct pfs_ring_page *page, const uint8_t **payload, uint32_t *len)
{
	while (page->pos + 4 <= page->end) {
		const uint8_t *p = page->data + page->pos;
		uint32_t left = page->end - page->pos - 4;
		uint32_t head = pfs_load32(p, page->ring->swap);
		uint32_t type = page->ring->big_endian ? head >> PFS_RING_TIME_BITS : head & 31;
		uint32_t delta = page->ring->big_endian ? head & ((1u << PFS_RING_TIME_BITS) - 1) : head >> 5;
		int ret;

		if (type && type * 4 <= PFS_RING_SHORT) {
			if (type * 4 > left)
				return broken(page);
			page->ts += delta;
			page->pos += 4 + type * 4;
			*payload = p + 4;
			*len = type * 4;
			return 1;
		}
		if (type == PFS_RING_PADDING && !delta)
			break; /* nothing more in this sub-buffer */
		*payload = p + 8;
		ret = take_special(page, type, delta, left, len);
		if (ret)
			return ret;
	}
	page->pos = page->end;
	return 0;
}
