/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects added up: by cache, by call site, by size class, by process, and all of them. A sink of objects.
 */
#ifndef PFS_TALLY_H
#define PFS_TALLY_H

#include "objects/objects.h"

enum pfs_tally_by { PFS_TALLY_ALL, PFS_TALLY_CACHE, PFS_TALLY_SITE, PFS_TALLY_SIZE, PFS_TALLY_PROCESS, PFS_NR_TALLIES };

enum {
	PFS_LIFE_STEPS = 8, /* of a power of two: a quantile is at most 12 % too long */
	PFS_LIFE_BUCKETS = 62 * PFS_LIFE_STEPS,
	PFS_LOW_SLICES = 16,
};

/* The fewest objects alive in each slice of time, the first one beginning with the first allocation. */
struct pfs_low_water {
	uint64_t slice_ns; /* doubled when there are too many slices */
	uint64_t start_ns;
	uint32_t low[PFS_LOW_SLICES];
	unsigned int nr; /* the last one is under way */
};

struct pfs_tally_row {
	uint32_t nr;				 /* of the cache, site or process; of a size class the exponent */
	uint32_t cache;				 /* of the last object */
	uint64_t allocs, frees, unseen, evicted; /* those evicted count as alive */
	uint64_t unseen_paused;			 /* of unseen: perhaps freed during a pause */
	uint64_t unsure_live;			 /* of live: perhaps freed during a pause, or where events were lost */
	uint64_t live, peak;
	uint64_t live_bytes, peak_bytes; /* given */
	uint64_t peak_ns;		 /* when peak_bytes was reached first */
	uint64_t asked, used;		 /* bytes, of all allocations */
	uint64_t longest_ns;
	uint32_t *lives; /* lifetimes of freed objects, by bucket; NULL: none */
	struct pfs_low_water low;
	unsigned int nr_pauses; /* known once it is sorted, and so are these: */
	uint64_t lost;		/* events of the recording; UINT64_MAX: unknown how many */
	bool unsure;		/* objects of its cache were freed without an event, or evicted */
};

struct pfs_tally {
	struct pfs_objects *objects;
	struct pfs_tally_table {
		struct pfs_tally_row *rows;
		size_t nr, max;
	} by[PFS_NR_TALLIES];
};

/* tally->objects is set by the caller before the first object comes. Of zeroes at first. */
struct pfs_object_sink pfs_tally_sink(struct pfs_tally *tally);
void pfs_tally_fini(struct pfs_tally *tally);

/* After the last object: leaves out rows without objects; those with the most bytes at their peak come first. */
void pfs_tally_sort(struct pfs_tally *tally);

/* The time that the permille'th lived at most; 0: none was freed. */
uint64_t pfs_tally_life_ns(const struct pfs_tally_row *row, unsigned int permille);

/*
 * Does the number of its live objects only grow? The fewest alive in each slice of time never fell, and rose in at least
 * five of eight or more, not counting two for each pause, and by more than events were lost, each of which may be a free. Not
 * known where objects of its cache were freed without an event: false.
 */
bool pfs_tally_leaks(const struct pfs_tally_row *row);

#endif
