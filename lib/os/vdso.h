/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own code in each process, an ELF file that is nowhere but in memory. */
#ifndef PFS_VDSO_H
#define PFS_VDSO_H

/* A copy of this process's own, which is that of all 64-bit processes. The caller closes it. -1: there is none. */
int pfs_vdso_open(void);

#endif
