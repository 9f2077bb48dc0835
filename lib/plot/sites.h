/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions of a page's points: file, function and offset.
 */
#ifndef PFS_PLOT_SITES_H
#define PFS_PLOT_SITES_H

#include "plot/plot.h"

struct pfs_plot_page_site {
	const struct pfs_plot_site *site;
	uint32_t file;	/* number in `files` */
	int32_t symbol; /* number in `symbols`; 0: none; -1: left out, there are too many */
	uint64_t off;	/* behind the symbol, if there is one */
};

struct pfs_plot_page_file {
	char *name;	     /* escaped, without its path */
	const char *between; /* name and offset */
	const char *why;     /* an instruction has no symbol; "": no reason to show */
};

struct pfs_plot_sites {
	uint32_t *number;		  /* in `sites`, by the number that cells have */
	struct pfs_plot_page_site *sites; /* the first is not known */
	struct pfs_plot_page_file *files;
	char **symbols; /* escaped; their numbers begin with 1 */
	uint32_t nr_sites, nr_files, nr_symbols, max_symbols;
	size_t bytes; /* of symbols */
};

/*
 * Finds the instructions of all cells, with symbols of the files on this machine; files that were changed after `until`
 * (0: any time) are not read. 0 or -ENOMEM; the caller calls pfs_plot_sites_fini() in any case.
 */
int pfs_plot_sites_find(struct pfs_plot_sites *sites, const struct pfs_plot *plot, struct timespec until);
void pfs_plot_sites_fini(struct pfs_plot_sites *sites);

/* As members of the page's JSON: "files", "symbols", "sites". */
void pfs_plot_sites_write(const struct pfs_plot_sites *sites, struct pfs_json *json);

#endif
