/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel that a module is for: its release, what is installed to build for it, and whether it would load here. */
#ifndef PFS_STAP_KERNEL_H
#define PFS_STAP_KERNEL_H

#include "base/err.h"
#include "base/hash.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pfs_kernel {
	char release[128];
	bool running;		/* it runs here */
	char build[PATH_MAX];	/* its headers: /lib/modules/RELEASE/build */
	char vmlinux[PATH_MAX]; /* its debuginfo, "" if there is none */
	char lockdown[32];	/* of the kernel that runs here: "", "integrity", ... */
};

/* release NULL: the kernel that runs. 0; -ENOENT: no headers; err set. */
int pfs_kernel_find(struct pfs_kernel *kernel, const char *release, struct pfs_err *err);

/* -ENOSYS with err set if release (NULL: the same) is the kernel that runs and it has no loadable modules; else 0. */
int pfs_kernel_check_modules(const char *release, struct pfs_err *err);

/* A number that changes with the headers and, if dwarf is set, the debuginfo. */
uint64_t pfs_kernel_identity(const struct pfs_kernel *kernel, bool dwarf);

/* Is /boot/System.map of this kernel a list of its symbols? Debian's is a stub that names the package of the list. */
bool pfs_kernel_map_real(const struct pfs_kernel *kernel);

/*
 * Where the kernel's symbols are listed ("ffffffff81252f40 T handle_mm_fault"): a table that came with
 * debuginfo, /boot's, or the kernel that runs. The caller closes it. NULL: nowhere on this machine.
 */
FILE *pfs_kernel_symbols(const struct pfs_kernel *kernel);

/* The name of the next function of such a list, without those of modules, into PFS_SYMBOL_MAX bytes. False: the end. */
#define PFS_SYMBOL_MAX 512
bool pfs_kernel_symbol_next(FILE *symbols, char *name);

/* Does a header below include/ of the kernel, or of the common headers that it uses, contain this word? */
bool pfs_kernel_header_has(const struct pfs_kernel *kernel, const char *header, const char *word);

/* Does its configuration have this line ("CONFIG_KPROBES=y")? Also true without a configuration. */
bool pfs_kernel_config_has(const struct pfs_kernel *kernel, const char *line);

/* "[none] integrity confidentiality": the word in brackets, "" for none. */
void pfs_lockdown_parse(const char *line, char *state, size_t size);

/* Whole words in C text: task_work_cancel is not in "task_work_cancel_func". The first one from `from` on, or NULL. */
const char *pfs_word_find(const char *text, const char *from, const char *word);

/* pfs_hash() of its content; nothing if it is not there. */
uint64_t pfs_hash_file(uint64_t hash, const char *path);

#endif
