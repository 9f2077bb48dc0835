/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel objects: which allocation a free belongs to, across CPUs, in order of time. A sink of events; it needs no model.
 *
 *     objects/accesses.h  who read and wrote watched objects, and estimates of all accesses
 *     objects/slots.h  places where objects were allocated, and a random word of them to watch
 *     objects/tally.h  objects added up: by cache, call site, size class and process
 *     objects/series.h live bytes by call site over time
 *     objects/slabs.h  objects by the page of memory that they are in
 *     objects/flame.h  objects added up by the stacks that allocated them
 *     objects/kmap.h   objects, tables and pages as text, CSV and JSON
 *
 * Objects of the recorded processes are kept while they live; those of others pass by. What the events cannot tell stays
 * open: an address that is allocated again was freed at an unknown time (the event was lost, or the kernel has none for
 * it); a free of an address that was never allocated belongs to an object from before.
 */
#ifndef PFS_OBJECTS_H
#define PFS_OBJECTS_H

#include "event/event.h"

#include <stdbool.h>
#include <stdint.h>

/* An allocation. site, cache and who are numbers of rows in tables of struct pfs_objects. */
struct pfs_object {
	uint64_t key; /* of the table, see pfs_object_address() */
	uint64_t alloc_ns;
	uint32_t size, allocated; /* bytes requested, and given */
	uint32_t site, cache, who;
	uint32_t stack; /* 0: unknown */
};

/* The address, or the number of the first page frame. */
static inline bool pfs_object_is_pages(const struct pfs_object *object)
{
	return object->key & 1;
}

static inline uint64_t pfs_object_address(const struct pfs_object *object)
{
	return object->key & 1 ? object->key >> 3 : object->key;
}

enum pfs_object_fate {
	PFS_OBJECT_FREED,
	PFS_OBJECT_UNSEEN,  /* its address was allocated again: freed some time before */
	PFS_OBJECT_ALIVE,   /* at the end, as far as is known */
	PFS_OBJECT_EVICTED, /* more objects lived than are kept: it is not known when it was freed */
};

/* Accesses to an object by one instruction in one process, as far as words of it were watched. */
struct pfs_object_access {
	uint32_t site, who;
	uint64_t reads, writes;
};

struct pfs_object_end {
	enum pfs_object_fate fate;
	uint64_t ts_ns;	    /* of the free; of the next allocation there; of the end; of the eviction */
	uint32_t site, who; /* of a free */
	uint32_t cache; /* the object's; if its allocation did not name it, as the free did (kernels of before 6.18) */
	bool unsure;	/* events were lost, or it was paused, since it was allocated: perhaps it was freed then */
	bool paused;	/* it was paused since then */
	const struct pfs_object_access *accesses; /* in order of appearance */
	unsigned int nr_accesses;
};

/* Of an object that was evicted it is not known when it ends. */
static inline bool pfs_object_counts_as_alive(const struct pfs_object_end *end)
{
	return end->fate == PFS_OBJECT_ALIVE || end->fate == PFS_OBJECT_EVICTED;
}

/* A call site. addr 0: not known; func NULL: neither. */
struct pfs_object_site {
	uint64_t addr;
	const char *func;
};

/* A process under one name. */
struct pfs_object_who {
	int32_t pid;	  /* 0: unknown */
	int32_t tid;	  /* of the thread, if pid is unknown */
	const char *comm; /* NULL: unknown */
	bool is_target;
	uint32_t process; /* the first number of its process, which may have several names */
};

/* Which objects are wanted; of zeroes: those of the recorded processes. */
struct pfs_object_filter {
	const char *cache, *comm; /* globs */
	const int32_t *pids;
	unsigned int nr_pids;
	uint64_t min, max;    /* bytes requested; max 0: no limit */
	uint64_t max_objects; /* that are kept at a time: if more live, an arbitrary one is evicted; 0: no limit */
};

/* Receives the objects, both in order of time. 0 or -errno. */
struct pfs_object_sink {
	int (*alloc)(void *ctx, const struct pfs_object *object); /* or NULL */
	int (*end)(void *ctx, const struct pfs_object *object, const struct pfs_object_end *end);
	void *ctx;
};

struct pfs_objects_stats {
	uint64_t nr_events;		/* alloc and free */
	uint64_t allocs, frees, unseen; /* of wanted objects */
	uint64_t unseen_paused;		/* of unseen: perhaps freed during a pause */
	uint64_t by_others;		/* of frees: by another process */
	uint64_t by_unknown;		/* of frees: by another thread, and the process of neither is known */
	uint64_t others;		/* allocations by processes that are not recorded, or of no interest */
	uint64_t evicted;		/* allocated, and not followed until they were freed */
	uint64_t foreign_frees;		/* of objects of others, or from before, or evicted */
	uint64_t lost;			/* events */
	bool lost_unknown;		/* and an unknown number */
	bool hashed;			/* the addresses are no addresses */
	bool has_targets;		/* some processes were recorded, others not */
	unsigned int nr_processes;	/* that allocated */
	uint64_t first_ns, last_ns;
	unsigned int nr_pauses;
	uint64_t paused_ns; /* of the time from the first to the last */
};

struct pfs_objects;

/* filter and sink are copied; what they point to is borrowed. NULL: no memory. */
struct pfs_objects *pfs_objects_new(const struct pfs_object_filter *filter, const struct pfs_object_sink *sink);
void pfs_objects_free(struct pfs_objects *objects);

/* Takes events, in order of time. Valid as long as the objects. */
struct pfs_sink pfs_objects_sink(struct pfs_objects *objects);

/* After the last event: passes on the objects that are alive, in order of their allocation. 0 or -errno. */
int pfs_objects_end(struct pfs_objects *objects);

const struct pfs_objects_stats *pfs_objects_stats(const struct pfs_objects *objects);
const struct pfs_object_site *pfs_objects_site(const struct pfs_objects *objects, uint32_t site);
/* Its function, as recorded; or its address; or "?". Returns buf. */
const char *pfs_objects_site_text(const struct pfs_objects *objects, uint32_t site, char *buf, size_t size);
const char *pfs_objects_cache(const struct pfs_objects *objects, uint32_t cache); /* "?": unknown */

/* All names of that cache, separated by spaces, if the kernel has merged it with others; NULL: not, or unknown. */
const char *pfs_objects_merged(const struct pfs_objects *objects, uint32_t cache);

const struct pfs_object_who *pfs_objects_who(const struct pfs_objects *objects, uint32_t who);

/* Once pfs_objects_end() has returned. NULL: nothing was watched. */
struct pfs_accesses;
const struct pfs_accesses *pfs_objects_accesses(const struct pfs_objects *objects);

/* "alloc_pipe_info+0x88;create_pipe_files+0x40": the innermost first; NULL: unknown */
const char *pfs_objects_stack(const struct pfs_objects *objects, uint32_t stack);

/* The release of its kernel, as far as the events have told; NULL: unknown. */
const char *pfs_objects_kernel(const struct pfs_objects *objects);

/* The command that was recorded; NULL: unknown. */
const char *pfs_objects_command(const struct pfs_objects *objects);

#endif
