/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of other processes out of memory, so that their next use is a fault: process_madvise(MADV_PAGEOUT).
 *
 * What cannot go stays and is counted: pages that another process has as well, locked ones, dirty ones of
 * files, anonymous ones without swap, and pages that were used again before the second look.
 */
#ifndef PFS_PAGEOUT_H
#define PFS_PAGEOUT_H

#include "event/refault_note.h"
#include "os/smaps.h"

#include <sys/types.h>

struct pfs_pageout_want {
	bool (*wanted)(void *ctx, const struct pfs_smap *region); /* NULL: all */
	bool (*stop)(void *ctx);				  /* asked now and then; NULL: never */
	bool files_only;					  /* what is wanted needs no swap */
	void *ctx;
};

/*
 * Pages that were faulted in on other processors since are not on the kernel's lists yet, and would stay. To be
 * called once before.
 */
void pfs_pageout_begin(void);

/*
 * Has the process's pages taken away, and adds what came of it to *sums. 0 (also if it is gone, or stop() said so),
 * or -errno: -EPERM, -ENOSYS, -ENOMEM.
 */
int pfs_pageout_process(pid_t pid, const struct pfs_pageout_want *want, struct pfs_pageout *sums);

#endif
