// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The merge: a heap of streams, the one with the earliest record on top.
 *
 * A stream's head is a record that has been found but not yet decoded; most often the same stream
 * stays on top, so that a step is: decode, pass on, walk to the next record, compare once.
 */
#include "merge.h"

#include "own_events.h"
#include "record.h"
#include "ringpage.h"

#include <errno.h>
#include <stdlib.h>

struct stream {
	uint64_t ts;			/* of the head, converted */
	const uint8_t *record;		/* the head; NULL: the loss before the page */
	uint32_t len;
	int32_t cpu;
	uint32_t order;			/* of equal times, who goes first */
	struct pfs_ring_page page;
	bool converts;
	bool gap;			/* something before the next sub-buffer could not be read */
	struct pfs_ts_conv conv;
	struct pfs_page_source *src;
};

struct pfs_merge {
	const struct pfs_formats *formats;
	unsigned int flags;
	struct stream **heap;		/* streams that have a head */
	struct stream **dry;		/* streams that have none now */
	unsigned int nr_heap, nr_dry, nr_streams, max_streams;
	struct pfs_own_join *join;
	struct pfs_merge_stats stats;
	char scratch[PFS_RECORD_STR];
};

struct pfs_merge *pfs_merge_new(const struct pfs_formats *formats, unsigned int flags)
{
	struct pfs_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->formats = formats;
	m->flags = flags;
	m->join = pfs_own_join_new();
	if (!m->join) {
		free(m);
		return NULL;
	}
	return m;
}

static void free_stream(struct stream *s)
{
	pfs_page_source_free(s->src);
	free(s);
}

void pfs_merge_free(struct pfs_merge *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->nr_heap; i++)
		free_stream(m->heap[i]);
	for (unsigned int i = 0; i < m->nr_dry; i++)
		free_stream(m->dry[i]);
	pfs_own_join_free(m->join);
	free(m->heap);
	free(m->dry);
	free(m);
}

/* Room for one more stream in both arrays. */
static int make_room(struct pfs_merge *m)
{
	unsigned int max = m->max_streams ? m->max_streams * 2 : 8;
	struct stream **heap, **dry;

	if (m->nr_streams < m->max_streams)
		return 0;
	heap = realloc(m->heap, max * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	m->heap = heap;
	dry = realloc(m->dry, max * sizeof(*dry));
	if (!dry)
		return -ENOMEM;
	m->dry = dry;
	m->max_streams = max;
	return 0;
}

int pfs_merge_add(struct pfs_merge *m, int cpu, struct pfs_page_source *src,
		  const struct pfs_ts_conv *conv)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s || !src || make_room(m) < 0) {
		pfs_page_source_free(src);
		free(s);
		return -ENOMEM;
	}
	s->src = src;
	s->cpu = cpu;
	s->order = m->nr_streams++;
	if (conv) {
		s->conv = *conv;
		s->converts = conv->mult || conv->offset_ns || conv->sync;
	}
	m->dry[m->nr_dry++] = s;
	return 0;
}

static bool before(const struct stream *a, const struct stream *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->order < b->order);
}

