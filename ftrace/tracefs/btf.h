/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The running kernel's type information (BTF): offsets of struct members and positions of function parameters, so that
 * probes assume neither. Format: Documentation/bpf/btf.rst of Linux. Damaged input is harmless.
 */
#ifndef PFS_BTF_H
#define PFS_BTF_H

#include "base/err.h"

#include <stddef.h>

struct pfs_btf;

/* Parses the bytes, which must outlive the result. NULL with errno and err set. */
struct pfs_btf *pfs_btf_parse(const void *bytes, size_t len, struct pfs_err *err);

/* Loads that of the running kernel. NULL with errno and err set: there is none, or only root may read it. */
struct pfs_btf *pfs_btf_load(struct pfs_err *err);
void pfs_btf_free(struct pfs_btf *btf);

/* Offset in bytes of a member of a struct, also inside unnamed structs and unions. -ENOENT: no such member. */
int pfs_btf_member(const struct pfs_btf *btf, const char *struct_name, const char *member);

/* Position, from 1, of a function's parameter of that name. -ENOENT: no such parameter or function. */
int pfs_btf_param(const struct pfs_btf *btf, const char *function, const char *param);

#endif
