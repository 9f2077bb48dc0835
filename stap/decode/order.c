/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders records by time. Those of one CPU arrive in order and those of several nearly so: a record is inserted from the
 * end of the queue.
 */
#include "decode/decode_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct dec_queued *slot(const struct dec_queue *q, size_t i)
{
	return &q->ring[(q->first + i) & (q->max - 1)];
}

static int make_room(struct dec_queue *q)
{
	size_t want = q->max ? q->max * 2 : 256;
	struct dec_queued *bigger;

	if (q->nr < q->max)
		return 0;
	bigger = malloc(want * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	for (size_t i = 0; i < q->nr; i++)
		bigger[i] = *slot(q, i);
	free(q->ring);
	q->ring = bigger;
	q->max = want;
	q->first = 0;
	return 0;
}

int dec_queue_push(struct dec_queue *q, const struct pfs_rec *rec, uint64_t key)
{
	size_t i;

	if (make_room(q))
		return -ENOMEM;
	for (i = q->nr++; i && slot(q, i - 1)->key > key; i--)
		*slot(q, i) = *slot(q, i - 1);
	slot(q, i)->key = key;
	slot(q, i)->rec = *rec;
	if (key > q->newest)
		q->newest = key;
	return 0;
}

bool dec_queue_pop(struct dec_queue *q, uint64_t until, struct pfs_rec *rec)
{
	if (!q->nr || slot(q, 0)->key > until)
		return false;
	*rec = slot(q, 0)->rec;
	rec->ts_ns = slot(q, 0)->key; /* so that events are in order */
	q->first = (q->first + 1) & (q->max - 1);
	q->nr--;
	return true;
}
