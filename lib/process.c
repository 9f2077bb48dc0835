/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_MAX 1024

/* "4211 (a name) S 1 4211 ...", from " S" on, in buf; NULL: no such process. */
static const char *read_stat(pid_t pid, char buf[STAT_MAX])
{
	char path[64], *p;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	len = read(fd, buf, STAT_MAX - 1);
	close(fd);
	if (len <= 0)
		return NULL;
	buf[len] = '\0';
	p = strrchr(buf, ')');	/* the name before it may hold anything */
	return p && p[1] ? p + 1 : NULL;
}

/* Field 22. */
uint64_t pfs_process_start(pid_t pid)
{
	char buf[STAT_MAX];
	const char *p = read_stat(pid, buf);
	uint64_t start = 0;

	if (!p || strchr("ZX", p[1]))
		return 0;
	for (int field = 3; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		sscanf(p, " %" SCNu64, &start);
	return start;
}

pid_t pfs_process_of(pid_t tid)
{
	char path[64], line[256];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) != 1)
			pid = 0;
	if (f)
		fclose(f);
	return pid;
}

/* Field 14. */
uint64_t pfs_process_user_ns(pid_t pid)
{
	char buf[STAT_MAX];
	const char *p = read_stat(pid, buf);
	uint64_t ticks;

	for (int field = 3; p && field < 14; field++)
		p = strchr(p + 1, ' ');
	if (!p || sscanf(p, " %" SCNu64, &ticks) != 1)
		return 0;
	return ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}

/* Fields 10 and 12. */
bool pfs_process_faults(pid_t pid, uint64_t *minor, uint64_t *major)
{
	char buf[STAT_MAX];
	const char *p = read_stat(pid, buf);

	*minor = *major = 0;
	return p && sscanf(p, " %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %*s %" SCNu64, minor,
			   major) == 2;
}

void pfs_vsyscall_perms(char perms[5])
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	perms[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vsyscall]"))
			sscanf(line, "%*s %4s", perms);
	if (f)
		fclose(f);
}
