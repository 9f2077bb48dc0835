/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects as lines, and what they add up to as tables: text, CSV or JSON. */
#ifndef PFS_KMAP_H
#define PFS_KMAP_H

#include "base/json.h"
#include "objects/slabs.h"
#include "objects/tally.h"

#include <stdio.h>

enum pfs_kmap_form {
	PFS_KMAP_TEXT,
	PFS_KMAP_CSV,
	PFS_KMAP_JSON,
	PFS_KMAP_COMPAT, /* as the Memorizer kernel prints it */
};

struct pfs_kmap {
	FILE *out;
	enum pfs_kmap_form form;
	const char *name; /* of the recording */
	bool functions;	  /* instead of addresses, in text */
	/*
	 * With functions: the source line of a call site, valid until the next call, or NULL. And, once before the first one, why
	 * there are none, or NULL. Both NULL: nobody looks.
	 */
	const char *(*line)(void *ctx, const struct pfs_object_site *site);
	const char *(*no_lines)(void *ctx, const char *kernel);
	void *line_ctx;
	bool color;
	bool evicts;		 /* objects may be evicted, which the comment of lines explains */
	unsigned int width, top; /* of tables; top 0: the first screen */
	struct pfs_objects *objects;
	struct pfs_json json;
	bool begun;
};

/*
 * Writes a line for each object that ends, in the order of their ends, then those that are alive: a sink. All other
 * members are set first.
 *
 *     # ...
 *     alloc_ip,pid,obj_va_ptr,size,alloc_time,free_time,free_ip,executable
 */
struct pfs_object_sink pfs_kmap_sink(struct pfs_kmap *kmap);

/* What of the events is lost, as a sentence without its end. NULL: nothing. */
const char *pfs_kmap_losses(const struct pfs_kmap *kmap, char *buf, size_t size);

/* After the last object. */
void pfs_kmap_end(struct pfs_kmap *kmap);

/*
 * Writes pages of slabs as bars, of all caches or (not NULL) those whose names the glob fits: as many as fit into `height`
 * lines, or k->top of each cache. 0 or -ENOMEM.
 */
int pfs_kmap_bars(const struct pfs_kmap *kmap, const struct pfs_slabs *slabs, const char *cache, unsigned int height);

/* Sorts the tables and writes them: the headline, each table, and the call sites that leak. 0 or -ENOMEM. */
int pfs_kmap_stats(struct pfs_kmap *kmap, struct pfs_tally *tally);

#endif
