// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The merge: a heap of streams, the one with the earliest record on top.
 *
 * A stream's head is a record that has been found but not yet decoded; most often the same stream
 * stays on top, so that a step is: decode, pass on, walk to the next record, compare once.
 */
#include "record/merge.h"

#include "base/array.h"
#include "base/bytes.h"
#include "record/fault_batch.h"
#include "record/pfscope_records.h"
#include "record/record.h"
#include "record/ringpage.h"

#include <errno.h>
#include <stdlib.h>

struct stream {
	uint64_t ts;	       /* of the head, converted */
	uint64_t since;	       /* of a loss: time of the record before it; 0: there was none */
	const uint8_t *record; /* the head; NULL: the loss before the page */
	uint32_t len;
	int32_t cpu;
	uint32_t order; /* among streams of equal times */
	struct pfs_ring_page page;
	bool converts;
	bool gap;	  /* something before the next sub-buffer could not be read */
	bool cut;	  /* its end is missing */
	bool own;	  /* pfscope's own records: of no CPU */
	bool passed_over; /* the last record but stacks was one of no use */
	struct pfs_ts_conv conv;
	struct pfs_page_source *src;
};

enum { PREFETCH = 2048 }; /* bytes ahead: the CPU's own prefetching ends with each page */

/* Where the arguments are in records of one kind of page fault. */
struct quick {
	uint16_t id;	/* of the event; 0: not seen yet */
	uint16_t len;	/* bytes that a record must have */
	uint16_t at[3]; /* address, ip, error_code */
};

struct pfs_merge {
	const struct pfs_formats *formats;
	unsigned int flags;
	struct stream **heap; /* streams that have a head */
	struct stream **dry;  /* streams that have none now */
	unsigned int nr_heap, nr_dry, nr_streams, max_heap, max_dry;
	struct pfs_records_join join;
	struct pfs_merge_stats stats;
	pfs_merge_watch_fn watch; /* or NULL */
	void *watch_ctx;
	struct quick quick[2];	  /* by enum pfs_mode - 1 */
	struct fault_batch batch; /* faults gathered, not passed on yet */
	char scratch[PFS_RECORD_STR];
};

struct pfs_merge *pfs_merge_new(const struct pfs_formats *formats, unsigned int flags)
{
	struct pfs_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->formats = formats;
	m->flags = flags;
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
	pfs_records_join_free(&m->join);
	free(m->heap);
	free(m->dry);
	free(m);
}

int pfs_merge_add(struct pfs_merge *m, int cpu, struct pfs_page_source *src, const struct pfs_ts_conv *conv)
{
	struct stream *s = calloc(1, sizeof(*s));

	/* room for one more stream in both arrays, whichever it will be in */
	if (!s || !src || !pfs_array_reserve(m->heap, m->nr_streams, m->max_heap, 1) ||
	    !pfs_array_reserve(m->dry, m->nr_streams, m->max_dry, 1)) {
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

void pfs_merge_cut(struct pfs_merge *m)
{
	m->dry[m->nr_dry - 1]->cut = true;
}

/* The arithmetic is trace-cmd's, overflow and rounding with it: the result is the time that `trace-cmd report` prints. */
static uint64_t host_time(const struct pfs_sync *sync, uint64_t ts)
{
	const struct pfs_sync_sample *s = sync->samples, *next = s + 1;
	uint32_t nr = sync->nr_samples;
	uint64_t offset;
	int64_t delta;

	if (nr < 2)
		return nr ? ts + s->offset : ts;
	/* the last sample that is not after ts (or the first), and the one that follows it */
	s += pfs_lower_bound(nr - 2, i, next[i].time <= ts);
	next = s + 1;
	offset = s->offset;
	delta = next->time - s->time;
	if (sync->interpolate && delta > 0) {
		uint64_t part = (ts - s->time) * ((uint64_t)next->offset - (uint64_t)s->offset);

		offset += (int64_t)(part + delta / 2) / delta;
	}
	return (ts * s->scaling >> (s->fraction & 63)) + offset;
}

static inline uint64_t convert_time(const struct pfs_ts_conv *conv, uint64_t ts)
{
	if (conv->sync)
		ts = host_time(conv->sync, ts);
	if (conv->mult)
		ts = (unsigned __int128)ts * conv->mult >> conv->shift;
	return ts + conv->offset_ns;
}

static bool before(const struct stream *a, const struct stream *b)
{
	return a->ts < b->ts || (a->ts == b->ts && a->order < b->order);
}

static inline void sift_down(struct pfs_merge *m, unsigned int i)
{
	struct stream *s = m->heap[i];
	unsigned int child;

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

/* Something cannot be read: counted with PFS_MERGE_SALVAGE, else an error. */
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

	/* one message per sub-buffer is enough */
	if (s->gap)
		return 0;
	s->gap = true;
	pfs_err_set(&why, 0, "damaged trace data at offset %llu, in the page at offset %llu of CPU %d",
		    (unsigned long long)s->src->where + at, (unsigned long long)s->src->where, s->cpu);
	return damage(m, -EBADMSG, &why, err);
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
	if (m->watch && !(m->stats.pages % 256))
		m->watch(m->watch_ctx, &m->stats);
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
			s->since = s->ts;
			break;
		}
	}
	s->record = payload;
	s->ts = s->converts ? convert_time(&s->conv, s->page.ts) : s->page.ts;
	return 1;
}

