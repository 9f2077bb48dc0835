/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Open addressing with linear probing. What is removed leaves no mark: entries behind it move up.
 */
#include "export/pages.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

enum { BLOCK = 16 };

struct viewer_pages_entry {
	uint64_t page;
	uint32_t space;
	uint32_t used; /* 0: empty */
	struct viewer_resident what;
};

void viewer_pages_fini(struct viewer_pages *pages)
{
	free(pages->entries);
}

/* Neighbours, which mostly come one after another, are neighbours here, too. */
static size_t home(const struct viewer_pages *pages, uint32_t space, uint64_t page)
{
	uint64_t hash = (page / BLOCK ^ (uint64_t)space << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return ((hash ^ hash >> 32) * BLOCK + page % BLOCK) & (pages->size - 1);
}

/* Where it is, or where it would be. */
static size_t find(const struct viewer_pages *pages, uint32_t space, uint64_t page)
{
	size_t i = home(pages, space, page);

	while (pages->entries[i].used && (pages->entries[i].page != page || pages->entries[i].space != space))
		i = (i + 1) & (pages->size - 1);
	return i;
}

static int grow(struct viewer_pages *pages)
{
	struct viewer_pages larger = { .size = pages->size ? 2 * pages->size : 1024, .nr = pages->nr };

	larger.entries = calloc(larger.size, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	pfs_advise_huge(larger.entries, larger.size * sizeof(*larger.entries));
	for (size_t i = 0; i < pages->size; i++)
		if (pages->entries[i].used)
			larger.entries[find(&larger, pages->entries[i].space, pages->entries[i].page)] =
				pages->entries[i];
	free(pages->entries);
	*pages = larger;
	return 0;
}

int viewer_pages_add(struct viewer_pages *pages, uint32_t space, uint64_t page, const struct viewer_resident *what)
{
	size_t i;

	if (pages->nr >= pages->size / 2 && grow(pages))
		return -ENOMEM;
	i = find(pages, space, page);
	if (pages->entries[i].used)
		return 0;
	pages->entries[i] = (struct viewer_pages_entry){ page, space, 1, *what };
	pages->nr++;
	return 1;
}

/* Entries behind it that belong to its place or before move up. */
static void remove_at(struct viewer_pages *pages, size_t i)
{
	size_t mask = pages->size - 1, k = i;

	pages->nr--;
	for (;;) {
		pages->entries[i].used = 0;
		do {
			k = (k + 1) & mask;
			if (!pages->entries[k].used)
				return;
		} while (((k - home(pages, pages->entries[k].space, pages->entries[k].page)) & mask) <
			 ((k - i) & mask));
		pages->entries[i] = pages->entries[k];
		i = k;
	}
}

void viewer_pages_forget(struct viewer_pages *pages, uint32_t space, uint64_t page)
{
	size_t i = pages->size ? find(pages, space, page) : 0;

	if (pages->size && pages->entries[i].used)
		remove_at(pages, i);
}

static int take_away(struct viewer_pages *pages, size_t i, uint64_t ts_ns, viewer_pages_fn fn, void *ctx)
{
	struct viewer_pages_entry was = pages->entries[i];

	remove_at(pages, i);
	return fn(ctx, was.space, was.page, &was.what, ts_ns);
}

/* One by one, or all entries, whichever are fewer. */
int viewer_pages_remove(struct viewer_pages *pages, uint32_t space, uint64_t first, uint64_t nr, uint64_t ts_ns,
			viewer_pages_fn fn, void *ctx)
{
	int ret = 0;

	if (!pages->nr)
		return 0;
	if (nr <= pages->size) {
		for (uint64_t page = first; !ret && page - first < nr; page++) {
			size_t i = find(pages, space, page);

			if (pages->entries[i].used)
				ret = take_away(pages, i, ts_ns, fn, ctx);
		}
		return ret;
	}
	for (size_t i = 0; !ret && i < pages->size; i++)
		while (!ret && pages->entries[i].used && pages->entries[i].space == space &&
		       pages->entries[i].page - first < nr)
			ret = take_away(pages, i, ts_ns, fn, ctx);
	return ret;
}

struct moved {
	struct viewer_pages_entry *entries;
	size_t nr, max;
};

static int keep(void *ctx, uint32_t space, uint64_t page, const struct viewer_resident *was, uint64_t ts_ns)
{
	struct moved *moved = ctx;
	struct viewer_pages_entry *entry = pfs_array_add(moved->entries, moved->nr, moved->max);

	if (!entry)
		return -ENOMEM;
	*entry = (struct viewer_pages_entry){ page, space, 1, *was };
	return 0;
}

int viewer_pages_move(struct viewer_pages *pages, uint32_t space, uint64_t first, uint64_t nr, uint64_t to)
{
	struct moved moved = { 0 };
	int ret = viewer_pages_remove(pages, space, first, nr, 0, keep, &moved);

	for (size_t i = 0; ret >= 0 && i < moved.nr; i++)
		ret = viewer_pages_add(pages, space, moved.entries[i].page - first + to, &moved.entries[i].what);
	free(moved.entries);
	return ret < 0 ? ret : 0;
}
