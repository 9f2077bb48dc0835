/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the views that print tables share, and how every view ends.
 */
#ifndef PFS_VIEW_OUTPUT_H
#define PFS_VIEW_OUTPUT_H

#include "base/table.h"
#include "view/view.h"

/* Prints a table below its title, as CSV with `key` in the first column, or as the next member `key` of a JSON object. */
void pfs_output_table(const struct pfs_view_options *options, const struct pfs_table *table, const char *key,
		      const char *title);

/* Flushes. 0, or -EIO with err set: "writing WHAT: why". */
int pfs_output_end(FILE *out, const char *what, struct pfs_err *err);

#endif
