/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder's entrance: orders and counts the records and passes each to the function for its type.
 *
 * A gap in the numbers becomes a `lost` event with the CPU and the count, at the record after the gap.
 */
#include "decode/decode_priv.h"

#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pfs_decoder *pfs_decoder_new(const struct pfs_sink *sink)
{
	struct pfs_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->sink = *sink;
	d->page_shift = 12;
	d->next_id = 1;
	return d;
}

void pfs_decoder_free(struct pfs_decoder *d)
{
	struct mirror *m, *next_mirror;

	if (!d)
		return;
	HASH_ITER (hh, d->mirrors, m, next_mirror)
		dec_mirror_drop(d, m);
	PFS_HASH_FREE(d->threads);
	PFS_HASH_FREE(d->procs);
	for (unsigned int i = 0; i < d->nr_cpus; i++) {
		if (d->cpu[i])
			free(d->cpu[i]->stated);
		free(d->cpu[i]);
	}
	free(d->cpu);
	free(d->queue.ring);
	pfs_intern_free(d->names);
	free(d);
}

void pfs_decoder_set_functions(struct pfs_decoder *d,
			       const char *(*function)(const void *ctx, uint64_t addr, uint64_t *start),
			       const void *ctx)
{
	d->function = function;
	d->function_ctx = ctx;
}

const struct pfs_decode_stats *pfs_decoder_stats(const struct pfs_decoder *d)
{
	return &d->stats;
}

static struct dec_cpu *cpu_get(struct pfs_decoder *d, uint16_t nr)
{
	if (nr >= d->nr_cpus && !pfs_array_extend(d->cpu, d->nr_cpus, nr + 1))
		return NULL;
	if (!d->cpu[nr])
		d->cpu[nr] = calloc(1, sizeof(*d->cpu[nr]));
	return d->cpu[nr];
}

/* ---- losses ---- */

/* since_ns 0, cpu -1, count 0: unknown. */
static int lost(struct pfs_decoder *d, uint64_t since_ns, uint64_t ts_ns, int cpu, uint64_t count)
{
	struct pfs_event ev = { .kind = PFS_LOST, .ts_ns = ts_ns, .cpu = cpu, .count = count };

	ev.have = (cpu >= 0 ? PFS_HAS(PFS_F_CPU) : 0) | (count ? PFS_HAS(PFS_F_COUNT) : 0);
	if (since_ns && since_ns <= ts_ns)
		PFS_SET(&ev, interval_ns, INTERVAL, ts_ns - since_ns);
	return pfs_emit(&d->sink, &ev);
}

static int number_of(const struct dec_cpu *cpu, unsigned int nr)
{
	return cpu->watches ? -1 : (int)nr;
}

/* Numbers wrap. After one that goes back, which is damage, counting continues from it. Counters have no number. */
static int count_record(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	uint32_t gap = rec->seq - cpu->next_seq;

	if (rec->type == PFS_REC_COUNTERS)
		return 0;
	cpu->next_seq = rec->seq + 1;
	if (!gap)
		return 0;
	cpu->torn = true;
	cpu->name_bad = true;
	if (gap > UINT32_MAX / 2) {
		d->stats.damaged++;
		return 0;
	}
	d->stats.lost += gap;
	return lost(d, cpu->last_ns, rec->ts_ns, number_of(cpu, rec->cpu), gap);
}

/*
 * SystemTap's own counts of what it skipped; the CPU and the time are unknown. What the kernel missed is added at the end, and
 * may be of any time.
 */
static int counters(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_counters *now = &rec->counters;
	uint64_t since_ns = rec->type == PFS_REC_END ? d->ready_ns : d->counters_ns;
	int err = 0;

	if (now->skipped > d->counters.skipped)
		err = lost(d, since_ns, rec->ts_ns, -1, now->skipped - d->counters.skipped);
	if (!err && now->no_memory > d->counters.no_memory)
		err = lost(d, d->counters_ns, rec->ts_ns, -1, 0);
	d->counters = *now;
	d->counters_ns = rec->ts_ns;
	d->stats.skipped = now->skipped;
	return err;
}

/* ---- records ---- */

/* A piece of a string. The pieces follow one another on one CPU. */
static void name_piece(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	const struct pfs_rec_name *name = &rec->name;

	if (!name->offset) {
		cpu->name_len = 0;
		cpu->name_total = name->total;
		cpu->name_bad = false;
	}
	if (rec->len > PFS_NAME_MAX || name->total > MAX_NAME || name->total != cpu->name_total ||
	    name->offset + (uint64_t)rec->len > name->total || name->offset != cpu->name_len) {
		d->stats.damaged += !cpu->name_bad;
		cpu->name_bad = true;
		return;
	}
	memcpy(cpu->name + cpu->name_len, name->piece, rec->len);
	cpu->name_len += rec->len;
	cpu->name[cpu->name_len] = '\0';
}

