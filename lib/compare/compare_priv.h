/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one recording gives to a comparison (compare/run.c), and where it is kept.
 */
#ifndef PFS_COMPARE_PRIV_H
#define PFS_COMPARE_PRIV_H

#include "compare/compare.h"
#include "compare/counterpart.h"

/* A page of a region that maps a file, by its offset there. */
struct compare_page {
	uint64_t off;		/* bytes */
	uint32_t reads, writes; /* faults; reads: all others, too */
	bool silent;		/* mapped, or maybe, without a fault of its own */
};

struct compare_region {
	const char *name, *process; /* interned */
	char perms[5], part[24];    /* as of struct pfs_change_line */
	uint64_t born_ns, start;
	uint64_t number[PFS_NR_MEASURES];
	struct compare_page *pages; /* sorted; of files only */
	size_t nr_pages, max_pages;
	size_t image; /* line of its match */
	bool is_file, is_stack, is_huge;
	struct pfs_match_item item;
};

/* An image of a process. */
struct compare_image {
	const char *name;
	struct pfs_match_item item;
};

struct compare_run {
	enum pfs_side side;
	struct compare_image *images;
	struct compare_region *regions; /* in order of their mapping */
	size_t nr_images, nr_regions, max_regions;
	bool lost, timed, lacks_around;
};

/* A fault of which the latency is known. */
struct compare_time {
	const struct pfs_space *space;
	uint64_t addr, ts_ns, latency_ns;
};

struct pfs_compare_private {
	struct pfs_intern *pool;
	struct compare_run *runs;
	size_t nr_runs, max_runs;
	struct compare_time *times; /* of the recording that is being read */
	size_t nr_times, max_times;
	struct pfs_match images, regions;
	bool untimed, lacks_around; /* some run is */
};

/* Fills in a run of zeroes. 0 or -ENOMEM. */
int compare_run_gather(struct compare_run *run, struct pfs_compare_private *priv, const struct pfs_model *model,
		       const struct pfs_filter *filter);
void compare_run_fini(struct compare_run *run);

#endif
