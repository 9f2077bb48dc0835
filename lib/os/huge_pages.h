/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory may get huge pages on this machine, by the settings in sysfs. The capture records page allocations only
 * where some may be huge, because recording them makes every fault slower.
 */
#ifndef PFS_HUGE_PAGES_H
#define PFS_HUGE_PAGES_H

enum pfs_huge_pages {
	PFS_HUGE_NEVER,
	PFS_HUGE_ADVISED, /* memory that was asked for with MADV_HUGEPAGE */
	PFS_HUGE_ALWAYS,  /* any that is large enough */
};

#define PFS_HUGE_PAGES_DIR "/sys/kernel/mm/transparent_hugepage"

/* The most that any size of page is allowed, of `enabled` and hugepages-*kB/enabled (6.8) in `dir`. */
enum pfs_huge_pages pfs_huge_pages(const char *dir);

#endif
