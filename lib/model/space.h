/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address space's regions: a sorted array and one primitive, cut at [start, end).
 *
 * Only the model calls this; views read struct pfs_space (model.h).
 */
#ifndef PFS_SPACE_H
#define PFS_SPACE_H

#include "model/model.h"

/* An empty one; its pages are kept beside those (pages.h). NULL: no memory. */
struct pfs_space *pfs_space_new(const struct pfs_pages *beside, uint64_t now_ns);
struct pfs_space *pfs_space_get(struct pfs_space *space);
void pfs_space_put(struct pfs_space *space);

/* A copy of the layout, with no pages touched and no retired regions: what fork makes. */
struct pfs_space *pfs_space_copy(const struct pfs_space *space, uint64_t now_ns);

/* The whole layout of a process that ran before has been told: what there is of it may be that old. */
void pfs_space_found(struct pfs_space *space);

/*
 * The copy is whole, as the kernel told it region by region: forgets those of the parent's that it did
 * not name (MADV_DONTFORK).
 */
void pfs_space_confirm(struct pfs_space *space);

/*
 * The image that an exec has built begins to run: forgets what was mapped and unmapped again meanwhile
 * without being touched (the stack where it was first, the span of an interpreter).
 */
void pfs_space_begin(struct pfs_space *space);

/* The live region that holds addr, or NULL. */
struct pfs_region *pfs_space_look_up(struct pfs_space *space, uint64_t addr);

static inline struct pfs_region *pfs_space_find(struct pfs_space *space, uint64_t addr)
{
	struct pfs_region *hot = space->hot;

	return hot && addr >= hot->start && addr < hot->end ? hot : pfs_space_look_up(space, addr);
}

/* Index of the first live region that ends after addr; nr_live if there is none. */
unsigned int pfs_space_lower(const struct pfs_space *space, uint64_t addr);

/* Is the first region at or above addr the stack? A fault below the stack makes it grow. */
bool pfs_space_below_stack(const struct pfs_space *space, uint64_t addr);

/* One each: apply the event of that kind. 0 or -ENOMEM. */
int pfs_space_map(struct pfs_space *space, const struct pfs_event *ev);
int pfs_space_unmap(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns);
int pfs_space_protect(struct pfs_space *space, const struct pfs_event *ev);
int pfs_space_move(struct pfs_space *space, const struct pfs_event *ev);

/* A System V segment as shmdt sees it. */
struct pfs_segment {
	uint64_t addr;	/* where it was attached */
	uint64_t first; /* start of the lowest piece of it that is left; 0: there is none */
	uint64_t len;	/* as it was attached */
	uint64_t ino;
};

/* The segment that was attached at addr. */
void pfs_space_segment(const struct pfs_space *space, uint64_t addr, struct pfs_segment *segment);

/* shmdt: what is left of the segment goes. 0 or -ENOMEM. */
int pfs_space_detach(struct pfs_space *space, const struct pfs_segment *segment, uint64_t now_ns);

/*
 * Where pages of the region are kept: of a live one, and of what is in none (NULL), in the space's own, of a
 * retired one apart. NULL: no memory.
 */
struct pfs_pages *pfs_space_pages(struct pfs_space *space, struct pfs_region *region);

/* io_destroy: the ring at addr goes. 0 or -ENOMEM. */
int pfs_space_destroy_ring(struct pfs_space *space, uint64_t addr, uint64_t now_ns);

/*
 * The ring at addr that went last, a retired region; NULL: none. An io_destroy is told when it begins, so for
 * a moment the kernel may still have it.
 */
struct pfs_region *pfs_space_gone_ring(const struct pfs_space *space, uint64_t addr);

/*
 * Region ev->id is about to be stored over [start, start + len): what is in [start, end) makes room for
 * it, unless the new region is but a part of the one there, which the kernel splits. 0 or -ENOMEM.
 */
int pfs_space_replace(struct pfs_space *space, const struct pfs_event *ev);

/* Of [start, end) what has arrived elsewhere by a move goes. 0 or -ENOMEM. */
int pfs_space_unmap_moved(struct pfs_space *space, const struct pfs_event *ev);

/* The whole space went away (exit, exec): every live region is retired. 0 or -ENOMEM. */
int pfs_space_clear(struct pfs_space *space, uint64_t now_ns);

#endif
