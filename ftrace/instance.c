/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private tracefs instance, through libtracefs. See instance.h.
 */
#include "instance.h"

#include "dynevents.h"
#include "process.h"

#include <tracefs.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "pfscope-"

struct pfs_instance {
	struct tracefs_instance *tracefs;
	char *dir;
};

const char *pfs_tracing_dir(struct pfs_err *err)
{
	const char *path = NULL;

	/* Asked not to mount: where and whether to is the user's to say. */
	if (tracefs_tracing_dir_is_mounted(false, &path) < 1 || !path) {
		pfs_err_set(err, -ENOENT, "tracefs is not mounted: as root, run "
			    "`mount -t tracefs nodev /sys/kernel/tracing`");
		errno = ENOENT;
		return NULL;
	}
	if (access(path, R_OK | X_OK)) {
		pfs_err_set(err, -errno, "%s: %s: recording needs root (try sudo)", path,
			    strerror(errno));
		return NULL;
	}
	return path;
}

static int setup(struct pfs_instance *instance, unsigned int buffer_kb, struct pfs_err *err)
{
	char size[32];
	int ret;

	snprintf(size, sizeof(size), "%u", buffer_kb);
	ret = pfs_instance_write(instance, "tracing_on", "0", err);
	if (!ret)
		ret = pfs_instance_write(instance, "trace_clock", "mono", err);
	/*
	 * Before anything else: the first use of any event makes the kernel expand the buffer at the top level
	 * to the size that it promises. Up to Linux 6.5 a resize in an instance would make it forget that.
	 */
	if (!ret)
		ret = pfs_instance_write(instance, "events/enable", "0", err);
	if (!ret)
		ret = pfs_instance_write(instance, "buffer_size_kb", size, err);
	/* New threads and children of a traced thread are traced from their first moment. */
	if (!ret)
		ret = pfs_instance_write(instance, "options/event-fork", "1", err);
	return ret;
}

int pfs_instance_plan(char *dir, size_t size, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);

	if (!tracing)
		return -errno;
	for (int i = 0; i < 100; i++) {	/* several in one process: numbered */
		snprintf(dir, size, "%s/instances/" PREFIX "%d-%" PRIu64 "-%d", tracing, getpid(),
			 pfs_process_start(getpid()), i);
		if (access(dir, F_OK))
			return 0;
	}
	return pfs_err_set(err, -EEXIST, "too many tracefs instances of this process");
}

struct pfs_instance *pfs_instance_create(const char *dir, unsigned int buffer_kb,
					 struct pfs_err *err)
{
	struct pfs_instance *instance = calloc(1, sizeof(*instance));

	if (!instance)
		goto no_memory;
	errno = 0;
	instance->tracefs = tracefs_instance_create(strrchr(dir, '/') + 1);
	if (!instance->tracefs) {
		int code = errno ? errno : EIO;

		pfs_err_set(err, -code, "cannot make a tracefs instance: %s%s", strerror(code),
			    code == EACCES || code == EPERM ? ": recording needs root (try sudo)" :
			    "");
		free(instance);
		errno = code;
		return NULL;
	}
	instance->dir = tracefs_instance_get_dir(instance->tracefs);
	if (!instance->dir)
		goto no_memory;
	if (setup(instance, buffer_kb, err)) {
		pfs_instance_destroy(instance, NULL);
		return NULL;
	}
	return instance;
no_memory:
	pfs_err_set(err, -ENOMEM, "no memory for a tracefs instance");
	pfs_instance_destroy(instance, NULL);
	errno = ENOMEM;
	return NULL;
}

/* Instances go away only once the last reader has let go: a moment later, if it was just killed. */
static int remove_dir(const char *dir, unsigned int patience_ms)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (unsigned int waited_ms = 0;; waited_ms += 10) {
		if (!rmdir(dir) || errno == ENOENT)
			return 0;
		if (errno != EBUSY || waited_ms >= patience_ms)
			return -errno;
		nanosleep(&moment, NULL);
	}
}

