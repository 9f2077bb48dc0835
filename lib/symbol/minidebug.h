/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MiniDebugInfo (Fedora's): the symbols of a stripped file are a small ELF file in its section .gnu_debugdata, packed by xz.
 * liblzma unpacks it; it is loaded when it is needed.
 */
#ifndef PFS_MINIDEBUG_H
#define PFS_MINIDEBUG_H

#include <stddef.h>

/* Unpacks it. The caller frees it. NULL: it is damaged, too large, or there is no liblzma or no memory. */
void *pfs_minidebug_unpack(const void *packed, size_t len, size_t *unpacked_len);

#endif
