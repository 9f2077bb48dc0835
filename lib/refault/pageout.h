/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages out the memory of other processes, so that its next use is a fault: process_madvise(MADV_PAGEOUT).
 *
 * Pages that cannot be paged out are counted: those shared with another process, locked ones, dirty ones of files,
 * anonymous ones without swap, and pages that were used again before the second look.
 */
#ifndef PFS_PAGEOUT_H
#define PFS_PAGEOUT_H

#include "event/refault_note.h"
#include "os/smaps.h"

#include <sys/types.h>

struct pfs_pageout_want {
	bool (*wanted)(void *ctx, const struct pfs_smap *region); /* NULL: all */
	bool (*stop)(void *ctx);				  /* called now and then; NULL: never */
	/* called for each region that had pages in memory: how many, and how many of them stayed; NULL: never */
	void (*stayed)(void *ctx, pid_t pid, uint64_t start, uint64_t end, uint64_t pages, uint64_t stayed);
	bool files_only; /* the wanted pages need no swap */
	void *ctx;
};

/*
 * To be called once before a cycle: pages that were faulted in lately are in per-CPU batches, not on the kernel's lists,
 * and would stay in memory.
 */
void pfs_pageout_begin(void);

/*
 * Pages out the process's memory and adds the result to *sums. 0 (also if the process has ended or stop() returned
 * true), or -errno: -EPERM, -ENOSYS, -ENOMEM.
 */
int pfs_pageout_process(pid_t pid, const struct pfs_pageout_want *want, struct pfs_pageout *sums);

#endif
