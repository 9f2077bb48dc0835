/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the mapped files is in the page cache, for fault-around (lib/os/page_cache.h): a root helper probes each file
 * when a recorded process is seen to map it, and once more at the end. The files are other people's: it opens regular
 * files on local disks only, and whoever waits for it waits for a limited time.
 */
#ifndef PFS_SIDEBAND_CACHE_H
#define PFS_SIDEBAND_CACHE_H

#include "base/err.h"
#include "record/raw.h"

struct pfs_cache;

/* Starts the helper. NULL, errno and err set: it cannot be started. */
struct pfs_cache *pfs_cache_open(struct pfs_err *err);
void pfs_cache_free(struct pfs_cache *cache);

/* Polled for answers; -1: the helper is gone. */
int pfs_cache_fd(const struct pfs_cache *cache);

/* A mapping (RAW_PFS_MAP): asks for its file, unless it was asked for not long ago. 0 or -ENOMEM. */
int pfs_cache_mapped(struct pfs_cache *cache, const struct raw_event *map);

/* Passes on the answers that have come, as RAW_PFS_CACHED. 0, -ENOMEM, or what fn returned. */
int pfs_cache_take(struct pfs_cache *cache, raw_event_fn fn, void *ctx);

/*
 * Asks again for all files that were asked for before stopped_ns, when the recording ended, and takes the answers, for up to
 * patience_ms. As pfs_cache_take().
 */
int pfs_cache_finish(struct pfs_cache *cache, uint64_t stopped_ns, unsigned int patience_ms, raw_event_fn fn,
		     void *ctx);

#endif
