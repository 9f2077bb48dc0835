/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_event_open(2): opens an event, and reports why the kernel refuses one; the ring that events write into, and the
 * records of the side-band in it.
 */
#ifndef PFS_PERF_EVENT_H
#define PFS_PERF_EVENT_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor, or -errno. cpu -1: any. */
int pfs_perf_open(struct perf_event_attr *attr, pid_t tid, int cpu);

/*
 * May the caller have the faults of its own processes: those in user mode, or with `kernel` those in kernel mode, too?
 * Opens and closes such an event. 0, or -errno with err set.
 */
int pfs_perf_may_record(bool kernel, struct pfs_err *err);

/* May it have those of that process? 0 or -errno. */
int pfs_perf_may_watch(pid_t pid);

/* Sets err to why the kernel returned that -errno: the setting, and what changes it. Returns ret. */
int pfs_perf_refused(int ret, struct pfs_err *err);

/* ---- the ring of a CPU; all 0 but fd -1 at first ---- */

struct pfs_perf_ring {
	struct perf_event_mmap_page *meta; /* NULL: there is none yet */
	size_t page_size, bytes;	   /* of the data */
	char *scratch;			   /* a record that wraps round the end */
	int fd;				   /* of the first event; borrowed */
};

/*
 * The event of that descriptor writes into the ring: the first one makes it, with that many pages (a power of 2). 0 or
 * -errno.
 */
int pfs_perf_ring_join(struct pfs_perf_ring *ring, int fd, unsigned int nr_pages);

/* Passes on the records that are ready and gives their room back. 0 or what fn returned. */
typedef int (*pfs_perf_fn)(void *ctx, const struct perf_event_header *header);
int pfs_perf_ring_drain(struct pfs_perf_ring *ring, pfs_perf_fn fn, void *ctx);

void pfs_perf_ring_fini(struct pfs_perf_ring *ring);

/* ---- records ---- */

/* A sample of this type; behind it is what else the event reports. */
#define PFS_PERF_SAMPLE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)
struct pfs_perf_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, addr;
	uint64_t more[];
};

struct pfs_perf_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct pfs_perf_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct pfs_perf_task {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct pfs_perf_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

#endif
