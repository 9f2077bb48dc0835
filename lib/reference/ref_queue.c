/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/ref_queue.h"

#include "base/array.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct last_of_thread {
	int32_t tid;
	uint64_t nr; /* of the run whose last one was held last; it may be decided, or gone */
	UT_hash_handle hh;
};

void pfs_ref_queue_fini(struct pfs_ref_queue *queue)
{
	PFS_HASH_FREE(queue->last);
	free(queue->runs);
	free(queue->waiting);
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

/* Drops the first elements of an array, which were taken out, once they are the larger part. Returns their number. */
static size_t drop(void *array, size_t *first, size_t *nr, size_t size)
{
	size_t dropped = *first >= *nr - *first ? *first : 0;

	*first -= dropped;
	*nr -= dropped;
	if (dropped)
		memmove(array, (char *)array + dropped * size, *nr * size);
	return dropped;
}

int pfs_ref_queue_add(struct pfs_ref_queue *queue, const struct pfs_waiting_run *run,
		      const struct pfs_fault_run *faults, uint32_t from)
{
	struct last_of_thread *last = NULL;

	queue->nr_dropped += drop(queue->runs, &queue->first_run, &queue->nr_runs, sizeof(*queue->runs));
	drop(queue->waiting, &queue->first_waiting, &queue->nr_waiting, sizeof(*queue->waiting));
	if (!pfs_array_reserve(queue->runs, queue->nr_runs, queue->max_runs, 1) ||
	    !pfs_array_reserve(queue->waiting, queue->nr_waiting, queue->max_waiting, run->nr))
		return -ENOMEM;
	if (run->fate == PFS_REF_HELD) {
		last = PFS_HASH_GET(queue->last, tid, run->ref.tid);
		if (!last)
			return -ENOMEM;
		queue->hot = last;
		last->nr = queue->nr_dropped + queue->nr_runs;
	}
	queue->runs[queue->nr_runs++] = *run;
	for (uint32_t i = from; i < from + run->nr; i++)
		queue->waiting[queue->nr_waiting++] =
			(struct pfs_waiting_ref){ faults->ts_ns[i], faults->addr[i], faults->ip[i] };
	return 0;
}

bool pfs_ref_queue_decide(struct pfs_ref_queue *queue, int32_t tid, enum pfs_ref_fate fate)
{
	struct last_of_thread *last = queue->first_run == queue->nr_runs ? NULL : last_of(queue, tid);
	struct pfs_waiting_run *run;

	if (!last || last->nr < queue->nr_dropped + queue->first_run)
		return false;
	run = &queue->runs[last->nr - queue->nr_dropped];
	if (run->fate != PFS_REF_HELD)
		return false;
	run->fate = fate;
	return true;
}

void pfs_ref_queue_decide_all(struct pfs_ref_queue *queue)
{
	for (size_t i = queue->first_run; i < queue->nr_runs; i++)
		if (queue->runs[i].fate == PFS_REF_HELD)
			queue->runs[i].fate = PFS_REF_SERVED;
}

const struct pfs_waiting_run *pfs_ref_queue_next(struct pfs_ref_queue *queue, const struct pfs_waiting_ref **waiting)
{
	while (queue->first_run < queue->nr_runs) {
		struct pfs_waiting_run *run = &queue->runs[queue->first_run];
		size_t behind = queue->first_waiting + run->nr;

		if (run->fate == PFS_REF_HELD && queue->nr_waiting - behind < PFS_REFS_WAITING_MAX)
			return NULL;
		*waiting = &queue->waiting[queue->first_waiting];
		queue->first_waiting = behind;
		queue->first_run++;
		run->nr -= run->fate == PFS_REF_REFUSED;
		if (run->nr)
			return run;
	}
	return NULL;
}
