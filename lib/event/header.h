/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes that a recording begins with, whatever its source.
 */
#ifndef PFS_HEADER_H
#define PFS_HEADER_H

#include "event/notes.h"

/*
 * Passes each to put(): pfscope, the machine and its kernel, the source's name, and the permissions of [vsyscall]
 * ("": none). 0 or what put() returned.
 */
int pfs_header_notes(const char *source, const char *vsyscall, pfs_note_fn *put, void *ctx);

#endif
