/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper, see keeper.h. It switches the instance off and removes it without libtracefs, which allocates memory:
 * that must work when there is none.
 */
#include "tracefs/keeper.h"

#include "base/write_all.h"
#include "os/helper.h"
#include "tracefs/instance.h"
#include "tracefs/dynevents.h"
#include "tracefs/wprobes.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long the last reader may take to let go: when pfscope asks, after pfscope's death, and of other instances. */
#define PATIENCE_MS	 2000
#define LONG_PATIENCE_MS 10000
#define OTHERS_MS	 100

/* The kernel reports sooner than this that an instance is busy; removing one takes it twenty times as long. */
#define ANSWER_MS 2

/* The third message, beside those of enum pfs_keeper_task. */
#define REMOVE 'r'

struct keeper {
	char dir[PATH_MAX];
	void (*leftovers)(void);
};

static void put(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (pfs_write_file(path, text)) { /* there is nobody to report it to */
	}
}

static void answer(int result)
{
	if (send(PFS_HELPER_FD, &result, sizeof(result), MSG_NOSIGNAL) < 0) { /* pfscope does not wait any more */
	}
}

/* An instance that cannot be removed yet is at least silent, and the kernel removes a silent one in half the time. */
static void silence(const char *dir)
{
	put(dir, "tracing_on", "0");
	put(dir, "events/enable", "0");
}

/* If pfscope asked, it learns that the removal has to wait. The dynamic events go once the instance uses them no more. */
static int tear_down(const char *dir, unsigned int patience_ms, bool asked)
{
	int ret = pfs_instance_rmdir(dir, 0);
	char group[256];

	if (ret == -EBUSY) {
		if (asked)
			answer(-EAGAIN);
		ret = pfs_instance_rmdir(dir, patience_ms);
	}
	pfs_dynevents_group(dir, group, sizeof(group));
	if (!ret)
		pfs_dynevents_remove(group);
	if (!ret)
		pfs_wprobes_remove();
	return ret;
}

/* The next message, which stays in the socket; 0: pfscope is dead. */
static char peek(void)
{
	char byte;

	return TEMP_FAILURE_RETRY(recv(PFS_HELPER_FD, &byte, 1, MSG_PEEK)) == 1 ? byte : 0;
}

/* A message is taken only when it has been served, so the successor of a killed keeper serves it again. */
static void keep(void *ctx, bool again)
{
	const struct keeper *keeper = ctx;
	char message;

	while ((message = peek())) {
		if (message == PFS_KEEPER_CLEAN) {
			pfs_instance_clean(OTHERS_MS, NULL);
			if (keeper->leftovers)
				keeper->leftovers();
		} else {
			silence(keeper->dir);
		}
		answer(message == REMOVE ? tear_down(keeper->dir, PATIENCE_MS, true) : 0);
		if (recv(PFS_HELPER_FD, &message, 1, 0) < 0 || message == REMOVE)
			return;
	}
	silence(keeper->dir);
	tear_down(keeper->dir, LONG_PATIENCE_MS, false);
}

int pfs_keeper_start(const char *dir, void (*leftovers)(void), struct pfs_err *err)
{
	struct keeper keeper = { .leftovers = leftovers };
	int fd = -1;

	snprintf(keeper.dir, sizeof(keeper.dir), "%s", dir);
	return pfs_helper_connect(
		&(struct pfs_helper){ .name = "pfscope-keeper", .fds = &fd, .nr_fds = 1, .run = keep, .ctx = &keeper },
		err);
}

bool pfs_keeper_lives(int fd)
{
	struct pollfd poll_fd = { fd, 0, 0 };

	return poll(&poll_fd, 1, 0) >= 0 && !(poll_fd.revents & (POLLHUP | POLLERR));
}

int pfs_keeper_ask(int fd, enum pfs_keeper_task task)
{
	const char message = task;

	return send(fd, &message, 1, MSG_NOSIGNAL) == 1;
}

/* The keeper's next answer; -EPIPE: the keeper is dead. */
static int receive(int fd)
{
	int result = 0;
	ssize_t got;

	do
		got = TEMP_FAILURE_RETRY(recv(fd, &result, sizeof(result), 0));
	while (got == sizeof(result) && result == -EAGAIN);
	return got == sizeof(result) ? result : -EPIPE;
}

static int ask_to_remove(int fd, unsigned int pending)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	const char message = REMOVE;
	int ret = 0;

	while (!ret && pending--)
		ret = receive(fd);
	if (ret || send(fd, &message, 1, MSG_NOSIGNAL) < 0)
		return -EPIPE;
	return poll(&poll_fd, 1, ANSWER_MS) ? receive(fd) : 0;
}

int pfs_keeper_remove(int fd, unsigned int pending, const char *dir, struct pfs_err *err)
{
	int ret = ask_to_remove(fd, pending);

	close(fd);
	if (ret == -EPIPE) {
		silence(dir);
		ret = tear_down(dir, PATIENCE_MS, false);
	}
	return ret ? pfs_err_set(err, ret,
				 "%s: cannot remove the tracefs instance: %s; `pfscope clean` "
				 "as root tries again",
				 dir, strerror(-ret))
		   : 0;
}
