/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/module.h"

#include "base/write_all.h"
#include "os/process.h"
#include "os/program.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "pfscope_"

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

void pfs_module_own_name(char *name, size_t size)
{
	for (int i = 0; i < 100; i++) { /* several in one process: numbered */
		snprintf(name, size, PREFIX "%d_%" PRIu64 "_%d", getpid(), pfs_process_start(getpid()), i);
		if (!pfs_module_loaded(name))
			break;
	}
}

bool pfs_module_orphaned(const char *name)
{
	uint64_t start;
	int pid, at = 0;

	if (sscanf(name, PREFIX "%d_%" SCNu64 "_%*d%n", &pid, &start, &at) != 2 || !at || name[at])
		return false;
	return pfs_process_start(pid) != start;
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

	while (dir && !pid && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) && is_reader(atoi(entry->d_name), name))
			pid = atoi(entry->d_name);
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

int pfs_leftovers_remove(struct pfs_err *err)
{
	FILE *f = fopen("/proc/modules", "re");
	char line[1024], name[64];
	int ret = 0, nr = 0;

	if (!f) /* a kernel without modules */
		return errno == ENOENT ? 0 : pfs_err_set(err, -errno, "/proc/modules: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s", name) != 1 || !pfs_module_orphaned(name))
			continue;
		if (pfs_module_end(name, err))
			ret = -EBUSY;
		else
			nr++;
	}
	fclose(f);
	return ret ? ret : nr;
}
