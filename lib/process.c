/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Field 22 of "4211 (a name) S 1 4211 ...". */
uint64_t pfs_process_start(pid_t pid)
{
	char path[64], buf[1024], *p;
	uint64_t start = 0;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	buf[len] = '\0';
	p = strrchr(buf, ')');	/* the name before it may hold anything */
	if (!p || !p[1] || strchr("ZX", p[2]))
		return 0;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		sscanf(p, " %" SCNu64, &start);
	return start;
}
