/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of faults in programs without frame pointers: a perf event of the same threads dumps registers and stack at each
 * fault, behind the trace event of the exception. A dump is unwound when its turn comes in order of time, in the layout that the
 * recording's own records tell, and becomes a record with the number of its stack (RAW_PFS_STACK). Which fault it is of, the
 * reader concludes.
 */
#ifndef PFS_DUMPS_H
#define PFS_DUMPS_H

#include "base/err.h"
#include "os/kallsyms.h"
#include "record/raw.h"
#include "unwind/unwind.h"

#include <poll.h>
#include <sys/types.h>

struct pfs_dumps;

/* 0, or -errno with err set: stacks cannot be unwound here. */
int pfs_dumps_check(struct pfs_err *err);

/*
 * Starts the helper that reads the tables, and makes a ring of kb for each CPU. symbols: of the kernel, borrowed, or NULL.
 * follow: also the processes that a thread starts. NULL with errno and err set.
 */
struct pfs_dumps *pfs_dumps_new(unsigned int kb, bool follow, const struct pfs_symbols *symbols, struct pfs_err *err);
void pfs_dumps_free(struct pfs_dumps *d);

/* Dumps the faults of a thread and of what it starts from now on. 0 or -errno with err set. */
int pfs_dumps_add(struct pfs_dumps *d, pid_t tid, struct pfs_err *err);

/* The recording begins now: what was dumped before is of no fault in it. */
void pfs_dumps_begin(struct pfs_dumps *d, uint64_t ts_ns);

/* Writes what to poll, an entry for each CPU at most, and returns how many. */
unsigned int pfs_dumps_poll(const struct pfs_dumps *d, struct pollfd *fds);

/* How long they may wait for that. */
enum { PFS_DUMPS_WAIT_MS = PFS_UNWIND_WAIT_MS };

/* Takes in what the kernel has ready. 0 or -ENOMEM. */
int pfs_dumps_drain(struct pfs_dumps *d);

/* Passes on the stacks of before until_ns. 0, -ENOMEM or what put returned. */
int pfs_dumps_flush(struct pfs_dumps *d, uint64_t until_ns, raw_event_fn put, void *ctx);

/* Takes in one of the recording's own records, which come in order of time; the stacks of before that are passed on first. */
int pfs_dumps_own(struct pfs_dumps *d, const struct raw_event *ev, raw_event_fn put, void *ctx);

/* How many dumps the rings had no room for. */
uint64_t pfs_dumps_lost(const struct pfs_dumps *d);

#endif
