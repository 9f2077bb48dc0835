/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope attach: records processes that are running already.
 */
#include "base/clock.h"
#include "common/command.h"
#include "common/recorded.h"
#include "os/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct argp_option options[] = {
	{ "duration", 'd', "TIME", 0, "Stop after TIME (10, 1.5s, 100ms)", 0 },
	{ "user", 'u', "USER", 0, "Record all processes of USER (a name or a number), including later ones", 0 },
	{ 0 },
};

static void add_pid(struct attach_args *args, const char *arg, struct argp_state *state)
{
	pid_t pid = pid_of_argument(state, arg);

	for (unsigned int i = 0; i < args->nr_pids; i++)
		if (args->pids[i] == pid)
			return;
	args->pids[args->nr_pids++] = pid;
}

/* Without a PID. */
static void check_traits(const struct recording_args *args, struct argp_state *state)
{
	if (args->config.all_of_user)
		return;
	if (!args->view.filter.nr_comms)
		argp_error(state, "no process given");
	if (!args->sources.source || !(args->sources.source->can & PFS_CAN_COMM))
		argp_error(state, "no process given (--comm without a PID: only with --source=%s)",
			   source_that(PFS_CAN_COMM));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct attach_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->recording;
		return 0;
	case 'd':
		args->duration_ns = duration_of_option(state, "duration", arg, 0);
		return 0;
	case ARGP_KEY_ARG:
		add_pid(args, arg, state);
		return 0;
	case 'u':
		args->recording.config.uid = uid_of_option(state, "user", arg);
		args->recording.config.all_of_user = true;
		return 0;
	case ARGP_KEY_NO_ARGS:
		check_traits(&args->recording, state);
		args->recording.by_trait = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[PID...]",
	.doc = "Record every page fault and every change of the memory regions of running processes, their threads and future children, until the processes end, TIME is over or Ctrl-C. The processes are not stopped. The bars are drawn on standard error at the end. Without a PID, --user selects all processes of a user, and with --source=stap --comm all processes of a name, including later ones.\v"
	       "Examples:\n"
	       "  pfscope attach 1234                     until the process ends or Ctrl-C\n"
	       "  pfscope attach -d 10 -o db.dat 1234     for 10 s, and keep the recording\n"
	       "  pfscope attach --user www-data -d 60    all its processes\n"
	       "  pfscope attach --source=stap --comm cc1 -d 60\n"
	       "\n"
	       "Exit status: 0; 1 if the recording failed or there is no such process; 2 for wrong usage; 3 with --strict if events were lost.",
	.children = recording_children,
};

struct attach {
	struct recording r;
	const struct attach_args *args;
	struct pollfd *fds; /* [0]: signals; [1 + i]: process i; -1: it has ended */
	int signal_fd;
	bool stop, quit;
};

/* Does it have memory of its own? 1, 0, or -errno. A file opened before an exec is empty afterwards. */
static int has_memory(pid_t pid)
{
	ssize_t got = 0;
	char byte;

	for (int i = 0; i < 5 && !got; i++) {
		int fd = pfs_process_open(pid, "maps");

		if (fd < 0)
			return -errno;
		got = read(fd, &byte, 1);
		close(fd);
	}
	return got > 0;
}

/* Refuses threads, and processes without memory of their own. */
static int open_target(struct pollfd *target, pid_t pid, struct pfs_err *err)
{
	int ret;

	*target = (struct pollfd){ syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };
	/* EINVAL, or ENOENT since 6.16: the number is in use, but not for a process. */
	if (target->fd < 0 && (errno == EINVAL || errno == ENOENT))
		return pfs_err_set(err, -EINVAL, "process %d: is a thread, not a process (see Tgid in /proc/%d/status)",
				   pid, pid);
	if (target->fd < 0)
		return pfs_err_set(err, -errno, "process %d: %s", pid,
				   errno == ESRCH ? "no such process" : strerror(errno));
	ret = has_memory(pid);
	if (ret < 0)
		return ret == -EACCES ? see_doctor(pfs_process_refused(pid, err), err)
				      : pfs_err_set(err, ret, "process %d: cannot read its memory regions: %s", pid,
						    strerror(-ret));
	if (!ret)
		return pfs_err_set(err, -EINVAL,
				   "process %d: is a kernel thread or has ended (it has no memory of its own)", pid);
	return 0;
}

