/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages are resident, as far as the recording shows: by whom each came. A table of numbers of pages; it knows no
 * regions. All of zeroes is an empty one.
 */
#ifndef PFS_EXPORT_PAGES_H
#define PFS_EXPORT_PAGES_H

#include <stddef.h>
#include <stdint.h>

struct viewer_resident {
	const char *region;
	uint32_t thread; /* its number */
	uint32_t path;	 /* the number of its path */
};

struct viewer_pages {
	struct viewer_pages_entry *entries;
	size_t nr, size; /* size: a power of two, or 0 */
};

void viewer_pages_fini(struct viewer_pages *pages);

/* 1: it was not there; 0: it was, nothing is changed; -ENOMEM. */
int viewer_pages_add(struct viewer_pages *pages, uint32_t space, uint64_t page, const struct viewer_resident *what);

void viewer_pages_forget(struct viewer_pages *pages, uint32_t space, uint64_t page);

/* Removes those of nr pages from `first` on, calling fn for each. 0, or what fn returned. */
typedef int (*viewer_pages_fn)(void *ctx, uint32_t space, uint64_t page, const struct viewer_resident *was,
			       uint64_t ts_ns);
int viewer_pages_remove(struct viewer_pages *pages, uint32_t space, uint64_t first, uint64_t nr, uint64_t ts_ns,
			viewer_pages_fn fn, void *ctx);

/* The pages of [first, first + nr) are `to` and the following from now on. 0 or -ENOMEM. */
int viewer_pages_move(struct viewer_pages *pages, uint32_t space, uint64_t first, uint64_t nr, uint64_t to);

#endif
