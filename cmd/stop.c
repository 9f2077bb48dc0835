/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

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
	sigaction(SIGPIPE, &ignore, &before->pipe);	/* a reader that goes away: an error of writing */
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

int stop_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}
