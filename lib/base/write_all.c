/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/write_all.h"

#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

int pfs_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = TEMP_FAILURE_RETRY(write(fd, p, len));

		if (n < 0)
			return -errno;
		p += n;
		len -= n;
	}
	return 0;
}

ssize_t pfs_read_all_at(int fd, void *buf, size_t len, off_t at)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = TEMP_FAILURE_RETRY(pread(fd, (char *)buf + done, len - done, at + done));

		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	return done;
}

/* A full or failing disk, where no other way of copying helps. */
static bool is_final(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
}

static ssize_t copy_by_hand(int out, int in, off_t *pos, size_t len)
{
	char buf[1 << 16];
	ssize_t n = pfs_read_all_at(in, buf, len < sizeof(buf) ? len : sizeof(buf), *pos);
	int ret = n > 0 ? pfs_write_all(out, buf, n) : n;

	*pos += ret ? 0 : n;
	errno = -ret;
	return ret ? -1 : n;
}

int pfs_copy_range(int out, int in, uint64_t at, uint64_t len)
{
	const uint64_t end = at + len;
	off_t pos = at;

	while ((uint64_t)pos < end) {
		size_t left = end - pos < 1 << 30 ? end - pos : 1 << 30;
		ssize_t n;

		errno = 0;
		n = copy_file_range(in, &pos, out, NULL, left, 0);
		if (n <= 0 && !is_final(errno))
			n = sendfile(out, in, &pos, left);
		if (n <= 0 && !is_final(errno))
			n = copy_by_hand(out, in, &pos, left);
		if (n <= 0)
			return errno ? -errno : -EIO;
	}
	return 0;
}

char *pfs_read_whole(int fd, size_t *len)
{
	size_t nr = 0, max = 0;
	char *bytes = NULL;
	ssize_t got = 1;

	while (got > 0 && pfs_array_reserve(bytes, nr, max, 1 << 16)) {
		got = TEMP_FAILURE_RETRY(read(fd, bytes + nr, max - nr - 1));
		nr += got > 0 ? got : 0;
	}
	if (got) { /* no memory, or an error */
		free(bytes);
		return NULL;
	}
	bytes[nr] = '\0';
	if (len)
		*len = nr;
	return bytes;
}

char *pfs_read_whole_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	char *bytes = fd < 0 ? NULL : pfs_read_whole(fd, len);

	error = errno;
	pfs_close(fd);
	errno = error;
	return bytes;
}

int pfs_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int pfs_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, buf, size - 1);
	int ret = len < 0 ? -errno : len;

	buf[len > 0 ? len : 0] = '\0';
	pfs_close(fd);
	return ret;
}

int pfs_temp_open(struct pfs_err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) { /* the file system does not have these */
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
