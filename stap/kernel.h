/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel that a module is for: its release, what there is here to build for it, and whether this
 * machine would load it.
 */
#ifndef PFS_STAP_KERNEL_H
#define PFS_STAP_KERNEL_H

#include "err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_kernel {
	char release[128];
	bool running;			/* it is the one that runs here */
	char build[PATH_MAX];		/* its headers: /lib/modules/RELEASE/build */
	char vmlinux[PATH_MAX];		/* its debuginfo, "" if there is none */
	char lockdown[32];		/* of the kernel that runs here: "", "integrity", ... */
};

/* release NULL: the kernel that runs. 0; -ENOENT: no headers; err set. */
int pfs_kernel_find(struct pfs_kernel *kernel, const char *release, struct pfs_err *err);

/*
 * A number that changes with the headers and, if dwarf is set, the debuginfo: a module built with
 * others must not be taken for one of these.
 */
uint64_t pfs_kernel_identity(const struct pfs_kernel *kernel, bool dwarf);

/* Has a header below include/ of the kernel, or of the one that it shares them with, this word? */
bool pfs_kernel_header_has(const struct pfs_kernel *kernel, const char *header, const char *word);

/* Has its configuration this line ("CONFIG_KPROBES=y")? True, too, if the configuration is not here. */
bool pfs_kernel_config_has(const struct pfs_kernel *kernel, const char *line);

/* "[none] integrity confidentiality": the word in brackets, "" for none. */
void pfs_lockdown_parse(const char *line, char *state, size_t size);

/* 64 bits of FNV-1a; begin with PFS_HASH_START. */
#define PFS_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t pfs_hash(uint64_t hash, const void *bytes, size_t len);
uint64_t pfs_hash_file(uint64_t hash, const char *path);	/* content; nothing if it is not there */

#endif
