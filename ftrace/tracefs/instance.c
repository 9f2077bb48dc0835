/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private tracefs instance, through libtracefs. See instance.h.
 */
#include "tracefs/instance.h"

#include "os/process.h"
#include "tracefs/keeper.h"

#include <tracefs.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file that was opened while that was allowed. */
struct held {
	struct held *next;
	int fd;
	char file[];
};

struct pfs_instance {
	struct tracefs_instance *tracefs; /* NULL: not made yet */
	char dir[PATH_MAX];
	int keeper_fd;
	struct held *held;
	pid_t clock_pid; /* sets the clock; 0: nobody does any more */
};

const char *pfs_tracing_dir(struct pfs_err *err)
{
	const char *path = NULL;

	/* Asked not to mount: where and whether to is the user's to say. */
	if (tracefs_tracing_dir_is_mounted(false, &path) < 1 || !path) {
		pfs_err_set(err, -ENOENT,
			    "tracefs is not mounted: as root, run "
			    "`mount -t tracefs nodev /sys/kernel/tracing`");
		errno = ENOENT;
		return NULL;
	}
	if (access(path, R_OK | X_OK)) {
		pfs_err_set(err, -errno, "%s: %s: recording needs root (try sudo)", path, strerror(errno));
		return NULL;
	}
	return path;
}

/*
 * Takes the kernel a grace period, in which there is enough to be done beside. By a process: a thread would take
 * the C library's signals, which the command shall have as they were.
 */
static int set_clock(struct pfs_instance *instance, struct pfs_err *err)
{
	struct pfs_err ignored;
	int ret;

	instance->clock_pid = fork();
	if (instance->clock_pid > 0)
		return 0;
	ret = pfs_instance_write(instance, "trace_clock", "mono", instance->clock_pid ? err : &ignored);
	if (!instance->clock_pid)
		_exit(-ret);
	return ret;
}

static int setup(struct pfs_instance *instance, unsigned int buffer_kb, struct pfs_err *err)
{
	char size[32];
	int ret;

	snprintf(size, sizeof(size), "%u", buffer_kb);
	ret = pfs_instance_write(instance, "tracing_on", "0", err);
	/*
	 * Before anything else: the first use of any event makes the kernel expand the buffer at the top level
	 * to the size that it promises. Up to Linux 6.5 a resize in an instance would make it forget that.
	 */
	if (!ret)
		ret = pfs_instance_write(instance, "events/enable", "0", err);
	if (!ret)
		ret = pfs_instance_write(instance, "buffer_size_kb", size, err);
	/* Readers are woken at a quarter, so that they may come late and lose nothing. */
	if (!ret)
		pfs_instance_write(instance, "buffer_percent", "25", NULL); /* not there before 5.0 */
	/* New threads and children of a traced thread are traced from their first moment. */
	if (!ret)
		ret = pfs_instance_write(instance, "options/event-fork", "1", err);
	return ret ? ret : set_clock(instance, err);
}

int pfs_instance_settle(struct pfs_instance *instance, struct pfs_err *err)
{
	int status = 0;

	if (instance->clock_pid <= 0)
		return 0;
	while (waitpid(instance->clock_pid, &status, 0) < 0 && errno == EINTR)
		;
	instance->clock_pid = 0;
	if (!status)
		return 0;
	return pfs_err_set(err, -EIO, "%s/trace_clock: cannot write \"mono\": %s", instance->dir,
			   WIFEXITED(status) ? strerror(WEXITSTATUS(status)) : "killed");
}

/* Where the next instance of this process will be: so that its keeper can be there before it. */
static int plan(char *dir, size_t size, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);

	if (!tracing)
		return -errno;
	for (int i = 0; i < 100; i++) { /* several in one process: numbered */
		snprintf(dir, size, "%s/instances/" PFS_INSTANCE_PREFIX "%d-%" PRIu64 "-%d", tracing, getpid(),
			 pfs_process_start(getpid()), i);
		if (access(dir, F_OK))
			return 0;
	}
	return pfs_err_set(err, -EEXIST, "too many tracefs instances of this process");
}

static int make(struct pfs_instance *instance, struct pfs_err *err)
{
	int code;

	errno = 0;
	instance->tracefs = tracefs_instance_create(strrchr(instance->dir, '/') + 1);
	if (instance->tracefs)
		return 0;
	code = errno ? errno : EIO;
	return pfs_err_set(err, -code, "cannot make a tracefs instance: %s%s", strerror(code),
			   code == EACCES || code == EPERM ? ": recording needs root (try sudo)" : "");
}

struct pfs_instance *pfs_instance_create(unsigned int buffer_kb, struct pfs_err *err)
{
	struct pfs_instance *instance = calloc(1, sizeof(*instance));
	int ret;

	if (!instance) {
		pfs_err_set(err, -ENOMEM, "no memory for a tracefs instance");
		return NULL;
	}
	instance->keeper_fd = -1;
	ret = plan(instance->dir, sizeof(instance->dir), err);
	if (!ret) {
		instance->keeper_fd = pfs_keeper_start(instance->dir, err);
		ret = instance->keeper_fd < 0 ? instance->keeper_fd : make(instance, err);
	}
	if (!ret)
		ret = setup(instance, buffer_kb, err);
	if (!ret)
		return instance;
	pfs_instance_destroy(instance, NULL);
	errno = -ret;
	return NULL;
}

