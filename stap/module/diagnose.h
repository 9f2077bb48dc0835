/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Failures of stap and staprun as one line with the cause and the remedy.
 */
#ifndef PFS_STAP_DIAGNOSE_H
#define PFS_STAP_DIAGNOSE_H

#include "base/err.h"

#include <stdbool.h>

enum pfs_stage {
	PFS_STAGE_BUILD = 1, /* stap compiled */
	PFS_STAGE_LOAD = 2,  /* staprun loaded, until the probes were in place */
	PFS_STAGE_RUN = 4,   /* staprun ran; it ended by itself, or with an error */
};

/* What the messages name. Strings are borrowed. */
struct pfs_diagnosis {
	const char *module;   /* path of the module */
	const char *release;  /* of the kernel */
	const char *lockdown; /* of the kernel that runs, "" if it is not locked down */
	bool disabled;	      /* it accepts no more modules (kernel.modules_disabled) */
};

/*
 * `output` is what the program wrote on standard error, or "". Sets err and returns its -errno: of the first row
 * that fits, else with the program's first error quoted.
 */
int pfs_diagnose(enum pfs_stage stage, const char *output, const struct pfs_diagnosis *d, struct pfs_err *err);

/* Copies the next warning in the output to line; returns where to go on, NULL: there are no more. */
const char *pfs_warning_next(const char *output, char *line, int size);

#endif
