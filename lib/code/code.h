/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code/: which code caused the faults: functions, source lines, instructions, modules, stacks.
 *
 * An observer counts the faults of each stack or, where a fault has none, of its instruction; names are looked up afterwards,
 * once for each of these.
 */
#ifndef PFS_CODE_H
#define PFS_CODE_H

#include "stack/stacks.h"
#include "symbol/symbolizer.h"
#include "view/view.h"

/* Bits of --by, and their words. */
enum pfs_code_table {
	PFS_CODE_FUNCTION,
	PFS_CODE_LINE,
	PFS_CODE_STACK,
	PFS_CODE_MODULE,
	PFS_CODE_INSTRUCTION,
	PFS_NR_CODE_TABLES,
};
extern const char *const pfs_code_tables[PFS_NR_CODE_TABLES];

struct pfs_code_options {
	unsigned int by;       /* bits: 1 << enum pfs_code_table */
	bool inverted;	       /* stacks begin with the innermost function */
	const char *module;    /* a glob: faults count for the innermost frame in such a file; NULL: in any */
	const char *recording; /* its file; NULL or "-": standard input */
	struct pfs_symbolizer_options symbols;
	const struct pfs_model *notes; /* with more build-ids; or NULL */
};

struct pfs_code;

/* All is borrowed; filter NULL: everything; notes NULL: none but those among the events. NULL: no memory. */
struct pfs_code *pfs_code_new(const struct pfs_filter *filter, const struct pfs_debug_files *files,
			      const struct pfs_model *notes);
void pfs_code_free(struct pfs_code *code);
struct pfs_observer pfs_code_observer(struct pfs_code *code);

/* Before the first event: pages are wanted, for pfs_code_draw(). */
void pfs_code_want_pages(struct pfs_code *code);

/* Draws per region which functions touched which pages first. 0, or -errno with err set. */
int pfs_code_draw(struct pfs_code *code, const struct pfs_code_options *how, const struct pfs_model *model,
		  const struct pfs_view_options *options, struct pfs_err *err);

/* Writes the tables: in JSON as members of the object that was begun. 0 or -ENOMEM. */
int pfs_code_put(struct pfs_code *code, const struct pfs_code_options *how, const struct pfs_model *model,
		 const struct pfs_view_options *options, struct pfs_json *json);

#endif