static void let_go(struct pfs_instance *instance)
{
	struct held *held;

	while ((held = instance->held)) {
		instance->held = held->next;
		close(held->fd);
		free(held);
	}
}

int pfs_instance_destroy(struct pfs_instance *instance, struct pfs_err *err)
{
	int ret = 0;

	if (!instance)
		return 0;
	/* Should nobody be left who may remove it, it shall at least be still. */
	if (instance->tracefs && !pfs_keeper_lives(instance->keeper_fd)) {
		pfs_instance_write(instance, "tracing_on", "0", NULL);
		pfs_instance_write(instance, "events/enable", "0", NULL);
	}
	pfs_instance_settle(instance, NULL);
	let_go(instance);
	if (instance->tracefs) {
		tracefs_instance_free(instance->tracefs);
		ret = pfs_keeper_remove(instance->keeper_fd, instance->dir, err);
	} else if (instance->keeper_fd >= 0) {
		close(instance->keeper_fd);
	}
	free(instance);
	return ret;
}

const char *pfs_instance_dir(const struct pfs_instance *instance)
{
	return instance->dir;
}

bool pfs_instance_has_event(const struct pfs_instance *instance, const char *system, const char *name)
{
	char path[PATH_MAX + 256];

	snprintf(path, sizeof(path), "%s/events/%s/%s/enable", instance->dir, system, name);
	return !access(path, F_OK);
}

static struct held *find_held(const struct pfs_instance *instance, const char *file)
{
	struct held *held = instance->held;

	while (held && strcmp(held->file, file))
		held = held->next;
	return held;
}

static int open_file(const struct pfs_instance *instance, const char *file, int flags)
{
	char path[PATH_MAX + 512];

	snprintf(path, sizeof(path), "%s/%s", instance->dir, file);
	return open(path, flags | O_CLOEXEC);
}

int pfs_instance_hold(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err)
{
	struct held *held = malloc(sizeof(*held) + strlen(file) + 1);

	if (!held)
		return pfs_err_set(err, -ENOMEM, "no memory for a descriptor");
	strcpy(held->file, file);
	held->fd = open_file(instance, file, flags);
	if (held->fd < 0) {
		free(held);
		return pfs_err_set(err, -errno, "%s/%s: %s", instance->dir, file, strerror(errno));
	}
	held->next = instance->held;
	instance->held = held;
	return 0;
}

int pfs_instance_open(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err)
{
	const struct held *held = find_held(instance, file);
	int fd;

	if (held) {
		fd = fcntl(held->fd, F_DUPFD_CLOEXEC, 0);
		if (fd >= 0 && (flags & O_ACCMODE) == O_RDONLY)
			lseek(fd, 0, SEEK_SET);
	} else {
		fd = open_file(instance, file, flags);
	}
	return fd < 0 ? pfs_err_set(err, -errno, "%s/%s: %s", instance->dir, file, strerror(errno)) : fd;
}

int pfs_instance_write(struct pfs_instance *instance, const char *file, const char *text, struct pfs_err *err)
{
	int fd = pfs_instance_open(instance, file, O_WRONLY, err), ret = 0;

	if (fd < 0)
		return fd;
	if (write(fd, text, strlen(text)) < 0)
		ret = pfs_err_set(err, -errno, "%s/%s: cannot write \"%s\": %s", instance->dir, file, text,
				  strerror(errno));
	close(fd);
	return ret;
}

int pfs_instance_enable(struct pfs_instance *instance, const char *system, const char *name, const char *filter,
			struct pfs_err *err)
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

char *pfs_tids_text(const pid_t *tids, unsigned int nr)
{
	char *text = malloc(nr * 12 + 1), *to = text;

	if (text)
		*text = '\0';
	for (unsigned int i = 0; text && i < nr; i++)
		to += sprintf(to, "%d ", tids[i]);
	return text;
}

int pfs_instance_add_tids(struct pfs_instance *instance, const pid_t *tids, unsigned int nr, struct pfs_err *err)
{
	char *text = pfs_tids_text(tids, nr);
	int ret;

	if (!text)
		return pfs_err_set(err, -ENOMEM, "no memory for a list of threads");
	ret = nr ? pfs_instance_write(instance, "set_event_pid", text, err) : 0;
	free(text);
	return ret;
}

int pfs_instance_open_cpu(struct pfs_instance *instance, int cpu, const char *file, int flags, struct pfs_err *err)
{
	char path[128];

	snprintf(path, sizeof(path), "per_cpu/cpu%d/%s", cpu, file);
	return pfs_instance_open(instance, path, flags, err);
}

int pfs_instance_hold_cpu(struct pfs_instance *instance, int cpu, const char *file, int flags, struct pfs_err *err)
{
	char path[128];

	snprintf(path, sizeof(path), "per_cpu/cpu%d/%s", cpu, file);
	return pfs_instance_hold(instance, path, flags, err);
}
