/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/smaps.h"

#include "base/number.h"
#include "base/perms.h"
#include "base/write_all.h"
#include "os/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

FILE *pfs_smaps_open(pid_t pid)
{
	int fd = pfs_process_open(pid, "smaps");
	FILE *smaps = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !smaps)
		close(fd);
	return smaps;
}

bool pfs_smap_line(struct pfs_smap *region, char *line)
{
	const char *at = line, *perms;
	uint64_t major, minor;

	*region = (struct pfs_smap){ .name = "" };
	if (!pfs_take_hex(&at, UINT64_MAX, &region->start) || *at++ != '-' ||
	    !pfs_take_hex(&at, UINT64_MAX, &region->end) || *at++ != ' ' || strnlen(perms = at, 5) < 5)
		return false;
	at += 5;
	if (!pfs_take_hex(&at, UINT64_MAX, &region->off) || *at++ != ' ' ||
	    !pfs_take_hex(&at, UINT32_MAX >> 20, &major) || *at++ != ':' ||
	    !pfs_take_hex(&at, UINT32_MAX >> 12, &minor) || *at++ != ' ' ||
	    !pfs_take_dec(&at, UINT64_MAX, &region->ino))
		return false;
	region->dev = major << 20 | minor;
	region->perms = (perms[0] == 'r' ? PFS_PERM_R : 0) | (perms[1] == 'w' ? PFS_PERM_W : 0) |
			(perms[2] == 'x' ? PFS_PERM_X : 0) | (perms[3] == 's' ? PFS_PERM_SHARED : 0);
	line[strcspn(line, "\n")] = '\0';
	region->name = at + strspn(at, " ");
	return true;
}

/* Two letters each: locked, of a device, a device's page frames, huge pages of hugetlbfs. */
static bool are_fixed(const char *flags)
{
	static const char *const fixed[] = { " lo", " io", " pf", " ht" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (strstr(flags, fixed[i]))
			return true;
	return false;
}

static void add_fact(struct pfs_smap *region, const char *line)
{
	uint64_t kb;

	if (!strncmp(line, "Rss:", 4) && pfs_number_behind(line, ":", &kb))
		region->resident = kb * 1024;
	else if ((!strncmp(line, "Shared_Clean:", 13) || !strncmp(line, "Shared_Dirty:", 13)) &&
		 pfs_number_behind(line, ":", &kb))
		region->shared += kb * 1024;
	else if (!strncmp(line, "VmFlags:", 8))
		region->fixed = are_fixed(line + 8);
}

/* A fact's line begins with a capital letter, a region's with its address. */
static bool is_fact(const char *line)
{
	return *line >= 'A' && *line <= 'Z';
}

int pfs_smaps_read(FILE *smaps, pfs_smap_fn fn, void *ctx)
{
	char *line = NULL, *header = NULL;
	struct pfs_smap region = { 0 };
	size_t max = 0, header_max = 0;
	bool inside = false;
	int ret = 0;

	errno = 0;
	while (!ret && getline(&line, &max, smaps) > 0) {
		if (is_fact(line)) {
			add_fact(&region, line);
			continue;
		}
		if (inside)
			ret = fn(ctx, &region);
		/* The region's name is in its line: that one is kept, the other's room is for the next. */
		char *spare = header;
		size_t spare_max = header_max;

		header = line;
		header_max = max;
		line = spare;
		max = spare_max;
		inside = pfs_smap_line(&region, header);
		errno = 0;
	}
	if (!ret && errno)
		ret = -errno;
	if (!ret && !header)
		ret = -ESRCH;
	if (!ret && inside)
		ret = fn(ctx, &region);
	free(line);
	free(header);
	return ret;
}

static int is_same_file(void *ctx, const struct pfs_smap *region)
{
	const struct pfs_smap *mapped = ctx;

	return region->start == mapped->start && region->dev == mapped->dev && region->ino == mapped->ino;
}

bool pfs_is_mapped_file(int fd, const struct stat *st, uint32_t dev, uint64_t ino)
{
	struct pfs_smap mapped = { .dev = dev, .ino = ino };
	FILE *maps;
	void *at;
	bool same;

	if ((major(st->st_dev) << 20 | minor(st->st_dev)) == dev && st->st_ino == ino)
		return true;
	at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	mapped.start = (uintptr_t)at;
	maps = fopen("/proc/self/maps", "re");
	same = maps && pfs_smaps_read(maps, is_same_file, &mapped) == 1;
	if (maps)
		fclose(maps);
	munmap(at, 1);
	return same;
}

/* ---- the vdso ---- */

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
