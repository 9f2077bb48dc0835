/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reference/mappings.h"

#include <errno.h>
#include <stdlib.h>

void pfs_mappings_fini(struct pfs_mappings *mappings)
{
	for (unsigned int i = 0; i < mappings->nr; i++)
		free(mappings->at[i]);
	pfs_sides_free(mappings->at, mappings->sides);
	*mappings = (struct pfs_mappings){ 0 };
}

unsigned int pfs_mappings_lower(const struct pfs_mappings *mappings, uint64_t addr)
{
	return pfs_lower_bound(mappings->nr, i, mappings->at[i]->end <= addr);
}

struct pfs_mapping *pfs_mappings_find(const struct pfs_mappings *mappings, uint64_t addr)
{
	unsigned int i = pfs_mappings_lower(mappings, addr);

	return i < mappings->nr && mappings->at[i]->start <= addr ? mappings->at[i] : NULL;
}

bool pfs_mappings_gap(const struct pfs_mappings *mappings, uint64_t *start, uint64_t *end)
{
	unsigned int i = pfs_mappings_lower(mappings, *start);

	for (; i < mappings->nr && mappings->at[i]->start <= *start; i++)
		*start = mappings->at[i]->end;
	if (i < mappings->nr && mappings->at[i]->start < *end)
		*end = mappings->at[i]->start;
	return *start < *end;
}

struct pfs_mapping *pfs_mappings_add(struct pfs_mappings *mappings, const struct pfs_mapping *mapping)
{
	struct pfs_mapping *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *mapping;
	if (pfs_sides_insert(mappings->at, mappings->nr, mappings->sides, pfs_mappings_lower(mappings, copy->start),
			     copy))
		return copy;
	free(copy);
	return NULL;
}

int pfs_mappings_cut(struct pfs_mappings *mappings, uint64_t start, uint64_t end)
{
	unsigned int from = pfs_mappings_lower(mappings, start), to;
	struct pfs_mapping *first = from < mappings->nr ? mappings->at[from] : NULL;

	if (!first || start >= end)
		return 0;
	if (first->start < start && first->end > end) {
		struct pfs_mapping above = *first;

		above.start = end;
		first->end = start;
		return pfs_mappings_add(mappings, &above) ? 0 : -ENOMEM;
	}
	if (first->start < start) {
		first->end = start;
		from++;
	}
	for (to = from; to < mappings->nr && mappings->at[to]->end <= end; to++)
		free(mappings->at[to]);
	if (to < mappings->nr && mappings->at[to]->start < end)
		mappings->at[to]->start = end;
	pfs_sides_remove(mappings->at, mappings->nr, mappings->sides, from, to);
	return 0;
}

int pfs_mappings_move(struct pfs_mappings *mappings, uint64_t start, uint64_t len, uint64_t to)
{
	unsigned int i = pfs_mappings_lower(mappings, start), nr = 0;
	uint64_t end = start + len;
	struct pfs_mapping *moved;
	int ret = 0;

	for (unsigned int j = i; j < mappings->nr && mappings->at[j]->start < end; j++)
		nr++;
	moved = nr ? malloc(nr * sizeof(*moved)) : NULL;
	if (!moved)
		return nr ? -ENOMEM : 0;
	for (unsigned int j = 0; j < nr; j++) {
		struct pfs_mapping *m = &moved[j];

		*m = *mappings->at[i + j];
		m->start = (m->start > start ? m->start : start) - start + to;
		m->end = (m->end < end ? m->end : end) - start + to;
		m->base = m->base - start + to;
	}
	ret = pfs_mappings_cut(mappings, start, end);
	for (unsigned int j = 0; j < nr && !ret; j++)
		ret = pfs_mappings_add(mappings, &moved[j]) ? 0 : -ENOMEM;
	free(moved);
	return ret;
}
