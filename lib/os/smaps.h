/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/smaps: the regions of a process, and how much of each is in memory (maps has only the regions).
 */
#ifndef PFS_SMAPS_H
#define PFS_SMAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

struct pfs_smap {
	uint64_t start, end, off, ino;
	uint32_t dev;	   /* major << 20 | minor */
	uint8_t perms;	   /* PFS_PERM_* */
	uint64_t resident; /* bytes that its page tables point to, the zero page apart */
	uint64_t shared;   /* of these: some other page table points to them as well */
	bool fixed;	   /* none of it can be paged out: locked, a device's memory, hugetlbfs */
	const char *name;  /* as the file has it; "" for none. Valid during the call */
};

/* Called for each region, in order of address; what it returns ends the reading unless it is 0. */
typedef int (*pfs_smap_fn)(void *ctx, const struct pfs_smap *region);

/* That of a process, to be closed by the caller; NULL with errno. */
FILE *pfs_smaps_open(pid_t pid);

/* A region's line of maps or smaps, which is terminated behind its name. False: it is no such line. */
bool pfs_smap_line(struct pfs_smap *region, char *line);

/*
 * Reads the text of a smaps or maps file. Unknown lines are passed over. 0, what fn returned, -ENOMEM, or -errno if it
 * cannot be read (-ESRCH: the process has ended).
 */
int pfs_smaps_read(FILE *smaps, pfs_smap_fn fn, void *ctx);

/*
 * Is the open file, of which that is the status, the one that mappings report with this device (major << 20 | minor) and inode?
 * The kernel may report another identity for mappings, and so in recordings, than stat() does: on overlayfs, btrfs.
 */
bool pfs_is_mapped_file(int fd, const struct stat *st, uint32_t dev, uint64_t ino);

/*
 * A copy of this process's own vdso, the kernel's code in each process, which is an ELF file in memory only: that of all 64-bit
 * processes. The caller closes it. -1: there is none.
 */
int pfs_vdso_open(void);

#endif
