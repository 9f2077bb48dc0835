/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of the script's probe points a kernel has, and what is known by each: for `pfscope stap check'.
 *
 * The points are read from the script. Whether they resolve, stap says of functions; of tracepoints, which
 * the module registers by itself, the kernel's symbols do.
 */
#ifndef PFS_STAP_CHECK_H
#define PFS_STAP_CHECK_H

#include <stdbool.h>
#include <stdio.h>

/* PFS_POINT_UNKNOWN: there is no list of the kernel's symbols here. */
enum pfs_point_state { PFS_POINT_NO, PFS_POINT_YES, PFS_POINT_UNKNOWN };

struct pfs_point {
	char name[96];	/* "handle_mm_fault", "sched:sched_process_fork" */
	bool at_return; /* of the function */
	bool tracepoint;
	bool needed; /* without it there is no recording */
	enum pfs_point_state state;
	const char *tells; /* what is known by it; NULL: check.c has no words for it */
};

#define PFS_POINTS_MAX 64

/* The points of the script, each once, all PFS_POINT_NO: how many. */
unsigned int pfs_points_of(const char *script, struct pfs_point points[PFS_POINTS_MAX]);

/*
 * The script with every function made optional, so that stap says of all of them whether they are there;
 * the caller frees. NULL: no memory.
 */
char *pfs_script_optional(const char *script);

/* Marks the tracepoints that a list of symbols has (pfs_kernel_symbols()); NULL: unknown, all of them. */
void pfs_points_look_up(struct pfs_point *points, unsigned int nr, FILE *symbols);

/* Marks the functions that stand in what `stap -p2 -v' printed. */
void pfs_points_find(struct pfs_point *points, unsigned int nr, const char *said);

#endif
