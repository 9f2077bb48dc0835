/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe module, from script to kernel. The room's headers:
 *
 *	check.h		the script and its probe points
 *	kernel.h	the kernel that a module is for
 *	build.h		compiles; cache.h: keeps modules; overlay.h: the copies of runtime and headers that stap gets
 *	loader.h	runs staprun and unloads
 *	diagnose.h	failures of stap and staprun as one line
 *
 * Here: a kernel module as a file (module.c): its modinfo, and copies under another name. And in the kernel (loaded.c): whether it
 * is loaded, its reader, its removal, and the modules that dead pfscopes left.
 *
 * Two modules of one name cannot be loaded, so each recording loads a copy whose name contains its process and start
 * time. `staprun -R' renames in the same place, but by its own process number.
 */
#ifndef PFS_STAP_MODULE_H
#define PFS_STAP_MODULE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PFS_MODULE_NAME_MAX 55 /* the room in the kernel's struct module, less the NUL */

struct pfs_module {
	char *bytes;
	size_t len;
	char *name;	  /* in bytes */
	const char *info; /* in bytes: "KEY=VALUE" strings, each with its NUL ... */
	size_t info_len;  /* ... this long in all */
};

/* Reads it from the file position; path is for messages. 0; -ENOEXEC: not a module for this architecture; or -errno; err set. */
int pfs_module_read(struct pfs_module *module, int fd, const char *path, struct pfs_err *err);
void pfs_module_free(struct pfs_module *module);

/* The value of the key, as modinfo(8) shows it, or NULL. Borrowed. */
const char *pfs_module_info(const struct pfs_module *module, const char *key);

/* Is it signed? Renaming invalidates the signature. */
bool pfs_module_signed(const struct pfs_module *module);

/* Renames it; at most PFS_MODULE_NAME_MAX bytes. */
void pfs_module_rename(struct pfs_module *module, const char *name);

/* Has an ELF file of this architecture a section of that name, with content? */
bool pfs_elf_has_section(const char *path, const char *name);

/* Writes it as a new file. 0 or -errno with err set. */
int pfs_module_write(const struct pfs_module *module, const char *path, struct pfs_err *err);

/* ---- loaded.c: modules in the kernel ---- */

/* Is a module of that name in the kernel? */
bool pfs_module_loaded(const char *name);

/* Removes one that nothing uses any more. 0 or -errno with err set. */
int pfs_module_remove(const char *name, struct pfs_err *err);

/* The process that reads the module's data (stapio), or 0. */
pid_t pfs_module_reader(const char *name);

/* Ends the module's reader, if it has one, and removes it. 0 or -errno with err set. */
int pfs_module_end(const char *name, struct pfs_err *err);

/* Removes all modules whose pfscope is dead (os/owner.h), and their copies in $TMPDIR. Returns their number, or -errno with err set if one cannot be removed. */
int pfs_leftovers_remove(struct pfs_err *err);

#endif
