/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libelf, which is loaded when a file is read. */
#ifndef PFS_LIBELF_H
#define PFS_LIBELF_H

#include <gelf.h>

/* clang-format off */
#define PFS_ELF_FUNCTIONS(X)									\
	X(elf_version) X(elf_begin) X(elf_end) X(elf_kind) X(elf_getphdrnum) X(gelf_getphdr)	\
	X(elf_nextscn) X(elf_getscn) X(gelf_getshdr) X(elf_getdata) X(gelf_getsym) X(elf_strptr) \
	X(elf_getshdrstrndx) X(elf_memory)
/* clang-format on */

struct pfs_libelf {
#define X(name) typeof(name) *name;
	PFS_ELF_FUNCTIONS(X)
#undef X
};

/* 0, -ENOENT: it is not installed, or -ENOMEM. */
int pfs_libelf_load(struct pfs_libelf *libelf);

#endif
