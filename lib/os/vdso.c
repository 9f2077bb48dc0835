/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/vdso.h"

#include "base/write_all.h"
#include "os/smaps.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int take_vdso(void *ctx, const struct pfs_smap *region)
{
	bool found = !strcmp(region->name, "[vdso]");

	if (found)
		*(struct pfs_smap *)ctx = *region;
	return found;
}

static bool find_vdso(struct pfs_smap *vdso)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = maps && pfs_smaps_read(maps, take_vdso, vdso) == 1;

	if (maps)
		fclose(maps);
	return found;
}

int pfs_vdso_open(void)
{
	struct pfs_smap vdso;
	int fd = find_vdso(&vdso) ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && !pfs_write_all(fd, (const void *)(uintptr_t)vdso.start, vdso.end - vdso.start))
		return fd;
	pfs_close(fd);
	return -1;
}
