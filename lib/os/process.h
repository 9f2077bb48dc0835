/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * os/: what the kernel reports of processes and of this machine, and starting processes.
 *
 *     process.h     /proc/PID: state, times, faults
 *     smaps.h       /proc/PID/smaps: regions and their memory
 *     huge_pages.h  are transparent huge pages allowed? is there a zero page?
 *     slabs.h       which caches of objects the kernel has merged
 *     page_cache.h  which pages of a file fault-around would map
 *     pagemap.h     which pages a process has mapped
 *     memory_nodes.h /proc/zoneinfo: page frames of NUMA nodes
 *     vm_events.h   /proc/vmstat: pages taken away by the kernel
 *     helper.h      processes that outlive pfscope
 *     nobody.h      children without privileges
 *     owner.h       who made what is in the kernel, and does it live?
 *     program.h     running another program
 *     perf_event.h  perf events: opening one, or why that is refused
 *     kallsyms.h    names of the kernel's functions
 *     frames.h      have the C library and a program frame pointers?
 *     limits.h      descriptors and priority of pfscope's own process
 */
#ifndef PFS_PROCESS_H
#define PFS_PROCESS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* /proc/PID/FILE for reading: a descriptor of the caller's, or -1 with errno. */
int pfs_process_open(pid_t pid, const char *file);

/* One read of /proc/PID/FILE, terminated. False: nothing, as for a process that does not exist. */
bool pfs_process_read(pid_t pid, const char *file, char *buf, size_t size);

/* Can /proc be read, without which mounts and processes would seem not to be there? 0, or -errno with err set. */
int pfs_proc_check(struct pfs_err *err);

/* -EACCES, with err set to whose the process is, and what would let the caller record it. */
int pfs_process_refused(pid_t pid, struct pfs_err *err);

/*
 * Its command line, as pfs_quote_words() prints it; of a longer one than 4 KiB the beginning and "...". The caller frees
 * it. NULL: there is none, as amid an exec, at the end of a process, and of a kernel thread; or no memory.
 */
char *pfs_process_args(pid_t pid);

/*
 * Is the calling process in the initial PID namespace, so that its numbers of processes are the kernel's own, which are
 * in the events?
 */
bool pfs_process_numbers_are_global(void);

/* The letter of its state, as in /proc/PID/stat; 'X': no such process. */
char pfs_process_state(pid_t pid);

/* A number in the text of /proc/PID/stat (NULL: none), fields counted from 1; of those from the fourth on. 0: there is none. */
uint64_t pfs_stat_field(const char *stat, int nr);

/* The process of a thread; 0: no such thread. */
pid_t pfs_process_of(pid_t tid);

/* Time of all its threads in user mode so far, in multiples of a tick; 0: unknown. */
uint64_t pfs_process_user_ns(pid_t pid);

/* Faults that the kernel has counted for it so far. False, and 0 and 0, if they are unknown. */
bool pfs_process_faults(pid_t pid, uint64_t *minor, uint64_t *major);

/* The same of one thread of it. Its state, as in /proc/PID/stat; X: there is none. */
char pfs_thread_faults(pid_t pid, pid_t tid, uint64_t *minor, uint64_t *major);

/* Is the file a program for a 32-bit CPU? */
bool pfs_program_is_32bit(const char *path);

/* The file that execvp() finds. False: none. */
bool pfs_command_path(const char *name, char *path, size_t size);

/* The permissions of [vsyscall], which is in no process's region tree; "" if there is none. */
void pfs_vsyscall_perms(char perms[5]);

#endif
