/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which process is meant: a number alone may belong to another one tomorrow.
 *
 * What a pfscope leaves in the kernel carries its number and its start time in its name.
 */
#ifndef PFS_PROCESS_H
#define PFS_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * When it was started, in clock ticks since boot; 0: no such process, or one that has ended and was not
 * waited for yet.
 */
uint64_t pfs_process_start(pid_t pid);

#endif
