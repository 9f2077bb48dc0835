/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See base/atomic_file.h. */
#include "base/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* How a temporary name begins. */
#define TEMP ".pfscope-"

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

/* What the path has before the name of the file, "" or up to a slash. */
static int folder_len(const struct pfs_atomic_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? slash + 1 - file->path : 0;
}

/* ---- a temporary name, DIR/.pfscope-1a2b3c4d ---- */

static int set_temp(struct pfs_atomic_file *file)
{
	unsigned int number = 0;

	free(file->temp);
	if (getrandom(&number, sizeof(number), 0) < 0)
		number = getpid();
	if (asprintf(&file->temp, "%.*s" TEMP "%08x", folder_len(file), file->path, number) < 0)
		file->temp = NULL;
	return file->temp ? 0 : -ENOMEM;
}

/* A file of that name is locked as long as a pfscope needs it. False: it has been removed in the moment before. */
static bool lock(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno != EWOULDBLOCK; /* the file system has no locks */
	return !fstat(fd, &st) && st.st_nlink;
}

static void remove_unlocked(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(folder, name, 0);
	close(fd);
}

/* Removes what killed pfscopes left beside the file. */
static void remove_left(const struct pfs_atomic_file *file)
{
	char *path = strndup(file->path, folder_len(file));
	DIR *folder = path ? opendir(*path ? path : ".") : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, TEMP, strlen(TEMP)))
			remove_unlocked(dirfd(folder), entry->d_name);
	if (folder)
		closedir(folder);
	free(path);
}

static int open_named(struct pfs_atomic_file *file)
{
	do {
		if (file->fd >= 0)
			close(file->fd);
		file->fd = -1;
		if (set_temp(file))
			return -ENOMEM;
		file->fd = open(file->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (file->fd < 0 ? errno == EEXIST : !lock(file->fd));
	if (file->fd >= 0)
		return 0;
	free(file->temp);
	file->temp = NULL;
	return -errno;
}

/* ---- no name: the file goes with its last descriptor, however pfscope ends ---- */

static const char *path_of_fd(int fd, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return path;
}

/* -1: the file system does not have these, or it could not get a name later. */
static int open_unnamed(const struct pfs_atomic_file *file)
{
	char *folder = strndup(file->path, folder_len(file)), path[32];
	int fd = folder ? open(*folder ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

	free(folder);
	if (fd < 0 || !access(path_of_fd(fd, path), F_OK))
		return fd;
	close(fd);
	return -1;
}

/* linkat() replaces no file: where there is one, this one gets a temporary name, to be renamed. */
static int give_name(struct pfs_atomic_file *file)
{
	char path[32];
	int ret;

	path_of_fd(file->fd, path);
	lock(file->fd);
	ret = linkat(AT_FDCWD, path, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW);
	while (ret && errno == EEXIST) {
		if (set_temp(file))
			return -ENOMEM;
		ret = linkat(AT_FDCWD, path, AT_FDCWD, file->temp, AT_SYMLINK_FOLLOW);
	}
	return ret ? -errno : 0;
}

/* ---- the file ---- */

static int make(struct pfs_atomic_file *file, enum pfs_atomic_file_kind kind, mode_t old, struct pfs_err *err)
{
	mode_t mask;
	int ret = 0;

	remove_left(file);
	file->fd = open_unnamed(file);
	file->unnamed = file->fd >= 0;
	if (!file->unnamed)
		ret = open_named(file);
	if (ret)
		return cannot(file, ret, err);
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

/* It stays open, and so locked, until it has its name; some file systems report only at a close() that a write has failed. */
int pfs_atomic_file_keep(struct pfs_atomic_file *file, struct pfs_err *err)
{
	int ret = close(fcntl(file->fd, F_DUPFD_CLOEXEC, 0)) ? -errno : 0;

	if (!ret && file->unnamed)
		ret = give_name(file);
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
	if (file->temp)
		unlink(file->temp);
	if (file->fd >= 0)
		close(file->fd);
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
