/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the script's probe points a kernel has, and what is known by each: for `pfscope stap check'.
 *
 * The points are read from the script, whether they resolve from what stap says of it.
 */
#ifndef PFS_STAP_CHECK_H
#define PFS_STAP_CHECK_H

#include "err.h"

#include <stdbool.h>

struct pfs_point {
	char name[96];		/* "handle_mm_fault", "sched:sched_process_fork" */
	bool at_return;		/* of the function */
	bool tracepoint;
	bool needed;		/* without it there is no recording */
	bool found;
	const char *tells;	/* what is known by it; NULL: check.c has no words for it */
};

#define PFS_POINTS_MAX 64

/* The points of the script, each once, none of them found yet: how many. */
unsigned int pfs_points_of(const char *script, struct pfs_point points[PFS_POINTS_MAX]);

/*
 * The script with every point made optional, so that stap says of all of them whether they are there;
 * the caller frees. NULL: no memory.
 */
char *pfs_script_optional(const char *script);

/* Marks those that stand in what `stap -p2 -v' printed. */
void pfs_points_find(struct pfs_point *points, unsigned int nr, const char *said);

#endif
