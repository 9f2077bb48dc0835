/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses, as assemble_*.c compute with them.
 */
#ifndef PFS_ASSEMBLE_RANGE_H
#define PFS_ASSEMBLE_RANGE_H

#include "assemble/assemble_priv.h"

static inline uint64_t page_up(const struct pfs_assembler *a, uint64_t addr)
{
	return (addr + a->page_mask) & ~a->page_mask;
}

static inline bool covers(struct range outer, struct range inner)
{
	return outer.start <= inner.start && outer.end >= inner.end;
}

static inline bool overlap(struct range a, struct range b)
{
	return a.start < b.end && b.start < a.end;
}

static inline struct range range_of(uint64_t start, uint64_t len)
{
	return (struct range){ start, start + len < start ? UINT64_MAX : start + len };
}

#endif
