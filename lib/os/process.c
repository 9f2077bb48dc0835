/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/process.h"

#include "base/write_all.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return pfs_read_file(path, buf, size) > 0;
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

/* The number in a field of /proc/PID/stat, counted from 1; stat begins before field 3. 0: there is none. */
static uint64_t field_of(const char *stat, int nr)
{
	uint64_t value = 0;

	for (int field = 3; stat && field < nr; field++)
		stat = strchr(stat + 1, ' ');
	if (stat)
		sscanf(stat, " %" SCNu64, &value);
	return value;
}

uint64_t pfs_process_start(pid_t pid)
{
	char buf[STAT_MAX];
	const char *p = read_stat(pid, buf);

	return p && !strchr("ZX", p[1]) ? field_of(p, 22) : 0;
}

pid_t pfs_process_of(pid_t tid)
{
	char status[STATUS_MAX];
	const char *line = pfs_process_read(tid, "status", status, sizeof(status)) ? strstr(status, "\nTgid:") : NULL;
	int pid;

	return line && sscanf(line, " Tgid: %d", &pid) == 1 ? pid : 0;
}

uint64_t pfs_process_user_ns(pid_t pid)
{
	char buf[STAT_MAX];

	return field_of(read_stat(pid, buf), 14) * (1000000000 / sysconf(_SC_CLK_TCK));
}

bool pfs_process_faults(pid_t pid, uint64_t *minor, uint64_t *major)
{
	char buf[STAT_MAX];
	const char *p = read_stat(pid, buf);

	*minor = field_of(p, 10);
	*major = field_of(p, 12);
	return p;
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

/* An ELF header begins with 0x7f "ELF" and the class: 1 for 32 bits. */
bool pfs_program_is_32bit(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char ident[5] = "";
	bool is_32bit;

	if (fd < 0)
		return false;
	is_32bit = read(fd, ident, sizeof(ident)) == sizeof(ident) && !memcmp(ident, "\177ELF\1", sizeof(ident));
	close(fd);
	return is_32bit;
}

bool pfs_command_is_32bit(const char *name)
{
	const char *dir = getenv("PATH"), *end;
	char path[4096];

	if (strchr(name, '/') || !dir)
		return pfs_program_is_32bit(name);
	for (;; dir = end + 1) {
		end = strchrnul(dir, ':');
		snprintf(path, sizeof(path), "%.*s/%s", end == dir ? 1 : (int)(end - dir), end == dir ? "." : dir,
			 name);
		if (!access(path, X_OK))
			return pfs_program_is_32bit(path);
		if (!*end)
			return false;
	}
}
