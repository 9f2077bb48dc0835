/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has been told of an address space so far: its regions, a sorted array, never overlapping.
 *
 * The decoder compares it with what the kernel tells next, and passes on the difference. It changes by
 * the rules of the event language (docs/event-format.md), so it is at any time what a reader of the
 * events has; only decode*.c call it.
 */
#ifndef PFS_STAP_MIRROR_H
#define PFS_STAP_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `id` is the decoder's own number, given once and never again; `vma` is the kernel's address of the
 * region, which the kernel uses again for another one within milliseconds.
 */
struct mirror_region {
	uint64_t start, end;
	uint64_t id;
	uint64_t vma; /* 0: not told yet */
	uint64_t off; /* of start, bytes; 0 if there is no file */
	uint64_t ino;
	uint32_t dev;
	uint8_t perms, traits;
	bool described;	  /* perms, traits, off, dev and ino were told; else it is a mere range */
	bool uncertain;	  /* readers may see it otherwise: to be told again */
	bool copied;	  /* fork: the parent's, not told of the child yet */
	bool taken;	  /* decode/diff.c: one that is told now goes by its identity */
	const char *name; /* interned; NULL: unknown */
};

enum mirror_state {
	MIRROR_CURRENT, /* some process has it */
	MIRROR_FORKING, /* a fork of pid's thread tid is copying it */
	MIRROR_EXECING, /* an exec of that thread is building it */
	MIRROR_LEFT,	/* its process has gone on to another one */
};

struct mirror {
	uint64_t mm; /* the kernel's address of it */
	struct mirror_region *region;
	unsigned int nr, max;
	enum mirror_state state;
	int32_t pid, tid;		      /* whose it is; tid: see the states */
	unsigned int users;		      /* processes that have it: a vfork child has its parent's */
	uint64_t start_brk, brk, start_stack; /* 0: not told */
	bool told;			      /* its whole layout was told */
};

/* All 0 is an empty one. Frees what it holds, not itself. */
void mirror_fini(struct mirror *m);

/* Index of the first region that ends after addr; nr if there is none. */
unsigned int mirror_lower(const struct mirror *m, uint64_t addr);

/* The region that holds addr, or NULL. Valid until the next change. */
struct mirror_region *mirror_find(const struct mirror *m, uint64_t addr);

/* The region of that identity that overlaps [start, end), or NULL. */
struct mirror_region *mirror_by_id(const struct mirror *m, uint64_t id, uint64_t start, uint64_t end);

/* The region of that kernel address that overlaps [start, end), or NULL. */
struct mirror_region *mirror_by_vma(const struct mirror *m, uint64_t vma, uint64_t start, uint64_t end);

/*
 * As a `map` event with all attributes does: a region of that id which is in the range already comes to
 * reach over both; any other takes the range away from whatever was there. 0 or -ENOMEM.
 */
int mirror_map(struct mirror *m, const struct mirror_region *region);

/* As `unmap`. 0 or -ENOMEM. */
int mirror_unmap(struct mirror *m, uint64_t start, uint64_t end);

/* A copy of the layout, all of it `copied`, to begin a fork with. 0 or -ENOMEM. */
int mirror_copy(struct mirror *to, const struct mirror *from);

/* Offsets in a file move along with the start of a region; anonymous memory has none. */
static inline uint64_t mirror_off_at(const struct mirror_region *r, uint64_t addr)
{
	return r->ino ? r->off + (addr - r->start) : 0;
}

#endif
