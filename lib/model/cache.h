/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the page cache, per file: what the last two probes found, and which pages the recorded processes added
 * and removed, when. Only around.c and folio.c ask.
 *
 * A probe is right for its own beginning, as far as fault-around is concerned. Between two moments the state of a page may
 * be concluded from those: what was not there before and is there now was put there, and if no recorded process did it,
 * nobody knows when. What was there before and is not there now, or is added again, and was not removed by a recorded
 * process, has vanished: others may remove pages (reclaim, DAMON, posix_fadvise()).
 */
#ifndef PFS_MODEL_CACHE_H
#define PFS_MODEL_CACHE_H

#include "base/hash.h"
#include "model/model.h"

struct pfs_model_private;

enum cache_state { CACHE_UNKNOWN, CACHE_ABSENT, CACHE_READY, CACHE_HELD, CACHE_ADDED };
enum cache_verdict { CACHE_UNDECIDED, CACHE_MAPPED, CACHE_NOT_MAPPED, CACHE_NEVER_KNOWN };

/* A run of pages in one state, in folios of one size, in bytes of the file. */
struct cache_run {
	uint64_t off, end_off;
	uint8_t state; /* enum cache_state */
	int8_t order;  /* a folio has 2^order pages and is aligned by its size; -1: unknown */
};

struct cache_probe {
	uint64_t begun_ns; /* 0: none */
	struct cache_run *runs;
	size_t nr, max;
};

/* Of a file: pages that others may have had locked, so that fault-around passed over their folios. Empty: none. */
struct cache_locked {
	uint64_t off, end_off;
};

/* The part of a region that maps what fault-around tried to map of its file. */
struct around {
	struct pfs_space *space;
	uint64_t start, end;
	uint64_t off; /* of start */
	struct cache_locked locked;
	uint64_t ts_ns;
	uint64_t fault_ns; /* of the fault beside which it is; 0: none */
	uint64_t nr;	   /* of the event, from 1 */
};

/* A fault of which it is not known which other pages of large folios it has mapped (folio.c). */
struct folio_fault {
	struct pfs_space *space;
	uint64_t start, end, off;	   /* its reach, in one region and page of page tables; off: of start */
	uint64_t start_maybe, end_maybe;   /* the part of that which it may have mapped */
	uint64_t start_doubt, end_doubt;   /* the part in which PFS_MAYBE_FOLIO marks what it may have mapped */
	uint64_t addr;			   /* its page */
	uint64_t around_start, around_end; /* the range of its fault-around, if any */
	struct cache_locked locked;	   /* as of that */
	uint64_t ts_ns, at_ns;		   /* of the fault, and of the fault-around or again of the fault */
	bool over;			   /* its thread has gone on, */
	bool failed;			   /* with a signal */
	bool never;			   /* it will not be known */
};

struct cache_key {
	uint64_t ino;
	uint64_t dev;
};

struct cache_file {
	struct cache_key key;
	struct cache_probe last, before; /* whole ones */
	struct cache_probe coming;	 /* whose end has not come yet */
	struct pfs_pages *added;	 /* at its offset: the last time at which the page was added; NULL: none was */
	struct pfs_pages *removed;
	struct pfs_pages *split;    /* ... and its folio may have been split, which had that order */
	struct pfs_pages *vanished; /* the last time at which that was found */
	struct around *open;	    /* of whose pages some may be mapped */
	size_t nr_open, max_open;
	struct folio_fault *faults; /* in order of time */
	size_t nr_faults, max_faults;
	UT_hash_handle hh;
};

/* Created if there is none. NULL: no memory. */
struct cache_file *cache_file(struct pfs_model_private *priv, uint32_t dev, uint64_t ino);
void cache_free(struct pfs_model_private *priv);

/* Takes in an event `cached`. 0 or -ENOMEM. */
int cache_learn(struct cache_file *file, const struct pfs_event *ev, enum pfs_cached state);

/* Takes in an event `evict`. 0 or -ENOMEM. */
int cache_evicted(struct cache_file *file, const struct pfs_event *ev);

/* A folio, in bytes of its file. */
struct cache_folio {
	uint64_t off, end_off;
	bool at_end; /* it may hold the last page of the file, of which kernels do not map all alike */
};

/* The folio that the page at off was in at ts_ns, if it was in the page cache. False: not known. */
bool cache_folio(const struct cache_file *file, unsigned int page_shift, uint64_t off, uint64_t ts_ns,
		 struct cache_folio *folio);

/*
 * The kernel may have split the folio of the page at off now, which unmaps all of it. Sets the largest extent that it may
 * have had: one page, if it cannot have been split. 0 or -ENOMEM.
 */
int cache_split(struct cache_file *file, unsigned int page_shift, uint64_t off, uint64_t ts_ns,
		struct cache_folio *folio);

/* May the page at off have been locked at ts_ns, as one of those or in a folio with one? */
bool cache_is_locked(const struct cache_file *file, unsigned int page_shift, const struct cache_locked *locked,
		     uint64_t off, uint64_t ts_ns);

/* The state of the page at off now. CACHE_ADDED: since the last probe. */
enum cache_state cache_before(const struct cache_file *file, uint64_t off);

/*
 * Whether the page at off is mapped at now_ns by fault-around at ts_ns, by all that is known, also of later times.
 * UINT64_MAX: after all events so far.
 */
enum cache_verdict cache_verdict(const struct cache_file *file, uint64_t off, uint64_t ts_ns, uint64_t now_ns);

#endif
