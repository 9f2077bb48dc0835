/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of C++ and Rust functions (_Z..., _R...) as they were written. libiberty does it, in a child (guard.h), because names
 * of others may break it. Names of Go need nothing.
 */
#ifndef PFS_DEMANGLE_H
#define PFS_DEMANGLE_H

#include "symbol/guard.h"

struct pfs_demangler {
	struct pfs_guard guard;
};

/* The name in `buf` (PFS_GUARD_MAX bytes), or the name as it is. */
const char *pfs_demangle(struct pfs_demangler *demangler, const char *name, char *buf);
void pfs_demangler_fini(struct pfs_demangler *demangler);

#endif
