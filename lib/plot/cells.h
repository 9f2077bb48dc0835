/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counted touches of a plot: by page, time, kind and thread, in a table of limited size. When it is full, its cells
 * grow: each covers twice the time, or twice the pages. So no touch is left out, however long the recording is: the
 * counts of all cells always add up to the touches that were added.
 */
#ifndef PFS_PLOT_CELLS_H
#define PFS_PLOT_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enum pfs_access, enum pfs_class; 0: unknown. */
struct pfs_plot_kind {
	uint8_t access : 2, class : 2;
	bool signal : 1;  /* ended in a signal */
	bool sampled : 1; /* not a fault, but an access that a source sampled */
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

/* Sorts the cells by group, page, bin, thread and kind, and drops empty ones: cells[0] to cells[nr - 1] are left. */
void pfs_plot_cells_sort(struct pfs_plot_cells *cells);

static inline unsigned int pfs_plot_kind_bits(struct pfs_plot_kind kind)
{
	return kind.access | kind.class << 2 | kind.signal << 4 | kind.sampled << 5;
}

#endif
