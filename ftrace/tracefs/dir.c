/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracefs/dir.h"

#include <tracefs.h>

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *pfs_tracing_dir(struct pfs_err *err)
{
	const char *path = NULL;

	/* Without mounting it: whether and where is the user's decision. */
	if (tracefs_tracing_dir_is_mounted(false, &path) < 1 || !path) {
		pfs_err_set(err, -ENOENT,
			    "tracefs is not mounted: as root, run "
			    "`mount -t tracefs nodev /sys/kernel/tracing`");
		errno = ENOENT;
		return NULL;
	}
	if (access(path, R_OK | X_OK)) {
		pfs_err_set(err, -errno, "%s: %s: recording needs root (try sudo)", path, strerror(errno));
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
