/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/module.h"

#include "base/number.h"
#include "base/write_all.h"
#include "os/owner.h"
#include "os/process.h"
#include "os/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* "pfscope_42_7_0 204800 2 - Live 0xffffffffc0a3f000 (OE)" */
bool pfs_module_loaded(const char *name)
{
	FILE *f = fopen("/proc/modules", "re");
	size_t len = strlen(name);
	char line[1024];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, name, len) && line[len] == ' ';
	if (f)
		fclose(f);
	return found;
}

int pfs_module_remove(const char *name, struct pfs_err *err)
{
	const char *const argv[] = { "staprun", "-C", "never", "-d", name, NULL };
	const struct pfs_program program = { .argv = argv };
	struct pfs_program_result result = { 0 };
	int ret = pfs_program_run(&program, &result, err);
	const char *text = pfs_output_text(&result.error);

	if (!ret && pfs_module_loaded(name))
		ret = pfs_err_set(err, -EBUSY, "module %s cannot be removed: %.*s", name, (int)strcspn(text, "\n"),
				  text);
	pfs_program_result_free(&result);
	return ret;
}

/* Is one of the arguments the module, as a name or as the path of a file? */
static bool runs_module(const char *words, size_t len, const char *name)
{
	size_t name_len = strlen(name);

	for (const char *p = words; p < words + len; p += strlen(p) + 1) {
		const char *slash = strrchr(p, '/'), *base = slash ? slash + 1 : p;

		if (!strncmp(base, name, name_len) && (!base[name_len] || !strcmp(base + name_len, ".ko")))
			return true;
	}
	return false;
}

static bool is_reader(pid_t pid, const char *name)
{
	char comm[32], path[64], words[4096 + 1];
	int len;

	if (!pfs_process_read(pid, "comm", comm, sizeof(comm)) ||
	    (strcmp(comm, "stapio\n") && strcmp(comm, "staprun\n")))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	len = pfs_read_file(path, words, sizeof(words));
	return len > 0 && runs_module(words, len, name);
}

pid_t pfs_module_reader(const char *name)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t pid = 0;

	while (dir && !pid && (entry = readdir(dir))) {
		pid = pfs_pid_parse(entry->d_name);
		if (pid && !is_reader(pid, name))
			pid = 0;
	}
	if (dir)
		closedir(dir);
	return pid;
}

/* A reader that gets SIGTERM unloads its module; one that was killed keeps it in use for a moment. */
int pfs_module_end(const char *name, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 100000000 };
	pid_t reader = pfs_module_reader(name);

	if (reader)
		kill(reader, SIGTERM);
	for (int i = 0; i < 50 && pfs_module_loaded(name); i++) {
		if (i)
			nanosleep(&moment, NULL);
		if (!pfs_module_reader(name))
			pfs_module_remove(name, NULL);
	}
	return pfs_module_loaded(name) ? pfs_module_remove(name, err) : 0;
}

/* A user who may load modules but not open tracefs has no lock: then a module that nobody reads is left. */
static bool is_orphaned(const char *name, const char *users)
{
	uint64_t owner = pfs_owner_of_name(name);
	enum pfs_owner_state state = owner ? pfs_owner_state(owner) : PFS_OWNER_LIVES;

	return state == PFS_OWNER_DEAD || (state == PFS_OWNER_UNKNOWN && !strcmp(users, "0"));
}

/* A copy that was to be loaded: NAME/NAME.ko. In a folder that everybody may write, so only what is the caller's own. */
static void remove_copy(int temp, const char *name)
{
	int dir = openat(temp, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char file[NAME_MAX + 8];
	struct stat st;

	if (dir < 0)
		return;
	snprintf(file, sizeof(file), "%s.ko", name);
	if (!fstat(dir, &st) && st.st_uid == geteuid()) {
		unlinkat(dir, file, 0);
		unlinkat(temp, name, AT_REMOVEDIR);
	}
	close(dir);
}

static void remove_copies(void)
{
	const char *path = getenv("TMPDIR");
	DIR *temp = opendir(path && *path ? path : "/tmp");
	struct dirent *entry;
	uint64_t owner;

	while (temp && (entry = readdir(temp))) {
		owner = pfs_owner_of_name(entry->d_name);
		if (owner && pfs_owner_state(owner) == PFS_OWNER_DEAD)
			remove_copy(dirfd(temp), entry->d_name);
	}
	if (temp)
		closedir(temp);
}

int pfs_leftovers_remove(struct pfs_err *err)
{
	char line[1024], name[64], users[16];
	int ret = 0, nr = 0;
	FILE *f;

	remove_copies();
	f = fopen("/proc/modules", "re");
	if (!f) /* a kernel without modules */
		return errno == ENOENT ? 0 : pfs_err_set(err, -errno, "/proc/modules: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %*s %15s", name, users) != 2 || !is_orphaned(name, users))
			continue;
		if (pfs_module_end(name, err))
			ret = -EBUSY;
		else
			nr++;
	}
	fclose(f);
	return ret ? ret : nr;
}
