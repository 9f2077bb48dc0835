/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes that a recording begins with, whatever its source.
 */
#ifndef PFS_HEADER_H
#define PFS_HEADER_H

/*
 * Hands each to put(), as "key=value": of pfscope, the machine and its kernel, and the source's name. 0 or what
 * put() returned.
 */
int pfs_header_notes(const char *source, int (*put)(void *ctx, const char *text), void *ctx);

#endif
