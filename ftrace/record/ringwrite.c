// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The writer of sub-buffers. Layout and bits: ringpage.h, ringpage.c.
 *
 * A sub-buffer's own time is that of its first record, so only later ones may need a time extend.
 */
#include "record/ringpage.h"

#include "base/bytes.h"
#include "base/write_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pfs_ringwrite {
	int fd;
	struct pfs_ring_layout ring;
	uint32_t page_size;
	uint32_t used; /* bytes of records in page; 0: none yet */
	uint64_t last_ts;
	uint8_t page[];
};

struct pfs_ringwrite *pfs_ringwrite_new(int fd, const struct pfs_ring_layout *ring, uint32_t page_size)
{
	struct pfs_ringwrite *w;

	if (page_size < 512 || page_size > 1u << 26 || page_size % 4) {
		errno = EINVAL;
		return NULL;
	}
	w = calloc(1, sizeof(*w) + page_size);
	if (!w)
		return NULL;
	w->fd = fd;
	w->ring = *ring;
	w->page_size = page_size;
	return w;
}

void pfs_ringwrite_free(struct pfs_ringwrite *w)
{
	free(w);
}

uint32_t pfs_ringwrite_max(const struct pfs_ringwrite *w)
{
	/* a header and a length word before it */
	return w->page_size - w->ring.data_at - 8;
}

static void put32(struct pfs_ringwrite *w, uint32_t v)
{
	pfs_store32(w->page + w->ring.data_at + w->used, v, w->ring.swap);
	w->used += 4;
}

static void put_header(struct pfs_ringwrite *w, uint32_t type, uint32_t delta)
{
	put32(w, w->ring.big_endian ? type << PFS_RING_TIME_BITS | delta : delta << 5 | type);
}

int pfs_ringwrite_flush(struct pfs_ringwrite *w)
{
	uint8_t *commit = w->page + w->ring.commit_at;
	int ret;

	if (!w->used)
		return 0;
	if (w->ring.long_size == 8)
		pfs_store64(commit, w->used, w->ring.swap);
	else
		pfs_store32(commit, w->used, w->ring.swap);
	ret = pfs_write_all(w->fd, w->page, w->page_size);
	w->used = 0;
	memset(w->page, 0, w->page_size);
	return ret;
}

int pfs_ringwrite_append(struct pfs_ringwrite *w, uint64_t ts, const void *record, uint32_t len)
{
	uint32_t words = (len + 3) / 4;
	uint64_t delta = ts - w->last_ts;
	uint32_t need = 8 + words * 4 + (delta >> PFS_RING_TIME_BITS ? 8 : 0);

	if (!len || len > pfs_ringwrite_max(w))
		return -EMSGSIZE;
	if (ts < w->last_ts)
		return -EINVAL;
	/* a time extend has 59 bits */
	if (w->used && (delta >> 59 || w->used + need > w->page_size - w->ring.data_at)) {
		int ret = pfs_ringwrite_flush(w);

		if (ret < 0)
			return ret;
	}
	if (!w->used) {
		pfs_store64(w->page + w->ring.ts_at, ts, w->ring.swap);
		delta = 0;
	}
	if (delta >> PFS_RING_TIME_BITS) {
		put_header(w, PFS_RING_TIME_EXTEND, delta & ((1u << PFS_RING_TIME_BITS) - 1));
		put32(w, delta >> PFS_RING_TIME_BITS);
		delta = 0;
	}
	put_header(w, words * 4 <= PFS_RING_SHORT ? words : 0, delta);
	if (words * 4 > PFS_RING_SHORT)
		put32(w, words * 4 + 4);
	memcpy(w->page + w->ring.data_at + w->used, record, len);
	w->used += words * 4;
	w->last_ts = ts;
	return 0;
}
