/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The regions of an address space, as the kernel keeps its VMAs: sorted, never overlapping. Only the model calls this;
 * views read struct pfs_space (model.h).
 */
#ifndef PFS_SPACE_H
#define PFS_SPACE_H

#include "model/model.h"

/* An empty one, whose pages share the memory of `beside` (pages.h). NULL: no memory. */
struct pfs_space *pfs_space_new(const struct pfs_pages *beside, uint64_t now_ns);
/* Of a new space: its presence is tracked (presence.h). 0 or -ENOMEM. */
int pfs_space_track_presence(struct pfs_space *space);

struct pfs_space *pfs_space_get(struct pfs_space *space);
void pfs_space_put(struct pfs_space *space);

/* A copy of the layout for a fork, without touched pages and retired regions. NULL: no memory. */
struct pfs_space *pfs_space_copy(const struct pfs_space *space, uint64_t now_ns);

/* The layout of a process that ran before the recording is complete now: its regions may be older. */
void pfs_space_found(struct pfs_space *space);

/* The lines of a snapshot, which are of that time, are complete: the regions that they created are older. */
void pfs_space_older(struct pfs_space *space, uint64_t ts_ns);

/*
 * The events of a fork's copy are complete: drops the parent's regions that none of them mapped (MADV_DONTFORK). 0 or
 * -ENOMEM.
 */
int pfs_space_confirm(struct pfs_space *space);

/*
 * The image that an exec has built begins to run: drops retired regions that were not touched, such as the stack at its
 * first address.
 */
void pfs_space_begin(struct pfs_space *space);

/* Whether a fork copies the pages of [start, end). 0 or -ENOMEM. */
int pfs_space_wipe_on_fork(struct pfs_space *space, uint64_t start, uint64_t end, bool wipe);

/* The live region that holds addr, or NULL. */
struct pfs_region *pfs_space_look_up(struct pfs_space *space, uint64_t addr);

static inline struct pfs_region *pfs_space_find(struct pfs_space *space, uint64_t addr)
{
	struct pfs_region *hot = space->hot;

	return hot && addr >= hot->start && addr < hot->end ? hot : pfs_space_look_up(space, addr);
}

/* Index of the first live region that ends after addr; nr_live if there is none. */
unsigned int pfs_space_lower(const struct pfs_space *space, uint64_t addr);

/* Whether the first region at or above addr is the stack, which grows by a fault below it. */
bool pfs_space_below_stack(const struct pfs_space *space, uint64_t addr);

/* Each applies events of its kind. 0 or -ENOMEM. */
int pfs_space_map(struct pfs_space *space, const struct pfs_event *ev);
/* Before a `map` of a polled layout: unmaps what it has replaced, which no event reports. */
int pfs_space_replaced(struct pfs_space *space, const struct pfs_event *map);
int pfs_space_unmap(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns);
int pfs_space_protect(struct pfs_space *space, const struct pfs_event *ev);
int pfs_space_move(struct pfs_space *space, const struct pfs_event *ev);

/* A System V segment, as shmdt identifies it. */
struct pfs_segment {
	uint64_t addr;	/* where it was attached */
	uint64_t first; /* start of its lowest piece that is still mapped; 0: none is */
	uint64_t len;	/* when it was attached */
	uint64_t ino;
};

/* The segment that was attached at addr. */
void pfs_space_segment(const struct pfs_space *space, uint64_t addr, struct pfs_segment *segment);

/* shmdt: unmaps the rest of the segment. 0 or -ENOMEM. */
int pfs_space_detach(struct pfs_space *space, const struct pfs_segment *segment, uint64_t now_ns);

/* The pages of a region: for a live one, and for none (NULL), the space's own. NULL: no memory. */
struct pfs_pages *pfs_space_pages(struct pfs_space *space, struct pfs_region *region);

/*
 * Marks the pages of [start, end) that have none of the flags in `unless`, and adds their number to *marked (NULL: it is
 * not wanted). Populated and huge ones are present then. 0 or -ENOMEM.
 */
int pfs_space_mark(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t flags, uint32_t unless,
		   uint64_t now_ns, uint64_t *marked);

/* io_destroy: unmaps the ring at addr. 0 or -ENOMEM. */
int pfs_space_destroy_ring(struct pfs_space *space, uint64_t addr, uint64_t now_ns);

/*
 * The ring at addr that io_destroy unmapped last; NULL: none. The event comes when io_destroy begins, so the kernel may
 * still have the ring for a moment.
 */
struct pfs_region *pfs_space_gone_ring(const struct pfs_space *space, uint64_t addr);

/* Whether there is a region of exactly that range and identity. */
bool pfs_space_has(struct pfs_space *space, const struct pfs_event *row);

/*
 * Region ev->id is about to be stored over [start, start + len): unmaps [start, end), unless the new region is a part of
 * the one there, which the kernel splits. 0 or -ENOMEM.
 */
int pfs_space_replace(struct pfs_space *space, const struct pfs_event *ev);

/* Unmaps the regions of [start, end) that a move has taken elsewhere. 0 or -ENOMEM. */
int pfs_space_unmap_moved(struct pfs_space *space, const struct pfs_event *ev);

/* The end of the space (exit, exec): retires all live regions. 0 or -ENOMEM. */
int pfs_space_clear(struct pfs_space *space, uint64_t now_ns);

#endif
