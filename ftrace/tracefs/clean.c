/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instances that go: with patience, and those that nobody removed. See instance.h.
 */
#include "tracefs/instance.h"

#include "os/process.h"
#include "tracefs/dynevents.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int pfs_instance_rmdir(const char *dir, unsigned int patience_ms)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	for (unsigned int waited_ms = 0;; waited_ms += 5) {
		if (!rmdir(dir) || errno == ENOENT || errno == ENODEV) /* or somebody else is at it */
			return 0;
		if (errno != EBUSY || waited_ms >= patience_ms)
			return -errno;
		nanosleep(&moment, NULL);
	}
}

/* Does an instance of that name belong to a pfscope that is gone? */
static bool orphaned(const char *name)
{
	uint64_t start;
	int pid, at = 0;

	if (sscanf(name, PFS_INSTANCE_PREFIX "%d-%" SCNu64 "-%*d%n", &pid, &start, &at) != 2 || !at || name[at])
		return false;
	return pfs_process_start(pid) != start;
}

/* The same of the dynamic events made for an instance. */
static bool group_orphaned(const char *group)
{
	uint64_t start;
	int pid;

	return sscanf(group, "pfscope_%d_%" SCNu64 "_", &pid, &start) == 2 && pfs_process_start(pid) != start;
}

/*
 * Nothing in it is switched off first: one that is read is no orphan after all, but belongs to a pfscope
 * whose number means another process here (a container with process numbers of its own).
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
