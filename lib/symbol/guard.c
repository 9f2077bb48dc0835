/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See guard.h.
 */
#include "symbol/guard.h"

#include "base/number.h"
#include "base/write_all.h"
#include "os/nobody.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 30000 };
#define MORE_MEMORY (UINT64_C(4) << 30)

static void close_all_but(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;

	if (low > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, low - 1, 0);
	if (low > STDERR_FILENO && high > low + 1)
		close_range(low + 1, high - 1, 0);
	else if (low <= STDERR_FILENO && high > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

/* So much more than it has now, which is the parent's. */
static void limit_memory(void)
{
	uint64_t pages = 0;
	struct rlimit limit;
	char text[64];

	if (pfs_read_file("/proc/self/statm", text, sizeof(text)) > 0)
		pfs_dec(text, &pages);
	limit.rlim_cur = limit.rlim_max = pages * sysconf(_SC_PAGESIZE) + MORE_MEMORY;
	setrlimit(RLIMIT_AS, &limit);
}

static void confine(int socket, int fd, pid_t parent)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGHUP };
	const struct rlimit none = { 0, 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], SIG_DFL);
	for (int i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	close_all_but(socket, fd);
	setrlimit(RLIMIT_CORE, &none);
	limit_memory();
	if (!pfs_become_nobody())
		_exit(1);
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* libdw looks for what belongs to a file by /proc/self/fd */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(0);
}

static void serve(pfs_guard_fn *fn, void *ctx, int socket)
{
	static char request[PFS_GUARD_MAX + 1], answer[PFS_GUARD_MAX];
	ssize_t len;

	while ((len = recv(socket, request, PFS_GUARD_MAX, 0)) > 0) {
		request[len] = '\0';
		len = fn(ctx, request, len, answer);
		if (!len)
			answer[0] = '\0';
		/* No answer is one byte. */
		if (send(socket, answer, len ? len : 1, MSG_NOSIGNAL) < 0)
			break;
	}
}

void pfs_guard_start(struct pfs_guard *guard, pfs_guard_fn *fn, void *ctx, int fd)
{
	pid_t parent = getpid();
	int sockets[2];

	*guard = (struct pfs_guard){ .started = true, .broken = true, .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return;
	guard->pid = fork();
	if (!guard->pid) {
		confine(sockets[1], fd, parent);
		serve(fn, ctx, sockets[1]);
		_exit(0);
	}
	close(sockets[1]);
	guard->socket = sockets[0];
	guard->broken = guard->pid < 0;
}

/* It does not answer any more. */
static void end_child(struct pfs_guard *guard)
{
	if (guard->pid > 0) {
		kill(guard->pid, SIGKILL);
		while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	pfs_close(guard->socket);
	guard->pid = 0;
	guard->socket = -1;
	guard->broken = true;
}

void pfs_guard_end(struct pfs_guard *guard)
{
	if (guard->started)
		end_child(guard);
}

void pfs_guard_send(struct pfs_guard *guard, const void *request, size_t len)
{
	if (!guard->broken && send(guard->socket, request, len, MSG_NOSIGNAL) != (ssize_t)len)
		end_child(guard);
}

size_t pfs_guard_receive(struct pfs_guard *guard, char *answer)
{
	struct pollfd poll_fd = { .fd = guard->socket, .events = POLLIN };
	ssize_t got = -1;
	int ready;

	if (guard->broken)
		return 0;
	while ((ready = poll(&poll_fd, 1, PATIENCE_MS)) < 0 && errno == EINTR)
		continue;
	if (ready > 0)
		got = recv(guard->socket, answer, PFS_GUARD_MAX, 0);
	if (got <= 0)
		end_child(guard);
	return got > 1 ? got : 0;
}

size_t pfs_guard_ask(struct pfs_guard *guard, const void *request, size_t len, char *answer)
{
	if (!len || len > PFS_GUARD_MAX)
		return 0;
	pfs_guard_send(guard, request, len);
	return pfs_guard_receive(guard, answer);
}
