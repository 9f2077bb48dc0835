/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private tracefs instance, see instance.h, through libtracefs.
 *
 * Events are enabled by tracefs_instance_file_append(), 4 system calls each: tracefs_event_enable() looks through all
 * systems and events of the kernel with regular expressions, 230 system calls for one event.
 */
#include "tracefs/instance.h"

#include "base/array.h"
#include "os/owner.h"
#include "os/program.h"
#include "tracefs/keeper.h"

#include <tracefs.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file that was opened while that was allowed. */
struct held {
	struct held *next;
	int fd;
	char file[];
};

/* What came of the set-up, shared with the child that does it. */
struct result {
	int ret;
	struct pfs_err err;
};

struct pfs_instance {
	char dir[PATH_MAX];
	struct tracefs_instance *tracefs; /* NULL before pfs_instance_settle(): for libtracefs the top level */
	int keeper_fd;
	unsigned int pending; /* answers of the keeper */
	struct held *held;
	pid_t set_up_pid; /* 0: the set-up is over */
	struct result *result;
};

/* The part of the set-up that waits for grace periods of the kernel. */
static int set_up(const char *dir, unsigned int buffer_kb, struct pfs_err *err)
{
	struct tracefs_instance *instance;
	char size[32];
	/*
	 * events/enable before the size: the first use of any event makes the kernel expand the buffer at the top level
	 * to the size that it promises. Up to Linux 6.5 a resize in an instance would make it forget that.
	 * Readers are woken at a quarter of the buffer (not before 5.0), so that they may come late and lose nothing.
	 * event-fork: new threads and children of a traced thread are traced from their first moment.
	 */
	const char *const writes[][2] = {
		{ "tracing_on", "0" },	    { "events/enable", "0" },	   { "buffer_size_kb", size },
		{ "buffer_percent", "25" }, { "options/event-fork", "1" }, { "trace_clock", "mono" },
	};
	int ret = 0;

	snprintf(size, sizeof(size), "%u", buffer_kb);
	errno = 0;
	instance = tracefs_instance_create(strrchr(dir, '/') + 1);
	if (!instance) {
		ret = errno ? -errno : -EIO;
		return pfs_err_set(err, ret, "cannot make a tracefs instance: %s%s", strerror(-ret),
				   ret == -EACCES || ret == -EPERM ? ": recording needs root (try sudo)" : "");
	}
	for (size_t i = 0; !ret && i < sizeof(writes) / sizeof(writes[0]); i++)
		if (tracefs_instance_file_write(instance, writes[i][0], writes[i][1]) < 0 &&
		    strcmp(writes[i][0], "buffer_percent"))
			ret = pfs_err_set(err, errno ? -errno : -EIO, "%s/%s: cannot write \"%s\": %s", dir,
					  writes[i][0], writes[i][1], strerror(errno));
	tracefs_instance_free(instance);
	return ret;
}

/*
 * Sets up in a child, while the caller does what needs no instance: the kernel takes a grace period for the clock, and
 * makes an instance only after it has removed another one. Not in a thread: a thread would take signals that the
 * command shall get as they were.
 */