int pfs_instance_destroy(struct pfs_instance *instance, struct pfs_err *err)
{
	int ret = 0;

	if (!instance)
		return 0;
	if (instance->tracefs) {
		tracefs_instance_file_write(instance->tracefs, "tracing_on", "0");
		tracefs_instance_file_write(instance->tracefs, "events/enable", "0");
		ret = instance->dir ? remove_dir(instance->dir, 2000) :
			tracefs_instance_destroy(instance->tracefs);
		if (ret)
			pfs_err_set(err, ret, "%s: cannot remove the tracefs instance: %s; "
				    "`pfscope clean` tries again", instance->dir, strerror(-ret));
		tracefs_instance_free(instance->tracefs);
	}
	if (instance->dir)
		tracefs_put_tracing_file(instance->dir);
	free(instance);
	return ret;
}

const char *pfs_instance_dir(const struct pfs_instance *instance)
{
	return instance->dir;
}

bool pfs_instance_has_event(const struct pfs_instance *instance, const char *system,
			    const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/events/%s/%s/enable", instance->dir, system, name);
	return !access(path, F_OK);
}

int pfs_instance_write(struct pfs_instance *instance, const char *file, const char *text,
		       struct pfs_err *err)
{
	char path[PATH_MAX];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "%s/%s", instance->dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ret = pfs_err_set(err, -errno, "%s: cannot write \"%s\": %s", path, text,
				  strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

int pfs_instance_enable(struct pfs_instance *instance, const char *system, const char *name,
			const char *filter, struct pfs_err *err)
{
	char file[256];
	int ret = 0;

	if (filter) {
		snprintf(file, sizeof(file), "events/%s/%s/filter", system, name);
		ret = pfs_instance_write(instance, file, filter, err);
	}
	if (ret)
		return ret;
	snprintf(file, sizeof(file), "events/%s/%s/enable", system, name);
	return pfs_instance_write(instance, file, "1", err);
}

int pfs_instance_add_tid(struct pfs_instance *instance, pid_t tid, struct pfs_err *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", tid);
	return pfs_instance_write(instance, "set_event_pid", text, err);
}

int pfs_instance_open_cpu(struct pfs_instance *instance, int cpu, const char *file, int flags,
			  struct pfs_err *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/%s", instance->dir, cpu, file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? pfs_err_set(err, -errno, "%s: %s", path, strerror(errno)) : fd;
}

/* The same of the dynamic events made for an instance. */
static bool group_orphaned(const char *group)
{
	uint64_t start;
	int pid;

	return sscanf(group, "pfscope_%d_%" SCNu64 "_", &pid, &start) == 2 && pfs_process_start(pid) != start;
}

/* Does an instance of that name belong to a pfscope that is gone? */
static bool orphaned(const char *name)
{
	uint64_t start;
	int pid, at = 0;

	if (sscanf(name, PREFIX "%d-%" SCNu64 "-%*d%n", &pid, &start, &at) != 2 || !at ||
	    name[at])
		return false;
	return pfs_process_start(pid) != start;
}

/*
 * Nothing in it is switched off first: one that is read is no orphan after all, but belongs to a pfscope
 * whose number means another process here (a container with process numbers of its own).
 */
static int clean_one(const char *instances, const char *name, unsigned int patience_ms,
		     struct pfs_err *err)
{
	char dir[PATH_MAX + NAME_MAX + 2];
	int ret;

	snprintf(dir, sizeof(dir), "%s/%s", instances, name);
	ret = remove_dir(dir, patience_ms);
	if (ret)
		pfs_err_set(err, ret, "%s: cannot be removed: %s%s", dir, strerror(-ret),
			    ret == -EBUSY ? ": somebody reads it" : "");
	return ret;
}

int pfs_instance_clean(unsigned int patience_ms, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);
	char instances[PATH_MAX];
	struct dirent *entry;
	int ret = 0, nr = 0;
	DIR *dir;

	if (!tracing)
		return -errno;
	snprintf(instances, sizeof(instances), "%s/instances", tracing);
	dir = opendir(instances);
	if (!dir)
		return pfs_err_set(err, -errno, "%s: %s", instances, strerror(errno));
	while ((entry = readdir(dir))) {
		if (!orphaned(entry->d_name))
			continue;
		if (clean_one(instances, entry->d_name, patience_ms, err))
			ret = -EBUSY;
		else
			nr++;
	}
	closedir(dir);
	if (pfs_dynevents_clean(tracing, group_orphaned, err) < 0 && !ret)
		ret = -EIO;
	return ret ? ret : nr;
}
