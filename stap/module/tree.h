/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel's headers with a symbol table beside them, for placing probes without debuginfo.
 *
 * SystemTap takes the kernel's functions from /boot/System.map-RELEASE, which is a stub on Debian
 * (pfs_kernel_map_real()), but prefers a table beside the headers. So it gets a folder of links to the headers, and a
 * table of the functions that the script names and the kernel has. The addresses do not matter: the kernel resolves the
 * names when the module is loaded.
 */
#ifndef PFS_STAP_TREE_H
#define PFS_STAP_TREE_H

#include "base/err.h"
#include "module/kernel.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Creates the folder `dir` anew; `build` gets the argument for stap's -r. The functions are looked up in a list of the
 * kernel's symbols; without one all that the script names are entered, and *unchecked is set. 0 or -errno with err set.
 */
int pfs_tree_make(const char *dir, const struct pfs_kernel *kernel, const char *script, char *build, size_t size,
		  bool *unchecked, struct pfs_err *err);

#endif
