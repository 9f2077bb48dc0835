/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate/stack_distance.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A block's bits are one cache line. */
enum { BLOCK_SHIFT = 9, BLOCK = 1 << BLOCK_SHIFT, WORDS = BLOCK / 64 };
enum { FIRST_POSITIONS = 2 * BLOCK };
#define MAX_PAGES (UINT32_C(1) << 31)

struct pfs_stack_distance {
	uint64_t refs;
	uint32_t pages; /* referenced; as many positions are the last of a page */
	uint32_t *last; /* of each page, its last position and 1; 0: not referenced */
	size_t max_pages;
	uint64_t *counts; /* by distance; [0]: first references */
	size_t max_counts;
	uint32_t *page_at;	/* of each position */
	uint64_t *bits;		/* of each position: is it the last of its page? */
	uint32_t *tree;		/* Fenwick's, of full blocks from 1 on: how many bits are set */
	uint32_t now;		/* the next position */
	uint32_t max_positions; /* a multiple of BLOCK */
};

struct pfs_stack_distance *pfs_stack_distance_new(void)
{
	return calloc(1, sizeof(struct pfs_stack_distance));
}

void pfs_stack_distance_free(struct pfs_stack_distance *s)
{
	if (!s)
		return;
	free(s->last);
	free(s->counts);
	free(s->page_at);
	free(s->bits);
	free(s->tree);
	free(s);
}

/* ---- bits ---- */

static void tree_add(struct pfs_stack_distance *s, uint32_t block, uint32_t by)
{
	uint32_t nr_blocks = s->max_positions >> BLOCK_SHIFT;

	for (uint32_t i = block + 1; i <= nr_blocks; i += i & -i)
		s->tree[i] += by;
}

/* The next position is the last of its page. Its block enters the tree when it is full. */
static void bit_append(struct pfs_stack_distance *s)
{
	uint32_t block = s->now >> BLOCK_SHIFT, sum = 0;

	s->bits[s->now / 64] |= UINT64_C(1) << s->now % 64;
	s->now++;
	if (s->now % BLOCK)
		return;
	for (uint32_t word = block * WORDS; word < (block + 1) * WORDS; word++)
		sum += __builtin_popcountll(s->bits[word]);
	tree_add(s, block, sum);
}

static void bit_clear(struct pfs_stack_distance *s, uint32_t position)
{
	s->bits[position / 64] ^= UINT64_C(1) << position % 64;
	if (position >> BLOCK_SHIFT < s->now >> BLOCK_SHIFT)
		tree_add(s, position >> BLOCK_SHIFT, -1);
}

/* How many are set up to that one, which is. */
static uint32_t bits_up_to(const struct pfs_stack_distance *s, uint32_t position)
{
	uint32_t sum = __builtin_popcountll(s->bits[position / 64] << (63 - position % 64));

	for (uint32_t word = position / 64 / WORDS * WORDS; word < position / 64; word++)
		sum += __builtin_popcountll(s->bits[word]);
	for (uint32_t i = position >> BLOCK_SHIFT; i; i &= i - 1)
		sum += s->tree[i];
	return sum;
}

/* The first ones are set, all others are not: each entry of the tree sums the full blocks under it. */
static void bits_fill(struct pfs_stack_distance *s, uint32_t ones)
{
	uint32_t full = ones / 64;

	memset(s->bits, 0, s->max_positions / 8);
	memset(s->bits, 0xff, full * sizeof(*s->bits));
	if (ones % 64)
		s->bits[full] = (UINT64_C(1) << ones % 64) - 1;
	ones -= ones % BLOCK;
	for (uint32_t i = 1; i <= s->max_positions >> BLOCK_SHIFT; i++) {
		uint64_t below = (uint64_t)(i - (i & -i)) << BLOCK_SHIFT, to = (uint64_t)i << BLOCK_SHIFT;

		s->tree[i] = ones <= below ? 0 : ones < to ? ones - below : to - below;
	}
}

/* ---- room ---- */

/* At most half of the positions are a page's last, so renumbering is rare. */
static int more_positions(struct pfs_stack_distance *s)
{
	uint64_t max = s->max_positions ? s->max_positions : FIRST_POSITIONS;
	uint32_t *page_at, *tree;
	uint64_t *bits;

	if (s->max_positions && s->pages <= max / 2)
		return 0;
	if (s->max_positions)
		max *= 2;
	if (max > UINT32_MAX)
		return -EOVERFLOW;
	page_at = pfs_advise_huge(realloc(s->page_at, max * sizeof(*page_at)), max * sizeof(*page_at));
	s->page_at = page_at ? page_at : s->page_at;
	bits = realloc(s->bits, max / 8);
	s->bits = bits ? bits : s->bits;
	tree = realloc(s->tree, ((max >> BLOCK_SHIFT) + 1) * sizeof(*tree));
	s->tree = tree ? tree : s->tree;
	if (!page_at || !bits || !tree)
		return -ENOMEM;
	s->max_positions = max;
	return 0;
}

/* Positions that are the last of a page move together, in their order. */
static int compact(struct pfs_stack_distance *s)
{
	uint32_t to = 0;
	int ret = more_positions(s);

	if (ret)
		return ret;
	for (uint32_t from = 0; from < s->now; from++) {
		uint32_t page = s->page_at[from];

		if (s->last[page] != from + 1)
			continue;
		s->page_at[to] = page;
		s->last[page] = ++to;
	}
	s->now = to;
	bits_fill(s, to);
	return 0;
}

/* ---- references ---- */

int pfs_stack_distance_refer(struct pfs_stack_distance *s, uint32_t page, uint64_t *distance)
{
	uint32_t last, d = 0;
	int ret;

	if (page >= MAX_PAGES)
		return -EOVERFLOW;
	if (page >= s->max_pages && !pfs_array_extend(s->last, s->max_pages, (size_t)page + 1))
		return -ENOMEM;
	ret = s->now == s->max_positions ? compact(s) : 0;
	if (ret)
		return ret;
	last = s->last[page];
	if (last)
		d = s->pages - bits_up_to(s, last - 1) + 1;
	if (d >= s->max_counts && !pfs_array_extend(s->counts, s->max_counts, (size_t)d + 1))
		return -ENOMEM;
	if (last)
		bit_clear(s, last - 1);
	else
		s->pages++;
	s->page_at[s->now] = page;
	bit_append(s);
	s->last[page] = s->now;
	s->counts[d]++;
	s->refs++;
	if (distance)
		*distance = d;
	return 0;
}

uint32_t pfs_stack_distance_pages(const struct pfs_stack_distance *s)
{
	return s->pages;
}

int pfs_stack_distance_curve(const struct pfs_stack_distance *s, struct pfs_lru_curve *curve)
{
	uint32_t enough = s->max_counts ? s->max_counts - 1 : 0;
	uint64_t misses = s->refs;

	while (enough && !s->counts[enough])
		enough--;
	*curve = (struct pfs_lru_curve){ .refs = s->refs, .pages = s->pages, .enough = enough };
	curve->misses = malloc(((uint64_t)enough + 1) * sizeof(*curve->misses));
	pfs_advise_huge(curve->misses, enough * sizeof(*curve->misses));
	if (!curve->misses)
		return -ENOMEM;
	curve->misses[0] = misses;
	for (uint64_t size = 1; size <= enough; size++)
		curve->misses[size] = misses -= s->counts[size];
	return 0;
}

uint64_t pfs_lru_misses(const struct pfs_lru_curve *curve, uint64_t size)
{
	return curve->misses[size < curve->enough ? size : curve->enough];
}