/* Looks for new records in all dry streams. */
static int revive(struct pfs_merge *m, struct pfs_err *err)
{
	unsigned int kept = 0;
	int ret = 0;

	for (unsigned int i = 0; i < m->nr_dry; i++) {
		struct stream *s = m->dry[i];
		int got = ret < 0 ? 0 : next_record(m, s, err);

		if (got > 0) {
			m->heap[m->nr_heap++] = s;
			continue;
		}
		if (got < 0)
			ret = got;
		m->dry[kept++] = s;
	}
	m->nr_dry = kept;
	for (unsigned int i = m->nr_heap / 2; i-- > 0;)
		sift_down(m, i);
	return ret;
}

/* next_record() of the stream on top has returned `got`: moves the stream to its place in the heap, or to the dry ones. */
static int replace_top(struct pfs_merge *m, int got)
{
	if (got <= 0) {
		m->dry[m->nr_dry++] = m->heap[0];
		m->heap[0] = m->heap[--m->nr_heap];
	}
	if (m->nr_heap > 1)
		sift_down(m, 0);
	return got < 0 ? got : 0;
}

static int emit_lost(struct pfs_merge *m, struct stream *s, struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	raw_event_lost(ev, s->own ? -1 : s->cpu, s->page.lost, s->since);
	ev->ts_ns = s->ts;
	if (s->page.lost == PFS_LOST_UNKNOWN)
		m->stats.lost_unknown++;
	else
		m->stats.lost += s->page.lost;
	return fn(ctx, ev);
}

/* A reader that stops still gets the losses before the next records. */
static void emit_pending_losses(struct pfs_merge *m, raw_event_fn fn, void *ctx)
{
	struct raw_event ev = { 0 };

	for (unsigned int i = 0; i < m->nr_heap; i++)
		if (!m->heap[i]->record)
			emit_lost(m, m->heap[i], &ev, fn, ctx);
}

/* What could not be read at the end of a stream is lost on its CPU until the end of all streams. */
static int emit_last_losses(struct pfs_merge *m, raw_event_fn fn, void *ctx)
{
	struct raw_event ev = { 0 };
	uint64_t end = 0;
	int ret = 0;

	for (unsigned int i = 0; i < m->nr_dry; i++)
		end = m->dry[i]->ts > end ? m->dry[i]->ts : end;
	for (unsigned int i = 0; !ret && i < m->nr_dry; i++) {
		struct stream *s = m->dry[i];

		if (!s->gap && !s->cut)
			continue;
		s->gap = s->cut = false;
		s->since = s->ts;
		s->ts = end;
		s->page.lost = PFS_LOST_UNKNOWN;
		ret = emit_lost(m, s, &ev, fn, ctx);
	}
	return ret;
}

