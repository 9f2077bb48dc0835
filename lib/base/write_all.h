/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PFS_WRITE_ALL_H
#define PFS_WRITE_ALL_H

#include <stddef.h>
#include <sys/types.h>

/* All of it, at the file's position, however many writes that takes. 0 or -errno. */
int pfs_write_all(int fd, const void *bytes, size_t len);

/*
 * Reads len bytes at that offset, however many reads that takes. Returns the bytes read, fewer at the end of the file, or
 * -errno.
 */
ssize_t pfs_read_all_at(int fd, void *buf, size_t len, off_t at);

/* Text to a file that takes it as a whole, as those of /proc and /sys do. 0 or -errno. */
int pfs_write_file(const char *path, const char *text);

#endif
