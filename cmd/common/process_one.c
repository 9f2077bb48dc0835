/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All orphans become children of process 1, pfscope's own helpers among them: a recording that ends with the last of its
 * children would wait for them for ever. So as process 1 pfscope does its work in a child.
 */
#include "common/command.h"

#include <sys/wait.h>
#include <unistd.h>

/* Reaps all that have ended. Returns true, with its status as wait() returns it, if the child is among them. */
static bool reap(pid_t child, int *status)
{
	bool ended = false;
	int each;
	pid_t pid;

	while ((pid = waitpid(-1, &each, WNOHANG)) > 0) {
		if (pid != child)
			continue;
		ended = true;
		*status = each;
	}
	return ended;
}

/* What the terminal sends comes to the child, too, which is in the same process group. */
static void forward(pid_t child, const siginfo_t *info)
{
	if (info->si_code <= 0)
		kill(child, info->si_signo);
}

static int serve(pid_t child, const sigset_t *all)
{
	siginfo_t info;
	int status = 0;

	while (!reap(child, &status))
		if (sigwaitinfo(all, &info) > 0 && info.si_signo != SIGCHLD)
			forward(child, &info);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void process_one(void)
{
	sigset_t all, before;
	pid_t child;

	if (getpid() != 1)
		return;
	signal(SIGCHLD, SIG_DFL); /* ignored, it would take the children's statuses */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	child = fork();
	if (child > 0)
		_exit(serve(child, &all));
	sigprocmask(SIG_SETMASK, &before, NULL); /* without memory for a child nothing will be recorded, either */
}
