/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accesses of `kmap --stats`: what was seen, of how much, and what that makes of all. */
#ifndef PFS_ACCESSES_TEXT_H
#define PFS_ACCESSES_TEXT_H

#include "base/table.h"
#include "objects/kmap.h"

/* The first rows, as many as wanted or without that `few`, with their coverage. Nothing if nothing was watched. */
void pfs_kmap_accesses_text(const struct pfs_kmap *kmap, unsigned int few);

/* Of lines: a comment, or the member "watched" of JSON. Nothing if nothing was watched. */
void pfs_kmap_watched(struct pfs_kmap *kmap);

/* The tables "watched" and "accesses", each given to write(), which frees them (NULL: no memory). 0 or what that returned. */
int pfs_kmap_accesses_tables(struct pfs_kmap *kmap,
			     int (*write)(struct pfs_kmap *kmap, struct pfs_table *table, const char *name));

#endif
