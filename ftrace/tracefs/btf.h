/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running kernel's type information (BTF) says: where a member of a struct is, which
 * parameter of a function is called what. So that probes assume neither.
 *
 * Format: Documentation/bpf/btf.rst of Linux. Any bytes are survived.
 */
#ifndef PFS_BTF_H
#define PFS_BTF_H

#include "base/err.h"

#include <stddef.h>

struct pfs_btf;

/* Of the bytes, which must outlive it. NULL with errno and err set. */
struct pfs_btf *pfs_btf_parse(const void *bytes, size_t len, struct pfs_err *err);

/* Of the running kernel. NULL with errno and err set: it has none, or only root may read it. */
struct pfs_btf *pfs_btf_load(struct pfs_err *err);
void pfs_btf_free(struct pfs_btf *btf);

/*
 * Offset in bytes of a member of a struct, also one inside unnamed structs and unions. -ENOENT:
 * none.
 */
int pfs_btf_member(const struct pfs_btf *btf, const char *struct_name, const char *member);

/* Number, from 1, of a function's parameter of that name. -ENOENT: none, or no such function. */
int pfs_btf_param(const struct pfs_btf *btf, const char *function, const char *param);

#endif
