/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a recording in the formats of viewers of other projects. Each format is a file of this room and a row in the table
 * of viewer.c; one walk over the events (walk.c) drives them all.
 *
 * A fault has a call path: the frames of its stack, outermost first, or its own instruction alone. It is written when what
 * came of it is known, in the order of time. Memory is in proportion to the distinct call paths, the pages and the regions,
 * not to the faults.
 */
#ifndef PFS_VIEWER_H
#define PFS_VIEWER_H

#include "base/err.h"
#include "model/filter.h"
#include "model/model.h"
#include "symbol/debug_file.h"

#include <stdio.h>

struct pfs_viewer_options {
	const struct pfs_filter *filter; /* borrowed */
	const char *recording;		 /* its file; NULL or "-": standard input; borrowed */
	struct pfs_debug_files symbols;	 /* where names are, beside the recorded files; borrowed */
	const struct pfs_model *notes;	 /* with build-ids that are known before they are read; or NULL; borrowed */
};

/* The names of the formats for --to, in the order of the table; NULL ends it. */
extern const char *const pfs_viewer_names[];
enum { PFS_VIEWER_HTML = 7, PFS_NR_VIEWERS };

/* Whether the format is not text for a terminal. */
bool pfs_viewer_is_binary(unsigned int format);

/* Whether the format shows where events were lost; else its title says how many, if it has one. */
bool pfs_viewer_has_gaps(unsigned int format);

struct pfs_viewer;

/* Begins a file. The model and `out` are borrowed. NULL with err set. */
struct pfs_viewer *pfs_viewer_new(const struct pfs_model *model, unsigned int format,
				  const struct pfs_viewer_options *options, FILE *out, struct pfs_err *err);
void pfs_viewer_free(struct pfs_viewer *viewer);

/* Its functions return 0 or -errno; pfs_viewer_end() has the message. */
struct pfs_observer pfs_viewer_observer(struct pfs_viewer *viewer);

/* After the last event, or the observer's error (ret): completes the file. 0, or -errno with err set. */
int pfs_viewer_end(struct pfs_viewer *viewer, int ret, struct pfs_err *err);

#endif
