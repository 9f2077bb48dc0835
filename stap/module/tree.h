/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel's headers with a symbol table beside them, for placing probes without debuginfo.
 *
 * SystemTap takes the names of the kernel's functions from /boot/System.map-RELEASE, which is a stub on
 * Debian (pfs_kernel_map_real()); but before that it looks beside the headers. So it gets a folder that is all links to the
 * headers, and a table of the functions that pfscope's script names and the kernel has. Addresses do not
 * matter: names are resolved when the module is loaded.
 */
#ifndef PFS_STAP_TREE_H
#define PFS_STAP_TREE_H

#include "base/err.h"
#include "module/kernel.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes it anew in `dir`, and puts into `build` what to give to stap's -r. Which functions there are is
 * read from the kernel that runs, or from a table that came with debuginfo; where there is neither all that
 * `script` names are taken to be there, and *unchecked is set. 0 or -errno with err set.
 */
int pfs_tree_make(const char *dir, const struct pfs_kernel *kernel, const char *script, char *build, size_t size,
		  bool *unchecked, struct pfs_err *err);

/*
 * The functions at which the script places probes: @place("NAME"), each once, one a line. The caller
 * frees. NULL: no memory.
 */
char *pfs_placed_names(const char *script);

#endif
