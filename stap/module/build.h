/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the script to a module: found in the cache, or compiled by stap and put there.
 *
 * A module's name in the cache depends on all that it was built from: the script, the flags, SystemTap, the kernel's
 * headers, and its debuginfo where that was used.
 */
#ifndef PFS_STAP_BUILD_H
#define PFS_STAP_BUILD_H

#include "base/err.h"
#include "module/cache.h"
#include "module/check.h"
#include "module/kernel.h"

#include <stdbool.h>

struct pfs_build_config {
	const char *release;			     /* of the kernel, NULL: the running one */
	bool no_dwarf;				     /* without debuginfo even if it is installed */
	bool objects;				     /* the module for kernel objects, which needs no debuginfo */
	bool (*give_up)(void *ctx);		     /* polled during long work; may be NULL */
	void (*report)(void *ctx, const char *line); /* progress, a line each */
	void *ctx;				     /* of both */
};

struct pfs_build {
	struct pfs_build_config config;
	struct pfs_kernel kernel;
	struct pfs_cache cache;
	char stap[PATH_MAX];	/* the program */
	char runtime[PATH_MAX]; /* of SystemTap: its own, the user's, or the overlay */
	char tree[PATH_MAX];	/* headers with a symbol table, "" if none is needed */
	unsigned int version;	/* of SystemTap, 408 for 4.8 */
	bool dwarf;		/* probes are placed with debuginfo */
	unsigned int overlay;	/* PFS_OVERLAY_* of the runtime's changes */
};

/* Are the programs that build a module installed? 0, or -errno with err set. */
int pfs_build_programs(struct pfs_err *err);

/* Finds the programs, the headers and the cache; builds nothing. 0 or -errno with err set; there is nothing to free. */
int pfs_build_init(struct pfs_build *build, const struct pfs_build_config *config, struct pfs_err *err);

/* Finds the module or builds it; its path goes to buf. Returns it opened; -EINTR (given up), or -errno with err set. */
int pfs_build_module(struct pfs_build *build, char *buf, size_t size, struct pfs_err *err);

/* Has stap resolve the probes, without compiling. Returns the number of points; -EINTR, or -errno with err set. */
int pfs_build_check(struct pfs_build *build, struct pfs_point points[PFS_POINTS_MAX], struct pfs_err *err);

#endif
