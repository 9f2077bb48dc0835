/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/ref_queue.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

struct last_of_thread {
	int32_t tid;
	uint64_t nr; /* of the one held last; it may be decided, or gone */
	UT_hash_handle hh;
};

void pfs_ref_queue_fini(struct pfs_ref_queue *queue)
{
	struct last_of_thread *last, *next;

	HASH_ITER (hh, queue->last, last, next) {
		HASH_DEL(queue->last, last);
		free(last);
	}
	free(queue->ring);
}

static struct pfs_waiting_ref *at(const struct pfs_ref_queue *queue, uint64_t nr)
{
	return &queue->ring[nr & (queue->size - 1)];
}

static int make_room(struct pfs_ref_queue *queue)
{
	struct pfs_ref_queue bigger = *queue;

	if (queue->tail - queue->head < queue->size)
		return 0;
	bigger.size = queue->size ? 2 * queue->size : 64;
	bigger.ring = reallocarray(NULL, bigger.size, sizeof(*bigger.ring));
	if (!bigger.ring)
		return -ENOMEM;
	for (uint64_t nr = queue->head; nr < queue->tail; nr++)
		*at(&bigger, nr) = *at(queue, nr);
	free(queue->ring);
	*queue = bigger;
	return 0;
}

static struct last_of_thread *last_of(struct pfs_ref_queue *queue, int32_t tid)
{
	struct last_of_thread *last = queue->hot;

	if (last && last->tid == tid)
		return last;
	HASH_FIND(hh, queue->last, &tid, sizeof(tid), last);
	if (last)
		queue->hot = last;
	return last;
}

static struct last_of_thread *last_new(struct pfs_ref_queue *queue, int32_t tid)
{
	struct last_of_thread *last = calloc(1, sizeof(*last));

	if (!last)
		return NULL;
	last->tid = tid;
	HASH_ADD(hh, queue->last, tid, sizeof(last->tid), last);
	if (!HASH_ADD_FAILED(last))
		return queue->hot = last;
	free(last);
	return NULL;
}

int pfs_ref_queue_add(struct pfs_ref_queue *queue, const struct pfs_waiting_ref *waiting)
{
	struct last_of_thread *last = NULL;

	if (make_room(queue))
		return -ENOMEM;
	if (waiting->fate == PFS_REF_HELD) {
		last = last_of(queue, waiting->ref.tid);
		if (!last)
			last = last_new(queue, waiting->ref.tid);
		if (!last)
			return -ENOMEM;
		last->nr = queue->tail;
	}
	*at(queue, queue->tail++) = *waiting;
	return 0;
}

bool pfs_ref_queue_decide(struct pfs_ref_queue *queue, int32_t tid, enum pfs_ref_fate fate)
{
	struct last_of_thread *last = queue->head == queue->tail ? NULL : last_of(queue, tid);

	if (!last || last->nr < queue->head || at(queue, last->nr)->fate != PFS_REF_HELD)
		return false;
	at(queue, last->nr)->fate = fate;
	return true;
}

void pfs_ref_queue_decide_all(struct pfs_ref_queue *queue)
{
	for (uint64_t nr = queue->head; nr < queue->tail; nr++)
		if (at(queue, nr)->fate == PFS_REF_HELD)
			at(queue, nr)->fate = PFS_REF_SERVED;
}

const struct pfs_waiting_ref *pfs_ref_queue_next(struct pfs_ref_queue *queue)
{
	while (queue->head < queue->tail) {
		const struct pfs_waiting_ref *first = at(queue, queue->head);

		if (first->fate == PFS_REF_HELD && queue->tail - queue->head <= PFS_REFS_WAITING_MAX)
			return NULL;
		queue->head++;
		if (first->fate != PFS_REF_REFUSED)
			return first;
	}
	return NULL;
}
