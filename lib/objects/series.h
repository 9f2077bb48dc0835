/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live bytes by call site over time, in columns of equal time. A column shows one moment: that of its time at which most
 * bytes were alive, so that the sites of a column add up, and the highest column is the peak that the tables have.
 */
#ifndef PFS_SERIES_H
#define PFS_SERIES_H

#include "objects/objects.h"

enum { PFS_SERIES_COLUMNS = 640 };

struct pfs_series_column {
	uint64_t ts_ns; /* the moment, after all that happened until then */
	uint64_t bytes; /* alive, as given, of all sites */
	uint64_t *sites;
	uint32_t nr_sites; /* those that allocated until then; all others have none */
};

struct pfs_series {
	struct pfs_objects *objects;
	struct pfs_series_column columns[PFS_SERIES_COLUMNS];
	unsigned int nr; /* columns, the first of which begins with the first event of the recording */
	uint64_t start_ns, column_ns;
	uint64_t bytes, nr_alive; /* at the end */
	uint64_t peak, peak_ns;	  /* the most bytes, and when that was reached first */

	/* of the column under way */
	uint64_t *now, *most; /* of each site */
	uint64_t most_bytes, most_ns;
	bool *is_changed; /* since `most` */
	uint32_t *changed;
	uint32_t nr_sites, nr_changed;
	size_t max_now, max_most, max_is_changed, max_changed;
};

/* series->objects is set by the caller before the first object comes. Of zeroes at first. */
struct pfs_object_sink pfs_series_sink(struct pfs_series *series);
void pfs_series_fini(struct pfs_series *series);

/* After the last object: the last column, with the end of the recording in it. 0 or -ENOMEM. */
int pfs_series_end(struct pfs_series *series);

/* The sites with the most bytes in any column, the most first; at most nr. Returns their number, or -ENOMEM. */
int pfs_series_top(const struct pfs_series *series, uint32_t *sites, unsigned int nr);

/* Bytes of the site in the column; at the end. */
uint64_t pfs_series_bytes(const struct pfs_series_column *column, uint32_t site);
uint64_t pfs_series_alive(const struct pfs_series *series, uint32_t site);

/* The column of the peak; NULL: there is none. */
const struct pfs_series_column *pfs_series_highest(const struct pfs_series *series);

#endif
