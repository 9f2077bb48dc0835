/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the views that print tables share, and how every view ends.
 */
#ifndef PFS_VIEW_OUTPUT_H
#define PFS_VIEW_OUTPUT_H

#include "base/table.h"
#include "view/view.h"

/*
 * Both print a table, and free it: as CSV with `key` in the first column, or as the next member `key` of a JSON object.
 * pfs_output_table() has an array of the rows on a line of its own, and the text form below its title; pfs_output_row()
 * has one row and no text form. A table that is NULL or incomplete is not printed. 0 or -ENOMEM.
 */
int pfs_output_table(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		     const char *key, const char *title);
int pfs_output_row(const struct pfs_view_options *options, struct pfs_json *json, struct pfs_table *table,
		   const char *key);

/* Flushes. 0, or -EIO with err set: "writing WHAT: why". */
int pfs_output_end(FILE *out, const char *what, struct pfs_err *err);

#endif
