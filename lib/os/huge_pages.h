/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory may get huge pages on this machine, by the settings in sysfs. The capture records page allocations only
 * where some may be huge, because recording them makes every fault slower.
 * And whether there is a zero page.
 */
#ifndef PFS_HUGE_PAGES_H
#define PFS_HUGE_PAGES_H

#include <stdbool.h>

enum pfs_huge_pages {
	PFS_HUGE_NEVER,
	PFS_HUGE_ADVISED, /* memory that was asked for with MADV_HUGEPAGE */
	PFS_HUGE_ALWAYS,  /* any that is large enough */
};

#define PFS_HUGE_PAGES_DIR "/sys/kernel/mm/transparent_hugepage"

/* The most that any size of page is allowed, of `enabled` and hugepages-*kB/enabled (6.8) in `dir`. */
enum pfs_huge_pages pfs_huge_pages(const char *dir);

/* Which huge pages a fault may map without an event of an allocation. */
struct pfs_huge_settings {
	enum pfs_huge_pages anon; /* of the size that one page of page tables would map (2 MiB) */
	bool zero;		  /* reads of anonymous memory may get the huge zero page */
	bool shmem;		  /* files in memory may have pages of any larger size, on some file system */
	char text[1024];	  /* each such file system: "0:1=never 0:1a=always" (major:minor, hexadecimal) */
};

void pfs_huge_settings(struct pfs_huge_settings *s, const char *dir);

/*
 * Whether reads of anonymous memory get the zero page, which the first write replaces. Some kernels for virtual machines give
 * each read a page of its own, and no setting tells, so it is tried with a few pages. True also without memory for these.
 */
bool pfs_has_zero_page(void);

/* never, madvise or always */
const char *pfs_huge_pages_name(enum pfs_huge_pages setting);

#endif
