/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/loader.h"

#include "base/write_all.h"
#include "module/module.h"
#include "os/program.h"
#include "os/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 64

/* The time that staprun gets to end after pfscope has died, before it is killed. */
#define PATIENCE_MS 10000

/* ---- the process ---- */

/* Shared with a successor, and until the load with pfscope, which fills in the first part. */
struct pfs_loader_job {
	char dir[PATH_MAX], file[PATH_MAX]; /* to remove at the end, or "" */
	char module[64];
	const char *words[MAX_WORDS + 1]; /* staprun and its arguments, in text */
	char text[16384];

	bool received; /* the request to load */
	bool loading;  /* staprun is about to be started, or was */
	pid_t pid;
	int pid_fd;
};

/* Waits for the request to load. False: pfscope has ended. */
static bool receive_job(struct pfs_loader_job *job, int control_fd)
{
	ssize_t got;
	char letter;

	do
		got = TEMP_FAILURE_RETRY(recv(control_fd, &letter, 1, 0));
	while (got > 0 && letter != 'L');
	return job->received = got > 0;
}

static int start_staprun(struct pfs_loader_job *job, int out_fd, int error_fd)
{
	static const char *const env[] = { "LC_ALL=C", NULL };
	const struct pfs_program staprun = { .argv = job->words, .env = env, .dies_with_parent = true };
	int ret = pfs_program_spawn(&staprun, out_fd, error_fd, &job->pid);

	close(out_fd);
	close(error_fd);
	if (ret)
		return ret;
	job->pid_fd = syscall(SYS_pidfd_open, job->pid, 0);
	return job->pid_fd < 0 ? -errno : 0;
}

/* Waits for staprun and returns its status. Ends it if pfscope asks for that or dies. */
static int watch_staprun(struct pfs_loader_job *job, int control_fd)
{
	struct pollfd fds[2] = { { job->pid_fd, POLLIN, 0 }, { control_fd, POLLIN, 0 } };
	int status = 0, timeout = -1, ready;
	char byte;

	while (!fds[0].revents) {
		ready = poll(fds, 2, timeout);
		if (ready < 0 && errno != EINTR)
			break;
		if (!ready) {
			kill(job->pid, SIGKILL);
		} else if (ready > 0 && fds[1].revents && !fds[0].revents) {
			if (recv(control_fd, &byte, 1, 0) == 1) {
				kill(job->pid, SIGINT);
				continue;
			}
			fds[1].fd = -1;
			timeout = PATIENCE_MS;
			kill(job->pid, SIGTERM);
		}
	}
	TEMP_FAILURE_RETRY(waitpid(job->pid, &status, 0));
	return status;
}

static void remove_temp(const struct pfs_loader_job *job)
{
	if (!job->dir[0])
		return;
	unlink(job->file);
	rmdir(job->dir);
}

static void report_end(int control_fd, struct pfs_loader_end end)
{
	if (send(control_fd, &end, sizeof(end), MSG_NOSIGNAL) < 0) { /* pfscope has ended */
	}
}

static void load_module(struct pfs_loader_job *job, int out_fd, int error_fd, int control_fd)
{
	bool foreign = pfs_module_loaded(job->module); /* then this one cannot be loaded */
	struct pfs_loader_end end = { 0 };

	job->loading = !foreign;
	end.failed = start_staprun(job, out_fd, error_fd);
	if (!end.failed) {
		end.status = watch_staprun(job, control_fd);
		end.left = !foreign && pfs_module_end(job->module, NULL) != 0;
	}
	remove_temp(job);
	report_end(control_fd, end);
}

/* Called by a process that is not its parent. The number is still staprun's: its parent died just now. */
static void end_staprun(pid_t pid)
{
	struct pollfd ended = { syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };

	if (ended.fd < 0)
		return;
	kill(pid, SIGTERM);
	if (!poll(&ended, 1, PATIENCE_MS))
		kill(pid, SIGKILL);
	close(ended.fd);
}

/* Ends and removes what a killed loader left, and reports the end to pfscope. */
static void clean_up(const struct pfs_loader_job *job, int control_fd)
{
	struct pfs_loader_end end = { .failed = -EPIPE };

	if (job->pid > 0)
		end_staprun(job->pid);
	if (job->loading && pfs_module_loaded(job->module))
		end.left = pfs_module_end(job->module, NULL) != 0;
	remove_temp(job);
	report_end(control_fd, end);
}

