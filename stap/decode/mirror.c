/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mirror of an address space: see mirror.h. Its rules are those of lib/model/space.c, less the pages.
 */
#include "decode/mirror.h"

#include "event/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void mirror_fini(struct mirror *m)
{
	free(m->region);
	m->region = NULL;
	m->nr = m->max = 0;
}

unsigned int mirror_lower(const struct mirror *m, uint64_t addr)
{
	unsigned int lo = 0, hi = m->nr;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;

		if (m->region[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct mirror_region *mirror_find(const struct mirror *m, uint64_t addr)
{
	unsigned int i = mirror_lower(m, addr);

	return i < m->nr && m->region[i].start <= addr ? &m->region[i] : NULL;
}

struct mirror_region *mirror_by_id(const struct mirror *m, uint64_t id, uint64_t start, uint64_t end)
{
	for (unsigned int i = mirror_lower(m, start); i < m->nr && m->region[i].start < end; i++)
		if (m->region[i].id == id)
			return &m->region[i];
	return NULL;
}

struct mirror_region *mirror_by_vma(const struct mirror *m, uint64_t vma, uint64_t start, uint64_t end)
{
	for (unsigned int i = mirror_lower(m, start); i < m->nr && m->region[i].start < end; i++)
		if (m->region[i].vma == vma)
			return &m->region[i];
	return NULL;
}

/* A gap of one at `at`. 0 or -ENOMEM. */
static int open_gap(struct mirror *m, unsigned int at)
{
	if (m->nr == m->max) {
		unsigned int want = m->max ? m->max * 2 : 32;
		struct mirror_region *bigger = realloc(m->region, want * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		m->region = bigger;
		m->max = want;
	}
	memmove(&m->region[at + 1], &m->region[at], (m->nr - at) * sizeof(*m->region));
	m->nr++;
	return 0;
}

/* Splits the region that spans addr, if one does: two pieces with one identity. */
static int split_at(struct mirror *m, uint64_t addr)
{
	unsigned int i = mirror_lower(m, addr);
	struct mirror_region *low;

	if (i == m->nr || m->region[i].start >= addr)
		return 0;
	if (open_gap(m, i + 1))
		return -ENOMEM;
	low = &m->region[i];
	low[1] = *low;
	low[1].off = mirror_off_at(low, addr);
	low[1].start = addr;
	low->end = addr;
	return 0;
}

int mirror_unmap(struct mirror *m, uint64_t start, uint64_t end)
{
	unsigned int first, last;
	int err;

	if (start >= end)
		return 0;
	err = split_at(m, start);
	if (!err)
		err = split_at(m, end);
	if (err)
		return err;
	first = last = mirror_lower(m, start);
	while (last < m->nr && m->region[last].start < end)
		last++;
	if (first == last)
		return 0;
	memmove(&m->region[first], &m->region[last], (m->nr - last) * sizeof(*m->region));
	m->nr -= last - first;
	return 0;
}

int mirror_map(struct mirror *m, const struct mirror_region *region)
{
	const struct mirror_region *own = mirror_by_id(m, region->id, region->start, region->end);
	struct mirror_region whole = *region;
	unsigned int at;
	int err;

	if (own && own->start < whole.start) {
		whole.off = pfs_is_file(whole.dev, whole.ino) ? whole.off - (whole.start - own->start) : 0;
		whole.start = own->start;
	}
	if (own && own->end > whole.end)
		whole.end = own->end;
	err = mirror_unmap(m, whole.start, whole.end);
	at = mirror_lower(m, whole.start);
	if (!err)
		err = open_gap(m, at);
	if (!err)
		m->region[at] = whole;
	return err;
}

int mirror_copy(struct mirror *to, const struct mirror *from)
{
	struct mirror_region *copy = calloc(from->nr + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	free(to->region);
	to->region = copy;
	to->nr = from->nr;
	to->max = from->nr + 1;
	if (from->nr)
		memcpy(copy, from->region, from->nr * sizeof(*copy));
	for (unsigned int i = 0; i < to->nr; i++) {
		copy[i].id = copy[i].vma = 0;
		copy[i].copied = true;
	}
	to->start_brk = from->start_brk;
	to->brk = from->brk;
	to->start_stack = from->start_stack;
	to->told = from->told;
	return 0;
}
