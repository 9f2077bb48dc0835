/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/pagemap.h"

#include "base/array.h"
#include "os/process.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* linux/fs.h, which older headers lack */
struct pm_region {
	uint64_t start, end, categories;
};

struct pm_scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define PM_SCAN		_IOWR('f', 16, struct pm_scan)
#define PM_IS_PRESENT	(1 << 3)
#define REGIONS_AT_ONCE 512

/* Returns how many regions of pages it found, and in scan->walk_end how far it came; or -errno. */
static int scan_some(int fd, struct pm_scan *scan, struct pm_region *found, uint64_t start, uint64_t end)
{
	int nr;

	*scan = (struct pm_scan){
		.size = sizeof(*scan),
		.start = start,
		.end = end,
		.vec = (uintptr_t)found,
		.vec_len = REGIONS_AT_ONCE,
		.category_mask = PM_IS_PRESENT,
		.return_mask = PM_IS_PRESENT,
	};
	nr = ioctl(fd, PM_SCAN, scan);
	return nr < 0 ? -errno : nr;
}

bool pfs_pagemap_can_scan(void)
{
	struct pm_region found[REGIONS_AT_ONCE];
	int fd = pfs_process_open(getpid(), "pagemap"), ret;
	struct pm_scan scan;

	if (fd < 0)
		return false;
	ret = scan_some(fd, &scan, found, 0, 0);
	close(fd);
	return ret >= 0;
}

/* The first `others` are not of this scan. */
static int add(struct pfs_page_ranges *present, size_t others, const struct pm_region *found)
{
	struct pfs_page_range *last = present->nr > others ? &present->range[present->nr - 1] : NULL;

	if (last && last->end == found->start) {
		last->end = found->end;
		return 0;
	}
	last = pfs_array_add(present->range, present->nr, present->max);
	if (!last)
		return -ENOMEM;
	*last = (struct pfs_page_range){ found->start, found->end };
	return 0;
}

int pfs_pagemap_scan(pid_t pid, uint64_t start, uint64_t end, struct pfs_page_ranges *present)
{
	struct pm_region found[REGIONS_AT_ONCE];
	int fd = pfs_process_open(pid, "pagemap"), nr, ret = 0;
	const size_t others = present->nr;
	struct pm_scan scan;

	if (fd < 0)
		return -errno;
	while (!ret && start < end) {
		nr = scan_some(fd, &scan, found, start, end);
		for (int i = 0; !ret && i < nr; i++)
			ret = add(present, others, &found[i]);
		if (nr < 0 || scan.walk_end <= start)
			ret = ret ?: nr < 0 ? nr : -EIO;
		start = scan.walk_end;
	}
	close(fd);
	return ret;
}
