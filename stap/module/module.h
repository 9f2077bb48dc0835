/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel module as a file: its modinfo, and copies under another name.
 *
 * Two modules of one name cannot be loaded, so each recording loads a copy whose name contains its process and start
 * time. `staprun -R' renames in the same place, but by its own process number.
 */
#ifndef PFS_STAP_MODULE_H
#define PFS_STAP_MODULE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define PFS_MODULE_NAME_MAX 55 /* the room in the kernel's struct module, less the NUL */

struct pfs_module {
	unsigned char *bytes;
	size_t len;
	char *name;	  /* in bytes */
	const char *info; /* in bytes: "KEY=VALUE" strings, each with its NUL ... */
	size_t info_len;  /* ... this long in all */
};

/* Reads it. 0; -ENOEXEC: not a module for this architecture; or -errno; err set. */
int pfs_module_read(struct pfs_module *module, const char *path, struct pfs_err *err);
void pfs_module_free(struct pfs_module *module);

/* The value of the key, as modinfo(8) shows it, or NULL. Borrowed. */
const char *pfs_module_info(const struct pfs_module *module, const char *key);

/* Is it signed? Renaming invalidates the signature. */
bool pfs_module_signed(const struct pfs_module *module);

/* Renames it; at most PFS_MODULE_NAME_MAX bytes. */
void pfs_module_rename(struct pfs_module *module, const char *name);

/* Writes it as a new file. 0 or -errno with err set. */
int pfs_module_write(const struct pfs_module *module, const char *path, struct pfs_err *err);

#endif