static void sift_up(struct pfs_merge *m, unsigned int i)
{
	struct stream *s = m->heap[i];

	while (i && before(s, m->heap[(i - 1) / 2])) {
		m->heap[i] = m->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	m->heap[i] = s;
}

static void sift_down(struct pfs_merge *m)
{
	struct stream *s = m->heap[0];
	unsigned int i = 0, child;

	while ((child = 2 * i + 1) < m->nr_heap) {
		if (child + 1 < m->nr_heap && before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m->heap[child], s))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = s;
}

/* Something cannot be read: counted where that is allowed, else the end. */
static int damage(struct pfs_merge *m, int code, const struct pfs_err *why, struct pfs_err *err)
{
	if (!(m->flags & PFS_MERGE_SALVAGE))
		return pfs_err_set(err, code, "%s", why->msg);
	if (!m->stats.damaged++)
		m->stats.first_damage = *why;
	return 0;
}

static int damaged_page(struct pfs_merge *m, struct stream *s, uint32_t at, struct pfs_err *err)
{
	struct pfs_err why;

	/* of one sub-buffer one thing is enough */
	if (s->gap)
		return 0;
	s->gap = true;
	pfs_err_set(&why, 0, "damaged trace data at offset %llu, in the page at offset %llu of "
		    "processor %d",
		    (unsigned long long)s->src->where + at, (unsigned long long)s->src->where,
		    s->cpu);
	return damage(m, -EBADMSG, &why, err);
}

static void count_lost(struct pfs_merge *m, uint64_t lost)
{
	if (lost == PFS_LOST_UNKNOWN)
		m->stats.lost_unknown++;
	else
		m->stats.lost += lost;
}

/* The stream's next sub-buffer. 1, 0: none now, -errno. */
static int next_page(struct pfs_merge *m, struct stream *s, struct pfs_err *err)
{
	const struct pfs_ring_layout *ring = &m->formats->ring;
	const uint8_t *bytes;
	struct pfs_err why;
	uint32_t size;
	int ret;

	while ((ret = s->src->next(s->src, &bytes, &size, &why)) < 0) {
		s->gap = true;
		ret = damage(m, ret, &why, err);
		if (ret < 0)
			return ret;
	}
	if (!ret)
		return 0;
	m->stats.pages++;
	ret = pfs_ring_page_load(&s->page, ring, bytes, size);
	if (s->gap && !s->page.lost)
		s->page.lost = PFS_LOST_UNKNOWN;
	s->gap = false;
	if (ret < 0)
		ret = damaged_page(m, s, ring->commit_at, err);
	return ret < 0 ? ret : 1;
}

/* Puts the stream's next record at its head. 1, 0: there is none now, or -errno. */
static int next_record(struct pfs_merge *m, struct stream *s, struct pfs_err *err)
{
	const uint8_t *payload;
	int ret;

	while ((ret = pfs_ring_page_next(&s->page, &payload, &s->len)) <= 0) {
		if (ret < 0) {
			ret = damaged_page(m, s, m->formats->ring.data_at + s->page.pos, err);
			if (ret < 0)
				return ret;
		}
		ret = next_page(m, s, err);
		if (ret <= 0)
			return ret;
		if (s->page.lost) {
			payload = NULL;
			break;
		}
	}
	s->record = payload;
	s->ts = s->converts ? pfs_ts_convert(&s->conv, s->page.ts) : s->page.ts;
	return 1;
}

/* Asks all dry streams whether they have something by now. */
static int revive(struct pfs_merge *m, struct pfs_err *err)
{
	unsigned int kept = 0;
	int ret = 0;

	for (unsigned int i = 0; i < m->nr_dry; i++) {
		struct stream *s = m->dry[i];
		int got = ret < 0 ? 0 : next_record(m, s, err);

		if (got > 0) {
			m->heap[m->nr_heap++] = s;
			sift_up(m, m->nr_heap - 1);
			continue;
		}
		if (got < 0)
			ret = got;
		m->dry[kept++] = s;
	}
	m->nr_dry = kept;
	return ret;
}

/* Moves the stream on top to its next record, or away. */
static int advance(struct pfs_merge *m, struct pfs_err *err)
{
	struct stream *s = m->heap[0];
	int ret = next_record(m, s, err);

	if (ret <= 0) {
		m->dry[m->nr_dry++] = s;
		m->heap[0] = m->heap[--m->nr_heap];
	}
	if (m->nr_heap > 1)
		sift_down(m);
	return ret < 0 ? ret : 0;
}

static int emit_lost(struct pfs_merge *m, struct stream *s, struct raw_event *ev,
		     raw_event_fn fn, void *ctx)
{
	ev->kind = RAW_LOST;
	ev->tid = -1;
	ev->tgid = -1;
	ev->comm = ev->str = NULL;
	ev->arg[0] = s->page.lost;
	for (unsigned int i = 1; i < RAW_MAX_ARGS; i++)
		ev->arg[i] = RAW_ABSENT;
	count_lost(m, s->page.lost);
	return fn(ctx, ev);
}

static int emit_own(struct pfs_merge *m, struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	int ret = pfs_own_join(m->join, ev);

	ev->cpu = -1;
	return ret > 0 ? fn(ctx, ev) : ret;
}

/* Passes on the head of the stream on top. */
static int emit(struct pfs_merge *m, struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	struct stream *s = m->heap[0];
	enum raw_kind kind;

	ev->ts_ns = s->ts;
	ev->cpu = s->cpu;
	if (!s->record)
		return emit_lost(m, s, ev, fn, ctx);
	m->stats.records++;
	kind = pfs_record_decode(m->formats, s->record, s->len, m->scratch, ev);
	if (kind == RAW_OTHER) {
		m->stats.other++;
		return m->flags & PFS_MERGE_OTHER ? fn(ctx, ev) : 0;
	}
	if (kind >= RAW_PFS_MAP)
		return emit_own(m, ev, fn, ctx);
	return fn(ctx, ev);
}

int pfs_merge_run(struct pfs_merge *m, uint64_t until_ns, raw_event_fn fn, void *ctx,
		  struct pfs_err *err)
{
	struct raw_event ev = { .kind = RAW_OTHER, .tgid = -1 };
	int ret = revive(m, err);

	while (!ret && m->nr_heap && (m->heap[0]->ts < until_ns || until_ns == UINT64_MAX)) {
		int moved;

		ret = emit(m, &ev, fn, ctx);
		/* also when fn stops us: it has had this one */
		moved = advance(m, err);
		if (!ret)
			ret = moved;
	}
	return ret;
}

const struct pfs_merge_stats *pfs_merge_stats(const struct pfs_merge *m)
{
	return &m->stats;
}
