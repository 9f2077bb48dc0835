/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What /proc says of a process, as far as more than one source of events wants to know it.
 */
#ifndef PFS_PROCESS_H
#define PFS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/PID/FILE for reading: a descriptor of the caller's, or -1 with errno. */
int pfs_process_open(pid_t pid, const char *file);

/* What one read of /proc/PID/FILE gives, terminated. False: nothing, as of a process that is gone. */
bool pfs_process_read(pid_t pid, const char *file, char *buf, size_t size);

/* The letter of its state, as in /proc/PID/stat; 'X': no such process. */
char pfs_process_state(pid_t pid);

/*
 * When it was started, in clock ticks since boot; 0: no such process, or one that has ended and was not
 * waited for yet. A number alone may belong to another one tomorrow: what a pfscope leaves in the
 * kernel carries both in its name.
 */
uint64_t pfs_process_start(pid_t pid);

/* The process of a thread; 0: there is none of that number. */
pid_t pfs_process_of(pid_t tid);

/* How long it ran in user mode so far, all its threads together, as the kernel tells it (in ticks); 0: not known. */
uint64_t pfs_process_user_ns(pid_t pid);

/* Faults that the kernel has counted for it so far. False, and 0 and 0, if it does not say. */
bool pfs_process_faults(pid_t pid, uint64_t *minor, uint64_t *major);

/* The permissions of the page at the top that is in no process's region tree; "" if there is none. */
void pfs_vsyscall_perms(char perms[5]);

#endif
