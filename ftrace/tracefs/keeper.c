/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper, see keeper.h. Everything it will need is made before it is forked.
 */
#include "tracefs/keeper.h"

#include "base/write_all.h"
#include "os/helper.h"
#include "tracefs/dynevents.h"
#include "tracefs/instance.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long the last reader may take to let go, in order and after its death. */
#define PATIENCE_MS	 2000
#define LONG_PATIENCE_MS 10000

/* The kernel says in less that an instance cannot go; to remove one takes it twenty times as long. */
#define ANSWER_MS 2

static void put(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (pfs_write_file(path, text)) { /* nobody is left to be told */
	}
}

/* The dynamic events that were made for the instance, which used them as long as it was there. */
static void remove_probes(const char *dir)
{
	char tracing[PATH_MAX], group[256], *end;

	snprintf(tracing, sizeof(tracing), "%s", dir);
	end = strstr(tracing, "/instances/");
	if (!end)
		return;
	*end = '\0';
	pfs_dynevents_group(dir, group, sizeof(group));
	pfs_dynevents_remove(tracing, group);
}

static void answer(int result)
{
	if (send(PFS_HELPER_FD, &result, sizeof(result), MSG_NOSIGNAL) < 0) { /* nobody waits for it */
	}
}

/*
 * Where it cannot go yet it shall at least be still; and events that are on by themselves take the kernel longer to
 * remove. Who asked for it hears when that has to wait.
 */
static int tear_down(const char *dir, unsigned int patience_ms, bool asked)
{
	int ret;

	put(dir, "tracing_on", "0");
	ret = pfs_instance_rmdir(dir, 0);
	if (ret == -EBUSY) {
		put(dir, "events/enable", "0");
		if (asked)
			answer(-EAGAIN);
		ret = pfs_instance_rmdir(dir, patience_ms);
	}
	if (!ret)
		remove_probes(dir);
	return ret;
}

/*
 * A message: remove it, and answer how that went; the message is only taken then, so that a keeper that is killed
 * in between has a successor that goes on. End of file: pfscope is dead.
 */
static void keep(void *dir, bool again)
{
	char byte;
	ssize_t got;

	do
		got = recv(PFS_HELPER_FD, &byte, 1, MSG_PEEK);
	while (got < 0 && errno == EINTR);
	if (got != 1) {
		tear_down(dir, LONG_PATIENCE_MS, false);
		return;
	}
	answer(tear_down(dir, PATIENCE_MS, true));
	if (recv(PFS_HELPER_FD, &byte, 1, 0) < 0) { /* pfscope is gone, and so is the message */
	}
}

int pfs_keeper_start(const char *dir, struct pfs_err *err)
{
	struct pfs_helper helper = { .name = "pfscope-keeper", .nr_fds = 1, .run = keep };
	char copy[PATH_MAX];
	int fds[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return pfs_err_set(err, -errno, "cannot make a pair of sockets: %s", strerror(errno));
	snprintf(copy, sizeof(copy), "%s", dir);
	helper.fds = &fds[1];
	helper.ctx = copy;
	ret = pfs_helper_start(&helper, err);
	close(fds[1]);
	if (!ret)
		return fds[0];
	close(fds[0]);
	return ret;
}

bool pfs_keeper_lives(int fd)
{
	struct pollfd poll_fd = { fd, 0, 0 };

	return poll(&poll_fd, 1, 0) >= 0 && !(poll_fd.revents & (POLLHUP | POLLERR));
}

/* The keeper's answer; 0 as well if it is at it; -EPIPE: there is no keeper any more. */
static int ask(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	int result = 0;
	ssize_t got;

	if (send(fd, "r", 1, MSG_NOSIGNAL) < 0)
		return -EPIPE;
	if (!poll(&poll_fd, 1, ANSWER_MS))
		return 0;
	do
		got = recv(fd, &result, sizeof(result), 0);
	while ((got < 0 && errno == EINTR) || (got == sizeof(result) && result == -EAGAIN));
	return got == sizeof(result) ? result : -EPIPE;
}

int pfs_keeper_remove(int fd, const char *dir, struct pfs_err *err)
{
	int ret = ask(fd);

	close(fd);
	if (ret == -EPIPE)
		ret = tear_down(dir, PATIENCE_MS, false);
	return ret ? pfs_err_set(err, ret,
				 "%s: cannot remove the tracefs instance: %s; `pfscope clean` "
				 "as root tries again",
				 dir, strerror(-ret))
		   : 0;
}
