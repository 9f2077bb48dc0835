/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband/: what perf and /proc report beside the trace events.
 *
 *     sideband.h   perf's records of mappings, the kernel's counts of faults
 *     cache.h      what of the mapped files is in the page cache
 *     snapshot.h   the layout and the threads of a running process
 *     accounts.h   the kernel's counts of faults of each process
 *     execs.h      command lines
 *     dumps.h      dumps of registers and stack at each fault, and what is unwound of them
 *
 * perf's side-band (PERF_RECORD_MMAP2, COMM, FORK, EXIT, LOST) alone reports what exec maps, how a stack grows, and the
 * file name, device, inode and protection of a region. It never reports a removal or a move. Its records become raw
 * events (RAW_PFS_MAP, RAW_PFS_TASK, and a note of what was lost) in order of time.
 */
#ifndef PFS_SIDEBAND_H
#define PFS_SIDEBAND_H

#include "base/err.h"
#include "record/raw.h"

#include <poll.h>
#include <sys/types.h>

struct pfs_sideband;

/* NULL with err set (no perf events in this kernel, not allowed, no memory). */
struct pfs_sideband *pfs_sideband_new(struct pfs_err *err);
void pfs_sideband_free(struct pfs_sideband *sb);

/* Watches a thread and every thread and process that it starts from now on. 0 or -errno. */
int pfs_sideband_add(struct pfs_sideband *sb, pid_t tid, struct pfs_err *err);

/*
 * Makes the rings though no thread is watched yet, so that others may (see below). 0 or -errno.
 */
int pfs_sideband_open_rings(struct pfs_sideband *sb, struct pfs_err *err);

/* The descriptor of a CPU's ring; -1: it has none. Borrowed. */
int pfs_sideband_ring_fd(const struct pfs_sideband *sb, int cpu);

/*
 * As pfs_sideband_add() for one CPU, in a process that has only the ring's descriptor. Returns a descriptor that has to
 * stay open, in any process, as long as the thread and its children are watched; or -errno.
 */
int pfs_sideband_watch(pid_t tid, int cpu, int ring_fd);

/* Takes such a descriptor over. 0 or -ENOMEM. */
int pfs_sideband_keep(struct pfs_sideband *sb, int fd);

/*
 * The recording begins now: mappings made before are dropped (they are incomplete, as threads are watched one by one);
 * threads and their names are dated now. 0 or -ENOMEM.
 */
int pfs_sideband_begin(struct pfs_sideband *sb, uint64_t ts_ns);

/*
 * Writes what to poll for rings that fill up, at most one entry per CPU, and returns how many. The polled entries go to
 * the second function.
 */
unsigned int pfs_sideband_poll(const struct pfs_sideband *sb, struct pollfd *fds);
void pfs_sideband_polled(struct pfs_sideband *sb, const struct pollfd *fds, unsigned int nr);

/* Takes in what the kernel has ready. 0 or -ENOMEM. */
int pfs_sideband_drain(struct pfs_sideband *sb);

/*
 * Passes all drained records of a thread (0: of all) before until_ns to fn, in order. 0 or what fn returned. Of all, one that
 * comes when later ones have been passed on is dated as the last of those.
 */
int pfs_sideband_flush(struct pfs_sideband *sb, pid_t tid, uint64_t until_ns, raw_event_fn fn, void *ctx);

/*
 * Queues a record of the caller's own (a note, a snapshot), for flush to pass on in its place. The string is copied.
 * A raw_event_fn, whose ctx is the side-band. 0 or -ENOMEM.
 */
int pfs_sideband_put(void *sideband, const struct raw_event *ev);

/* Returns false without perf events: then it only queues own records. */
int pfs_sideband_works(const struct pfs_sideband *sb);

/* ---- the kernel's own counts of faults, counted and not sampled ---- */

struct pfs_counters {
	int fds[3];
};

struct pfs_counts_read {
	uint64_t faults;       /* exceptions that the kernel set out to handle */
	uint64_t minor, major; /* those it handled, outside of get_user_pages */
};

/* Counts from now on, for pid and all that it starts. 0 or -errno; then there is nothing to close. */
int pfs_counters_open(struct pfs_counters *counters, pid_t pid);

/* 0 or -errno. Complete once all counted processes have ended. */
int pfs_counters_read(const struct pfs_counters *counters, struct pfs_counts_read *counts);

void pfs_counters_close(struct pfs_counters *counters);

#endif
