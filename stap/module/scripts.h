/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe scripts, as they lie in stap/, inside the program: it needs no file beside it.
 *
 * The table is made by the Makefile, in the order in which the files make one script.
 */
#ifndef PFS_STAP_SCRIPTS_H
#define PFS_STAP_SCRIPTS_H

#include <stddef.h>

struct pfs_script {
	const char *path;	/* in stap/: "wire.h", "tapset/record.stp", ..., "pfscope.stp" */
	const char *text, *end; /* not NUL-terminated */
};

extern const struct pfs_script pfs_scripts[];
extern const size_t pfs_nr_scripts;

/*
 * The whole of it as stap gets it: headers become embedded C, scripts follow as they are. The caller
 * frees. NULL: no memory.
 */
char *pfs_scripts_whole(void);

#endif
