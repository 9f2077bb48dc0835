/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_MAX   1024
#define STATUS_MAX 4096

int pfs_process_open(pid_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool pfs_process_read(pid_t pid, const char *file, char *buf, size_t size)
{
	int fd = pfs_process_open(pid, file);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, buf, size - 1);
	close(fd);
	buf[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* "4211 (a name) S 1 4211 ...", from " S" on, in buf; NULL: no such process. */
static const char *read_stat(pid_t pid, char buf[STAT_MAX])
{
	const char *p = pfs_process_read(pid, "stat", buf, STAT_MAX) ? strrchr(buf, ')') : NULL;

	return p && p[1] ? p + 1 : NULL; /* the name before it may hold anything */
}

char pfs_process_state(pid_t pid)
{
	char buf[STAT_MAX];
	const char *p = read_stat(pid, buf);

	return p ? p[1] : 'X';
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
	char status[STATUS_MAX];
	const char *line = pfs_process_read(tid, "status", status, sizeof(status)) ? strstr(status, "\nTgid:") : NULL;
	int pid;

	return line && sscanf(line, " Tgid: %d", &pid) == 1 ? pid : 0;
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
	return p && sscanf(p, " %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %*s %" SCNu64, minor, major) == 2;
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