static int emit_own(struct pfs_merge *m, struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	int ret = pfs_records_join(&m->join, ev);

	ev->cpu = -1;
	return ret > 0 ? fn(ctx, ev) : ret;
}

/* The head of the stream on top, to be printed. */
static int emit_other(struct pfs_merge *m, const struct raw_event *ev, raw_event_fn fn, void *ctx)
{
	struct raw_event other = *ev;

	other.kind = RAW_OTHER;
	other.record = m->heap[0]->record;
	other.record_len = m->heap[0]->len;
	return m->flags & PFS_MERGE_OTHER ? fn(ctx, &other) : 0;
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
		s->passed_over = true;
		return emit_other(m, ev, fn, ctx);
	}
	if (kind >= RAW_PFS_MAP) {
		s->own = true;
		return emit_own(m, ev, fn, ctx);
	}
	if (raw_is_stack(kind))
		ev->arg[3] = s->passed_over;
	else
		s->passed_over = false;
	return (raw_is_call(kind) || raw_is_stack(kind) ? emit_other(m, ev, fn, ctx) : 0) ?: fn(ctx, ev);
}

/* ---- plain faults, many at once ---- */

/* Stores where the arguments are in records of that event. NULL: it is no page fault, or not in the usual layout. */
static const struct quick *learn_quick(struct pfs_merge *m, uint16_t id)
{
	const struct pfs_row *row = &m->formats->rows[m->formats->row_of[id]];
	struct quick *q;

	if (!row->desc || !row->quick || m->formats->ring.big_endian || !fault_mode(row->desc->kind))
		return NULL;
	q = &m->quick[row->desc->kind == RAW_FAULT_KERNEL];
	*q = (struct quick){ id, row->quick_len, { row->arg[0].off, row->arg[1].off, row->arg[2].off } };
	return q;
}

/* Of the stream's head, with *like what faults of one run share; NULL: no plain fault. */
static const struct quick *quick_of(struct pfs_merge *m, const struct stream *s, struct pfs_fault_run *like)
{
	const struct pfs_formats *f = m->formats;
	const struct quick *q = m->quick;
	uint16_t id;

	if (!s->record || s->len < f->type_at + 2u || s->len < f->pid_at + 4u || s->len % 4 || s->len > PFS_RING_SHORT)
		return NULL;
	id = pfs_load16(s->record + f->type_at, false);
	q += q->id != id;
	if (q->id != id || !id)
		q = learn_quick(m, id);
	if (!q || s->len < q->len)
		return NULL;
	*like = (struct pfs_fault_run){
		.cpu = s->cpu,
		.tid = pfs_load32(s->record + f->pid_at, false),
		.code = pfs_load64(s->record + q->at[2], false),
		.mode = q == m->quick ? PFS_USER : PFS_KERNEL,
	};
	return fault_is_plain(like, pfs_load64(s->record + q->at[1], false)) ? q : NULL;
}

/*
 * Adds to the batch the stream's head and the records behind it on the same page that belong to its run: those before
 * until_ns, as many as there is room for. Returns true if the stream's head is its next record then; else the caller
 * has to look for that behind the last one added.
 */
