/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the page cache, per file: what the last two probes found, and which pages the recorded processes added
 * and removed, when. Only around.c asks.
 *
 * A probe is right for its own beginning, as far as fault-around is concerned. Between two moments the state of a page may
 * be concluded from those: what was not there before and is there now was put there, and if no recorded process did it,
 * nobody knows when.
 */
#ifndef PFS_MODEL_CACHE_H
#define PFS_MODEL_CACHE_H

#include "base/hash.h"
#include "model/model.h"

struct pfs_model_private;

enum cache_state { CACHE_UNKNOWN, CACHE_ABSENT, CACHE_READY, CACHE_HELD, CACHE_ADDED };
enum cache_verdict { CACHE_UNDECIDED, CACHE_MAPPED, CACHE_NOT_MAPPED, CACHE_NEVER_KNOWN };

/* A run of pages in one state, in bytes of the file. */
struct cache_run {
	uint64_t off, end_off;
	uint8_t state; /* enum cache_state */
};

struct cache_probe {
	uint64_t begun_ns; /* 0: none */
	struct cache_run *runs;
	size_t nr, max;
};

/* A range that fault-around was asked for, of whose pages some may be mapped. */
struct cache_open {
	struct pfs_space *space;
	uint64_t start, end, off;
	uint64_t ts_ns;
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
	struct cache_open *open;
	size_t nr_open, max_open;
	UT_hash_handle hh;
};

/* Created if there is none. NULL: no memory. */
struct cache_file *cache_file(struct pfs_model_private *priv, uint32_t dev, uint64_t ino);
void cache_free(struct pfs_model_private *priv);

/* Takes in an event `cached`. 0 or -ENOMEM. */
int cache_learn(struct cache_file *file, const struct pfs_event *ev, enum pfs_cached state);

/* Takes in an event `evict`. 0 or -ENOMEM. */
int cache_evicted(struct cache_file *file, const struct pfs_event *ev);

/* The state of the page at off now. CACHE_ADDED: since the last probe. */
enum cache_state cache_before(const struct cache_file *file, uint64_t off);

/*
 * Whether the page at off is mapped at now_ns by fault-around at ts_ns, by all that is known, also of later times.
 * UINT64_MAX: after all events so far.
 */
enum cache_verdict cache_verdict(const struct cache_file *file, uint64_t off, uint64_t ts_ns, uint64_t now_ns);

#endif