static int open_targets(struct attach *a, struct pfs_err *err)
{
	unsigned int nr = a->args->nr_pids;
	int ret = 0;

	a->fds = calloc(nr + 1, sizeof(*a->fds));
	if (!a->fds)
		return pfs_err_set(err, -ENOMEM, "no memory for %u processes", nr);
	a->fds[0] = (struct pollfd){ a->signal_fd, POLLIN, 0 };
	for (unsigned int i = 1; i <= nr; i++)
		a->fds[i].fd = -1;
	for (unsigned int i = 1; !ret && i <= nr; i++)
		ret = open_target(&a->fds[i], a->args->pids[i - 1], err);
	return ret;
}

static void on_signals(struct attach *a)
{
	int sig;

	while ((sig = stop_request(a->signal_fd))) {
		a->quit |= a->stop && sig != SIGHUP; /* a terminal that is closed sends more than one */
		a->stop = true;
	}
}

/* Waits once. Returns the number of running targets, or -errno. */
static int watch_once(struct attach *a, int timeout_ms, struct pfs_err *err)
{
	unsigned int nr = a->args->nr_pids, nr_running = 0;
	int ret = recording_wait(&a->r, a->fds, nr + 1, timeout_ms, err);

	if (ret)
		return ret;
	on_signals(a);
	for (unsigned int i = 1; i <= nr; i++) {
		if (a->fds[i].fd >= 0 && a->fds[i].revents) {
			close(a->fds[i].fd);
			a->fds[i].fd = -1; /* poll() ignores it */
		}
		nr_running += a->fds[i].fd >= 0;
	}
	/* More processes of the name or user may start at any time. */
	return nr && !a->args->recording.config.all_of_user ? nr_running : 1;
}

static int watch(struct attach *a, struct pfs_err *err)
{
	uint64_t end = a->args->duration_ns ? pfs_now_ns() + a->args->duration_ns : UINT64_MAX;
	int ret = 1;

	while (ret > 0 && !a->stop) {
		uint64_t now = pfs_now_ns(), left = end > now ? end - now : 0;

		if (!left)
			break;
		ret = watch_once(a, left > 1000000000 ? 1000 : left / 1000000 + 1, err);
	}
	return ret < 0 ? ret : 0;
}

static int record(struct attach *a, struct pfs_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < a->args->nr_pids; i++)
		ret = recording_add(&a->r, a->args->pids[i], false, err);
	if (!ret)
		ret = recording_start(&a->r, err);
	if (!ret)
		ret = watch(a, err);
	if (!ret && !a->quit)
		ret = recording_finish(&a->r, err);
	return ret;
}

int attach_recorded(struct attach_args *args)
{
	struct attach a = { .args = args, .signal_fd = -1 };
	struct stop_before before;
	struct pfs_err err = { "" };
	bool opened = false;
	char program[32];
	int ret;

	a.signal_fd = stop_open(&before);
	ret = source_check_place(args->recording.sources.source, &err) ?: open_targets(&a, &err);
	if (!ret && args->nr_pids) { /* others are of the same kind, as a rule */
		snprintf(program, sizeof(program), "/proc/%d/exe", args->pids[0]);
		recording_choose_stack(&args->recording, program);
	}
	if (!ret) {
		ret = recording_open(&a.r, &args->recording, a.signal_fd, &err);
		opened = true;
	}
	if (!ret)
		ret = record(&a, &err);
	a.quit |= ret == -EINTR;
	if (ret && !a.quit)
		fail(&err);
	if (opened && recording_close(&a.r, &err))
		ret = fail(&err);
	for (unsigned int i = 0; a.fds && i <= args->nr_pids; i++)
		close(a.fds[i].fd);
	free(a.fds);
	recording_args_fini(&args->recording);
	if (a.quit)
		return EXIT_INTERRUPTED;
	return ret ? EXIT_FAILED : a.r.lost ? EXIT_LOST : EXIT_OK;
}

int cmd_attach(int argc, char **argv)
{
	struct attach_args args = { .pids = calloc(argc, sizeof(pid_t)) };
	int status = EXIT_FAILED;

	if (!args.pids)
		message("no memory for the arguments");
	else if (!cannot_parse(&argp, argc, argv, 0, &args))
		status = attach_recorded(&args);
	free(args.pids);
	return status;
}
