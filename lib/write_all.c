/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write_all.h"

#include <errno.h>
#include <unistd.h>

int pfs_write_all(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= n;
	}
	return 0;
}
