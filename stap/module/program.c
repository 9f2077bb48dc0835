/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FD_OUT, FD_ERROR, FD_FAILED, NR_FDS };

void pfs_said_free(struct pfs_said *said)
{
	free(said->text);
	memset(said, 0, sizeof(*said));
}

int pfs_said_read(struct pfs_said *said, int fd)
{
	char buf[16384], *bigger;
	ssize_t got;

	got = read(fd, buf, sizeof(buf));
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	if (got && said->len + got > PFS_SAID_MAX)
		said->cut = true;
	if (!got || said->cut)
		return got > 0;
	bigger = realloc(said->text, said->len + got + 1);
	if (!bigger)
		return -ENOMEM;
	memcpy(bigger + said->len, buf, got);
	said->text = bigger;
	said->len += got;
	said->text[said->len] = '\0';
	return 1;
}

bool pfs_program_find(const char *name, char *buf, size_t size)
{
	const char *path = getenv("PATH"), *end;

	if (!path)
		path = "/usr/bin:/bin";
	for (;; path = end + 1) {
		end = strchrnul(path, ':');
		snprintf(buf, size, "%.*s/%s", (int)(end - path), path, name);
		if (end > path && !access(buf, X_OK))
			return true;
		if (!*end)
			break;
	}
	*buf = '\0';
	return false;
}

/* A private view of the file system in which the kernel seems not to be locked down. */
static int hide_security(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/sys/kernel/security", "tmpfs", 0, NULL))
		return -errno;
	return 0;
}

static void restore_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child. A group of its own: the terminal's Ctrl-C is pfscope's to pass on. */
static void become(const struct pfs_program *program, int fds[NR_FDS])
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), err = 0;

	setpgid(0, 0);
	restore_signals();
	if (null < 0 || dup2(null, 0) < 0 || dup2(fds[FD_OUT], 1) < 0 || dup2(fds[FD_ERROR], 2) < 0)
		err = errno;
	for (const char *const *env = program->env; !err && env && *env; env++)
		if (putenv((char *)*env))
			err = ENOMEM;
	if (!err && program->hide_security)
		err = -hide_security();
	if (!err && program->dir && chdir(program->dir))
		err = errno;
	if (!err) {
		execvp(program->argv[0], (char **)program->argv);
		err = errno;
	}
	if (write(fds[FD_FAILED], &err, sizeof(err)) < 0) { /* it will be seen to have ended */
	}
	_exit(127);
}

static int open_pipes(int mine[NR_FDS], int theirs[NR_FDS])
{
	for (int i = 0; i < NR_FDS; i++) {
		int fds[2];

		if (pipe2(fds, O_CLOEXEC))
			return -errno;
		mine[i] = fds[0];
		theirs[i] = fds[1];
	}
	return 0;
}

static void close_all(int fds[NR_FDS])
{
	for (int i = 0; i < NR_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* Until both of its outputs are closed. */
static int gather(const struct pfs_program *program, int fds[NR_FDS], struct pfs_said *out, struct pfs_said *error)
{
	struct pollfd poll_fds[2] = { { fds[FD_OUT], POLLIN, 0 }, { fds[FD_ERROR], POLLIN, 0 } };
	struct pfs_said *said[2] = { out, error };
	int ret;

	while (poll_fds[0].fd >= 0 || poll_fds[1].fd >= 0) {
		if (program->give_up && program->give_up(program->give_up_ctx))
			return -EINTR;
		if (poll(poll_fds, 2, 100) < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < 2; i++) {
			if (poll_fds[i].fd < 0 || !poll_fds[i].revents)
				continue;
			ret = pfs_said_read(said[i], poll_fds[i].fd);
			if (ret < 0)
				return ret;
			if (!ret)
				poll_fds[i].fd = -1;
		}
	}
	return 0;
}

/* Compilers and all: politely, then not. */
static void end_group(pid_t pid)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	siginfo_t info = { 0 };

	kill(-pid, SIGTERM);
	for (int i = 0; i < 500; i++) {
		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return;
		nanosleep(&moment, NULL);
	}
	kill(-pid, SIGKILL);
}

static int watch(const struct pfs_program *program, pid_t pid, int fds[NR_FDS], int *status, struct pfs_said *out,
		 struct pfs_said *error, struct pfs_err *err)
{
	int ret = gather(program, fds, out, error), code;
	ssize_t got;

	if (ret)
		end_group(pid);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	if (ret == -EINTR)
		return pfs_err_set(err, ret, "interrupted");
	if (ret)
		return pfs_err_set(err, ret, "%s: %s", program->argv[0], strerror(-ret));
	do
		got = read(fds[FD_FAILED], &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	if (got == sizeof(code))
		return pfs_err_set(err, -code, "%s: cannot be run: %s", program->argv[0], strerror(code));
	return 0;
}

int pfs_program_run(const struct pfs_program *program, int *status, struct pfs_said *out, struct pfs_said *error,
		    struct pfs_err *err)
{
	int mine[NR_FDS] = { -1, -1, -1 }, theirs[NR_FDS] = { -1, -1, -1 }, ret;
	pid_t pid;

	ret = open_pipes(mine, theirs);
	if (ret) {
		pfs_err_set(err, ret, "cannot make a pipe: %s", strerror(-ret));
		goto out;
	}
	pid = fork();
	if (!pid)
		become(program, theirs);
	if (pid < 0) {
		ret = pfs_err_set(err, -errno, "cannot start a process: %s", strerror(errno));
		goto out;
	}
	setpgid(pid, pid); /* whoever of the two comes first */
	close_all(theirs);
	memset(theirs, -1, sizeof(theirs));
	ret = watch(program, pid, mine, status, out, error, err);
out:
	close_all(mine);
	close_all(theirs);
	return ret;
}
