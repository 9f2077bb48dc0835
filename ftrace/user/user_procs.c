/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a user, by /proc/PID/status. See watcher.h.
 */
#include "user/watcher.h"

#include "base/array.h"
#include "base/number.h"
#include "os/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELPERS "pfscope-" /* how the names of pfscope's helpers begin */

struct status {
	char name[32];
	pid_t parent;
	uid_t euid;
	bool has_memory;
};

/*
 * Name:	sh
 * PPid:	4711
 * Uid:	1000	1000	1000	1000		real, effective, ...
 * VmSize:	    2576 kB		neither of kernel threads nor of what has ended
 */
static bool read_status(pid_t pid, struct status *st)
{
	char text[4096];
	const char *at;
	uint64_t nr;

	if (!pfs_process_read(pid, "status", text, sizeof(text)))
		return false;
	*st = (struct status){ .euid = -1 };
	sscanf(text, "Name: %31[^\n]", st->name);
	if (pfs_number_behind(text, "\nPPid:", &nr))
		st->parent = nr;
	at = strstr(text, "\nUid:\t");
	at = at ? strchr(at + 6, '\t') : NULL;
	if (at++ && pfs_take_dec(&at, UINT32_MAX, &nr))
		st->euid = nr;
	st->has_memory = strstr(text, "\nVmSize:");
	return true;
}

/* A helper is the same program, under a name of its own. */
static bool is_helper(pid_t pid, const struct status *st)
{
	struct stat theirs, own;
	char path[64];

	if (strncmp(st->name, HELPERS, strlen(HELPERS)))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return !stat(path, &theirs) && !stat("/proc/self/exe", &own) && theirs.st_dev == own.st_dev &&
	       theirs.st_ino == own.st_ino;
}

static bool is_program(pid_t own, pid_t pid, const struct status *st)
{
	return st->has_memory && pid != own && st->parent != own && !is_helper(pid, st);
}

bool pfs_is_program(pid_t own, pid_t pid)
{
	struct status st;

	return read_status(pid, &st) && is_program(own, pid, &st);
}

bool pfs_has_ended(pid_t pid)
{
	struct status st;

	return !read_status(pid, &st) || !st.has_memory;
}

bool pfs_user_has(uid_t uid, pid_t own, pid_t pid)
{
	struct status st;

	return read_status(pid, &st) && st.euid == uid && is_program(own, pid, &st);
}

pid_t *pfs_user_list(uid_t uid, pid_t own, unsigned int *nr)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t *pids = NULL;
	size_t max = 0, used = 0;
	bool room = true;

	while (dir && (room = pfs_array_reserve(pids, used, max, 1)) && (entry = readdir(dir))) {
		pid_t pid = pfs_pid_parse(entry->d_name);

		if (pid && pfs_user_has(uid, own, pid))
			pids[used++] = pid;
	}
	if (dir)
		closedir(dir);
	if (!dir || !room) {
		free(pids);
		errno = dir ? ENOMEM : errno;
		return NULL;
	}
	*nr = used;
	return pids;
}
