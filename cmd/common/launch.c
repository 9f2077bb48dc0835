/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/launch.h"

#include "os/limits.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static ssize_t read_through(int fd, void *buf, size_t size)
{
	ssize_t got;

	do
		got = read(fd, buf, size);
	while (got < 0 && errno == EINTR);
	return got;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The child. It touches as little memory as possible, because it is recorded before its exec, too. */
static void become(char **argv, const struct invoking_user *user, const struct stop_before *before, int go_fd,
		   int failed_fd)
{
	int err = -invoking_user_become(user);
	char byte;

	if (user->other_session)
		setsid();
	stop_restore(before);
	pfs_fd_limit_restore();
	if (write(failed_fd, "r", 1) < 0)
		_exit(1);
	if (read_through(go_fd, &byte, 1) != 1)
		_exit(1);
	if (!err) {
		execvp(argv[0], argv);
		err = errno;
	}
	if (write(failed_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits until the child blocks in its read: from then on its fault counts do not change. */
static int wait_ready(struct launch *launch, struct pfs_err *err)
{
	const struct timespec moment = { .tv_nsec = 100000 };
	char byte, state = read_through(launch->failed_fd, &byte, 1) == 1 ? 0 : 'X';

	while (state != 'S' && state != 'X' && state != 'Z') {
		if (state)
			nanosleep(&moment, NULL);
		state = pfs_process_state(launch->pid);
	}
	if (state == 'S')
		return 0;
	return pfs_err_set(err, -ECHILD, "the child process ended before it could execute the command");
}

/* Switches off what the child shall inherit as switched off. 0 or -errno with err set. */
static int disable_features(const struct launch_without *without, struct pfs_err *err)
{
	int now = personality(0xffffffff);

	if (without->aslr && (now < 0 || personality(now | ADDR_NO_RANDOMIZE) < 0))
		return pfs_err_set(err, -errno, "--no-aslr: cannot disable address space randomization: %s",
				   strerror(errno));
	if (without->thp && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return pfs_err_set(err, -errno, "--no-thp: cannot disable transparent huge pages: %s", strerror(errno));
	return 0;
}

static void restore_features(const struct launch_without *without, int personality_before)
{
	if (without->aslr && personality_before >= 0)
		personality(personality_before);
	if (without->thp)
		prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
}

int launch_start(struct launch *launch, char **argv, const struct launch_without *without,
		 const struct invoking_user *user, const struct stop_before *before, struct pfs_err *err)
{
	int go[2] = { -1, -1 }, failed[2], ret, personality_before = personality(0xffffffff);

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC)) {
		ret = pfs_err_set(err, -errno, "cannot create a pipe: %s", strerror(errno));
		close(go[0]);
		close(go[1]);
		return ret;
	}
	ret = disable_features(without, err);
	launch->pid = ret ? -1 : fork();
	if (!launch->pid) {
		close(go[1]);
		become(argv, user, before, go[0], failed[1]);
	}
	if (!ret && launch->pid < 0)
		ret = pfs_err_set(err, -errno, "cannot fork: %s", strerror(errno));
	restore_features(without, personality_before);
	close(go[0]);
	close(failed[1]);
	launch->go_fd = go[1];
	launch->failed_fd = failed[0];
	if (!ret)
		ret = wait_ready(launch, err);
	if (ret)
		launch_abandon(launch);
	return ret;
}

void launch_abandon(struct launch *launch)
{
	close(launch->go_fd);
	close(launch->failed_fd);
	if (launch->pid > 0)
		reap(launch->pid);
}

int launch_go(struct launch *launch, const char *name, struct pfs_err *err)
{
	int code = 0;
	ssize_t got;

	if (write(launch->go_fd, "g", 1) != 1)
		code = EIO;
	close(launch->go_fd);
	got = read_through(launch->failed_fd, &code, sizeof(code));
	close(launch->failed_fd);
	if (got != sizeof(code))
		return 0;
	reap(launch->pid);
	return pfs_err_set(err, -code, "%s: %s", name, code == ENOENT ? "command not found" : strerror(code));
}
