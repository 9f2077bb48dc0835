/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracefs/clean.h"

#include "os/process.h"
#include "tracefs/dir.h"
#include "tracefs/dynevents.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Returns true if the pfscope that made the instance of that name is dead. */
static bool orphaned(const char *name)
{
	uint64_t start;
	int pid, at = 0;

	if (sscanf(name, PFS_INSTANCE_PREFIX "%d-%" SCNu64 "-%*d%n", &pid, &start, &at) != 2 || !at || name[at])
		return false;
	return pfs_process_start(pid) != start;
}

/* The same for the group of dynamic events of an instance. */
static bool group_orphaned(const char *group)
{
	uint64_t start;
	int pid;

	return sscanf(group, "pfscope_%d_%" SCNu64 "_", &pid, &start) == 2 && pfs_process_start(pid) != start;
}

/*
 * Does not switch the instance off first: an instance that is being read belongs to a live pfscope after all, whose
 * pid names another process here (a container with a pid namespace of its own).
 */
static int clean_one(const char *instances, const char *name, unsigned int patience_ms, struct pfs_err *err)
{
	char dir[PATH_MAX + NAME_MAX + 2];
	int ret;

	snprintf(dir, sizeof(dir), "%s/%s", instances, name);
	ret = pfs_instance_rmdir(dir, patience_ms);
	if (ret)
		pfs_err_set(err, ret, "%s: cannot be removed: %s%s", dir, strerror(-ret),
			    ret == -EBUSY ? ": somebody reads it" : "");
	return ret;
}

int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);
	char instances[PATH_MAX];
	struct dirent *entry;
	int ret = 0, nr = 0;
	DIR *dir;

	if (!tracing)
		return -errno;
	snprintf(instances, sizeof(instances), "%s/instances", tracing);
	dir = opendir(instances);
	if (!dir)
		return pfs_err_set(err, -errno, "%s: %s", instances, strerror(errno));
	while ((entry = readdir(dir))) {
		if (!orphaned(entry->d_name))
			continue;
		if (clean_one(instances, entry->d_name, patience_ms, err))
			ret = -EBUSY;
		else
			nr++;
	}
	closedir(dir);
	if (pfs_dynevents_clean(tracing, group_orphaned, err) < 0 && !ret)
		ret = -EIO;
	return ret ? ret : nr;
}
