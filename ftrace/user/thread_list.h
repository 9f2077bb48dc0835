/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of some processes, and of all that they start, as the kernel itself keeps them: in a private
 * tracefs instance in which nothing is traced. For a source that knows its processes by other means.
 */
#ifndef PFS_THREAD_LIST_H
#define PFS_THREAD_LIST_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct pfs_thread_list;

/* An empty one of that owner (os/owner.h). NULL with errno and err set. */
struct pfs_thread_list *pfs_thread_list_new(uint64_t owner, struct pfs_err *err);

/* Removes it from the kernel. NULL is fine. 0 or -errno with err set. */
int pfs_thread_list_free(struct pfs_thread_list *list, struct pfs_err *err);

/* Enters every thread of a process. 0, -ESRCH, or -errno with err set. */
int pfs_thread_list_add(struct pfs_thread_list *list, pid_t pid, struct pfs_err *err);

/* The file that has their numbers, one a line. */
void pfs_thread_list_file(const struct pfs_thread_list *list, char *path, size_t size);

#endif