/* In the helper: the socket, staprun's standard output and standard error. */
static void load_and_keep(void *ctx, bool again)
{
	const int control_fd = PFS_HELPER_FD, out_fd = control_fd + 1, error_fd = control_fd + 2;
	struct pfs_loader_job *job = ctx;

	if (again && job->received)
		clean_up(job, control_fd);
	else if (receive_job(job, control_fd))
		load_module(job, out_fd, error_fd, control_fd);
	else
		remove_temp(job);
}

/* ---- pfscope's side ---- */

int pfs_loader_start(struct pfs_loader *loader, struct pfs_err *err)
{
	struct pfs_loader_job *job =
		mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fds[6] = { -1, -1, -1, -1, -1, -1 }, ret = 0;

	if (job == MAP_FAILED)
		return pfs_err_set(err, -ENOMEM, "no memory to load a module");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) || pipe2(fds + 2, O_CLOEXEC) ||
	    pipe2(fds + 4, O_CLOEXEC)) {
		ret = pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	} else {
		const struct pfs_helper helper = {
			.name = "pfscope-loader",
			.fds = (int[]){ fds[1], fds[3], fds[5] },
			.nr_fds = 3,
			.run = load_and_keep,
			.ctx = job,
		};

		ret = pfs_helper_start(&helper, err);
	}
	for (int i = 0; i < 6; i++)
		if (fds[i] >= 0 && (ret || i % 2))
			close(fds[i]);
	if (ret) {
		munmap(job, sizeof(*job));
		return ret;
	}
	fcntl(fds[2], F_SETPIPE_SZ, 1 << 20); /* large: it is drained at intervals */
	fcntl(fds[2], F_SETFL, O_NONBLOCK);
	fcntl(fds[4], F_SETFL, O_NONBLOCK);
	*loader = (struct pfs_loader){ fds[0], fds[2], fds[4], job };
	return 0;
}

void pfs_loader_keep(struct pfs_loader *loader, const char *dir, const char *file)
{
	snprintf(loader->job->file, sizeof(loader->job->file), "%s", file);
	snprintf(loader->job->dir, sizeof(loader->job->dir), "%s", dir);
}

/* From here on pfscope, which is about to drop its privileges, cannot change the job. */
static void forget_job(struct pfs_loader *loader)
{
	if (loader->job)
		munmap(loader->job, sizeof(*loader->job));
	loader->job = NULL;
}

int pfs_loader_load(struct pfs_loader *loader, const char *const *argv, const char *name, struct pfs_err *err)
{
	struct pfs_loader_job *job = loader->job;
	size_t len = 0;

	snprintf(job->module, sizeof(job->module), "%s", name);
	for (unsigned int i = 0; argv[i]; i++) {
		size_t size = strlen(argv[i]) + 1;

		if (i == MAX_WORDS || size > sizeof(job->text) - len)
			return pfs_err_set(err, -E2BIG, "too many arguments for staprun");
		job->words[i] = memcpy(job->text + len, argv[i], size);
		len += size;
	}
	forget_job(loader);
	if (send(loader->control_fd, "L", 1, MSG_NOSIGNAL) < 0)
		return pfs_err_set(err, -errno, "the process that loads the module has ended: %s", strerror(errno));
	return 0;
}

void pfs_loader_stop(struct pfs_loader *loader)
{
	if (send(loader->control_fd, "S", 1, MSG_NOSIGNAL) < 0) { /* it has ended already */
	}
}

int pfs_loader_ended(struct pfs_loader *loader, int timeout_ms, struct pfs_loader_end *end)
{
	struct pollfd fd = { loader->control_fd, POLLIN, 0 };

	if (poll(&fd, 1, timeout_ms) <= 0)
		return 0;
	memset(end, 0, sizeof(*end));
	if (recv(loader->control_fd, end, sizeof(*end), 0) != sizeof(*end))
		end->failed = -EPIPE; /* the loader itself was killed */
	return 1;
}

void pfs_loader_close(struct pfs_loader *loader)
{
	struct pfs_loader_end end;

	pfs_close(loader->out_fd);
	pfs_close(loader->error_fd);
	if (loader->control_fd >= 0) {
		shutdown(loader->control_fd, SHUT_WR);
		pfs_loader_ended(loader, 2 * PATIENCE_MS, &end);
		close(loader->control_fd);
	}
	forget_job(loader);
	*loader = (struct pfs_loader){ -1, -1, -1, NULL };
}
