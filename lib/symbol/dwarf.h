/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debug information (DWARF): source lines and inlined functions by address. libdw (elfutils) reads it; it is loaded with the
 * file. Damaged bytes may break libdw: see guard.h.
 */
#ifndef PFS_DWARF_H
#define PFS_DWARF_H

#include "base/err.h"

#include <gelf.h>
#include <stdint.h>

struct pfs_dwarf;

/* The descriptor is borrowed. NULL with errno and err (may be NULL) set: no debug information, no libdw, no memory. */
struct pfs_dwarf *pfs_dwarf_open(int fd, struct pfs_err *err);
void pfs_dwarf_close(struct pfs_dwarf *dwarf);

/* libdw's of the file. */
Elf *pfs_dwarf_elf(const struct pfs_dwarf *dwarf);

struct pfs_dwarf_place {
	const char *func;   /* mangled, where it has such a name; NULL: unknown */
	const char *source; /* path; NULL: unknown */
	unsigned int line;  /* 0: unknown */
};

/*
 * What is at the address, as linked: with max 1 its source line only, with more the innermost inlined function first, and
 * last the function that has all of them. The number of places, 0: unknown. Strings live as long as dwarf.
 */
unsigned int pfs_dwarf_find(struct pfs_dwarf *dwarf, uint64_t addr, struct pfs_dwarf_place *places, unsigned int max);

#endif
