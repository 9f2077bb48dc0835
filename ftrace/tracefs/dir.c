/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracefs/instance.h"

#include "os/owner.h"
#include "os/process.h"
#include "tracefs/dynevents.h"
#include "tracefs/wprobes.h"

#include <tracefs.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *pfs_tracing_dir(struct pfs_err *err)
{
	const char *path = NULL;

	if (pfs_proc_check(err))
		return NULL;
	/* Without mounting it: whether and where is the user's decision. */
	if (tracefs_tracing_dir_is_mounted(false, &path) < 1 || !path) {
		pfs_err_set(err, -ENOENT,
			    "tracefs is not mounted: as root, run "
			    "`mount -t tracefs nodev /sys/kernel/tracing`");
		return NULL;
	}
	if (access(path, R_OK | X_OK)) {
		pfs_err_set(err, -errno, "%s: %s%s", path, strerror(errno),
			    errno == EACCES || errno == EPERM ? ": this needs root (try sudo)" : "");
		return NULL;
	}
	return path;
}

int pfs_instance_rmdir(const char *dir, unsigned int patience_ms)
{
	const struct timespec moment = { .tv_nsec = 5000000 };

	for (unsigned int waited_ms = 0;; waited_ms += 5) {
		if (!rmdir(dir) || errno == ENOENT || errno == ENODEV) /* ENODEV: another process is removing it */
			return 0;
		if (errno != EBUSY || waited_ms >= patience_ms)
			return -errno;
		nanosleep(&moment, NULL);
	}
}

/* Returns true if the pfscope that made the instance, or the group of dynamic events, of that name is dead. */
static bool is_orphaned(const char *name)
{
	uint64_t owner = pfs_owner_of_name(name);

	return owner && pfs_owner_state(owner) == PFS_OWNER_DEAD;
}

int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);
	int ret = 0, nr = 0, removed;
	char path[PATH_MAX + 300];
	struct dirent *entry;
	DIR *dir;

	if (!tracing)
		return -errno;
	snprintf(path, sizeof(path), "%s/instances", tracing);
	dir = opendir(path);
	if (!dir)
		return pfs_err_set(err, -errno, "%s: %s", path, strerror(errno));
	while ((entry = readdir(dir))) {
		if (!is_orphaned(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s", tracing, entry->d_name);
		removed = pfs_instance_rmdir(path, patience_ms);
		nr += !removed;
		if (removed)
			ret = pfs_err_set(err, -EBUSY, "%s: cannot be removed: %s%s", path, strerror(-removed),
					  removed == -EBUSY ? ": a process reads it" : "");
	}
	closedir(dir);
	pfs_dynevents_clean(is_orphaned);
	if (nr)
		pfs_wprobes_remove();
	return ret ? ret : nr;
}
