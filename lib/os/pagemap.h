/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pages a process has mapped, from PAGEMAP_SCAN on /proc/PID/pagemap (Linux 6.7): an account's own processes need no root. */
#ifndef PFS_PAGEMAP_H
#define PFS_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* [start, end) in bytes */
struct pfs_page_range {
	uint64_t start, end;
};

struct pfs_page_ranges {
	struct pfs_page_range *range; /* the caller frees it */
	size_t nr, max;
};

/* Does this kernel have it? */
bool pfs_pagemap_can_scan(void);

/* Adds the ranges of pages in [start, end) that are present, in order of address. 0, -ENOMEM, or -errno if it cannot be read. */
int pfs_pagemap_scan(pid_t pid, uint64_t start, uint64_t end, struct pfs_page_ranges *present);

#endif
