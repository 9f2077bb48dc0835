/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wprobe events: watchpoints of the kernel's own (CONFIG_WPROBE_EVENTS), which triggers of other events set to an object when it
 * is allocated, and clear when it is freed. Each watches a word of one object after the other; nothing has to be done meanwhile.
 *
 * Triggers find them in the group "wprobes" only, so their names are the same in every recording. The CPUs' watchpoints are
 * enough for one recording at a time anyway.
 */
#ifndef PFS_WPROBES_H
#define PFS_WPROBES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define PFS_WPROBES_GROUP "wprobes"
#define PFS_NR_WPROBES	  4 /* watchpoints of a CPU */

/* What one of them watches, and for whom. */
struct pfs_wprobe {
	unsigned int off;   /* of the word of 8 bytes in its object */
	const char *event;  /* "kmem_cache_alloc" or "kmalloc" */
	const char *filter; /* of that event; "": all */
};

/* Does a kernel with this text in tracefs' README have them? */
bool pfs_wprobes_in(const char *readme);

/* ... and this one? */
bool pfs_wprobes_work(void);

/* The lines that define number nr, and that its triggers are. The kernel's own text, without a newline. */
void pfs_wprobe_name(char *buf, size_t size, unsigned int nr);
void pfs_wprobe_define(char *buf, size_t size, unsigned int nr, const struct pfs_wprobe *wprobe);
void pfs_wprobe_set(char *buf, size_t size, unsigned int nr, const struct pfs_wprobe *wprobe);
void pfs_wprobe_clear(char *buf, size_t size, unsigned int nr, const struct pfs_wprobe *wprobe);

/* Defines them, instead of those that a dead pfscope left. 0 or -errno with err set. */
int pfs_wprobes_define(const struct pfs_wprobe wprobes[PFS_NR_WPROBES], struct pfs_err *err);

/* Removes those that exist and are not used. */
void pfs_wprobes_remove(void);

#endif
