/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of the kernel's instructions, from a vmlinux with debuginfo. libdw (elfutils) reads it; it is loaded with the
 * file.
 *
 * A running kernel is where it was linked, or by one distance elsewhere (KASLR): the distance between a function's recorded
 * address and that in the file. What has another distance is not of this file: a function of a module, or all of another
 * kernel.
 */
#ifndef PFS_SYMBOL_LINES_H
#define PFS_SYMBOL_LINES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pfs_lines;

/* NULL with errno and err set: no such file, without debuginfo, no libdw, no memory. */
struct pfs_lines *pfs_lines_open(const char *path, struct pfs_err *err);
void pfs_lines_close(struct pfs_lines *lines);

/*
 * The line of a call from that address, recorded as in that function ("alloc_pipe_info+0x88"): the line of the instruction
 * before it. "fs/pipe.c:812", valid until the next call; NULL: unknown.
 */
const char *pfs_lines_find(struct pfs_lines *lines, const char *func, uint64_t addr);

#endif
