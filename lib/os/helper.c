/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/helper.h"

#include "os/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A helper that dies of a defect of its own must not be restarted for ever. */
#define MAX_LIVES 1000

/* Closes all descriptors but its own. 0 to 2 are /dev/null. */
static int keep_fds(const struct pfs_helper *helper)
{
	int high[PFS_HELPER_MAX_FDS], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned int past = PFS_HELPER_FD + helper->nr_fds;

	for (unsigned int i = 0; i < helper->nr_fds; i++)
		high[i] = fcntl(helper->fds[i], F_DUPFD_CLOEXEC, past);
	for (int i = 0; i < PFS_HELPER_FD; i++)
		if (null < 0 || dup2(null, i) < 0)
			return -errno;
	for (unsigned int i = 0; i < helper->nr_fds; i++)
		if (high[i] < 0 || dup3(high[i], PFS_HELPER_FD + i, O_CLOEXEC) < 0)
			return -errno;
	if (close_range(past, ~0U, 0))
		for (int i = past; i < 65536; i++)
			close(i);
	return 0;
}

/* Never returns. The helper is a child of a process that restarts it if it is killed. */
static void live(const struct pfs_helper *helper)
{
	for (int lives = 0; lives < MAX_LIVES; lives++) {
		pid_t pid = fork();

		if (pid <= 0) { /* no process for a twin: alone, then */
			helper->run(helper->ctx, lives > 0);
			_exit(0);
		}
		if (!WIFSIGNALED(pfs_program_wait(pid)))
			break;
	}
	_exit(0);
}

static void be_helper(const struct pfs_helper *helper)
{
	prctl(PR_SET_NAME, helper->name);
	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sig == SIGCHLD ? SIG_DFL : SIG_IGN);
	if (keep_fds(helper) || chdir("/"))
		_exit(1);
	live(helper);
}

int pfs_helper_start(const struct pfs_helper *helper, struct pfs_err *err)
{
	pid_t pid = fork();
	int code = errno;

	if (!pid) {
		pid = fork();
		if (!pid)
			be_helper(helper);
		_exit(pid < 0 ? errno : 0); /* ends at once: the helper becomes init's child */
	}
	if (pid > 0)
		code = WEXITSTATUS(pfs_program_wait(pid));
	return code ? pfs_err_set(err, -code, "cannot start a process: %s", strerror(code)) : 0;
}

int pfs_helper_connect(const struct pfs_helper *helper, struct pfs_err *err)
{
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return pfs_err_set(err, -errno, "cannot make a pair of sockets: %s", strerror(errno));
	for (unsigned int i = 0; i < helper->nr_fds; i++)
		if (helper->fds[i] < 0)
			helper->fds[i] = pair[1];
	ret = pfs_helper_start(helper, err);
	close(pair[1]);
	if (!ret)
		return pair[0];
	close(pair[0]);
	return ret;
}
