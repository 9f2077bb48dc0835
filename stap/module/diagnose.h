/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stap and staprun say when they fail, as one line that says what to do: a table.
 */
#ifndef PFS_STAP_DIAGNOSE_H
#define PFS_STAP_DIAGNOSE_H

#include "base/err.h"

#include <stdbool.h>

enum pfs_stage {
	PFS_STAGE_BUILD = 1, /* stap compiled */
	PFS_STAGE_LOAD = 2,  /* staprun loaded, until the probes were in place */
	PFS_STAGE_RUN = 4,   /* staprun ran; it ended before it was told to, or with an error */
};

/* What the messages name. Strings are borrowed. */
struct pfs_diagnosis {
	const char *module;   /* path of the module */
	const char *release;  /* of the kernel */
	const char *lockdown; /* of the kernel that runs, "" if it is not locked down */
	bool disabled;	      /* it takes no modules any more (kernel.modules_disabled) */
};

/*
 * `said` is all that the program wrote on standard error, or "". Sets err and returns its -errno: of the
 * first row that fits, else with the program's own first error quoted.
 */
int pfs_diagnose(enum pfs_stage stage, const char *said, const struct pfs_diagnosis *d, struct pfs_err *err);

/* A line that is no failure but that a recording should say, from `said` on; NULL: no more. */
const char *pfs_warning_next(const char *said, char *line, int size);

#endif
