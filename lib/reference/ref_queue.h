/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References that wait, in their order: whether a fault was served is known only when its thread goes on. refs.c fills
 * the queue and passes on what comes out.
 */
#ifndef PFS_REF_QUEUE_H
#define PFS_REF_QUEUE_H

#include "reference/places.h"

enum pfs_ref_fate {
	PFS_REF_HELD, /* it may still turn out to have been none */
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
 * A thread may sleep as long as it likes before it goes on, and all others' references wait for its last one. A fault
 * that so many have followed is taken as served: a signal comes as soon as the kernel knows.
 */
enum { PFS_REFS_WAITING_MAX = 65536 };

/* Of zeroes it is an empty one. */
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

/* The thread's last one is no longer held, if it was; returns whether it was. */
bool pfs_ref_queue_decide(struct pfs_ref_queue *queue, int32_t tid, enum pfs_ref_fate fate);

/* None is held any longer. */
void pfs_ref_queue_decide_all(struct pfs_ref_queue *queue);

/* Takes out the first run if it need not wait; NULL: there is none. Both are valid until the next one is added. */
const struct pfs_waiting_run *pfs_ref_queue_next(struct pfs_ref_queue *queue, const struct pfs_waiting_ref **waiting);

#endif
