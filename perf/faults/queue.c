/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records wait here until those of all CPUs that are earlier have come. */
#include "faults/faults_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

int perf_queue_put(struct perf_queue *q, struct perf_item item)
{
	struct perf_item *added = pfs_array_add(q->items, q->nr, q->max);

	if (!added) {
		free(item.data);
		return -ENOMEM;
	}
	item.order = q->arrivals++;
	*added = item;
	q->sorted = false;
	return 0;
}

static int by_time(const void *left, const void *right)
{
	const struct perf_item *a = left, *b = right;

	return pfs_order(a->ts_ns, b->ts_ns) ?: pfs_order(a->order, b->order);
}

int perf_queue_flush(struct perf_queue *q, uint64_t until_ns, int (*fn)(void *ctx, const struct perf_item *item),
		     void *ctx)
{
	size_t done = 0;
	int ret = 0;

	if (!q->sorted && q->nr)
		qsort(q->items, q->nr, sizeof(*q->items), by_time);
	q->sorted = true;
	for (; !ret && done < q->nr && q->items[done].ts_ns < until_ns; done++) {
		ret = fn(ctx, &q->items[done]);
		free(q->items[done].data);
	}
	q->nr -= done;
	memmove(q->items, q->items + done, q->nr * sizeof(*q->items));
	return ret;
}

const struct perf_item *perf_queue_next(const struct perf_queue *q, const struct perf_item *item, uint32_t type)
{
	for (const struct perf_item *i = item + 1; i < q->items + q->nr; i++)
		if (i->kind == PERF_RECORD && i->tid == item->tid &&
		    ((const struct perf_event_header *)i->data)->type == type)
			return i;
	return NULL;
}

void perf_queue_free(struct perf_queue *q)
{
	for (size_t i = 0; i < q->nr; i++)
		free(q->items[i].data);
	free(q->items);
	*q = (struct perf_queue){ 0 };
}
