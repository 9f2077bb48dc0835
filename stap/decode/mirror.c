/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decode/mirror.h"

#include "base/array.h"
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

/* Index of the first region that ends after addr; nr if there is none. */
static unsigned int lower(const struct mirror *m, uint64_t addr)
{
	return pfs_lower_bound(m->nr, i, m->region[i].end <= addr);
}

struct mirror_region *mirror_find(const struct mirror *m, uint64_t addr)
{
	return mirror_next(m, addr, addr + 1, NULL);
}

struct mirror_region *mirror_next(const struct mirror *m, uint64_t start, uint64_t end,
				  const struct mirror_region *after)
{
	unsigned int i = after ? after - m->region + 1 : lower(m, start);

	return i < m->nr && m->region[i].start < end ? &m->region[i] : NULL;
}

struct mirror_region *mirror_by_id(const struct mirror *m, uint64_t id, uint64_t start, uint64_t end)
{
	struct mirror_region *r = NULL;

	while ((r = mirror_next(m, start, end, r)) && r->id != id)
		;
	return r;
}

struct mirror_region *mirror_by_vma(const struct mirror *m, uint64_t vma, uint64_t start, uint64_t end)
{
	struct mirror_region *r = NULL;

	while ((r = mirror_next(m, start, end, r)) && r->vma != vma)
		;
	return r;
}

uint64_t mirror_off_at(const struct mirror_region *r, uint64_t addr)
{
	return pfs_is_file(r->dev, r->ino) ? r->off + (addr - r->start) : 0;
}

struct mirror_region mirror_part(const struct mirror_region *r, uint64_t start, uint64_t end)
{
	struct mirror_region part = *r;

	part.off = mirror_off_at(r, start);
	part.start = start;
	part.end = end;
	return part;
}

/* [start, end) becomes `region` (NULL: nothing); what regions have outside of it stays. */
static int replace(struct mirror *m, uint64_t start, uint64_t end, const struct mirror_region *region)
{
	unsigned int first = lower(m, start), last = first, nr = 0;
	struct mirror_region part[3];

	while (last < m->nr && m->region[last].start < end)
		last++;
	if (first < last && m->region[first].start < start)
		part[nr++] = mirror_part(&m->region[first], m->region[first].start, start);
	if (region)
		part[nr++] = *region;
	if (first < last && m->region[last - 1].end > end)
		part[nr++] = mirror_part(&m->region[last - 1], end, m->region[last - 1].end);
	if (nr && !pfs_array_reserve(m->region, m->nr, m->max, nr))
		return -ENOMEM;
	if (first < m->nr)
		memmove(&m->region[first + nr], &m->region[last], (m->nr - last) * sizeof(*part));
	if (nr)
		memcpy(&m->region[first], part, nr * sizeof(*part));
	m->nr += nr - (last - first);
	return 0;
}

int mirror_map(struct mirror *m, const struct mirror_region *region)
{
	return replace(m, region->start, region->end, region);
}

int mirror_unmap(struct mirror *m, uint64_t start, uint64_t end)
{
	return start < end ? replace(m, start, end, NULL) : 0;
}

int mirror_copy(struct mirror *to, const struct mirror *from)
{
	to->nr = 0;
	if (from->nr && !pfs_array_reserve(to->region, 0, to->max, from->nr))
		return -ENOMEM;
	for (; to->nr < from->nr; to->nr++) {
		to->region[to->nr] = from->region[to->nr];
		to->region[to->nr].id = to->region[to->nr].vma = 0;
		to->region[to->nr].copied = true;
	}
	to->start_brk = from->start_brk;
	to->brk = from->brk;
	to->start_stack = from->start_stack;
	to->stated = from->stated;
	return 0;
}
