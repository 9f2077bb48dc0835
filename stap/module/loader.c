/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module/loader.h"

#include "module/loaded.h"
#include "os/program.h"
#include "os/helper.h"

#include <errno.h>
#include <fcntl.h>
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

#define MAX_MESSAGE 65536
#define MAX_WORDS   64

/* The time that staprun gets to end after pfscope has died, before it is killed. */
#define PATIENCE_MS 10000

/* A module whose reader was killed stays in use for a moment. */
static bool remove_left(const char *name)
{
	const struct timespec moment = { .tv_nsec = 100000000 };

	for (int i = 0; i < 50 && pfs_module_loaded(name); i++) {
		if (i)
			nanosleep(&moment, NULL);
		pfs_module_remove(name, NULL);
	}
	return !pfs_module_loaded(name);
}

/* ---- the process ---- */

/* In memory that a successor shares. */
struct job {
	char kept[MAX_MESSAGE + 1], load[MAX_MESSAGE + 1]; /* messages, as received */
	const char *temp[3];				   /* folder, file */
	const char *words[MAX_WORDS + 2];		   /* the module's name, then staprun and its arguments */
	bool loading;					   /* staprun is about to be started, or was */
	pid_t pid;
	int pid_fd;
};

/* Strings one after the other, after the letter of the message's type. Returns their number, or -1. */
static int parse_strings(char *message, ssize_t len, const char **strings, int max)
{
	const char *p = message + 1, *end = message + len;
	int nr = 0;

	message[len] = '\0';
	for (; p < end && nr < max; p += strlen(p) + 1)
		strings[nr++] = p;
	strings[nr] = NULL;
	return p >= end ? nr : -1;
}

/* Receives the file to remove, if there is one, and then staprun's arguments. False: pfscope has ended. */
static bool receive_job(struct job *job, int control_fd)
{
	char message[MAX_MESSAGE + 1];
	ssize_t got;

	while ((got = recv(control_fd, message, MAX_MESSAGE, 0)) > 0 || (got < 0 && errno == EINTR)) {
		if (got > 0 && *message == 'K') {
			memcpy(job->kept, message, got);
			if (parse_strings(job->kept, got, job->temp, 2) != 2)
				return false;
		} else if (got > 0 && *message == 'L') {
			memcpy(job->load, message, got);
			return parse_strings(job->load, got, job->words, MAX_WORDS + 1) > 1;
		}
	}
	return false;
}

static int start_staprun(struct job *job, int out_fd, int error_fd)
{
	static const char *const env[] = { "LC_ALL=C", NULL };
	const struct pfs_program staprun = { .argv = job->words + 1, .env = env, .dies_with_parent = true };
	int ret = pfs_program_spawn(&staprun, out_fd, error_fd, &job->pid);

	close(out_fd);
	close(error_fd);
	if (ret)
		return ret;
	job->pid_fd = syscall(SYS_pidfd_open, job->pid, 0);
	return job->pid_fd < 0 ? -errno : 0;
}

/* Waits for staprun and returns its status. Ends it if pfscope asks for that or dies. */
static int watch_staprun(struct job *job, int control_fd)
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
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void remove_temp(const struct job *job)
{
	if (!job->temp[0])
		return;
	unlink(job->temp[1]);
	rmdir(job->temp[0]);
}

static void report_end(int control_fd, struct pfs_loader_end end)
{
	if (send(control_fd, &end, sizeof(end), MSG_NOSIGNAL) < 0) { /* pfscope has ended */
	}
}

