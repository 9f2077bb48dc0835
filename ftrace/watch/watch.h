/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch/: who reads and writes kernel objects, by the CPUs' hardware watchpoints.
 *
 *     watch.h    the helper that sets them, and what it sends
 *     points.h   watchpoints on all CPUs, and their samples
 *
 * A watchpoint sees each access to one word of 8 bytes. Of the four that a CPU has, two are needed for a word, since x86 has
 * one for writes and one for both, and reads are what only the second has seen. So two words are watched at a time.
 *
 * What is watched is a place, not an object: whatever object is allocated there meanwhile is watched from its first
 * moment on. Places are learned from allocations (those that are recorded, and that the choice names), and
 * every interval_ns two words are chosen from all words of all places (objects/slots.h), each as likely as any other. So what is seen
 * there, multiplied by the number of words, is an unbiased estimate of all accesses to these places.
 *
 * The helper (os/helper.h) keeps the privileges that pfscope drops, and ends with it; the kernel removes the watchpoints of
 * a helper that is killed.
 */
#ifndef PFS_WATCH_POINTS_H
#define PFS_WATCH_POINTS_H

#include "base/err.h"
#include "record/raw.h"

#include <sys/types.h>

struct pfs_formats;
struct pfs_symbols;

/* What is learned from; what it points at is borrowed during the start. */
struct pfs_watchpoints {
	uint64_t interval_ns;
	/* Of kmem events: a filter for those that are learned from, as tracefs takes it ("": all; NULL: none). */
	const char *filter_kmalloc, *filter_cache_alloc;
	const char *site;		   /* the function that allocates; NULL: any */
	const struct pfs_formats *formats; /* of the kmem events */
	const struct pfs_symbols *symbols; /* of the kernel; NULL: it hides them */
};

/* Narrows the filter of an allocation down to those by that function. False: the kernel has none of that name. */
bool pfs_watchpoints_add_site(const struct pfs_symbols *symbols, const char *site, char *filter, size_t size);

/*
 * Starts the helper, which tries a watchpoint. The socket of its reports, which also keeps it running; or -errno with err set
 * (there are no watchpoints here, others use them, no such function).
 */
int pfs_watchpoints_start(const struct pfs_watchpoints *config, struct pfs_err *err);

/*
 * Begins to watch what these threads (NULL: everybody) and all that they start allocate from now on. At most
 * PFS_WATCH_MAX_TIDS. 0 or -errno with err set.
 */
#define PFS_WATCH_MAX_TIDS 4096
int pfs_watchpoints_begin(int fd, const pid_t *tids, unsigned int nr, struct pfs_err *err);

/*
 * Passes on what has been sent: RAW_PFS_WATCH and RAW_PFS_ACCESS, in order of time. *until_ns: nothing that comes later is of
 * before that. 0, -EPIPE: the helper has ended, or what fn returned.
 */
int pfs_watchpoints_take(int fd, uint64_t *until_ns, raw_event_fn fn, void *ctx);

#endif
