/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of the report's tables, gathered from the model: one a process, a region, a file; and by events, a thread.
 *
 * The process lines count events, so they equal what the kernel counted for the process; the other
 * two add up pages. They differ where processes share a space (vfork): there a region's faults are
 * those of both. view/report.c prints them, live/ sorts and filters them.
 */
#ifndef PFS_REPORT_H
#define PFS_REPORT_H

#include "base/hash.h"
#include "base/table.h"
#include "view/loss.h"
#include "view/rows.h"
#include "view/view.h"

struct pfs_process_line {
	struct pfs_epochs at; /* its first epoch that is shown */
	struct pfs_tally tally;
	uint64_t regions, gone;
	struct pfs_missing missing; /* of all its images */
};

struct pfs_region_line {
	struct pfs_epochs at;
	struct pfs_row row;
	struct pfs_missing missing;
};

/* All mappings of one file (device and inode); of memory without one, all that are called the same. */
struct pfs_file_line {
	char *label;
	uint32_t dev;
	uint64_t ino; /* and dev 0: no file, or not known which */
	uint64_t pages, mappings, processes;
	struct pfs_tally tally;
};

/* Of a thread, counted by events. */
struct pfs_thread_line {
	struct {
		uint64_t thread, born_ns, tid; /* a number, and the model's memory of it, may be used again */
	} key;
	UT_hash_handle hh;
	const struct pfs_proc *proc;
	const char *comm;	    /* or NULL */
	struct pfs_tally tally;	    /* without pages */
	uint64_t first_ns, last_ns; /* faults */
	uint64_t latency_ns, nr_timed;
};

struct pfs_report_lines {
	const struct pfs_model *model;
	const struct pfs_view_options *options;
	struct pfs_json *json;		    /* where JSON goes; that form only */
	struct pfs_process_line *processes; /* each array sorted by faults, most first */
	struct pfs_region_line *regions;
	struct pfs_file_line *files;
	const struct pfs_thread_line **threads; /* borrowed */
	size_t nr_threads;
	size_t nr_processes, nr_regions, nr_files;
	size_t max_processes, max_regions, max_files;
};

/* 0 or -ENOMEM; then there is nothing to free. */
int pfs_report_gather(struct pfs_report_lines *lines, const struct pfs_model *model,
		      const struct pfs_view_options *options);

/* May this gap concern the process, in any of its images? */
bool pfs_report_concerns(const struct pfs_process_line *line, struct pfs_gaps shown, const struct pfs_loss *gap);

void pfs_report_free(struct pfs_report_lines *lines);

#endif
