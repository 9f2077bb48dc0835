/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper: it has its descriptors and no others, nobody waits for it, and killed it has a successor.
 */
#include "os/helper.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* What the helper tells of itself, at its start and when it is asked. */
struct told {
	pid_t pid, parent, session;
	int nr_fds; /* beyond its own and that of the folder they are counted in */
	bool again, ctx;
	char name[16];
};

static int other_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int nr = 0;

	while ((entry = readdir(dir)))
		nr += atoi(entry->d_name) > PFS_HELPER_FD && atoi(entry->d_name) != dirfd(dir);
	closedir(dir);
	return nr;
}

static void tell(void *ctx, bool again)
{
	struct told told = {
		.pid = getpid(),
		.parent = getppid(),
		.session = getsid(0),
		.nr_fds = other_fds(),
		.again = again,
		.ctx = !strcmp(ctx, "context"),
	};
	FILE *comm = fopen("/proc/self/comm", "r");
	char byte;

	if (comm && fgets(told.name, sizeof(told.name), comm))
		told.name[strcspn(told.name, "\n")] = '\0';
	if (comm)
		fclose(comm);
	do
		send(PFS_HELPER_FD, &told, sizeof(told), MSG_NOSIGNAL);
	while (recv(PFS_HELPER_FD, &byte, 1, 0) == 1);
}

static int start(void)
{
	char ctx[] = "context";
	struct pfs_helper helper = { .name = "a-helper", .nr_fds = 1, .run = tell, .ctx = ctx };
	struct pfs_err err = { "" };
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	helper.fds = &fds[1];
	assert_int_equal(pfs_helper_start(&helper, &err), 0);
	memset(ctx, 'x', sizeof(ctx) - 1); /* it has its own */
	close(fds[1]);
	return fds[0];
}

static struct told hear(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	struct told told = { 0 };

	assert_int_equal(poll(&poll_fd, 1, 10000), 1);
	assert_int_equal(recv(fd, &told, sizeof(told), 0), sizeof(told));
	return told;
}

/* Every process of it. */
static bool over(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	char byte;

	return poll(&poll_fd, 1, 10000) == 1 && recv(fd, &byte, 1, 0) == 0;
}

static void test_alone(void **state)
{
	int spare = dup(0), fd = start();
	struct told told = hear(fd);

	close(spare);
	assert_string_equal(told.name, "a-helper");
	assert_true(told.ctx && !told.again);
	assert_int_equal(told.nr_fds, 0);
	assert_int_not_equal(told.session, getsid(0));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child of ours */
	assert_int_equal(errno, ECHILD);
	kill(told.pid, SIGINT);
	kill(told.pid, SIGTERM);
	assert_int_equal(send(fd, "?", 1, 0), 1);
	assert_int_equal(hear(fd).pid, told.pid);
	shutdown(fd, SHUT_WR);
	assert_true(over(fd));
	close(fd);
}

static void test_killed(void **state)
{
	int fd = start();
	struct told first = hear(fd), next;

	for (int i = 0; i < 20; i++) {
		kill(first.pid, SIGKILL);
		next = hear(fd);
		assert_true(next.again && next.ctx && next.pid != first.pid);
		assert_int_equal(next.parent, first.parent);
		first = next;
	}
	shutdown(fd, SHUT_WR);
	assert_true(over(fd));
	close(fd);
}

/* Whichever of the two it is. */
static void test_other_killed(void **state)
{
	int fd = start();
	struct told told = hear(fd);

	kill(told.parent, SIGKILL);
	assert_int_equal(send(fd, "?", 1, 0), 1);
	assert_int_equal(hear(fd).pid, told.pid);
	shutdown(fd, SHUT_WR);
	assert_true(over(fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_other_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
