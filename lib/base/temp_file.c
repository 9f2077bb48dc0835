/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Temporary files: O_TMPFILE where the file system has it, else a name that is removed at once. */
#include "base/temp_file.h"

#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pfs_temp_open(struct pfs_err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		snprintf(path, sizeof(path), "%s/pfscope.XXXXXX", dir);
		fd = mkostemp(path, O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
	}
	if (fd < 0)
		return pfs_err_set(err, -errno,
				   "cannot make a temporary file in %s: %s; set "
				   "TMPDIR to a directory that can be written",
				   dir, strerror(errno));
	return fd;
}

int pfs_temp_write(int fd, const void *bytes, size_t len, struct pfs_err *err)
{
	int ret = pfs_write_all(fd, bytes, len);

	return ret ? pfs_err_set(err, ret, "cannot write a temporary file: %s; TMPDIR chooses where", strerror(-ret))
		   : 0;
}
