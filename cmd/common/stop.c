/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/command.h"

#include "base/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A user who presses Ctrl-C twice is slower than this. */
#define STOP_MOMENT_NS 50000000

int stop_open(struct stop_before *before)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, heed = { .sa_handler = SIG_DFL };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, &before->mask))
		return -errno;
	sigaction(SIGPIPE, &ignore, &before->pipe); /* a reader that exits becomes an error of write() */
	sigaction(SIGCHLD, &heed, &before->child);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void stop_restore(const struct stop_before *before)
{
	sigaction(SIGPIPE, &before->pipe, NULL);
	sigaction(SIGCHLD, &before->child, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

/* Static, because signals belong to the process. */
static unsigned int nr_terms;

int stop_next(int fd)
{
	static uint64_t last_ns;
	static int last;
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		int sig = info.ssi_signo;
		uint64_t now = pfs_now_ns();

		if (sig == SIGCHLD)
			return sig;
		if (sig == last && now - last_ns < STOP_MOMENT_NS)
			continue;
		last = sig;
		last_ns = now;
		nr_terms += sig == SIGTERM;
		return sig;
	}
	return 0;
}

int stop_request(int fd)
{
	int sig;

	do
		sig = stop_next(fd);
	while (sig == SIGCHLD);
	return sig;
}

bool stop_at_once(int fd)
{
	int sig;

	while ((sig = stop_request(fd)))
		if (sig == SIGINT || sig == SIGQUIT || (sig == SIGTERM && nr_terms > 1))
			return true;
	return false;
}
