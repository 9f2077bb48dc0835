/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of a space are mapped now, as /proc/PID/pagemap would tell: kept beside what happened to them, in a second
 * tree of pages, if the model is asked to (pfs_model_track_presence()). A page's entry holds one of these in its flags; a
 * page without one has no event that concerns it. view/pages.c draws the conclusions.
 *
 * Functions do nothing for a space whose presence is not tracked. Each returns 0 or -ENOMEM.
 */
#ifndef PFS_PRESENCE_H
#define PFS_PRESENCE_H

#include "model/model.h"

enum pfs_presence {
	PFS_PRESENT = 1 << 16,
	PFS_ABSENT = 1 << 17,
	/* may be mapped or not */
	PFS_MAYBE_AROUND = 1 << 18,    /* in the range of a fault-around: only if it was in the page cache */
	PFS_MAYBE_FREE = 1 << 19,      /* MADV_FREE: until memory is needed */
	PFS_MAYBE_PAGED_OUT = 1 << 20, /* MADV_PAGEOUT of what is not swapped */
	PFS_MAYBE_RACED = 1 << 21,     /* touched while another thread discarded it */
	PFS_MAYBE_COPIED = 1 << 22,    /* a fork may have copied it, or left it to the next fault */
	PFS_MAYBE_FAILED = 1 << 23,    /* in the range of a call that failed on the way */
	PFS_MAYBE_TRUNCATED = 1 << 24, /* the page of the file has gone; its copy may have */
	PFS_MAYBE_UNDER_WAY = 1 << 25, /* its fault is under way, or was interrupted */
	PFS_MAYBE_HUGE = 1 << 26,  /* a huge page may have mapped it with another, or taken it away when it was split */
	PFS_MAYBE_FOLIO = 1 << 27, /* a fault may have mapped the whole of a file's large folio */
	PFS_MAYBE_POPULATED = 1 << 28, /* by a call that does not report how far it got */
	PFS_MAYBE_MOVED = 1 << 29,     /* userfaultfd may have moved it elsewhere */
	PFS_PRESENCE = 0x3fff << 16,
};

/* Sets it for the pages of [start, end) that have none of `unless`; 0 forgets what was known. */
int presence_set(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence, uint32_t unless,
		 uint64_t now_ns);

/*
 * The mapping of these pages ends, or they are moved away from there: nothing is known of the place, and what is learned
 * later of an earlier time is not about what is mapped there then.
 */
int presence_end(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t now_ns);

/* Has a mapping of the page at that address ended since? */
bool presence_ended(const struct pfs_space *space, uint64_t addr, uint64_t since_ns);

/* What a look at the page table found (PFS_RESIDENT): kept apart, for it is true of the time of the look alone. */
int presence_look(struct pfs_space *space, const struct pfs_event *ev);

/* Sets it for those pages that have one of `from`. */
int presence_turn(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t from, uint32_t to, uint64_t now_ns);

/* Sets it for those pages that may be mapped. */
int presence_doubt(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence, uint64_t now_ns);

/* The pages were unmapped between since_ns and now_ns, by a call that does not exclude faults of other threads. */
int presence_discard(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t since_ns, uint64_t now_ns);

/* The kernel splits what is mapped at addr: a huge page of a file is unmapped as a whole. */
int presence_split(struct pfs_space *space, const struct pfs_region *region, uint64_t addr, uint64_t now_ns);

/* Forgets those that have exactly this presence. */
int presence_undo(struct pfs_space *space, uint64_t start, uint64_t end, uint32_t presence);

/* Of the pages of [start, end) that fault-around at ts_ns may have mapped: they are so now. */
int presence_settle(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t ts_ns, uint32_t presence);

/* Those that are PFS_MAYBE_FOLIO since ts_ns or earlier have that presence since the space exists. */
int presence_undo_folio(struct pfs_space *space, uint64_t start, uint64_t end, uint64_t ts_ns, uint32_t presence);

/* Batches of faults: these pages are mapped. */
int presence_faults(struct pfs_space *space, const struct pfs_faults_on *faults);

/* A fork copies the pages of that region. */
int presence_copy(struct pfs_space *to, const struct pfs_space *from, const struct pfs_region *region);

/* What is known of the page at that address; 0: nothing. */
uint32_t presence_at(const struct pfs_space *space, uint64_t addr);

/* The same, and since when. */
uint32_t presence_since(const struct pfs_space *space, uint64_t addr, uint64_t *since_ns);

#endif
