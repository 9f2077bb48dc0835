/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of many alike regions of a process as one: thread stacks, arenas of malloc(). See rows.h. */
#include "view/rows.h"

#include "view/labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* glibc reserves so much for an arena, at a multiple of that, and makes the first part accessible as it is needed. */
#define ARENA_SIZE (UINT64_C(64) << 20)

static bool is_anonymous(const struct pfs_row *row, uint32_t perms)
{
	const char *kind = row->region ? pfs_label_kind(row) : NULL;

	return kind && !strcmp(kind, "anon") && row->region->have & PFS_HAS(PFS_F_PERMS) &&
	       (row->region->perms & (PFS_PERM_R | PFS_PERM_W | PFS_PERM_X | PFS_PERM_SHARED)) == perms;
}

/* The accessible part of it; the reserve follows, unless all of it is in use. */
static bool is_arena(const struct pfs_rows *rows, unsigned int i)
{
	const struct pfs_row *row = &rows->row[i];
	uint64_t end = row->start + ARENA_SIZE;

	if (row->start % ARENA_SIZE || row->end > end || !is_anonymous(row, PFS_PERM_R | PFS_PERM_W))
		return false;
	if (row->end == end)
		return true;
	while (++i < rows->nr && rows->row[i].start <= row->end)
		if (rows->row[i].start == row->end && rows->row[i].end == end && is_anonymous(&rows->row[i], 0))
			return true;
	return false;
}

static bool is_stack(const struct pfs_rows *rows, unsigned int i)
{
	const struct pfs_row *row = &rows->row[i];
	const char *kind = row->region ? pfs_label_kind(row) : NULL;

	return kind && !strcmp(kind, "thread stack");
}

static const struct {
	const char *name;
	bool (*has)(const struct pfs_rows *rows, unsigned int i);
} groups[] = {
	{ "thread stacks", is_stack },
	{ "malloc arenas", is_arena },
};

/* Copies its pages behind those of the group. */
static int pack(struct pfs_row *group, const struct pfs_row *row, unsigned int page_shift)
{
	uint64_t delta = group->end - row->start, nr, marked;
	const struct pfs_page *page;
	struct pfs_page_walk at;

	if (row->pages)
		pfs_page_walk_start(&at, row->pages, row->start, row->end);
	while (row->pages && (page = pfs_page_walk_row(&at, &nr)))
		if (pfs_pages_mark(group->packed, at.addr + delta, at.addr + delta + (nr << page_shift), page, 0,
				   &marked))
			return -ENOMEM;
	group->end += row->end - row->start;
	return 0;
}

/* Joins a row to the first one of its group, which becomes the group. */
static int join(struct pfs_row *group, const struct pfs_row *row, const char *name, unsigned int page_shift)
{
	struct pfs_row first = *group;

	if (!group->packed) {
		group->packed = pfs_pages_new(page_shift);
		group->pages = group->packed;
		group->group = name;
		group->end = group->start;
		if (!group->packed || pack(group, &first, page_shift))
			return -ENOMEM;
	}
	if (pack(group, row, page_shift))
		return -ENOMEM;
	pfs_tally_add(&group->tally, &row->tally);
	group->unobserved |= row->unobserved;
	group->unobserved_ns = row->unobserved_ns > group->unobserved_ns ? row->unobserved_ns : group->unobserved_ns;
	group->nr_regions++;
	return 0;
}

/* Which group it belongs to, 1 and more; 0: none, or nothing happened to it. */
static unsigned int group_of(const struct pfs_rows *rows, unsigned int i)
{
	const struct pfs_row *row = &rows->row[i];

	for (unsigned int g = 0; row->tally.seen && g < sizeof(groups) / sizeof(groups[0]); g++)
		if (groups[g].has(rows, i))
			return g + 1;
	return 0;
}

/* Regions that are drawn alike but for their pages, and fit behind one another. */
static bool is_alike(const struct pfs_row *group, const struct pfs_row *row)
{
	return group->gone == row->gone && group->region->perms == row->region->perms && group->end &&
	       group->end + (row->end - row->start) > group->end;
}

int pfs_rows_group(struct pfs_rows *rows, const struct pfs_model *model)
{
	enum { MAX_HEADS = 16 }; /* more kinds than there are */
	struct {
		unsigned int group, row;
	} heads[MAX_HEADS];
	unsigned int nr_heads = 0, kept = 0, h;
	unsigned char *group = calloc(rows->nr + 1, sizeof(*group));
	int err = group ? 0 : -ENOMEM;

	for (unsigned int i = 0; group && i < rows->nr; i++)
		group[i] = group_of(rows, i);
	for (unsigned int i = 0; group && i < rows->nr; i++) {
		struct pfs_row *row = &rows->row[i];

		for (h = group[i] ? 0 : nr_heads; h < nr_heads; h++)
			if (heads[h].group == group[i] && is_alike(&rows->row[heads[h].row], row))
				break;
		if (h < nr_heads) {
			err = err ?: join(&rows->row[heads[h].row], row, groups[group[i] - 1].name, model->page_shift);
			continue;
		}
		if (group[i] && nr_heads < MAX_HEADS) {
			heads[nr_heads].group = group[i];
			heads[nr_heads++].row = kept;
		}
		rows->row[kept++] = *row;
	}
	if (group)
		rows->nr = kept;
	free(group);
	return err;
}
