/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/cache_sim.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

int pfs_string_add(struct pfs_string *string, uint32_t page)
{
	uint32_t *last = pfs_array_add(string->pages, string->nr, string->max);

	if (!last)
		return -ENOMEM;
	*last = page;
	if (page >= string->nr_pages)
		string->nr_pages = page + 1;
	return 0;
}

void pfs_string_fini(struct pfs_string *string)
{
	free(string->pages);
	*string = (struct pfs_string){ 0 };
}

/* Of each page, that it is nowhere. */
static uint32_t *nowhere(uint32_t nr_pages)
{
	uint32_t *where = malloc(nr_pages * sizeof(*where));

	if (where)
		memset(where, 0xff, nr_pages * sizeof(*where));
	return where;
}

/* No more frames than pages are ever used; and none at all need no simulation. */
static bool no_frames(const struct pfs_string *string, uint64_t *size, uint64_t *misses)
{
	if (*size > string->nr_pages)
		*size = string->nr_pages;
	*misses = *size ? 0 : string->nr;
	return !*size;
}

/* ---- CLOCK ---- */

struct clock_frame {
	uint32_t page;
	bool referenced;
};

int pfs_clock_misses(const struct pfs_string *string, uint64_t size, bool comes_in_set, uint64_t *misses)
{
	struct clock_frame *frames;
	uint32_t *where, used = 0, hand = 0;

	if (no_frames(string, &size, misses))
		return 0;
	frames = malloc(size * sizeof(*frames));
	where = nowhere(string->nr_pages);
	if (!frames || !where) {
		free(frames);
		free(where);
		return -ENOMEM;
	}
	for (size_t i = 0; i < string->nr; i++) {
		uint32_t page = string->pages[i], at = where[page];

		if (at != NOWHERE) {
			frames[at].referenced = true;
			continue;
		}
		++*misses;
		if (used < size) {
			at = used++;
		} else {
			for (; frames[hand].referenced; hand = hand + 1 < size ? hand + 1 : 0)
				frames[hand].referenced = false;
			at = hand;
			where[frames[at].page] = NOWHERE;
			hand = hand + 1 < size ? hand + 1 : 0;
		}
		frames[at] = (struct clock_frame){ page, comes_in_set };
		where[page] = at;
	}
	free(frames);
	free(where);
	return 0;
}

/* ---- OPT ---- */

int pfs_next_uses(const struct pfs_string *string, uint32_t **next)
{
	uint32_t *seen;

	if (string->nr >= UINT32_MAX)
		return -EOVERFLOW;
	seen = malloc((string->nr_pages + (size_t)1) * sizeof(*seen));
	*next = malloc((string->nr + 1) * sizeof(**next));
	if (!seen || !*next) {
		free(seen);
		free(*next);
		*next = NULL;
		return -ENOMEM;
	}
	for (uint32_t page = 0; page < string->nr_pages; page++)
		seen[page] = string->nr;
	for (size_t i = string->nr; i--;) {
		(*next)[i] = seen[string->pages[i]];
		seen[string->pages[i]] = i;
	}
	free(seen);
	return 0;
}

/* Pages in memory, the one that is needed last on top. */
struct heap {
	struct use {
		uint32_t next, page;
	} * uses;
	uint32_t *where; /* of each page, its index */
	uint32_t nr;
};

static void heap_put(struct heap *heap, uint32_t at, struct use use)
{
	heap->uses[at] = use;
	heap->where[use.page] = at;
}

static void heap_up(struct heap *heap, uint32_t at, struct use use)
{
	while (at && heap->uses[(at - 1) / 2].next < use.next) {
		heap_put(heap, at, heap->uses[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(heap, at, use);
}

/* Instead of the one on top. */
static void heap_replace(struct heap *heap, struct use use)
{
	uint32_t at = 0;

	for (;;) {
		uint64_t child = 2 * (uint64_t)at + 1;

		if (child + 1 < heap->nr && heap->uses[child + 1].next > heap->uses[child].next)
			child++;
		if (child >= heap->nr || heap->uses[child].next <= use.next)
			break;
		heap_put(heap, at, heap->uses[child]);
		at = child;
	}
	heap_put(heap, at, use);
}

int pfs_opt_misses(const struct pfs_string *string, const uint32_t *next, uint64_t size, uint64_t *misses)
{
	struct heap heap = { 0 };

	if (no_frames(string, &size, misses))
		return 0;
	heap.uses = malloc(size * sizeof(*heap.uses));
	heap.where = nowhere(string->nr_pages);
	if (!heap.uses || !heap.where) {
		free(heap.uses);
		free(heap.where);
		return -ENOMEM;
	}
	for (size_t i = 0; i < string->nr; i++) {
		struct use use = { next[i], string->pages[i] };

		/* A page in memory is needed later than it was: it can only rise. */
		if (heap.where[use.page] != NOWHERE) {
			heap_up(&heap, heap.where[use.page], use);
			continue;
		}
		++*misses;
		if (heap.nr < size) {
			heap_up(&heap, heap.nr++, use);
		} else {
			heap.where[heap.uses[0].page] = NOWHERE;
			heap_replace(&heap, use);
		}
	}
	free(heap.uses);
	free(heap.where);
	return 0;
}
