/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/process.h"

#include "base/number.h"
#include "base/escape.h"
#include "base/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAT_MAX   1024
#define STATUS_MAX 4096
#define ARGS_MAX   4096

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

int pfs_process_refused(pid_t pid, struct pfs_err *err)
{
	char status[STATUS_MAX], self[PATH_MAX] = "";
	const struct passwd *owner = NULL;
	uint64_t uid;

	if (pfs_process_read(pid, "status", status, sizeof(status)) && pfs_number_behind(status, "\nUid:", &uid)) {
		if (uid == getuid())
			return pfs_err_set(err, -EACCES, "process %d: only root may record it: try sudo", pid);
		owner = getpwuid(uid);
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		strcpy(self, "pfscope");
	return pfs_err_set(err, -EACCES,
			   "process %d: is %s's: try sudo, or as root let any account record any process: "
			   "`setcap cap_perfmon,cap_sys_ptrace=ep %s'",
			   pid, owner ? owner->pw_name : "another account", self);
}

char *pfs_process_args(pid_t pid)
{
	char words[ARGS_MAX + 1], *text, *cut = NULL;
	int fd = pfs_process_open(pid, "cmdline");
	ssize_t len = fd < 0 ? -1 : pfs_read_all_at(fd, words, sizeof(words), 0);

	pfs_close(fd);
	if (len <= 0)
		return NULL;
	text = pfs_quote_words(words, len > ARGS_MAX ? ARGS_MAX : len);
	if (len <= ARGS_MAX || !text)
		return text;
	if (asprintf(&cut, "%s...", text) < 0)
		cut = NULL;
	free(text);
	return cut;
}

int pfs_proc_check(struct pfs_err *err)
{
	if (!access("/proc/self/mounts", R_OK))
		return 0;
	return pfs_err_set(err, -errno,
			   "/proc is not mounted, or cannot be read: as root, run `mount -t proc proc /proc`");
}

/* PROC_PID_INIT_INO of linux/proc_ns.h: the same number in each kernel. */
bool pfs_process_numbers_are_global(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == 0xEFFFFFFC;
}

/* The text of /proc/PID/FILE, which is a stat; NULL: no such process. */
static const char *read_stat_of(pid_t pid, const char *file, char buf[STAT_MAX])
{
	return pfs_process_read(pid, file, buf, STAT_MAX) ? buf : NULL;
}

static const char *read_stat(pid_t pid, char buf[STAT_MAX])
{
	return read_stat_of(pid, "stat", buf);
}

/* "4211 (a name) S 1 4211 ...": the space before a field, from the third on; NULL: there is none. */
static const char *field_of(const char *stat, int nr)
{
	const char *p = stat ? strrchr(stat, ')') : NULL; /* the name before it may hold anything */

	for (int field = 2; p && field < nr; field++)
		p = strchr(p + 1, ' ');
	return p;
}

static char state_of(const char *stat)
{
	const char *p = field_of(stat, 3);

	return p && p[1] ? p[1] : 'X';
}

uint64_t pfs_stat_field(const char *stat, int nr)
{
	const char *p = field_of(stat, nr);
	uint64_t value = 0;

	if (p)
		pfs_dec(p + 1, &value);
	return value;
}

char pfs_process_state(pid_t pid)
{
	char buf[STAT_MAX];

	return state_of(read_stat(pid, buf));
}

pid_t pfs_process_of(pid_t tid)
{
	char status[STATUS_MAX];
	uint64_t pid;

	return pfs_process_read(tid, "status", status, sizeof(status)) && pfs_number_behind(status, "\nTgid:", &pid)
		       ? pid
		       : 0;
}

uint64_t pfs_process_user_ns(pid_t pid)
{
	char buf[STAT_MAX];

	return pfs_stat_field(read_stat(pid, buf), 14) * (1000000000 / sysconf(_SC_CLK_TCK));
}

bool pfs_process_faults(pid_t pid, uint64_t *minor, uint64_t *major)
{
	char buf[STAT_MAX];
	const char *stat = read_stat(pid, buf);

	*minor = pfs_stat_field(stat, 10);
	*major = pfs_stat_field(stat, 12);
	return stat;
}

char pfs_thread_faults(pid_t pid, pid_t tid, uint64_t *minor, uint64_t *major)
{
	char buf[STAT_MAX], file[32];
	const char *stat;

	snprintf(file, sizeof(file), "task/%d/stat", tid);
	stat = read_stat_of(pid, file, buf);
	*minor = pfs_stat_field(stat, 10);
	*major = pfs_stat_field(stat, 12);
	return state_of(stat);
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

bool pfs_command_path(const char *name, char *path, size_t size)
{
	const char *dir = getenv("PATH"), *end;

	snprintf(path, size, "%s", name);
	if (strchr(name, '/') || !dir)
		return true;
	for (;; dir = end + 1) {
		end = strchrnul(dir, ':');
		snprintf(path, size, "%.*s/%s", end == dir ? 1 : (int)(end - dir), end == dir ? "." : dir, name);
		if (!access(path, X_OK))
			return true;
		if (!*end)
			return false;
	}
}