static bool batch_records(struct pfs_merge *m, struct stream *s, const struct quick *q,
			  const struct pfs_fault_run *like, uint64_t until_ns)
{
	const unsigned int type_at = m->formats->type_at, pid_at = m->formats->pid_at;
	const uint8_t *record = s->record, *data = s->page.data;
	struct fault_batch *b = &m->batch;
	struct pfs_fault_run *run = fault_batch_run(b, like, s->ts);
	unsigned int first = b->nr, nr = first;
	uint32_t pos = s->page.pos, step = s->len + 4, words = s->len / 4;
	uint64_t page_ts = s->page.ts, ts = s->ts, ip = pfs_load64(record + q->at[1], false);
	bool at_next = false;

	while (!at_next) {
		uint32_t head;

		b->ts_ns[nr] = ts;
		b->addr[nr] = pfs_load64(record + q->at[0], false);
		b->ip[nr++] = ip;
		if (nr == FAULT_BATCH || pos + step > s->page.end)
			break;
		record = data + pos + 4;
		__builtin_prefetch(record + PREFETCH);
		head = pfs_load32(record - 4, false);
		ip = pfs_load64(record + q->at[1], false);
		if ((head & 31) != words || pfs_load16(record + type_at, false) != q->id ||
		    pfs_load32(record + pid_at, false) != (uint32_t)like->tid ||
		    pfs_load64(record + q->at[2], false) != like->code || !fault_is_plain(like, ip))
			break;
		pos += step;
		page_ts += head >> 5;
		ts = s->converts ? convert_time(&s->conv, page_ts) : page_ts;
		at_next = ts >= until_ns || ts < b->ts_ns[nr - 1];
	}
	if (at_next)
		s->record = record;
	s->ts = at_next ? ts : b->ts_ns[nr - 1];
	s->page.pos = pos;
	s->page.ts = page_ts;
	b->nr = nr;
	run->nr += nr - first;
	m->stats.records += nr - first;
	return at_next;
}

/*
 * Gathers plain faults from the stream on top until a record of another stream comes first. Moves the stream to its
 * next record, or to the dry ones.
 */
static int gather(struct pfs_merge *m, const struct quick *q, struct pfs_fault_run *like, uint64_t until_ns, void *ctx,
		  struct pfs_err *err)
{
	struct stream *s = m->heap[0];
	int ret = 0, got;

	s->passed_over = false;
	for (unsigned int child = 1; child < 3 && child < m->nr_heap; child++)
		if (m->heap[child]->ts < until_ns)
			until_ns = m->heap[child]->ts;
	do {
		got = batch_records(m, s, q, like, until_ns) ? 1 : next_record(m, s, err);
		if (m->batch.nr == FAULT_BATCH)
			ret = fault_batch_pass(&m->batch, ctx);
	} while (!ret && got > 0 && s->ts < until_ns && (q = quick_of(m, s, like)));
	got = replace_top(m, got);
	return ret ? ret : got;
}

void pfs_merge_watch(struct pfs_merge *m, pfs_merge_watch_fn fn, void *ctx)
{
	m->watch = fn;
	m->watch_ctx = ctx;
}

void pfs_merge_take_faults(struct pfs_merge *m, raw_faults_fn faults)
{
	m->batch.fn = faults;
}

int pfs_merge_run(struct pfs_merge *m, uint64_t until_ns, raw_event_fn fn, void *ctx, struct pfs_err *err)
{
	struct raw_event ev = { .kind = RAW_OTHER, .tgid = -1 };
	struct pfs_fault_run like;
	int ret = revive(m, err), passed;

	while (!ret && m->nr_heap && (m->heap[0]->ts < until_ns || until_ns == UINT64_MAX)) {
		const struct quick *q = m->batch.fn ? quick_of(m, m->heap[0], &like) : NULL;
		int moved;

		if (q) {
			ret = gather(m, q, &like, until_ns, ctx, err);
			continue;
		}
		ret = fault_batch_pass(&m->batch, ctx);
		if (ret)
			break;
		ret = emit(m, &ev, fn, ctx);
		/* also when fn stops the merge: it has had this event */
		moved = replace_top(m, next_record(m, m->heap[0], err));
		if (!ret)
			ret = moved;
	}
	passed = fault_batch_pass(&m->batch, ctx);
	ret = ret ? ret : passed;
	if (ret == -ECANCELED)
		emit_pending_losses(m, fn, ctx);
	else if (!ret && until_ns == UINT64_MAX)
		ret = emit_last_losses(m, fn, ctx);
	return ret;
}

const struct pfs_merge_stats *pfs_merge_stats(const struct pfs_merge *m)
{
	return &m->stats;
}
