/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of 32-bit programs on x86-64, which only raw_syscalls:* report: their numbers and arguments as the 64-bit
 * calls of raw_desc.c that do the same.
 */
#ifndef PFS_I386_H
#define PFS_I386_H

#include "record/raw.h"

#include <stddef.h>

/* Above it a 32-bit process of a 64-bit kernel has nothing. */
#define RAW_32BIT_END (UINT64_C(1) << 32)

/* Its arguments are in the program's memory, and so not recorded. */
#define RAW_I386_OLD_MMAP 90

/*
 * Turns a RAW_CALL_ENTER or RAW_CALL_EXIT of a 32-bit process into RAW_SYS_*. The return of an ipc() is one of SYS_OTHER:
 * its entry has what it does. False: no call that raw_desc.c lists.
 */
bool raw_i386_decode(const struct raw_event *raw, struct raw_event *call);

/* The kernel's filter that lets those calls pass. Returns buf. */
char *raw_i386_filter(char *buf, size_t size);

#endif
