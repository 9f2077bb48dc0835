/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call frame information (.eh_frame) of ELF files, read by libdw of elfutils, which is loaded when it is needed. Only the
 * helper of files.c does that: a damaged file may end the process that reads it.
 */
#ifndef PFS_CFI_H
#define PFS_CFI_H

#include "unwind/rules.h"

#include "base/err.h"

/* Loads libdw. 0, or -errno with err set. */
int pfs_cfi_load(struct pfs_err *err);

struct pfs_cfi;

/* The descriptor is closed. NULL: no memory, or not an ELF file of this kind of CPU. */
struct pfs_cfi *pfs_cfi_open(int fd);
void pfs_cfi_close(struct pfs_cfi *cfi);

/* The rules of the instruction at that offset; rules has room for PFS_MAX_RULE_OPS. cfi may be NULL: nothing is known. */
void pfs_cfi_rules(struct pfs_cfi *cfi, uint64_t off, struct pfs_rules *rules);

#endif