static void load_module(struct job *job, int out_fd, int error_fd, int control_fd)
{
	bool foreign = pfs_module_loaded(job->words[0]); /* then this one cannot be loaded */
	struct pfs_loader_end end = { 0 };

	job->loading = !foreign;
	end.failed = start_staprun(job, out_fd, error_fd);
	if (!end.failed) {
		end.status = watch_staprun(job, control_fd);
		end.left = !foreign && !remove_left(job->words[0]);
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
static void clean_up(const struct job *job, int control_fd)
{
	struct pfs_loader_end end = { .failed = -EPIPE };

	if (job->pid > 0)
		end_staprun(job->pid);
	if (job->loading && pfs_module_loaded(job->words[0]))
		end.left = pfs_module_end(job->words[0], NULL) != 0;
	remove_temp(job);
	report_end(control_fd, end);
}

/* In the helper: the socket, staprun's standard output and standard error. */
static void load_and_keep(void *ctx, bool again)
{
	const int control_fd = PFS_HELPER_FD, out_fd = control_fd + 1, error_fd = control_fd + 2;
	struct job *job = ctx;

	if (again && job->load[0])
		clean_up(job, control_fd);
	else if (receive_job(job, control_fd))
		load_module(job, out_fd, error_fd, control_fd);
	else
		remove_temp(job);
}

/* ---- pfscope's side ---- */

static int start_helper(int control_fd, int out_fd, int error_fd, struct pfs_err *err)
{
	struct job *job = mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fds[] = { control_fd, out_fd, error_fd };
	const struct pfs_helper helper = {
		.name = "pfscope-loader",
		.fds = fds,
		.nr_fds = 3,
		.run = load_and_keep,
		.ctx = job,
	};
	int ret;

	if (job == MAP_FAILED)
		return pfs_err_set(err, -ENOMEM, "no memory to load a module");
	ret = pfs_helper_start(&helper, err);
	munmap(job, sizeof(*job));
	return ret;
}

int pfs_loader_start(struct pfs_loader *loader, struct pfs_err *err)
{
	int fds[6] = { -1, -1, -1, -1, -1, -1 }, ret = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) || pipe2(fds + 2, O_CLOEXEC) ||
	    pipe2(fds + 4, O_CLOEXEC))
		ret = pfs_err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
	if (!ret)
		ret = start_helper(fds[1], fds[3], fds[5], err);
	for (int i = 0; i < 6; i++)
		if (fds[i] >= 0 && (ret || i % 2))
			close(fds[i]);
	if (ret)
		return ret;
	fcntl(fds[2], F_SETPIPE_SZ, 1 << 20); /* large: it is drained at intervals */
	fcntl(fds[2], F_SETFL, O_NONBLOCK);
	fcntl(fds[4], F_SETFL, O_NONBLOCK);
	*loader = (struct pfs_loader){ fds[0], fds[2], fds[4] };
	return 0;
}

/* Sends the letter and the strings: first, and then those of the list. */
static int send_strings(struct pfs_loader *loader, char letter, const char *first, const char *const *list,
			struct pfs_err *err)
{
	char *message = NULL;
	size_t len;
	FILE *f = open_memstream(&message, &len);
	int ret = 0;

	if (!f)
		return pfs_err_set(err, -ENOMEM, "no memory to load a module");
	fputc(letter, f);
	fwrite(first, 1, strlen(first) + 1, f);
	for (; *list; list++)
		fwrite(*list, 1, strlen(*list) + 1, f);
	if (fclose(f))
		ret = pfs_err_set(err, -ENOMEM, "no memory to load a module");
	else if (len > MAX_MESSAGE)
		ret = pfs_err_set(err, -E2BIG, "too much to ask of one module: fewer processes");
	else if (send(loader->control_fd, message, len, MSG_NOSIGNAL) < 0)
		ret = pfs_err_set(err, -errno, "the process that loads the module has ended: %s", strerror(errno));
	free(message);
	return ret;
}

int pfs_loader_keep(struct pfs_loader *loader, const char *dir, const char *file, struct pfs_err *err)
{
	const char *const list[] = { file, NULL };

	return send_strings(loader, 'K', dir, list, err);
}

int pfs_loader_load(struct pfs_loader *loader, const char *const *argv, const char *name, struct pfs_err *err)
{
	return send_strings(loader, 'L', name, argv, err);
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

	if (loader->out_fd >= 0)
		close(loader->out_fd);
	if (loader->error_fd >= 0)
		close(loader->error_fd);
	if (loader->control_fd >= 0) {
		shutdown(loader->control_fd, SHUT_WR);
		pfs_loader_ended(loader, 2 * PATIENCE_MS, &end);
		close(loader->control_fd);
	}
	*loader = (struct pfs_loader){ -1, -1, -1 };
}
