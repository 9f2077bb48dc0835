/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gathers faults and sampled accesses for a plot, counted by place, time, kind and thread. It observes the model, which
 * takes each event first, because the layout of that moment decides whose page was touched. Memory is bounded by the
 * cells, the processes and the names of regions.
 *
 * A group is all regions of one name in one image of a process. Bands are made of groups at the end (plot/plot.h).
 */
#ifndef PFS_PLOT_DATA_H
#define PFS_PLOT_DATA_H

#include "model/filter.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Cells (plot/cells.c): touches counted by page, time, kind and thread, in a table of limited size. When it is full, its
 * cells grow: each covers twice the time, or twice the pages. So no touch is left out, however long the recording is: the
 * counts of all cells always add up to the touches that were added.
 */

/* enum pfs_access, enum pfs_class; 0: unknown. */
struct pfs_plot_kind {
	uint8_t access : 2, class : 2;
	bool signal : 1;   /* ended in a signal */
	bool sampled : 1;  /* not a fault, but an access that a source sampled */
	uint8_t label : 5; /* its class, as the filter's labels have it; 0: unknown */
};

struct pfs_plot_cell {
	uint64_t count;	      /* 0: an empty cell */
	uint64_t page;	      /* number of its first page >> page_shift */
	uint64_t bin;	      /* its time >> time_shift */
	uint64_t ts_ns, addr; /* of the first of them */
	uint32_t group;	      /* the caller's number */
	uint32_t site;	      /* instruction of the first; the caller's number */
	uint16_t thread;      /* the caller's number */
	struct pfs_plot_kind kind;
};

struct pfs_plot_cells {
	struct pfs_plot_cell *cells; /* in order of their first touches, or sorted */
	uint32_t *index;	     /* a hash table of numbers of cells, each plus 1 */
	uint32_t last;		     /* the entry of the last touch, which the next one often shares; 0: none */
	size_t nr_used, nr_index;    /* cells, empty ones included; entries, a power of two or 0 */
	size_t nr, max;		     /* cells with touches; at most, unless they cannot grow */
	unsigned int time_shift, page_shift;
	uint64_t first_bin, last_bin; /* that were seen */
	bool any;
};

enum {
	PFS_PLOT_MAX_BINS = 2048, /* more than half are used if the time is long enough */
	PFS_PLOT_MIN_BINS = 512,  /* below that, cells grow in pages first */
};

/* A struct of zeroes, but for max, has no cells. */
void pfs_plot_cells_fini(struct pfs_plot_cells *cells);

/* Extends the time to ts_ns. 0 or -ENOMEM. */
int pfs_plot_cells_reach(struct pfs_plot_cells *cells, uint64_t ts_ns);

/* Adds what->count touches; `page` is the number of a page, `bin` is not read. 0 or -ENOMEM. */
int pfs_plot_cells_add(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what);

/* Takes back one touch that was added as `what`. False: there is none. */
bool pfs_plot_cells_remove(struct pfs_plot_cells *cells, const struct pfs_plot_cell *what);

/* Makes cells larger until there are at most max, if possible. 0 or -ENOMEM. */
int pfs_plot_cells_shrink(struct pfs_plot_cells *cells, size_t max);

/* Makes cells as large as that, if they are smaller. 0 or -ENOMEM. */
int pfs_plot_cells_coarsen(struct pfs_plot_cells *cells, unsigned int time_shift, unsigned int page_shift);

/* Sorts the cells by group, page, bin, thread and kind, and drops empty ones: cells[0] to cells[nr - 1] are left. */
void pfs_plot_cells_sort(struct pfs_plot_cells *cells);

static inline unsigned int pfs_plot_kind_bits(struct pfs_plot_kind kind)
{
	return kind.access | kind.class << 2 | kind.signal << 4 | kind.sampled << 5 | kind.label << 6;
}

/* ---- what is gathered ---- */

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
	uint32_t side;		       /* its recording */
	uint32_t pair;		       /* its counterpart in the other recording; PFS_PLOT_NO_PAIR */
	uint64_t count;		       /* faults and sampled accesses */
	bool unobserved;	       /* there may have been others */
};

struct pfs_plot_range {
	uint64_t start, end;
	uint64_t shift; /* was added to its addresses */
	uint64_t grown; /* bytes at its end that only the counterpart has */
};

struct pfs_plot_group {
	uint32_t image;
	const char *name;	       /* the region's; "anon" and the like without a path */
	bool unknown;		       /* no known region */
	bool nameless;		       /* the name is a kind of regions, as of anonymous ones */
	struct pfs_plot_range *ranges; /* of its regions at any time: sorted, apart from each other */
	uint32_t nr_ranges, max_ranges;
	uint32_t pair; /* the group of the same regions in the other recording; PFS_PLOT_NO_PAIR */
	uint32_t lone; /* the group of regions of its name without counterparts; PFS_PLOT_NO_PAIR */
};

#define PFS_PLOT_NO_PAIR UINT32_MAX

/* One of the recordings that are compared, or the only one. */
struct pfs_plot_side {
	const struct pfs_model *model;
	uint64_t shift_ns;	  /* was added to its times */
	uint64_t span_ns;	  /* its own time */
	uint64_t faults, sampled; /* as in struct pfs_plot_data */
	uint64_t outside, timeless, left_out;
};

struct pfs_plot_thread {
	int32_t pid, tid; /* 0: several threads share the number */
	uint32_t side;
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
	uint64_t faults, sampled;     /* in the cells */
	uint64_t outside;	      /* of the faults: in no known region */
	uint64_t timeless;	      /* faults that a source only counted: in no cell */
	uint64_t left_out;	      /* by --region */
	struct pfs_plot_side side[2]; /* with numbers if there are two */
	uint32_t nr_sides;
	struct pfs_plot_data_private *priv;
};

/* model and filter are borrowed. NULL: no memory. */
struct pfs_plot_data *pfs_plot_data_new(const struct pfs_model *model, const struct pfs_filter *filter);
void pfs_plot_data_free(struct pfs_plot_data *data);

/*
 * Joins the data of two recordings: regions of `other` go to the addresses of their counterparts in `data`, and its times
 * count from the same start. `other` has no cells afterwards; both and their models must live as long as the plot. 0,
 * -ENOMEM, or -EINVAL: their pages have different sizes.
 */
int pfs_plot_data_join(struct pfs_plot_data *data, struct pfs_plot_data *other);

/* The group of that address: it, or that of regions of its name without a counterpart. */
uint32_t pfs_plot_group_at(const struct pfs_plot_data *data, uint32_t group, uint64_t addr);

/* What was added to that address of a region of the group, if it is another recording's. */
uint64_t pfs_plot_shift_of(const struct pfs_plot_group *group, uint64_t addr);

/* Its functions return 0 or -ENOMEM. */
struct pfs_observer pfs_plot_data_observer(struct pfs_plot_data *data);

#endif
