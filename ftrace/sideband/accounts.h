/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many faults the kernel counted for each process that is attached to, and for those that it starts: of the threads that
 * run, by /proc; of a thread that ends, by the record of its end (taskstats, CAP_NET_ADMIN, in the first namespaces only).
 * These counts include the faults for which there is no event. A process of which a count is missing has none.
 */
#ifndef PFS_ACCOUNTS_H
#define PFS_ACCOUNTS_H

#include "base/err.h"
#include "record/raw.h"

#include <sys/types.h>

struct pfs_accounts;

/* NULL with err set. */
struct pfs_accounts *pfs_accounts_open(struct pfs_err *err);
void pfs_accounts_free(struct pfs_accounts *accounts);

/*
 * Reads the counts of a process that runs already: once before it is recorded, and once from then on. The count of a thread
 * that does not sleep through both is not certain. 0 or -ENOMEM.
 */
int pfs_accounts_begin(struct pfs_accounts *accounts, pid_t pid);

/* Takes in what the kernel reports of threads that ended. To be called before their RAW_PFS_TASK comes. 0 or -ENOMEM. */
int pfs_accounts_take(struct pfs_accounts *accounts);

/*
 * To be called with each RAW_PFS_TASK in order of time; others are passed over. If it is the end of a process, passes its
 * count to fn, as a note. 0, -ENOMEM, or what fn returned.
 */
int pfs_accounts_task(struct pfs_accounts *accounts, const struct raw_event *ev, raw_event_fn fn, void *ctx);

/* The same as pfs_accounts_begin(), of all processes that live, before and after the end of the recording. */
int pfs_accounts_end(struct pfs_accounts *accounts);

/* Passes the counts of those to fn, as notes dated ts_ns. 0, -ENOMEM, or what fn returned. */
int pfs_accounts_finish(struct pfs_accounts *accounts, uint64_t ts_ns, raw_event_fn fn, void *ctx);

#endif
