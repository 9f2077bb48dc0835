/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/pager.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	bool never;
	pid_t pid;    /* 0: it does not run */
	int terminal; /* standard output as it was */
} pager;

void pager_never(void)
{
	pager.never = true;
}

/* NULL: none is wanted. */
static const char *command(void)
{
	const char *own = getenv("PFSCOPE_PAGER"), *any = getenv("PAGER");
	const char *wanted = own ? own : any ? any : "if command -v less >/dev/null; then exec less; else exec cat; fi";

	return *wanted && strcmp(wanted, "cat") ? wanted : NULL;
}

static void run(const char *shell_command, const int fds[2])
{
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	close(fds[1]);
	close(pager.terminal);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", shell_command, NULL);
	_exit(127);
}

void pager_start(void)
{
	const char *wanted = pager.never || pager.pid || !isatty(STDOUT_FILENO) ? NULL : command();
	int fds[2];

	if (!wanted || fflush(stdout) || pipe(fds))
		return;
	pager.terminal = dup(STDOUT_FILENO);
	pager.pid = pager.terminal < 0 ? -1 : fork();
	if (!pager.pid)
		run(wanted, fds);
	if (pager.pid > 0)
		dup2(fds[1], STDOUT_FILENO);
	else
		pager.pid = 0; /* the output goes to the terminal */
	close(fds[0]);
	close(fds[1]);
}

void pager_end(void)
{
	if (!pager.pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	waitpid(pager.pid, NULL, 0);
	dup2(pager.terminal, STDOUT_FILENO);
	close(pager.terminal);
	pager.pid = 0;
}

int pager_terminal(FILE *out)
{
	return pager.pid && out == stdout ? pager.terminal : fileno(out);
}