static int hello(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	const struct pfs_rec_hello *hello = &rec->hello;

	if (hello->magic != PFS_WIRE_MAGIC || hello->version != PFS_WIRE_VERSION ||
	    hello->rec_size != sizeof(struct pfs_rec))
		return -EPROTO;
	if (hello->page_shift >= 10 && hello->page_shift <= 24)
		d->page_shift = hello->page_shift;
	else
		d->stats.damaged++;
	return 0;
}

static int ready(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	d->stats.ready = true;
	d->counters = rec->counters; /* skipped hits before this were not of targets */
	d->counters_ns = d->ready_ns = rec->ts_ns;
	return (d->has_around || d->has_objects ? 0
						: dec_note(d, rec, NULL,
							   PFS_FACT(LACKS, .what = "filemap_map_pages",
								    .tells = "pages mapped by fault-around")))
		       ?: dec_note(d, rec, NULL, PFS_FACT(START, .text = "mono"));
}

static int probe(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec)
{
	const char *name = dec_name(cpu);

	d->has_around |= name && !strcmp(name, "around");
	d->has_objects |= name && !strcmp(name, "kfree");
	return name ? dec_note(d, rec, NULL, PFS_FACT(PROBE, .text = name)) : 0;
}

static int cpu_total(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_cpu *cpu = cpu_get(d, rec->end.cpu);

	if (!cpu)
		return -ENOMEM;
	cpu->final_nr = rec->end.nr;
	cpu->final_known = true;
	return 0;
}

static int end(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	d->stats.ended = true;
	return counters(d, rec);
}

/* A record that belongs together with others of its CPU has a function of the second kind. */
static const struct {
	int (*one)(struct pfs_decoder *d, const struct pfs_rec *rec);
	int (*of_cpu)(struct pfs_decoder *d, struct dec_cpu *cpu, const struct pfs_rec *rec);
} handlers[PFS_REC_OBJECTS_NR] = {
	[PFS_REC_HELLO] = { .one = hello },
	[PFS_REC_PROBE] = { .of_cpu = probe },
	[PFS_REC_READY] = { .one = ready },
	[PFS_REC_FAULT] = { .one = dec_fault },
	[PFS_REC_AROUND] = { .one = dec_around },
	[PFS_REC_EVICT] = { .one = dec_evict },
	[PFS_REC_ADVISE] = { .one = dec_advise },
	[PFS_REC_FILL] = { .one = dec_fill },
	[PFS_REC_LAYOUT] = { .of_cpu = dec_layout },
	[PFS_REC_REGION] = { .of_cpu = dec_region },
	[PFS_REC_LAYOUT_END] = { .of_cpu = dec_layout_end },
	[PFS_REC_UNMAP] = { .one = dec_unmap },
	[PFS_REC_MOVE] = { .one = dec_move },
	[PFS_REC_FORK] = { .one = dec_fork },
	[PFS_REC_THREAD] = { .one = dec_thread },
	[PFS_REC_EXEC] = { .of_cpu = dec_exec },
	[PFS_REC_EXIT] = { .one = dec_exit },
	[PFS_REC_COMM] = { .one = dec_comm },
	[PFS_REC_SIGNAL] = { .one = dec_signal },
	[PFS_REC_COUNTERS] = { .one = counters },
	[PFS_REC_CPU] = { .one = cpu_total },
	[PFS_REC_END] = { .one = end },
	[PFS_REC_ALLOC] = { .of_cpu = dec_object },
	[PFS_REC_KMALLOC] = { .of_cpu = dec_object },
	[PFS_REC_RELEASE] = { .of_cpu = dec_object },
	[PFS_REC_PAGE_ALLOC] = { .one = dec_page },
	[PFS_REC_PAGE_RELEASE] = { .one = dec_page },
	[PFS_REC_TASK] = { .one = dec_task },
	[PFS_REC_CHILD] = { .one = dec_child },
	[PFS_REC_WATCH] = { .one = dec_watch },
	[PFS_REC_ACCESS] = { .one = dec_access },
};

