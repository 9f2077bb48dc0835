/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live bytes by call site over time. Of the column under way only the sites that have changed since its highest moment are
 * copied when there is a higher one, so that an event costs the same however many sites there are.
 */
#include "objects/series.h"

#include "base/array.h"

#include <errno.h>

enum { FIRST_COLUMN_NS = 1000 };

/* ---- columns ---- */

/* The present moment is the highest of its column. */
static void keep_moment(struct pfs_series *s, uint64_t ts_ns)
{
	while (s->nr_changed) {
		uint32_t site = s->changed[--s->nr_changed];

		s->most[site] = s->now[site];
		s->is_changed[site] = false;
	}
	s->most_bytes = s->bytes;
	s->most_ns = ts_ns;
}

static int close_column(struct pfs_series *s)
{
	struct pfs_series_column *column = &s->columns[s->nr - 1];

	*column = (struct pfs_series_column){ .ts_ns = s->most_ns, .bytes = s->most_bytes, .nr_sites = s->nr_sites };
	if (!s->nr_sites)
		return 0;
	column->sites = malloc(s->nr_sites * sizeof(*column->sites));
	if (!column->sites)
		return -ENOMEM;
	memcpy(column->sites, s->most, s->nr_sites * sizeof(*column->sites));
	return 0;
}

/* It begins as the one before it has ended. */
static void open_column(struct pfs_series *s)
{
	keep_moment(s, s->start_ns + s->nr * s->column_ns - 1);
	s->columns[s->nr++].sites = NULL;
}

/* Two columns become one: of both the higher one stays. */
static void halve(struct pfs_series *s)
{
	for (unsigned int i = 0; i < s->nr / 2; i++) {
		struct pfs_series_column *a = &s->columns[2 * i], *b = &s->columns[2 * i + 1];
		struct pfs_series_column higher = b->bytes > a->bytes ? *b : *a;

		free(b->bytes > a->bytes ? a->sites : b->sites);
		s->columns[i] = higher;
	}
	s->nr /= 2;
	s->column_ns *= 2;
}

/* The time goes on to ts_ns. */
static int advance(struct pfs_series *s, uint64_t ts_ns)
{
	if (!s->nr) {
		s->start_ns = pfs_objects_stats(s->objects)->first_ns;
		s->column_ns = FIRST_COLUMN_NS;
		open_column(s);
	}
	while (ts_ns > s->start_ns && (ts_ns - s->start_ns) / s->column_ns >= s->nr) {
		if (close_column(s))
			return -ENOMEM;
		if (s->nr == PFS_SERIES_COLUMNS)
			halve(s);
		open_column(s);
	}
	return 0;
}

/* ---- objects ---- */

static int reserve(struct pfs_series *s, uint32_t site)
{
	if (site < s->nr_sites)
		return 0;
	if (!pfs_array_extend(s->now, s->max_now, site + 1) || !pfs_array_extend(s->most, s->max_most, site + 1) ||
	    !pfs_array_extend(s->is_changed, s->max_is_changed, site + 1) ||
	    !pfs_array_extend(s->changed, s->max_changed, site + 1))
		return -ENOMEM;
	s->nr_sites = site + 1;
	return 0;
}

static void mark_changed(struct pfs_series *s, uint32_t site)
{
	if (s->is_changed[site])
		return;
	s->is_changed[site] = true;
	s->changed[s->nr_changed++] = site;
}

static int take_alloc(void *ctx, const struct pfs_object *o)
{
	struct pfs_series *s = ctx;

	if (advance(s, o->alloc_ns) || reserve(s, o->site))
		return -ENOMEM;
	mark_changed(s, o->site);
	s->now[o->site] += o->allocated;
	s->bytes += o->allocated;
	s->nr_alive++;
	if (s->bytes > s->most_bytes)
		keep_moment(s, o->alloc_ns);
	if (s->bytes > s->peak) {
		s->peak = s->bytes;
		s->peak_ns = o->alloc_ns;
	}
	return 0;
}

static int take_end(void *ctx, const struct pfs_object *o, const struct pfs_object_end *end)
{
	struct pfs_series *s = ctx;

	if (pfs_object_counts_as_alive(end))
		return 0;
	if (advance(s, end->ts_ns))
		return -ENOMEM;
	mark_changed(s, o->site);
	s->now[o->site] -= o->allocated;
	s->bytes -= o->allocated;
	s->nr_alive--;
	return 0;
}

struct pfs_object_sink pfs_series_sink(struct pfs_series *s)
{
	return (struct pfs_object_sink){ take_alloc, take_end, s };
}

int pfs_series_end(struct pfs_series *s)
{
	if (!s->nr)
		return 0;
	return advance(s, pfs_objects_stats(s->objects)->last_ns) ?: close_column(s);
}

void pfs_series_fini(struct pfs_series *s)
{
	for (unsigned int i = 0; i < s->nr; i++)
		free(s->columns[i].sites);
	free(s->now);
	free(s->most);
	free(s->is_changed);
	free(s->changed);
}

/* ---- what it shows ---- */

uint64_t pfs_series_bytes(const struct pfs_series_column *column, uint32_t site)
{
	return site < column->nr_sites ? column->sites[site] : 0;
}

uint64_t pfs_series_alive(const struct pfs_series *s, uint32_t site)
{
	return s->now[site];
}

const struct pfs_series_column *pfs_series_highest(const struct pfs_series *s)
{
	const struct pfs_series_column *highest = NULL;

	for (unsigned int i = 0; i < s->nr; i++)
		if (!highest || s->columns[i].bytes > highest->bytes)
			highest = &s->columns[i];
	return highest;
}

struct rank {
	uint64_t bytes;
	uint32_t site;
};

static int by_bytes(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return pfs_order(y->bytes, x->bytes) ?: pfs_order(x->site, y->site);
}

int pfs_series_top(const struct pfs_series *s, uint32_t *sites, unsigned int nr)
{
	struct rank *ranks = calloc(s->nr_sites + 1, sizeof(*ranks));
	unsigned int found = 0;

	if (!ranks)
		return -ENOMEM;
	for (uint32_t site = 0; site < s->nr_sites; site++) {
		ranks[site].site = site;
		for (unsigned int i = 0; i < s->nr; i++) {
			uint64_t bytes = pfs_series_bytes(&s->columns[i], site);

			ranks[site].bytes = bytes > ranks[site].bytes ? bytes : ranks[site].bytes;
		}
	}
	qsort(ranks, s->nr_sites, sizeof(*ranks), by_bytes);
	for (; found < nr && found < s->nr_sites && ranks[found].bytes; found++)
		sites[found] = ranks[found].site;
	free(ranks);
	return found;
}
