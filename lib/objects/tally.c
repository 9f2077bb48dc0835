/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects added up as they come: numbers, bytes, lifetimes by the logarithm, and what was alive over time. */
#include "objects/tally.h"

#include "base/array.h"

#include <errno.h>

enum { FIRST_SLICE_NS = 100000, LEAST_SLICES = 8, LEAST_RISES = 5 };

/* ---- lifetimes ---- */

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int log;

	if (ns < PFS_LIFE_STEPS)
		return ns;
	log = 63 - __builtin_clzll(ns);
	return (log - 2) * PFS_LIFE_STEPS + (ns >> (log - 3) & (PFS_LIFE_STEPS - 1));
}

/* The longest time of a bucket. */
static uint64_t bucket_end(unsigned int bucket)
{
	unsigned int log = bucket / PFS_LIFE_STEPS + 2, step = bucket % PFS_LIFE_STEPS;

	if (bucket < PFS_LIFE_STEPS)
		return bucket;
	return ((uint64_t)(PFS_LIFE_STEPS + step + 1) << (log - 3)) - 1;
}

uint64_t pfs_tally_life_ns(const struct pfs_tally_row *row, unsigned int permille)
{
	uint64_t nth = (row->frees * permille + 999) / 1000, seen = 0;

	for (unsigned int i = 0; row->lives && i < PFS_LIFE_BUCKETS; i++) {
		seen += row->lives[i];
		if (seen && seen >= nth)
			return bucket_end(i) < row->longest_ns ? bucket_end(i) : row->longest_ns;
	}
	return 0;
}

/* ---- the fewest alive ---- */

static void halve(struct pfs_low_water *w)
{
	for (unsigned int i = 0; i < PFS_LOW_SLICES / 2; i++)
		w->low[i] = w->low[2 * i] < w->low[2 * i + 1] ? w->low[2 * i] : w->low[2 * i + 1];
	w->nr = PFS_LOW_SLICES / 2;
	w->slice_ns *= 2;
}

/* The time goes on to ts_ns with that many alive. */
static void low_water(struct pfs_low_water *w, uint64_t live, uint64_t ts_ns)
{
	if (!w->nr)
		*w = (struct pfs_low_water){ .slice_ns = FIRST_SLICE_NS, .start_ns = ts_ns, .nr = 1 };
	while ((ts_ns - w->start_ns) / w->slice_ns >= w->nr) {
		if (w->nr == PFS_LOW_SLICES)
			halve(w);
		else
			w->low[w->nr++] = live;
	}
}

static void low_water_fell(struct pfs_low_water *w, uint64_t live)
{
	if (w->nr && live < w->low[w->nr - 1])
		w->low[w->nr - 1] = live;
}

bool pfs_tally_leaks(const struct pfs_tally_row *row)
{
	const struct pfs_low_water *w = &row->low;
	unsigned int rises = 0;

	for (unsigned int i = 1; i < w->nr; i++) {
		if (w->low[i] < w->low[i - 1])
			return false;
		rises += w->low[i] > w->low[i - 1];
	}
	/* What is freed during a pause seems to live on: the fewest rise in the slice of the pause and in the next one. */
	return !row->unsure && w->nr >= LEAST_SLICES && rises >= LEAST_RISES + 2 * row->nr_pauses &&
	       w->low[w->nr - 1] - w->low[0] > row->lost;
}

/* ---- rows ---- */

/* Of that number in each table; size classes have a row each power of two. NULL: no memory. */
static struct pfs_tally_row *row_of(struct pfs_tally *tally, enum pfs_tally_by by, const struct pfs_object *o)
{
	const uint32_t power = o->allocated > 1 ? 32 - __builtin_clz(o->allocated - 1) : 0;
	const uint32_t nr[] = { 0, o->cache, o->site, power, o->who };
	struct pfs_tally_table *table = &tally->by[by];

	if (nr[by] >= table->nr) {
		if (!pfs_array_extend(table->rows, table->max, nr[by] + 1))
			return NULL;
		for (; table->nr <= nr[by]; table->nr++)
			table->rows[table->nr].nr = table->nr;
	}
	return &table->rows[nr[by]];
}