static int process(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_cpu *cpu = cpu_get(d, rec->cpu);
	uint64_t damaged = d->stats.damaged;
	int err;

	if (!cpu)
		return -ENOMEM;
	cpu->watches |= rec->type == PFS_REC_WATCH || rec->type == PFS_REC_ACCESS;
	err = count_record(d, cpu, rec);
	if (err)
		return err;
	d->last_ns = cpu->last_ns = rec->ts_ns;
	if (rec->type == PFS_REC_NAME) {
		name_piece(d, cpu, rec);
	} else {
		if (handlers[rec->type].one)
			err = handlers[rec->type].one(d, rec);
		else if (handlers[rec->type].of_cpu)
			err = handlers[rec->type].of_cpu(d, cpu, rec);
		cpu->name_total = 0; /* a string is for one record */
	}
	if (err || d->stats.damaged == damaged)
		return err;
	return lost(d, 0, rec->ts_ns, number_of(cpu, rec->cpu), 0);
}

/* ---- records by time: those of one CPU arrive in order, those of several nearly so: inserted from the queue's end ---- */

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

/* 0 or -ENOMEM. */
static int queue_push(struct dec_queue *q, const struct pfs_rec *rec, uint64_t key)
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

/* False if there is none up to that key. */
static bool queue_pop(struct dec_queue *q, uint64_t until, struct pfs_rec *rec)
{
	if (!q->nr || slot(q, 0)->key > until)
		return false;
	*rec = slot(q, 0)->rec;
	rec->ts_ns = slot(q, 0)->key; /* so that events are in order */
	q->first = (q->first + 1) & (q->max - 1);
	q->nr--;
	return true;
}

/* Decodes the oldest record held back, if it is not later than until_ns. */
static bool pass_one(struct pfs_decoder *d, uint64_t until_ns)
{
	struct pfs_rec rec;
	bool popped = queue_pop(&d->queue, until_ns, &rec);

	if (popped)
		d->failed = process(d, &rec);
	return popped;
}

/* ---- the entrance ---- */

int pfs_decoder_feed(struct pfs_decoder *d, const struct pfs_rec *rec)
{
	struct dec_cpu *cpu;
	uint64_t key;

	if (d->failed || rec->type == PFS_REC_NONE)
		return d->failed;
	d->stats.records++;
	if (rec->type >= PFS_REC_OBJECTS_NR || (rec->type == PFS_REC_CPU && rec->end.cpu > UINT16_MAX)) {
		d->stats.damaged++;
		return 0;
	}
	cpu = cpu_get(d, rec->cpu);
	if (!cpu)
		return d->failed = -ENOMEM;
	/* A fault has the time of its beginning, but is written at its end. */
	key = rec->ts_ns;
	if (rec->type == PFS_REC_FAULT)
		key += rec->fault.latency_ns + rec->fault.rest * UINT64_C(1024);
	if (key < cpu->last_key)
		key = cpu->last_key;
	cpu->last_key = key;
	d->stats.late += key < d->last_ns;
	if (queue_push(&d->queue, rec, key))
		return d->failed = -ENOMEM;
	while (!d->failed && d->queue.nr > PFS_DECODE_HELD_MAX)
		pass_one(d, UINT64_MAX);
	return d->queue.newest > PFS_DECODE_WINDOW_NS ? pfs_decoder_flush(d, d->queue.newest - PFS_DECODE_WINDOW_NS)
						      : d->failed;
}

int pfs_decoder_flush(struct pfs_decoder *d, uint64_t until_ns)
{
	while (!d->failed && pass_one(d, until_ns))
		;
	return d->failed;
}

static int last_losses(struct pfs_decoder *d)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < d->nr_cpus; i++) {
		const struct dec_cpu *cpu = d->cpu[i];
		uint32_t gap = cpu && cpu->final_known ? cpu->final_nr - cpu->next_seq : 0;

		/* The CPU that writes the totals goes on numbering: its own total may be behind. */
		if (!gap || gap > UINT32_MAX / 2)
			continue;
		d->stats.lost += gap;
		err = lost(d, cpu->last_ns, d->last_ns, number_of(cpu, i), gap);
	}
	if (!err && !d->stats.ended && d->stats.records) /* the end itself is missing */
		err = lost(d, 0, d->last_ns, -1, 0);
	return err;
}

int pfs_decoder_finish(struct pfs_decoder *d)
{
	int err = pfs_decoder_flush(d, UINT64_MAX);

	for (unsigned int i = 0; !err && i < d->nr_cpus; i++)
		if (d->cpu[i])
			err = dec_layout_cut_off(d, d->cpu[i]);
	return d->failed = err ? err : last_losses(d);
}
