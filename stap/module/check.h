/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script, its probe points, and which of them a kernel has: for `pfscope stap check'.
 *
 * The points are read from the script. stap reports which functions resolve; tracepoints, which the module registers
 * itself, are looked up in the kernel's symbols.
 */
#ifndef PFS_STAP_CHECK_H
#define PFS_STAP_CHECK_H

#include <stdbool.h>
#include <stdio.h>

/* The files of stap/tapset/ as the script that stap gets; that of the module for kernel objects. */
extern const char pfs_script[], pfs_objects_script[];

/* PFS_POINT_UNKNOWN: there is no list of the kernel's symbols here. */
enum pfs_point_state { PFS_POINT_NO, PFS_POINT_YES, PFS_POINT_UNKNOWN };

struct pfs_point {
	char name[96];	/* "handle_mm_fault", "sched:sched_process_fork" */
	bool at_return; /* of the function */
	bool tracepoint;
	bool needed; /* without it there is no recording */
	enum pfs_point_state state;
	const char *records; /* what the recording gets from it; NULL: check.c does not know the point */
};

#define PFS_POINTS_MAX 64

/* Finds the points of the script, all PFS_POINT_NO. Returns their number. */
unsigned int pfs_points_of(const char *script, struct pfs_point points[PFS_POINTS_MAX]);

/*
 * The script with every function made optional, so that stap reports of all of them whether they exist. The caller
 * frees. NULL: no memory.
 */
char *pfs_script_optional(const char *script);

/* Marks the tracepoints that a list of symbols has (pfs_kernel_symbols()); NULL: all of them unknown. */
void pfs_points_look_up(struct pfs_point *points, unsigned int nr, FILE *symbols);

/* Marks the functions that are in the output of `stap -p2 -v'. */
void pfs_points_find(struct pfs_point *points, unsigned int nr, const char *output);

#endif
