/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counterparts by keys, level by level: the free items of both sides are sorted by key, then order, and merged.
 */
#include "base/match.h"

#include "base/array.h"

#include <errno.h>

/* An item or a line that has no counterpart yet. */
struct candidate {
	const char *key;
	size_t order, index;
};

struct candidates {
	struct candidate *all;
	size_t nr;
};

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return strcmp(x->key, y->key) ?: pfs_order(x->order, y->order);
}

static void add(struct candidates *to, const char *key, size_t order, size_t index)
{
	if (key)
		to->all[to->nr++] = (struct candidate){ key, order, index };
}

static void sort(struct candidates *candidates)
{
	if (candidates->nr)
		qsort(candidates->all, candidates->nr, sizeof(*candidates->all), compare);
}

/* Both have room enough. */
static void pair_level(struct pfs_match *match, struct pfs_match_item *items, size_t nr, int level,
		       struct candidates *lines, struct candidates *mine)
{
	lines->nr = mine->nr = 0;
	for (size_t i = 0; i < match->nr; i++)
		if (match->lines[i].newest != match->nr_sequences)
			add(lines, match->lines[i].key[level], match->lines[i].position, i);
	for (size_t i = 0; i < nr; i++)
		if (items[i].line == PFS_MATCH_NONE)
			add(mine, items[i].key[level], i, i);
	sort(lines);
	sort(mine);
	for (size_t i = 0, k = 0; i < lines->nr && k < mine->nr;) {
		int order = strcmp(lines->all[i].key, mine->all[k].key);

		if (!order) {
			struct pfs_match_item *item = &items[mine->all[k].index];

			item->line = lines->all[i].index;
			item->level = level;
			match->lines[item->line].newest = match->nr_sequences;
		}
		i += order <= 0;
		k += order >= 0;
	}
}

/* Lines of their own for the items that are left, each behind the line of the item before. There is room for them. */
static void add_lines(struct pfs_match *match, struct pfs_match_item *items, size_t nr)
{
	size_t *link = &match->first;

	for (size_t i = 0; i < nr; i++) {
		if (items[i].line == PFS_MATCH_NONE) {
			items[i].line = match->nr++;
			match->lines[items[i].line] = (struct pfs_match_line){
				.next = *link,
				.newest = match->nr_sequences,
			};
			memcpy(match->lines[items[i].line].key, items[i].key, sizeof(items[i].key));
			*link = items[i].line;
		}
		link = &match->lines[items[i].line].next;
	}
}

static void set_positions(struct pfs_match *match)
{
	size_t position = 0;

	for (size_t line = match->first; line != PFS_MATCH_NONE; line = match->lines[line].next)
		match->lines[line].position = position++;
}

int pfs_match_add(struct pfs_match *match, struct pfs_match_item *items, size_t nr)
{
	struct candidates lines = { calloc(match->nr + 1, sizeof(*lines.all)), 0 };
	struct candidates mine = { calloc(nr + 1, sizeof(*mine.all)), 0 };
	int err = -ENOMEM;

	if (!lines.all || !mine.all || !pfs_array_reserve(match->lines, match->nr, match->max, nr + 1))
		goto out;
	if (!match->nr_sequences++)
		match->first = PFS_MATCH_NONE;
	for (size_t i = 0; i < nr; i++) {
		items[i].line = PFS_MATCH_NONE;
		items[i].level = -1;
	}
	for (int level = 0; level < PFS_MATCH_LEVELS; level++)
		pair_level(match, items, nr, level, &lines, &mine);
	add_lines(match, items, nr);
	set_positions(match);
	err = 0;
out:
	free(lines.all);
	free(mine.all);
	return err;
}

void pfs_match_fini(struct pfs_match *match)
{
	free(match->lines);
	*match = (struct pfs_match){ 0 };
}
