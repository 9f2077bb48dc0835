/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the file that was recorded, or none: the one with the recorded build-id; where none was recorded, the one with the
 * recorded device and inode, unless it was changed since.
 */
#ifndef PFS_RECORDED_FILE_H
#define PFS_RECORDED_FILE_H

#include "symbol/build_id.h"
#include "symbol/symbol.h"

/* A descriptor that the caller closes, and the file's build-id ("" if it has none); or -1 with the reason in *state. */
int pfs_recorded_file_open(const struct pfs_elf_wanted *wanted, struct pfs_build_id *id,
			   enum pfs_elf_symbols_state *state);

#endif
