/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules in the kernel: whether one is loaded, what reads it, its removal, and those that dead pfscopes left. A
 * module's name contains the process that loaded it.
 */
#ifndef PFS_STAP_LOADED_H
#define PFS_STAP_LOADED_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is a module of that name in the kernel? */
bool pfs_module_loaded(const char *name);

/* Removes one that nothing uses any more. 0 or -errno with err set. */
int pfs_module_remove(const char *name, struct pfs_err *err);

/* The name of a module of this process, not in the kernel yet: "pfscope_4211_18446_0". */
void pfs_module_own_name(char *name, size_t size);

/* Is it the name of a module whose pfscope has ended? */
bool pfs_module_orphaned(const char *name);

/* The process that reads the module's data (stapio), or 0. */
pid_t pfs_module_reader(const char *name);

/* Ends the module's reader, if it has one, and removes it. 0 or -errno with err set. */
int pfs_module_end(const char *name, struct pfs_err *err);

/* Removes all orphaned modules. Returns their number, or -errno with err set if one cannot be removed. */
int pfs_leftovers_remove(struct pfs_err *err);

#endif