static int begin(struct pfs_instance *instance, unsigned int buffer_kb, struct pfs_err *err)
{
	instance->result =
		mmap(NULL, sizeof(*instance->result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (instance->result == MAP_FAILED) {
		instance->result = NULL;
		return pfs_err_set(err, -ENOMEM, "no memory for a tracefs instance");
	}
	instance->result->ret = pfs_err_set(&instance->result->err, -EIO, "%s: the set-up was killed", instance->dir);
	instance->set_up_pid = fork();
	if (instance->set_up_pid > 0)
		return 0;
	instance->result->ret = set_up(instance->dir, buffer_kb, &instance->result->err);
	if (!instance->set_up_pid)
		_exit(0);
	instance->set_up_pid = 0;
	return 0;
}

int pfs_instance_settle(struct pfs_instance *instance, struct pfs_err *err)
{
	if (instance->set_up_pid > 0)
		pfs_program_wait(instance->set_up_pid);
	instance->set_up_pid = 0;
	if (instance->result && instance->result->ret)
		return pfs_err_set(err, instance->result->ret, "%s", instance->result->err.msg);
	if (!instance->tracefs)
		instance->tracefs = tracefs_instance_alloc(NULL, strrchr(instance->dir, '/') + 1);
	return instance->tracefs ? 0 : pfs_err_set(err, -ENOMEM, "no memory for a tracefs instance");
}

/* Where the instance of that owner will be: so that its keeper can be there before it. */
static int plan(uint64_t owner, char *dir, size_t size, struct pfs_err *err)
{
	const char *tracing = pfs_tracing_dir(err);
	char name[PFS_OWNER_NAME_MAX];

	if (!tracing)
		return -errno;
	if (access(tracing, W_OK) && errno == EROFS)
		return pfs_err_set(err, -EROFS, "tracefs is mounted read-only: as root, run `mount -o remount,rw %s`",
				   tracing);
	pfs_owner_name(owner, '-', name);
	snprintf(dir, size, "%s/instances/%s", tracing, name);
	return 0;
}

struct pfs_instance *pfs_instance_create(uint64_t owner, unsigned int buffer_kb, void (*leftovers)(void),
					 struct pfs_err *err)
{
	struct pfs_instance *instance = calloc(1, sizeof(*instance));
	int ret;

	if (!instance) {
		pfs_err_set(err, -ENOMEM, "no memory for a tracefs instance");
		return NULL;
	}
	instance->keeper_fd = -1;
	ret = plan(owner, instance->dir, sizeof(instance->dir), err);
	if (!ret)
		ret = instance->keeper_fd = pfs_keeper_start(instance->dir, leftovers, err);
	if (ret >= 0)
		ret = begin(instance, buffer_kb, err);
	if (!ret)
		return instance;
	pfs_instance_destroy(instance, NULL);
	errno = -ret;
	return NULL;
}

void pfs_instance_clean_others(struct pfs_instance *instance)
{
	instance->pending += pfs_keeper_ask(instance->keeper_fd, PFS_KEEPER_CLEAN);
}

void pfs_instance_silence(struct pfs_instance *instance)
{
	instance->pending += pfs_keeper_ask(instance->keeper_fd, PFS_KEEPER_SILENCE);
}

static void close_held(struct pfs_instance *instance)
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
	/* If nobody is left who may remove it, it is at least silent. */
	if (instance->result && !pfs_instance_settle(instance, NULL) && !pfs_keeper_lives(instance->keeper_fd)) {
		pfs_instance_write(instance, "tracing_on", "0", NULL);
		pfs_instance_write(instance, "events/enable", "0", NULL);
	}
	close_held(instance);
	if (instance->keeper_fd >= 0)
		ret = pfs_keeper_remove(instance->keeper_fd, instance->pending, instance->dir, err);
	if (instance->result)
		munmap(instance->result, sizeof(*instance->result));
	tracefs_instance_free(instance->tracefs);
	free(instance);
	return ret;
}

const char *pfs_instance_dir(const struct pfs_instance *instance)
{
	return instance->dir;
}

bool pfs_instance_has_event(const struct pfs_instance *instance, const char *system, const char *name)
{
	return tracefs_event_file_exists(instance->tracefs, system, name, "enable");
}

static struct held *find_held(const struct pfs_instance *instance, const char *file)
{
	struct held *held = instance->held;

	while (held && strcmp(held->file, file))
		held = held->next;
	return held;
}

int pfs_instance_hold(struct pfs_instance *instance, const char *file, int flags, struct pfs_err *err)
{
	struct held *held = malloc(sizeof(*held) + strlen(file) + 1);

	if (!held)
		return pfs_err_set(err, -ENOMEM, "no memory for a descriptor");
	strcpy(held->file, file);
	held->fd = tracefs_instance_file_open(instance->tracefs, file, flags | O_CLOEXEC);
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
		fd = tracefs_instance_file_open(instance->tracefs, file, flags | O_CLOEXEC);
	}
	return fd < 0 ? pfs_err_set(err, -errno, "%s/%s: %s", instance->dir, file, strerror(errno)) : fd;
}

int pfs_instance_write(struct pfs_instance *instance, const char *file, const char *text, struct pfs_err *err)
{
	const struct held *held = find_held(instance, file);
	ssize_t written = held ? write(held->fd, text, strlen(text))
			       : tracefs_instance_file_append(instance->tracefs, file, text);

	return written < 0 ? pfs_err_set(err, -errno, "%s/%s: cannot write \"%s\": %s", instance->dir, file, text,
					 strerror(errno))
			   : 0;
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

int pfs_tids_add(struct pfs_tids *list, pid_t tid)
{
	pid_t *added;

	for (unsigned int i = 0; i < list->nr; i++)
		if (list->tids[i] == tid)
			return 0;
	added = pfs_array_add(list->tids, list->nr, list->max);
	if (!added)
		return -ENOMEM;
	*added = tid;
	return 1;
}

char *pfs_tids_text(const struct pfs_tids *list, unsigned int first)
{
	char *text = malloc((list->nr - first) * 12 + 1), *to = text;

	if (text)
		*text = '\0';
	for (unsigned int i = first; text && i < list->nr; i++)
		to += sprintf(to, "%d ", list->tids[i]);
	return text;
}

int pfs_instance_add_tids(struct pfs_instance *instance, const struct pfs_tids *list, unsigned int first,
			  struct pfs_err *err)
{
	char *text = pfs_tids_text(list, first);
	int ret;

	if (!text)
		return pfs_err_set(err, -ENOMEM, "no memory for a list of threads");
	ret = *text ? pfs_instance_write(instance, "set_event_pid", text, err) : 0;
	free(text);
	return ret;
}
