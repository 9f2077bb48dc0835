/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const char *pfs_output_text(const struct pfs_output *output)
{
	return output->text ? output->text : "";
}

void pfs_output_free(struct pfs_output *output)
{
	free(output->text);
	memset(output, 0, sizeof(*output));
}

int pfs_output_read(struct pfs_output *output, int fd)
{
	char buf[16384], *larger;
	ssize_t got;

	got = read(fd, buf, sizeof(buf));
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	if (got && output->len + got > PFS_OUTPUT_MAX)
		output->truncated = true;
	if (!got || output->truncated)
		return got > 0;
	larger = realloc(output->text, output->len + got + 1);
	if (!larger)
		return -ENOMEM;
	memcpy(larger + output->len, buf, got);
	output->text = larger;
	output->len += got;
	output->text[output->len] = '\0';
	return 1;
}

void pfs_program_result_free(struct pfs_program_result *result)
{
	pfs_output_free(&result->out);
	pfs_output_free(&result->error);
}

bool pfs_program_succeeded(const struct pfs_program_result *result)
{
	return WIFEXITED(result->status) && !WEXITSTATUS(result->status);
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

/* Makes a private view of the file system in which SystemTap does not see that the kernel is locked down. */
static bool hide_security(void)
{
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/sys/kernel/security", "tmpfs", 0, NULL);
}

static void restore_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The child; returns errno. The terminal's Ctrl-C is for pfscope to pass on, so it is in a process group of its own. */
static int execute(const struct pfs_program *program, int out_fd, int error_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	restore_signals();
	if (null < 0 || dup2(null, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(error_fd, 2) < 0)
		return errno;
	for (const char *const *env = program->env; env && *env; env++)
		if (putenv((char *)*env))
			return ENOMEM;
	if ((!program->hide_security || hide_security()) && (!program->dir || !chdir(program->dir)))
		execvp(program->argv[0], (char **)program->argv);
	return errno;
}

int pfs_program_wait(pid_t pid)
{
	int status = 0;

	(void)TEMP_FAILURE_RETRY(waitpid(pid, &status, 0));
	return status;
}

int pfs_program_spawn(const struct pfs_program *program, int out_fd, int error_fd, pid_t *pid)
{
	pid_t parent = getpid(), child;
	int failed[2], err = 0;

	if (pipe2(failed, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child) {
		*pid = getpid();
		if (program->dies_with_parent) {
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			if (getppid() != parent)
				_exit(127);
		}
		err = execute(program, out_fd, error_fd);
		if (write(failed[1], &err, sizeof(err)) < 0) { /* the parent is gone */
		}
		_exit(127);
	}
	close(failed[1]);
	if (child < 0) {
		err = errno;
	} else {
		*pid = child; /* after the fork, so that a child sees its own number there */
		(void)TEMP_FAILURE_RETRY(read(failed[0], &err, sizeof(err)));
	}
	close(failed[0]);
	if (err && child > 0)
		pfs_program_wait(child);
	return -err;
}

/* Reads both pipes until they are closed. */
static int collect(const struct pfs_program *program, const int fds[2], struct pfs_program_result *result)
{
	struct pollfd poll_fds[2] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 } };
	struct pfs_output *output[2] = { &result->out, &result->error };
	int ret;

	while (poll_fds[0].fd >= 0 || poll_fds[1].fd >= 0) {
		if (program->give_up && program->give_up(program->give_up_ctx))
			return -EINTR;
		if (poll(poll_fds, 2, 100) < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < 2; i++) {
			if (poll_fds[i].fd < 0 || !poll_fds[i].revents)
				continue;
			ret = pfs_output_read(output[i], poll_fds[i].fd);
			if (ret < 0)
				return ret;
			if (!ret)
				poll_fds[i].fd = -1;
		}
	}
	return 0;
}

/* Ends the program and what it started (compilers): SIGTERM, SIGKILL after 5 s. */
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

int pfs_program_run(const struct pfs_program *program, struct pfs_program_result *result, struct pfs_err *err)
{
	int fds[4] = { -1, -1, -1, -1 }, ret; /* the reading and the writing end of two pipes */
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) || pipe2(fds + 2, O_CLOEXEC)) {
		ret = pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
		goto out;
	}
	ret = pfs_program_spawn(program, fds[1], fds[3], &pid);
	close(fds[1]);
	close(fds[3]);
	fds[1] = fds[3] = -1;
	if (ret) {
		pfs_err_set(err, ret, "cannot run %s: %s", program->argv[0], strerror(-ret));
		goto out;
	}
	ret = collect(program, (const int[]){ fds[0], fds[2] }, result);
	if (ret)
		end_group(pid);
	result->status = pfs_program_wait(pid);
	if (ret == -EINTR)
		pfs_err_set(err, ret, "interrupted");
	else if (ret)
		pfs_err_set(err, ret, "%s: %s", program->argv[0], strerror(-ret));
out:
	for (int i = 0; i < 4; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return ret;
}