static void count_alloc(struct pfs_tally_row *row, const struct pfs_object *o)
{
	low_water(&row->low, row->live, o->alloc_ns);
	row->cache = o->cache;
	row->allocs++;
	row->asked += o->size;
	row->used += o->allocated;
	row->live++;
	row->live_bytes += o->allocated;
	if (row->live > row->peak)
		row->peak = row->live;
	if (row->live_bytes > row->peak_bytes) {
		row->peak_bytes = row->live_bytes;
		row->peak_ns = o->alloc_ns;
	}
}

static int take_alloc(void *ctx, const struct pfs_object *o)
{
	for (int by = 0; by < PFS_NR_TALLIES; by++) {
		struct pfs_tally_row *row = row_of(ctx, by, o);

		if (!row)
			return -ENOMEM;
		count_alloc(row, o);
	}
	return 0;
}

static int count_life(struct pfs_tally_row *row, uint64_t ns)
{
	if (!row->lives && !(row->lives = calloc(PFS_LIFE_BUCKETS, sizeof(*row->lives))))
		return -ENOMEM;
	row->lives[bucket_of(ns)]++;
	if (ns > row->longest_ns)
		row->longest_ns = ns;
	return 0;
}

static int count_end(struct pfs_tally_row *row, const struct pfs_object *o, const struct pfs_object_end *end)
{
	low_water(&row->low, row->live, end->ts_ns);
	row->evicted += end->fate == PFS_OBJECT_EVICTED;
	if (pfs_object_counts_as_alive(end)) {
		row->unsure_live += end->unsure;
		return 0;
	}
	row->live--;
	row->live_bytes -= o->allocated;
	low_water_fell(&row->low, row->live);
	if (end->fate == PFS_OBJECT_UNSEEN) {
		row->unseen++;
		row->unseen_paused += end->paused;
		return 0;
	}
	row->frees++;
	return count_life(row, end->ts_ns - o->alloc_ns);
}

static int take_end(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	int ret = 0;

	for (int by = 0; !ret && by < PFS_NR_TALLIES; by++)
		ret = count_end(row_of(ctx, by, o), o, end);
	return ret;
}

struct pfs_object_sink pfs_tally_sink(struct pfs_tally *tally)
{
	return (struct pfs_object_sink){ take_alloc, take_end, tally };
}

void pfs_tally_fini(struct pfs_tally *tally)
{
	for (int by = 0; by < PFS_NR_TALLIES; by++) {
		for (size_t i = 0; i < tally->by[by].nr; i++)
			free(tally->by[by].rows[i].lives);
		free(tally->by[by].rows);
	}
}

static int by_peak(const void *a, const void *b)
{
	const struct pfs_tally_row *x = a, *y = b;

	return pfs_order(y->peak_bytes, x->peak_bytes) ?: pfs_order(y->allocs, x->allocs) ?: pfs_order(x->nr, y->nr);
}

static bool freed_unseen(const struct pfs_tally_row *row)
{
	return row->unseen > row->unseen_paused;
}

/* While the caches are in the order of their numbers. */
static void mark_unsure(struct pfs_tally *tally)
{
	const struct pfs_objects_stats *s = pfs_objects_stats(tally->objects);

	for (int by = 0; by < PFS_NR_TALLIES; by++)
		for (size_t i = 0; i < tally->by[by].nr; i++) {
			struct pfs_tally_row *row = &tally->by[by].rows[i];

			row->nr_pauses = s->nr_pauses;
			row->lost = s->lost_unknown ? UINT64_MAX : s->lost;
			row->unsure = freed_unseen(row) || row->evicted ||
				      (by == PFS_TALLY_SITE && row->allocs &&
				       freed_unseen(&tally->by[PFS_TALLY_CACHE].rows[row->cache]));
		}
}

void pfs_tally_sort(struct pfs_tally *tally)
{
	mark_unsure(tally);
	for (int by = 0; by < PFS_NR_TALLIES; by++) {
		struct pfs_tally_table *table = &tally->by[by];

		if (table->nr)
			qsort(table->rows, table->nr, sizeof(*table->rows), by_peak);
		while (table->nr && !table->rows[table->nr - 1].allocs)
			free(table->rows[--table->nr].lives);
	}
}
