/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's caches of objects, by /sys/kernel/slab: the kernel merges caches whose objects are alike, and an event names
 * only one of the names that such a cache has.
 */
#ifndef PFS_SLABS_H
#define PFS_SLABS_H

#define PFS_SLABS_DIR "/sys/kernel/slab"

/*
 * Passes the names of each cache that has several to fn: sorted, separated by spaces, borrowed for the call. 0; -errno:
 * `dir` cannot be read, or there is no memory; or what fn returned, if not 0.
 */
int pfs_slabs_merged(const char *dir, int (*fn)(void *ctx, const char *names), void *ctx);

#endif
