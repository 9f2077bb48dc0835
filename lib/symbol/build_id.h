/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build-id of an ELF file: a hash of its contents that the linker puts into a note, and strip leaves there.
 */
#ifndef PFS_BUILD_ID_H
#define PFS_BUILD_ID_H

#include <stdbool.h>

enum { PFS_BUILD_ID_BYTES = 64 }; /* at most; linkers write 8, 16 or 20 */

struct pfs_build_id {
	char hex[2 * PFS_BUILD_ID_BYTES + 1]; /* "": it has none */
};

/* Needs no library, takes any bytes. False: the file has none, or is no ELF file of this machine. */
bool pfs_build_id_read(struct pfs_build_id *id, int fd);

#endif
