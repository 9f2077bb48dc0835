/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "os/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/*
 * Where a folder has the sticky bit, as /tmp has, only root can exchange what is root's in it. In a user namespace root's
 * files may have another number: that of /.
 */
static bool is_roots(const char *path, bool sticky_suffices)
{
	struct stat st, top;

	return !lstat(path, &st) && (!st.st_uid || (!stat("/", &top) && st.st_uid == top.st_uid)) &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || (sticky_suffices && st.st_mode & S_ISVTX));
}

bool pfs_only_root_writes(const char *path)
{
	char part[PATH_MAX], *slash;
	bool ok = is_roots(path, false);

	snprintf(part, sizeof(part), "%s", path);
	while (ok && strcmp(part, "/")) {
		slash = strrchr(part, '/');
		if (!slash)
			return false;
		slash[slash == part] = '\0';
		ok = is_roots(part, true);
	}
	return ok;
}

/* Its folder must be root's alone: in a sticky one everybody can make links. */
static bool is_safe_program(const char *real)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(real, '/') - real), real);
	return is_roots(real, false) && pfs_only_root_writes(*folder ? folder : "/");
}

/* What is checked is what will be executed: a link on the way may be anybody's. */
static int check_program(const char *path, char *buf, struct pfs_err *err)
{
	if (access(path, X_OK))
		return -ENOENT;
	if (geteuid()) {
		strcpy(buf, path);
		return 0;
	}
	if (!realpath(path, buf))
		return -ENOENT;
	return is_safe_program(buf)
		       ? 0
		       : pfs_err_set(err, -EPERM, "%s: not executed as root: others can write to it or to its folder",
				     path);
}

static const char *path_of_programs(void)
{
	return getenv("PATH") ?: "/usr/bin:/bin";
}

int pfs_program_find(const char *name, char *buf, struct pfs_err *err)
{
	const char *path = path_of_programs(), *end;
	char candidate[PATH_MAX];
	int ret = -ENOENT;

	if (strchr(name, '/')) {
		snprintf(candidate, sizeof(candidate), "%s", name);
		ret = check_program(candidate, buf, err);
	}
	for (; ret == -ENOENT && !strchr(name, '/'); path = end + 1) {
		end = strchrnul(path, ':');
		snprintf(candidate, sizeof(candidate), "%.*s/%s", (int)(end - path), path, name);
		if (end > path)
			ret = check_program(candidate, buf, err);
		if (!*end)
			break;
	}
	if (ret)
		*buf = '\0';
	return ret;
}

/* For the programs that it executes in its turn, as stap does make and gcc. */
static int restrict_path(void)
{
	const char *path = path_of_programs(), *end;
	char folder[PATH_MAX], real[PATH_MAX], *safe = calloc(1, 1);
	size_t len = 0;

	for (; safe && !geteuid(); path = end + 1) {
		end = strchrnul(path, ':');
		snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
		if (realpath(folder, real) && pfs_only_root_writes(real)) {
			size_t more = strlen(real) + 1;
			char *larger = realloc(safe, len + more + 1);

			if (!larger)
				break;
			safe = larger;
			len += snprintf(safe + len, more + 1, "%s%s", len ? ":" : "", real);
		}
		if (!*end)
			break;
	}
	return safe && (!len || !setenv("PATH", safe, 1)) ? 0 : ENOMEM;
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
static int execute(const struct pfs_program *program, const char *path, int out_fd, int error_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setpgid(0, 0);
	restore_signals();
	if (null < 0 || dup2(null, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(error_fd, 2) < 0)
		return errno;
	if (restrict_path())
		return ENOMEM;
	for (const char *const *env = program->env; env && *env; env++)
		if (putenv((char *)*env))
			return ENOMEM;
	if ((!program->hide_security || hide_security()) && (!program->dir || !chdir(program->dir)))
		execv(path, (char **)program->argv);
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
	char path[PATH_MAX];
	pid_t parent = getpid(), child;
	int failed[2], err = -pfs_program_find(program->argv[0], path, NULL);

	if (err)
		return -err;
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
		err = execute(program, path, out_fd, error_fd);
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

/*
 * Reads both pipes until they are closed, or the program has ended: if it was killed, what it started may live on and keep
 * them open.
 */
static int collect(const struct pfs_program *program, pid_t pid, const int fds[2], struct pfs_program_result *result)
{
	int ended_fd = syscall(SYS_pidfd_open, pid, 0); /* -1 on old kernels: poll() ignores it */
	struct pollfd poll_fds[3] = { { fds[0], POLLIN, 0 }, { fds[1], POLLIN, 0 }, { ended_fd, POLLIN, 0 } };
	struct pfs_output *output[2] = { &result->out, &result->error };
	bool ended = false;
	int ret = 0;

	while (!ret && !ended && (poll_fds[0].fd >= 0 || poll_fds[1].fd >= 0)) {
		if (program->give_up && program->give_up(program->give_up_ctx))
			ret = -EINTR;
		else if (poll(poll_fds, 3, 100) < 0 && errno != EINTR)
			ret = -errno;
		ended = poll_fds[2].revents;
		for (int i = 0; i < 2 && ret >= 0; i++) {
			if (poll_fds[i].fd < 0 || !poll_fds[i].revents)
				continue;
			ended = false; /* first all that it has written */
			ret = pfs_output_read(output[i], poll_fds[i].fd);
			if (!ret)
				poll_fds[i].fd = -1;
			ret = ret > 0 ? 0 : ret;
		}
	}
	if (ended_fd >= 0)
		close(ended_fd);
	return ret;
}

/* Ends the program and what it started (compilers): SIGTERM, SIGKILL after 5 s. */
static void end_group(pid_t pid)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	siginfo_t info = { 0 };

	kill(-pid, SIGTERM);
	for (int i = 0; i < 500 && !info.si_pid; i++) {
		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT))
			break;
		nanosleep(&moment, NULL);
	}
}

int pfs_program_run(const struct pfs_program *program, struct pfs_program_result *result, struct pfs_err *err)
{
	int fds[4] = { -1, -1, -1, -1 }, ret; /* the reading and the writing end of two pipes */
	char path[PATH_MAX];
	pid_t own, *pid = program->pid ?: &own;

	ret = pfs_program_find(program->argv[0], path, err);
	if (ret) {
		if (ret == -ENOENT)
			pfs_err_set(err, ret, "cannot run %s: %s", program->argv[0], strerror(-ret));
		return ret;
	}
	if (pipe2(fds, O_CLOEXEC) || pipe2(fds + 2, O_CLOEXEC)) {
		ret = pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
		goto out;
	}
	ret = pfs_program_spawn(program, fds[1], fds[3], pid);
	close(fds[1]);
	close(fds[3]);
	fds[1] = fds[3] = -1;
	if (ret) {
		pfs_err_set(err, ret, "cannot run %s: %s", program->argv[0], strerror(-ret));
		goto out;
	}
	ret = collect(program, *pid, (const int[]){ fds[0], fds[2] }, result);
	if (ret)
		end_group(*pid);
	kill(-*pid,
	     ret ? SIGKILL : SIGTERM); /* what is left of its group; not waited for, so the number is still its */
	result->status = pfs_program_wait(*pid);
	*pid = 0;
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
