/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of C++ and Rust functions as they were written. libstdc++ does it, in a child (guard.h), because names of others may
 * break it. Names of Go need nothing; those of Rust's newer scheme (_R...) stay as they are.
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
