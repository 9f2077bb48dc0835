/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References in their order, until it is known that they are some: a fault was served if the next event of its thread
 * is no signal. refs.c fills the queue and passes on what comes out.
 */
#ifndef PFS_REF_QUEUE_H
#define PFS_REF_QUEUE_H

#include "reference/places.h"

enum pfs_ref_fate {
	PFS_REF_HELD, /* not decided: a signal may follow */
	PFS_REF_SERVED,
	PFS_REF_REFUSED,
};

/* References of one thread to one place, alike but for time, address and instruction. */
struct pfs_waiting_run {
	struct pfs_ref ref;
	struct pfs_spot spot;
	struct process *process; /* refs.c's */
	enum pfs_ref_fate fate;	 /* of the last one; those before it were served */
	uint32_t nr;
};

struct pfs_waiting_ref {
	uint64_t ts_ns, addr, ip;
};

/*
 * Most references that wait behind an undecided one. A thread may sleep after its last fault, and the references of all
 * others wait for it; a signal would have been recorded long before that many, so the fault counts as served.
 */
enum { PFS_REFS_WAITING_MAX = 65536 };

/* Begins as zeroes. */
struct pfs_ref_queue {
	struct pfs_waiting_run *runs;
	struct pfs_waiting_ref *waiting; /* of all runs */
	size_t nr_runs, max_runs, nr_waiting, max_waiting;
	size_t first_run, first_waiting; /* those before were taken out */
	uint64_t nr_dropped;		 /* runs that the array held before its first one */
	struct last_of_thread *last, *hot;
};

void pfs_ref_queue_fini(struct pfs_ref_queue *queue);

/* Appends run->nr faults from `faults`; if the last one is held, it is the last one of the thread. 0 or -ENOMEM. */
int pfs_ref_queue_add(struct pfs_ref_queue *queue, const struct pfs_waiting_run *run,
		      const struct pfs_fault_run *faults, uint32_t from);

/* Decides the thread's last fault if it is held; returns whether it was. */
bool pfs_ref_queue_decide(struct pfs_ref_queue *queue, int32_t tid, enum pfs_ref_fate fate);

/* All held ones were served. */
void pfs_ref_queue_decide_all(struct pfs_ref_queue *queue);

/* Takes out the first run if it need not wait; NULL: there is none. Both are valid until the next one is added. */
const struct pfs_waiting_run *pfs_ref_queue_next(struct pfs_ref_queue *queue, const struct pfs_waiting_ref **waiting);

#endif
