/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks one sub-buffer of the kernel's trace ring buffer, record by record.
 *
 * Format: kernel/trace/ring_buffer.c (struct buffer_data_page, struct ring_buffer_event) and
 * events/header_event. Any sub-buffer size, both byte orders, 32 and 64 bit. It knows nothing of
 * what is in a record (record.c) or of where sub-buffers come from (page_source.h).
 */
#ifndef PFS_RINGPAGE_H
#define PFS_RINGPAGE_H

#include "record/formats.h"

#include <stdint.h>

#define PFS_LOST_UNKNOWN UINT64_MAX

/* Longest record, in bytes, whose length in words fits in the 5 bits of its header. */
#define PFS_RING_SHORT (28 * 4)

/* A record's header: type_len of what is no short data, and where the time begins on little-endian machines. */
enum { PFS_RING_PADDING = 29, PFS_RING_TIME_EXTEND = 30, PFS_RING_TIME_STAMP = 31, PFS_RING_TIME_BITS = 27 };

struct pfs_ring_page {
	const struct pfs_ring_layout *ring;
	const uint8_t *data; /* of the first record's header */
	uint32_t pos, end;   /* in data: of the next header, and where the records end */
	uint64_t ts;	     /* of the record returned last; at first the sub-buffer's own */
	uint64_t lost;	     /* events missed before this sub-buffer; 0: none */
};

/*
 * Starts on the sub-buffer of `size` bytes. 0, or -EBADMSG if it claims more bytes than it
 * has; those that it has can still be walked.
 */
int pfs_ring_page_load(struct pfs_ring_page *page, const struct pfs_ring_layout *ring, const uint8_t *bytes,
		       uint32_t size);

/*
 * The next data record: its payload is [*payload, *payload + *len), its time page->ts. 1, 0 at the
 * end, or -EBADMSG at a record that cannot be one: page->pos is its place then, and the walk over.
 */
int pfs_ring_page_next(struct pfs_ring_page *page, const uint8_t **payload, uint32_t *len);

/* ---- ringwrite.c: builds sub-buffers, so that pfscope's own records are one more stream beside the kernel's ---- */

struct pfs_ringwrite;

/*
 * Writes whole sub-buffers at fd's position. The descriptor stays the caller's. NULL with errno set: no memory, or a size
 * no sub-buffer has.
 */
struct pfs_ringwrite *pfs_ringwrite_new(int fd, const struct pfs_ring_layout *ring, uint32_t page_size);

/* Frees it without writing what is not flushed. */
void pfs_ringwrite_free(struct pfs_ringwrite *w);

/* The longest record that fits. */
uint32_t pfs_ringwrite_max(const struct pfs_ringwrite *w);

/*
 * Appends a record of the time ts. 0; -EINVAL if ts is before the last one's, -EMSGSIZE if it is
 * too long (or empty), or what writing a full sub-buffer failed with.
 */
int pfs_ringwrite_append(struct pfs_ringwrite *w, uint64_t ts, const void *record, uint32_t len);

/* Writes the sub-buffer under way as it is; the next record begins another. 0 or -errno. */
int pfs_ringwrite_flush(struct pfs_ringwrite *w);

#endif
