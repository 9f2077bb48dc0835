/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Swap in compressed memory, for one recording: a zram device of its own, set up and taken down.
 *
 * Whoever may be killed in between keeps the state where a successor finds it (lib/os/helper.h). If nobody is left, the
 * device's swap header says whose it was, and pfs_zram_clean() removes it.
 */
#ifndef PFS_ZRAM_H
#define PFS_ZRAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pfs_zram {
	int32_t nr;  /* of the device; -1: there is none */
	bool loaded; /* the module was loaded for it */
	uint64_t bytes;
};

/*
 * Makes a device of that size on behalf of process `owner` and swaps to it before any other. *zram is set as far as
 * it came, whatever is returned: 0, or -errno with err set, and then pfs_zram_down() is still due.
 */
int pfs_zram_up(struct pfs_zram *zram, uint64_t bytes, pid_t owner, struct pfs_err *err);

/* Brings back what is swapped out to it, and removes it. None is fine. 0 or -errno with err set. */
int pfs_zram_down(struct pfs_zram *zram, struct pfs_err *err);

/* Removes those whose owner is gone. How many, or -errno with err set. */
int pfs_zram_clean(struct pfs_err *err);

#endif
