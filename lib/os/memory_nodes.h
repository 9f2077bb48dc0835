/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which page frames are on which NUMA node: /proc/zoneinfo. */
#ifndef PFS_MEMORY_NODES_H
#define PFS_MEMORY_NODES_H

#include <stdint.h>

/* A zone of a node spans these frames; there may be holes in it, which may be another node's. What it returns ends it unless 0. */
typedef int pfs_zone_fn(void *ctx, unsigned int node, uint64_t start, uint64_t end);

/* 0, what fn returned, or -errno. */
int pfs_memory_nodes(pfs_zone_fn *fn, void *ctx);
/* The same of that text, which is changed. */
int pfs_memory_nodes_of(char *text, pfs_zone_fn *fn, void *ctx);

#endif
