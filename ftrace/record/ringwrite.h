/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds ring-buffer sub-buffers from records, so that pfscope's own records are one more stream
 * beside the kernel's: in a spool that merge.c reads and dat/write.c copies.
 *
 * record/pfscope_records.c makes the records; ringpage.c walks what this writes.
 */
#ifndef PFS_RINGWRITE_H
#define PFS_RINGWRITE_H

#include "record/formats.h"

struct pfs_ringwrite;

/*
 * Writes whole sub-buffers to fd, from its offset 0 on. The descriptor stays the caller's, its file
 * position is not used. NULL with errno set: no memory, or a size no sub-buffer has.
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
