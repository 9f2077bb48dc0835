/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages as tests like to look at them. */
#ifndef TESTS_PAGE_AT_H
#define TESTS_PAGE_AT_H

#include "model/pages.h"

#define pages_for_each(page, walk, pages, start, end) \
	for (pfs_page_walk_start(walk, pages, start, end); ((page) = pfs_page_walk_next(walk));)

/* The page at addr, until the next call; NULL: nothing happened to it. */
static inline const struct pfs_page *page_at(const struct pfs_pages *pages, uint64_t addr)
{
	static struct pfs_page_walk walk;

	if (!pages)
		return NULL;
	pfs_page_walk_start(&walk, pages, addr, addr + 1);
	return pfs_page_walk_next(&walk);
}

/* Copies what page_at() returns; false: nothing happened there. */
static inline bool page_copy(const struct pfs_pages *pages, uint64_t addr, struct pfs_page *copy)
{
	const struct pfs_page *page = page_at(pages, addr);

	if (page)
		*copy = *page;
	return page;
}

static inline bool page_has(const struct pfs_pages *pages, uint64_t addr, uint32_t flags)
{
	const struct pfs_page *page = page_at(pages, addr);

	return page && page->flags & flags;
}

/* How many pages there are. */
static inline uint64_t pages_total(const struct pfs_pages *pages)
{
	struct pfs_page_walk at;
	uint64_t nr, total = 0;

	pfs_page_walk_start(&at, pages, 0, 0);
	while (pfs_page_walk_row(&at, &nr))
		total += nr;
	return total;
}

/* How many pages in [start, end) have any of the flags. */
static inline unsigned int pages_with(const struct pfs_pages *pages, uint64_t start, uint64_t end, uint32_t flags)
{
	const struct pfs_page *page;
	struct pfs_page_walk at;
	unsigned int nr = 0;

	pages_for_each(page, &at, pages, start, end) nr += !!(page->flags & flags);
	return nr;
}

#endif
