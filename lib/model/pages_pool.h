/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the nodes and leaves of page trees: small pieces of a few sizes from large blocks, which are freed all at
 * once. The largest blocks are huge pages if possible, for page faults would be most of the cost. Trees that move leaves
 * to one another share a pool.
 */
#ifndef PFS_PAGES_POOL_H
#define PFS_PAGES_POOL_H

#include <stdbool.h>

/* The kinds of pieces: a leaf of each form (enum leaf_form), nodes and wholes. */
enum { POOL_NODE = 3, POOL_WHOLE, POOL_NR_KINDS };

struct pages_pool;

struct pages_pool *pages_pool_new(void); /* with one reference. NULL: no memory */
struct pages_pool *pages_pool_get(struct pages_pool *pool);
void pages_pool_put(struct pages_pool *pool); /* the last reference frees all pieces; pool may be NULL */

/* Frees all pieces now. Afterwards none may be taken, and none need be given back. */
void pages_pool_close(struct pages_pool *pool);

/* Whether pieces need not be given back: they are freed, or will be with the pool. */
bool pages_pool_ends(const struct pages_pool *pool);

/* A piece, not cleared. NULL: no memory. */
void *pages_pool_take(struct pages_pool *pool, unsigned int kind);

/* Gives a piece back for reuse. */
void pages_pool_give(struct pages_pool *pool, unsigned int kind, void *piece);

#endif
