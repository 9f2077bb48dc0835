/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Swap in compressed memory, for one recording: a zram device of its own, set up and removed.
 *
 * The helper keeps the state where a successor finds it (lib/os/helper.h). If no helper is left, the device's swap header
 * names its owner, and pfs_zram_clean() removes it, whether it got as far as to be swapped to or not.
 */
#ifndef PFS_ZRAM_H
#define PFS_ZRAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pfs_zram {
	char nr[16]; /* of the device, as the kernel wrote it; "": there is none */
	bool loaded; /* the module was loaded for it */
	uint64_t bytes;
};

/* Has the kernel zram, or a module of it? 0, or -errno with err set. */
int pfs_zram_possible(struct pfs_err *err);

/*
 * Makes a device of that size for the owner (os/owner.h) and swaps to it before any other. 0, or -errno with err set; in
 * both cases *zram holds what was set up, and pfs_zram_down() has to follow.
 */
int pfs_zram_up(struct pfs_zram *zram, uint64_t bytes, uint64_t owner, struct pfs_err *err);

/* Swaps its content in and removes it, if there is one. 0 or -errno with err set. */
int pfs_zram_down(struct pfs_zram *zram, struct pfs_err *err);

/* Removes those whose owner has ended. Returns their number, or -errno with err set. */
int pfs_zram_clean(struct pfs_err *err);

#endif
