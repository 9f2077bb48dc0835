/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes kernel objects of known number: objects PIPES EVENTFDS EPOLLS [wait|leave]
 *
 * wait: only after a byte on standard input. leave: a child has them when this process has ended, and closes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

static void make(long nr, int (*one)(void))
{
	for (; nr > 0; nr--)
		if (one() < 0) {
			perror("objects");
			exit(1);
		}
}

static int make_pipe(void)
{
	return pipe((int[2]){ 0, 0 });
}

static int make_eventfd(void)
{
	return eventfd(0, 0);
}

static int make_epoll(void)
{
	return epoll_create1(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 4 ? argv[4] : "";
	struct rlimit limit;
	pid_t parent;
	char byte;

	if (argc < 4)
		return 2;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (!strcmp(how, "wait") && read(0, &byte, 1) < 0)
		return 1;
	make(atol(argv[1]), make_pipe);
	make(atol(argv[2]), make_eventfd);
	make(atol(argv[3]), make_epoll);
	if (strcmp(how, "leave"))
		return 0;
	parent = getpid();
	if (fork())
		return 0;
	while (getppid() == parent)
		usleep(1000);
	return 0;
}
