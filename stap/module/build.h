/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the scripts to a module: found in the cache, or compiled by stap and put there.
 *
 * A module in the cache is named after all that went into it: the scripts, the flags, SystemTap, the
 * kernel's headers, its debuginfo where that was used. Whatever of it changes, another one is built.
 */
#ifndef PFS_STAP_BUILD_H
#define PFS_STAP_BUILD_H

#include "base/err.h"
#include "module/cache.h"
#include "module/check.h"
#include "module/kernel.h"

#include <stdbool.h>

struct pfs_build_config {
	const char *release;	    /* of the kernel, NULL: the one that runs */
	bool no_dwarf;		    /* without debuginfo even where there is some */
	bool (*give_up)(void *ctx); /* NULL, or asked now and then */
	void *give_up_ctx;
	void (*say)(void *ctx, const char *line); /* NULL, or what is being done, for people */
	void *say_ctx;
};

struct pfs_build {
	struct pfs_build_config config;
	struct pfs_kernel kernel;
	struct pfs_cache cache;
	char stap[PATH_MAX];	/* the program */
	char runtime[PATH_MAX]; /* of SystemTap: its own, the user's, or the overlay */
	char tree[PATH_MAX];	/* headers with a symbol table, "" where it is not needed */
	unsigned int version;	/* of SystemTap, 408 for 4.8 */
	bool dwarf;		/* probes are placed with debuginfo */
	unsigned int overlay;	/* PFS_OVERLAY_* that the runtime is changed by; 0: as it is */
};

/*
 * Finds everything that is needed and says what is not there. Nothing is built. 0 or -errno with err
 * set; there is nothing to free.
 */
int pfs_build_init(struct pfs_build *build, const struct pfs_build_config *config, struct pfs_err *err);

/* Finds the module or builds it; its path goes to buf. 0, -EINTR (given up), or -errno with err set. */
int pfs_build_module(struct pfs_build *build, char *buf, size_t size, struct pfs_err *err);

/*
 * Lets stap work out where the probes go, without compiling: how many points there are, with found set in
 * those that this kernel has; -EINTR, or -errno with err set.
 */
int pfs_build_check(struct pfs_build *build, struct pfs_point points[PFS_POINTS_MAX], struct pfs_err *err);

/* How probes are placed, as the note `probes' says: "dwarf" or "symbols". */
const char *pfs_build_probes(const struct pfs_build *build);

#endif
