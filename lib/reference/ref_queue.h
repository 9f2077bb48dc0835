/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * References that wait to be told, in their order: whether a fault was served is known only when its thread goes on.
 * refs.c fills it and tells what comes out.
 */
#ifndef PFS_REF_QUEUE_H
#define PFS_REF_QUEUE_H

#include "reference/places.h"

enum pfs_ref_fate {
	PFS_REF_HELD, /* it may still turn out to have been none */
	PFS_REF_SERVED,
	PFS_REF_REFUSED,
};

struct pfs_waiting_ref {
	struct pfs_ref ref;
	struct pfs_spot spot;
	struct process *process; /* refs.c's */
	enum pfs_ref_fate fate;
};

/*
 * A thread may sleep as long as it likes before it goes on, and all others' references wait for its last one. Of a
 * fault that so many have followed it is taken that it was served: a signal comes as soon as the kernel knows.
 */
enum { PFS_REFS_WAITING_MAX = 65536 };

/* Of zeroes it is an empty one. */
struct pfs_ref_queue {
	struct pfs_waiting_ref *ring;
	size_t size;	     /* a power of two, or 0 */
	uint64_t head, tail; /* numbers of the first one, and behind the last one */
	struct last_of_thread *last, *hot;
};

void pfs_ref_queue_fini(struct pfs_ref_queue *queue);

/* Appends it; if it is held, it is the last one of the thread ref.tid. 0 or -ENOMEM. */
int pfs_ref_queue_add(struct pfs_ref_queue *queue, const struct pfs_waiting_ref *waiting);

/* The thread's last one is no longer held, if it was; returns whether it was. */
bool pfs_ref_queue_decide(struct pfs_ref_queue *queue, int32_t tid, enum pfs_ref_fate fate);

/* None is held any longer. */
void pfs_ref_queue_decide_all(struct pfs_ref_queue *queue);

static inline bool pfs_ref_queue_is_empty(const struct pfs_ref_queue *queue)
{
	return queue->head == queue->tail;
}

/* Takes out the first one if it need not wait; NULL: there is none. Valid until the next call. */
const struct pfs_waiting_ref *pfs_ref_queue_next(struct pfs_ref_queue *queue);

#endif
