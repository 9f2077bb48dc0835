/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf's side-band of mappings: PERF_RECORD_MMAP2 and what goes with it, for some processes.
 *
 * The only source that tells what exec maps, how a stack grows, and the file name, device, inode and
 * protection of a region. It never tells of a removal or a move. Records come out as raw events
 * (RAW_PFS_MAP, RAW_PFS_TASK, and a note of what was lost) in order of time; capture.c puts them into the recording.
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

/* What a ring is known by; -1: that processor has none. Borrowed. */
int pfs_sideband_ring_fd(const struct pfs_sideband *sb, int cpu);

/*
 * As pfs_sideband_add(), of one processor, in a process that has no more than the ring's descriptor. Returns what
 * has to stay open, here or elsewhere, as long as the thread and what it starts are watched; or -errno.
 */
int pfs_sideband_watch(pid_t tid, int cpu, int ring_fd);

/* Such a descriptor: it is the side-band's from here on. 0 or -ENOMEM. */
int pfs_sideband_keep(struct pfs_sideband *sb, int fd);

/*
 * The recording begins now: mappings made before it are dropped (threads are watched one by one, so
 * they are not all of them); threads and their names are taken as told now. 0 or -ENOMEM.
 */
int pfs_sideband_begin(struct pfs_sideband *sb, uint64_t ts_ns);

/*
 * What to poll for a ring that fills up: writes at most one entry a processor, returns how many. What
 * poll said of them goes to the second function.
 */
unsigned int pfs_sideband_poll(const struct pfs_sideband *sb, struct pollfd *fds);
void pfs_sideband_polled(struct pfs_sideband *sb, const struct pollfd *fds, unsigned int nr);

/* Takes in what the kernel has ready. 0 or -ENOMEM. */
int pfs_sideband_drain(struct pfs_sideband *sb);

/* Passes everything drained that is before until_ns to fn, in order. 0 or what fn returned. */
int pfs_sideband_flush(struct pfs_sideband *sb, uint64_t until_ns, raw_event_fn fn, void *ctx);

/* The same, but of one thread only. */
int pfs_sideband_flush_thread(struct pfs_sideband *sb, pid_t tid, uint64_t until_ns, raw_event_fn fn, void *ctx);

/*
 * Queues a record of the caller's own (a note, a snapshot), for flush to pass on in its place. The string is copied.
 * A raw_event_fn, whose ctx is the side-band. 0 or -ENOMEM.
 */
int pfs_sideband_put(void *sideband, const struct raw_event *ev);

/* Is the side-band itself there, or only the queue for own records (kernel without perf)? */
int pfs_sideband_works(const struct pfs_sideband *sb);

#endif
