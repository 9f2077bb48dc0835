/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of a tape as bytes: numbers in LEB128, pages and times as differences to the entry before.
 */
#ifndef PFS_TAPE_CODE_H
#define PFS_TAPE_CODE_H

#include "reference/tapes.h"

/* The longest entry: its head and seven numbers. */
enum { PFS_TAPE_ENTRY_MAX = 1 + 7 * 10 };

/* Bits of an entry's first byte; its lowest four are PFS_TAPE_READ and so on. */
enum {
	TAPE_COUNT = 0x10,   /* a count follows, less 2; else it is 1 */
	TAPE_IMAGE = 0x20,   /* an image follows; else it is the one before */
	TAPE_OBJECT = 0x40,  /* an object follows; else it is the one before */
	TAPE_SAMPLED = 0x80, /* an interval follows */
};

/* Unsigned LEB128. Returns the end of what it wrote. */
uint8_t *pfs_leb_put(uint8_t *out, uint64_t value);

/* False: there is no such number before end. */
bool pfs_leb_get(const uint8_t **at, const uint8_t *end, uint64_t *value);

/* Writes what differs from `before`, the entry before (of zeroes: none). Returns how many bytes. */
size_t pfs_tape_encode(uint8_t out[PFS_TAPE_ENTRY_MAX], const struct pfs_tape_options *options,
		       const struct pfs_tape_entry *entry, const struct pfs_tape_entry *before);

/* The other way round: *entry is the one before, and then the one that was read. 0 or -EINVAL. */
int pfs_tape_decode(const uint8_t **at, const uint8_t *end, const struct pfs_tape_options *options,
		    struct pfs_tape_entry *entry);

#endif
