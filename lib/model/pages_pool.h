/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the nodes and leaves of page trees: many small pieces of a few sizes, taken from large blocks that
 * go all at once. The largest are huge pages where the kernel has them, for most of what a piece would cost
 * otherwise is the kernel's page faults. Trees that hand leaves to one another share a pool.
 */
#ifndef PFS_PAGES_POOL_H
#define PFS_PAGES_POOL_H

#include <stdbool.h>

/* What pieces are there: a leaf of each form (enum leaf_form), nodes and wholes. */
enum { POOL_NODE = 3, POOL_WHOLE, POOL_NR_KINDS };

struct pages_pool;

struct pages_pool *pages_pool_new(void); /* with one user. NULL: no memory */
struct pages_pool *pages_pool_get(struct pages_pool *pool);
void pages_pool_put(struct pages_pool *pool); /* NULL: nothing; the last one frees all pieces */

/* Frees all pieces now; they need not be given back any more, and none can be taken. */
void pages_pool_close(struct pages_pool *pool);

/* Is it of no use to give pieces back: are they gone, or about to go with the pool? */
bool pages_pool_ends(const struct pages_pool *pool);

/* A piece, not cleared. NULL: no memory. */
void *pages_pool_take(struct pages_pool *pool, unsigned int kind);

/* Gives one back, for the next who takes one of its kind. */
void pages_pool_give(struct pages_pool *pool, unsigned int kind, void *piece);

#endif
