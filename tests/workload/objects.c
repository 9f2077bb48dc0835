/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes kernel objects of known number: objects PIPES EVENTFDS EPOLLS [wait|leave|steps]
 *
 * wait: only after a byte on standard input. leave: a child has them when this process has ended, and closes them.
 * steps: then as standard input says, a line each, and each is answered by "done": "pipes N" makes more, "drop" closes
 * those of all steps, "fork" has a child take the steps that follow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/* Byte by byte: the child reads on where its parent has stopped. */
static int read_line(char *line, size_t size)
{
	size_t len = 0;

	while (len + 1 < size && read(0, line + len, 1) == 1 && line[len] != '\n')
		len++;
	line[len] = '\0';
	return len;
}

static void take_steps(void)
{
	int first = dup(0), last;
	char line[32];

	close(first);
	while (read_line(line, sizeof(line))) {
		if (!strncmp(line, "pipes ", 6)) {
			make(atol(line + 6), make_pipe);
		} else if (!strcmp(line, "drop")) {
			last = dup(0);
			for (int fd = first; fd <= last; fd++)
				close(fd);
		} else if (!strcmp(line, "fork") && fork()) {
			wait(NULL);
			return;
		}
		puts("done");
		fflush(stdout);
	}
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
	if (!strcmp(how, "steps"))
		take_steps();
	if (strcmp(how, "leave"))
		return 0;
	parent = getpid();
	if (fork())
		return 0;
	while (getppid() == parent)
		usleep(1000);
	return 0;
}
