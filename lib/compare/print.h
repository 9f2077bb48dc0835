/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a comparison: the sums first, then what changed by file, by region and by process, then the gates.
 */
#ifndef PFS_COMPARE_PRINT_H
#define PFS_COMPARE_PRINT_H

#include "compare/gate.h"
#include "view/view.h"

struct pfs_compare_print {
	const char *const *old, *const *new; /* names of the recordings */
	const struct pfs_gate *gates;
	size_t nr_gates;
};

/* options: out, format, color, width, top (0: all that changed), all. 0 or -errno with err set. */
int pfs_compare_print(const struct pfs_compare *compare, const struct pfs_compare_print *print,
		      const struct pfs_view_options *options, struct pfs_err *err);

#endif
