/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folder of built modules: /var/cache/pfscope for root, else ~/.cache/pfscope, or PFSCOPE_CACHE.
 *
 * A module runs in the kernel, so folder and file must belong to root or to the caller, and nobody else may be able
 * to write to them.
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

/* Determines its path; creates nothing. 0 or -errno with err set. */
int pfs_cache_init(struct pfs_cache *cache, struct pfs_err *err);

/* Creates it if necessary, and checks its owner and permissions. 0 or -errno with err set. */
int pfs_cache_make(const struct pfs_cache *cache, struct pfs_err *err);

/*
 * Locks out other pfscopes that build `what`. Waits for them, after one line to report() (either function may be NULL);
 * -EINTR if give_up() returned true.
 */
int pfs_cache_lock(struct pfs_cache *cache, const char *what, bool (*give_up)(void *ctx),
		   void (*report)(void *ctx, const char *line), void *ctx, struct pfs_err *err);
void pfs_cache_unlock(struct pfs_cache *cache);

/*
 * Opens a file from which a module may be loaded. It is to be read from the descriptor, because the name may be another
 * file's by then. flags: O_NOFOLLOW, or 0. -ENOENT: no such file; -EPERM: others could have written it; err set.
 */
int pfs_cache_open_module(const char *path, int flags, struct pfs_err *err);

/* Can only root and the caller exchange what is theirs in that folder? 0 or -EPERM with err set. */
int pfs_cache_check_folder(const char *dir, struct pfs_err *err);

/* Removes a folder with its contents. 0 (also if there is none) or -errno. */
int pfs_cache_remove_tree(const char *path);

/*
 * Creates the folder `to` with links to all that is in `from`, hidden files too, except one name (or NULL). deep: its
 * folders become folders, so that "../x" in a file is found in the copy. 0 or -errno.
 */
int pfs_cache_link_tree(const char *from, const char *to, bool deep, const char *except);

/* Removes the oldest modules beyond `keep`. */
void pfs_cache_trim(const struct pfs_cache *cache, unsigned int keep);

#endif
