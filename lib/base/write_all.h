/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes descriptors, the small files of /proc and /sys, and unnamed temporary files. */
#ifndef PFS_WRITE_ALL_H
#define PFS_WRITE_ALL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

/* -1: nothing to close. */
static inline void pfs_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Writes all bytes at the file position. 0 or -errno. */
int pfs_write_all(int fd, const void *bytes, size_t len);

/* Reads len bytes at that offset. Returns the number of bytes, fewer at the end of the file, or -errno. */
ssize_t pfs_read_all_at(int fd, void *buf, size_t len, off_t at);

/* The same where all of them have to be there, at an offset that a file may have any value for. */
static inline bool pfs_read_exactly(int fd, void *buf, size_t len, uint64_t at)
{
	return len <= INT64_MAX && at <= INT64_MAX - len && pfs_read_all_at(fd, buf, len, at) == (ssize_t)len;
}

/*
 * Copies len bytes of a file from that offset to out's position: inside the kernel, where that can copy between these two
 * files. 0 or -errno.
 */
int pfs_copy_range(int out, int in, uint64_t at, uint64_t len);

/* The first len bytes. */
static inline int pfs_copy_file(int out, int in, uint64_t len)
{
	return pfs_copy_range(out, in, 0, len);
}

/*
 * Reads from the file position to the end. *len (may be NULL): the bytes, behind which there is a NUL. The caller frees
 * them. NULL with errno.
 */
char *pfs_read_whole(int fd, size_t *len);

/* The same of the file of that name. */
char *pfs_read_whole_file(const char *path, size_t *len);

/* Writes the text to a small file with one write(), as /proc and /sys want it. 0 or -errno. */
int pfs_write_file(const char *path, const char *text);

/* Reads a small file, or its first size - 1 bytes, into buf and terminates it. The number of bytes, or -errno. */
int pfs_read_file(const char *path, char *buf, size_t size);

/*
 * A new temporary file in $TMPDIR or /tmp, for spools and for input that cannot seek: open for reading and writing,
 * mode 0600. -errno with err set.
 */
int pfs_temp_open(struct pfs_err *err);

/* Writes all of it to a temporary file, at the file position. 0 or -errno with err set. */
int pfs_temp_write(int fd, const void *bytes, size_t len, struct pfs_err *err);

#endif
