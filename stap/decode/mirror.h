/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The regions that a reader of the decoder's events has for an address space: a sorted array without overlaps.
 *
 * The decoder compares the states that the kernel reports with it (diff.c), classifies faults by the region they
 * are in (fault.c), and gives regions their identities. It has no rules of its own: [start, end) becomes a region
 * or nothing, and what a region had outside of it stays, as for `map' and `unmap' (docs/event-format.md). The
 * model cannot take its place: it must hear facts, a region mapped or unmapped, not the same neighbours over
 * and over, and sources may not use it.
 */
#ifndef PFS_STAP_MIRROR_H
#define PFS_STAP_MIRROR_H

#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * `id` is the decoder's own number, used once; `vma` is the kernel's address of the region, which the kernel
 * reuses for another one within milliseconds.
 */
struct mirror_region {
	uint64_t start, end;
	uint64_t id;
	uint64_t vma; /* 0: unknown */
	uint64_t off; /* of start, bytes; 0 without a file */
	uint64_t ino;
	uint32_t dev;
	uint8_t perms, traits;
	uint8_t page_shift; /* of hugetlbfs; else 0 */
	bool described;	    /* perms, traits, off, dev and ino are known; else nothing but the range */
	bool uncertain;	    /* readers may have it otherwise: to be reported again */
	bool copied;	    /* by a fork from the parent; not reported for the child yet */
	bool taken;	    /* diff.c: a region of the statement has this identity */
	const char *name;   /* interned; NULL: unknown */
};

enum mirror_state {
	MIRROR_CURRENT, /* the current space of some process */
	MIRROR_FORKING, /* a fork by thread tid of pid is copying it */
	MIRROR_EXECING, /* an exec by that thread is building it */
	MIRROR_LEFT,	/* its process has gone on to another space */
};

struct mirror {
	uint64_t mm; /* the kernel's address of it */
	struct mirror_region *region;
	unsigned int nr, max;
	enum mirror_state state;
	int32_t pid, tid;		      /* the owner; tid: see the states */
	unsigned int users;		      /* processes that have it: a vfork child shares its parent's */
	uint64_t start_brk, brk, start_stack; /* 0: unknown */
	bool stated;			      /* its whole layout was reported */
	struct mirror *next_exec;	      /* EXECING: in the decoder's list */
	UT_hash_handle hh;		      /* in the decoder's table, by mm */
};

/* All 0 is an empty one. Frees what it holds, not itself. */
void mirror_fini(struct mirror *m);

/* Pointers into the mirror, valid until its next change; NULL: none. The region that holds addr: */
struct mirror_region *mirror_find(const struct mirror *m, uint64_t addr);

/* The next region that overlaps [start, end) above `after` (NULL: the first one). */
struct mirror_region *mirror_next(const struct mirror *m, uint64_t start, uint64_t end,
				  const struct mirror_region *after);

/* The first one there with that identity, or with that kernel address. */
struct mirror_region *mirror_by_id(const struct mirror *m, uint64_t id, uint64_t start, uint64_t end);
struct mirror_region *mirror_by_vma(const struct mirror *m, uint64_t vma, uint64_t start, uint64_t end);

/* The range becomes that region, or nothing; what regions have outside of it stays. 0 or -ENOMEM. */
int mirror_map(struct mirror *m, const struct mirror_region *region);
int mirror_unmap(struct mirror *m, uint64_t start, uint64_t end);

/* The child's layout at the start of a fork: the parent's, each region `copied`. 0 or -ENOMEM. */
int mirror_copy(struct mirror *to, const struct mirror *from);

/* The offset in the file that is mapped at addr, which the region may lie below; 0 without a file. */
uint64_t mirror_off_at(const struct mirror_region *r, uint64_t addr);

/* The region as if it reached over [start, end). */
struct mirror_region mirror_part(const struct mirror_region *r, uint64_t start, uint64_t end);

#endif
