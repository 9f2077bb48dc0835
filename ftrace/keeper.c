/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper, see keeper.h. Everything it will need is made before it is forked.
 */
#include "keeper.h"

#include "dynevents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void put(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0) { /* nobody is left to be told */ }
	close(fd);
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

/* Never returns. A byte: all is well. End of file: pfscope is dead. */
static void keep(int fd, const char *dir)
{
	const struct timespec moment = { .tv_nsec = 10000000 };
	char byte;
	ssize_t got;

	prctl(PR_SET_NAME, "pfscope-keeper");
	setsid();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_IGN);
	if (chdir("/"))
		_exit(1);
	do
		got = read(fd, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got == 1)
		_exit(0);
	put(dir, "tracing_on", "0");
	put(dir, "events/enable", "0");
	for (int tries = 0; tries < 1000 && rmdir(dir) && errno == EBUSY; tries++)
		nanosleep(&moment, NULL);
	remove_probes(dir);
	_exit(0);
}

/* The descriptor to keep goes to 3, every other one is closed. */
static void close_others(int fd)
{
	if (fd != 3 && dup2(fd, 3) < 0)
		_exit(1);
	close(0);
	close(1);
	close(2);
	if (close_range(4, ~0U, 0))
		for (int i = 4; i < 65536; i++)
			close(i);
}

int pfs_keeper_start(const char *dir, struct pfs_err *err)
{
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return pfs_err_set(err, -errno, "cannot start a process: %s", strerror(errno));
	}
	if (!pid) {
		close(fds[1]);
		if (fork())	/* the middle one ends at once: the keeper is init's child */
			_exit(0);
		close_others(fds[0]);
		keep(3, dir);
	}
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return fds[1];
}

void pfs_keeper_dismiss(int fd)
{
	if (fd < 0)
		return;
	if (write(fd, "q", 1) < 0) { /* it is gone already, which is as well */ }
	close(fd);
}
