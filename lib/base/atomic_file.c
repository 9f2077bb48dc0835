/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base/atomic_file.h. */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot(const struct pfs_atomic_file *file, int code, struct pfs_err *err)
{
	return pfs_err_set(err, code, "%s: cannot write: %s", file->name, strerror(-code));
}

/* Resolves links, for their target is replaced. *mode: of an existing file, else 0. */
static int find(struct pfs_atomic_file *file, mode_t *mode, struct pfs_err *err)
{
	struct stat st;

	*mode = 0;
	file->path = realpath(file->name, NULL);
	if (!file->path && errno == ENOENT)
		file->path = strdup(file->name);
	if (!file->path)
		return pfs_err_set(err, -errno, "%s: %s", file->name, strerror(errno));
	if (!stat(file->path, &st))
		*mode = st.st_mode;
	return S_ISDIR(*mode) ? pfs_err_set(err, -EISDIR, "%s: is a directory", file->name) : 0;
}

/* Creates the temporary file. mkostemp() makes it private. */
static int make(struct pfs_atomic_file *file, enum pfs_atomic_file_kind kind, mode_t old, struct pfs_err *err)
{
	mode_t mask;

	if (asprintf(&file->temp, "%s.XXXXXX", file->path) < 0) {
		file->temp = NULL;
		return pfs_err_set(err, -ENOMEM, "no memory for a file name");
	}
	file->fd = mkostemp(file->temp, O_CLOEXEC);
	if (file->fd < 0) {
		free(file->temp);
		file->temp = NULL;
		return cannot(file, -errno, err);
	}
	if (kind == PFS_ATOMIC_FILE_PRIVATE)
		return 0;
	umask(mask = umask(0));
	if (fchmod(file->fd, old ? old & 07777 : 0666 & ~mask))
		return cannot(file, -errno, err);
	return 0;
}

int pfs_atomic_file_open(struct pfs_atomic_file *file, const char *name, enum pfs_atomic_file_kind kind,
			 struct pfs_err *err)
{
	mode_t old;
	int ret;

	*file = PFS_ATOMIC_FILE_NONE;
	file->name = name;
	ret = find(file, &old, err);
	if (!ret && old && !S_ISREG(old)) {
		if (kind == PFS_ATOMIC_FILE_PRIVATE)
			ret = pfs_err_set(err, -EINVAL,
					  "%s: is no regular file; a recording cannot be kept "
					  "there",
					  name);
		else
			file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
		if (!ret && file->fd < 0)
			ret = cannot(file, -errno, err);
	} else if (!ret && old && euidaccess(file->path, W_OK)) { /* rename() would replace it nevertheless */
		ret = cannot(file, -errno, err);
	} else if (!ret) {
		ret = make(file, kind, old, err);
	}
	if (ret)
		pfs_atomic_file_drop(file);
	return ret;
}

int pfs_atomic_file_keep(struct pfs_atomic_file *file, struct pfs_err *err)
{
	int ret = close(file->fd) ? -errno : 0;

	file->fd = -1;
	if (!ret && file->temp && rename(file->temp, file->path))
		ret = -errno;
	if (ret) {
		cannot(file, ret, err);
	} else {
		free(file->temp);
		file->temp = NULL;
	}
	pfs_atomic_file_drop(file);
	return ret;
}

void pfs_atomic_file_drop(struct pfs_atomic_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->temp)
		unlink(file->temp);
	free(file->temp);
	free(file->path);
	*file = PFS_ATOMIC_FILE_NONE;
}

/* A stream for the file, to be closed before the file is kept or dropped. NULL with err set. */
static FILE *stream_of(const struct pfs_atomic_file *file, struct pfs_err *err)
{
	int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");

	if (stream)
		return stream;
	cannot(file, -errno, err);
	if (fd >= 0)
		close(fd);
	return NULL;
}

int pfs_atomic_file_write(const char *name, pfs_atomic_file_fn fn, void *ctx, struct pfs_err *err)
{
	struct pfs_atomic_file file;
	int ret = pfs_atomic_file_open(&file, name, PFS_ATOMIC_FILE_OUTPUT, err), kept;
	FILE *out = ret ? NULL : stream_of(&file, err);

	if (!ret)
		ret = out ? fn(ctx, out, err) : -EIO;
	if (out && fclose(out) && ret >= 0)
		ret = cannot(&file, -errno, err);
	if (ret < 0) {
		pfs_atomic_file_drop(&file);
		return ret;
	}
	kept = pfs_atomic_file_keep(&file, err);
	return kept ? kept : ret;
}
