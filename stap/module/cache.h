/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where built modules are kept: /var/cache/pfscope for root, else ~/.cache/pfscope; PFSCOPE_CACHE names
 * another place.
 *
 * A module runs in the kernel, so nothing is taken from where somebody else could have put it: folder
 * and file belong to root or to the caller, and nobody else may write to them.
 */
#ifndef PFS_STAP_CACHE_H
#define PFS_STAP_CACHE_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct pfs_cache {
	char dir[PATH_MAX - 256]; /* room for names in it */
	int lock_fd;		  /* -1: not locked */
};

/* Finds out where it is; nothing is made yet. 0 or -errno with err set. */
int pfs_cache_init(struct pfs_cache *cache, struct pfs_err *err);

/* Makes it if it is not there, and sees that it is safe. 0 or -errno with err set. */
int pfs_cache_make(const struct pfs_cache *cache, struct pfs_err *err);

/*
 * Keeps other pfscopes from building what is called so. Waits for one that does, calling waits() (may be
 * NULL) once; -EINTR if give_up() (may be NULL) says so.
 */
int pfs_cache_lock(struct pfs_cache *cache, const char *what, bool (*give_up)(void *ctx), void *give_up_ctx,
		   void (*waits)(void *ctx), void *waits_ctx, struct pfs_err *err);
void pfs_cache_unlock(struct pfs_cache *cache);

/*
 * May a module be loaded from this file: 0. -ENOENT: there is none. -EPERM: others could have written
 * it. err says why.
 */
int pfs_cache_trusted(const char *path, struct pfs_err *err);

/* Removes a folder and all that is in it. 0 or -errno; one that is not there is fine. */
int pfs_cache_remove_tree(const char *path);

/* Removes the oldest modules beyond `keep`. */
void pfs_cache_trim(const struct pfs_cache *cache, unsigned int keep);

#endif
