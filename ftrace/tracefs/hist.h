/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults counted by page inside the kernel: a hist trigger on a page-fault event of an instance.
 *
 * The events themselves are not recorded; a table in the kernel has an entry for each thread, page and error code. See
 * Documentation/trace/histogram.rst of Linux.
 */
#ifndef PFS_HIST_H
#define PFS_HIST_H

#include "base/err.h"
#include "tracefs/instance.h"

#include <stddef.h>
#include <stdint.h>

/* One event's table. */
struct pfs_hist {
	const char *event; /* "page_fault_user", of exceptions */
	char trigger[160]; /* without its command */
};

/* One entry of it. */
struct pfs_hist_entry {
	int32_t tid;
	uint64_t page; /* address of it */
	uint64_t code; /* error code; UINT64_MAX: the kernel has none */
	uint64_t count;
};

/*
 * Sets it up for pages of page_size bytes, with room for that many entries, not counting yet, and opens all that is
 * needed later without privilege. 0, or -errno with err set: the kernel has no hist triggers, no buckets (up to 5.17),
 * or no memory.
 */
int pfs_hist_create(struct pfs_hist *hist, struct pfs_instance *instance, const char *event, unsigned long page_size,
		    unsigned int entries, struct pfs_err *err);

/* Starts or stops counting. 0 or -errno with err set. */
int pfs_hist_count(const struct pfs_hist *hist, struct pfs_instance *instance, bool on, struct pfs_err *err);

/* Starts counting when the thread leaves its address space for another (exec). */
int pfs_hist_count_from_exec(const struct pfs_hist *hist, struct pfs_instance *instance, pid_t tid,
			     struct pfs_err *err);

/* Passes every entry to fn. *dropped: hits for which there was no room. 0, what fn returned, or -errno with err set. */
int pfs_hist_read(const struct pfs_hist *hist, struct pfs_instance *instance,
		  int (*fn)(void *ctx, const struct pfs_hist_entry *entry), void *ctx, uint64_t *dropped,
		  struct pfs_err *err);

/* A line of the table to an entry: 1, or 0 if it is none. `page_size` as above. */
int pfs_hist_line(const char *line, unsigned long page_size, struct pfs_hist_entry *entry);

#endif
