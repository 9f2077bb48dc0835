/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers faults and sampled accesses for a plot, counted by place, time, kind and thread. It observes the model, which
 * takes each event first, because the layout of that moment decides whose page was touched. Memory is bounded by the
 * cells (plot/cells.h), the processes and the names of regions.
 *
 * A group is all regions of one name in one image of a process. Bands are made of groups at the end (plot/plot.h).
 */
#ifndef PFS_PLOT_DATA_H
#define PFS_PLOT_DATA_H

#include "model/filter.h"
#include "model/model.h"
#include "plot/cells.h"

enum {
	PFS_PLOT_MAX_CELLS = 1 << 18,
	PFS_PLOT_MAX_IMAGES = 1000, /* further images, groups and threads share the last number */
	PFS_PLOT_MAX_GROUPS = 10000,
	PFS_PLOT_MAX_THREADS = 1000,
	PFS_PLOT_MAX_SITES = 60000, /* further instructions are unknown */
	PFS_PLOT_MAX_RANGES = 1000, /* of a group; neighbours are merged beyond that */
};

/* A process from one exec to the next. */
struct pfs_plot_image {
	const struct pfs_space *space; /* NULL: several images share the number */
	uint64_t count;		       /* faults and sampled accesses */
};

struct pfs_plot_range {
	uint64_t start, end;
};

struct pfs_plot_group {
	uint32_t image;
	const char *name;	       /* the region's; "anon" and the like without a path */
	bool unknown;		       /* no known region */
	struct pfs_plot_range *ranges; /* of its regions at any time: sorted, apart from each other */
	uint32_t nr_ranges, max_ranges;
};

struct pfs_plot_thread {
	int32_t pid, tid; /* 0: several threads share the number */
	const char *comm; /* its last one; NULL: not known */
	uint64_t count;
};

enum pfs_plot_site_kind {
	PFS_PLOT_NOT_KNOWN,
	PFS_PLOT_IN_FILE,
	PFS_PLOT_IN_REGION, /* of no file: [vdso], generated code */
	PFS_PLOT_IN_KERNEL,
	PFS_PLOT_IN_NOTHING, /* no known region */
};

/* The place of an instruction that faulted, at that time. Number 0 is the unknown one. */
struct pfs_plot_site {
	const char *name; /* of its file or region; NULL: in the kernel, or in no region */
	uint64_t off;	  /* in the file or region, in bytes; else its address */
	uint64_t ino;	  /* of the file; with dev 0: not recorded */
	uint32_t dev;
	uint32_t kind; /* enum pfs_plot_site_kind */
};

struct pfs_plot_data {
	const struct pfs_model *model;
	const struct pfs_filter *filter; /* regions; NULL: all */
	struct pfs_plot_cells cells;
	struct pfs_plot_image *images;
	struct pfs_plot_group *groups;
	struct pfs_plot_thread *threads;
	struct pfs_plot_site *sites;
	uint32_t nr_images, nr_groups, nr_threads, nr_sites;
	uint32_t max_images, max_groups, max_threads, max_sites;
	uint64_t faults, sampled; /* in the cells */
	uint64_t outside;	  /* of the faults: in no known region */
	uint64_t timeless;	  /* faults that a source only counted: in no cell */
	uint64_t left_out;	  /* by --region */
	struct pfs_plot_data_private *priv;
};

/* model and filter are borrowed. NULL: no memory. */
struct pfs_plot_data *pfs_plot_data_new(const struct pfs_model *model, const struct pfs_filter *filter);
void pfs_plot_data_free(struct pfs_plot_data *data);

/* Its functions return 0 or -ENOMEM. */
struct pfs_observer pfs_plot_data_observer(struct pfs_plot_data *data);

#endif
