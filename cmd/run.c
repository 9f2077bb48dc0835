/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope run: records a command from its first instruction until the last of its processes ends.
 */
#include "base/clock.h"
#include "base/escape.h"
#include "common/command.h"
#include "common/recorded.h"
#include "event/source.h"
#include "os/process.h"

#include <argz.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * How long the command may take to end after a SIGTERM until its recording is kept without its end, and the other
 * processes after a SIGTERM or SIGHUP has ended the command. Service managers send SIGKILL later: docker after 10 s.
 */
#define GRACE_NS UINT64_C(2000000000)

static const struct argp_option options[] = {
	{ "user", 'u', "USER", 0, "Run it as USER (default: who invoked sudo)", 1 },
	{ "no-follow", OPTION_FLAG(struct run_args, recording.config.no_follow), NULL, 0,
	  "Record only the first process, not its children", 1 },
	{ "no-aslr", OPTION_FLAG(struct run_args, without.aslr), NULL, 0, "Without address space randomization", 1 },
	{ "no-thp", OPTION_FLAG(struct run_args, without.thp), NULL, 0, "Without transparent huge pages", 1 },
	{ "count", OPTION_FLAG(struct run_args, recording.config.count), NULL, 0,
	  "Also count faults in the kernel (report --check)", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_args *args = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &args->recording;
		return 0;
	case 'u':
		args->recording.user = arg;
		return 0;
	case ARGP_KEY_ARG: /* the rest belongs to the command */
		args->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command given");
		return 0;
	default:
		return option_store(args, key, arg);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[--] COMMAND [ARG...]",
	.doc = "Run COMMAND and record every page fault and every change of the memory regions of its processes and threads, including all children. The bars are drawn on standard error when the last process has ended. The exit status is that of COMMAND.\v"
	       "Examples:\n"
	       "  pfscope run -- ls -l                     draw the bars of ls\n"
	       "  pfscope run -o gcc.dat -- gcc -c x.c     keep the recording\n"
	       "  pfscope run --events=json --no-bars -- true | jq .kind\n"
	       "\n"
	       "Exit status: that of COMMAND (128+N after signal N); 127 if it is not found, 126 if it cannot be executed, 1 if the recording failed, 2 for wrong usage, 3 with --strict if events were lost.",
	.children = recording_children,
};

struct run {
	struct recording r;
	struct launch launch;
	const struct run_args *args;
	int signal_fd;
	int status; /* of the command, as wait gives it */
	bool command_ended, all_ended;
	bool finished;	       /* the recording, before the command has ended */
	uint64_t ended_ns;     /* when the command did */
	bool asked;	       /* SIGTERM or SIGHUP came before that */
	uint64_t term_ns;      /* when SIGTERM did, 0: it did not */
	unsigned int nr_stops; /* signals, but those that the command alone got */
	bool stop, abort;      /* the recording: and keep it, or at once */
	uint64_t minor, major; /* the kernel's counts of all processes that ended */
};

/* Reaps the command and its orphans (pfscope is their subreaper). */
static void reap(struct run *run)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		run->minor += usage.ru_minflt;
		run->major += usage.ru_majflt;
		if (pid == run->launch.pid) {
			run->status = status;
			run->command_ended = true;
			run->ended_ns = pfs_now_ns();
		}
	}
	if (pid < 0 && errno == ECHILD)
		run->all_ended = true;
}

/*
 * The first one is the command's while that runs: the terminal has sent SIGINT and SIGQUIT to it, too, if that has the
 * same; the others are passed on. A command may get any number of SIGHUP, and a terminal that is closed sends more than one.
 */
static void on_stop(struct run *run, int sig)
{
	bool passed_on = !run->command_ended && (sig == SIGTERM || sig == SIGHUP);

	if (passed_on) {
		kill(run->launch.pid, sig);
		run->asked = true;
		if (sig == SIGTERM && !run->term_ns)
			run->term_ns = pfs_now_ns();
	} else if (!run->command_ended && run->r.user.other_session) {
		kill(-run->launch.pid, sig);
	}
	if (sig == SIGHUP && (passed_on || run->stop))
		return;
	run->abort = run->stop;
	run->stop = run->command_ended || ++run->nr_stops > 1;
}

static void on_signal(struct run *run, int sig)
{
	if (sig == SIGCHLD)
		reap(run);
	else
		on_stop(run, sig);
}

/* Is it the rest of the processes only, after a SIGTERM or SIGHUP that the command got? */
static bool is_ending(const struct run *run)
{
	return run->asked && run->command_ended;
}

static bool over(const struct run *run)
{
	bool others_count = !run->args->recording.config.no_follow && !run->finished;

	return run->stop || run->all_ended || (run->command_ended && !others_count) ||
	       (is_ending(run) && pfs_now_ns() - run->ended_ns > GRACE_NS);
}

/* Does a command that got SIGTERM go on? Who sent it may send SIGKILL next. */
static bool is_overdue(const struct run *run)
{
	return run->term_ns && !run->command_ended && pfs_now_ns() - run->term_ns > GRACE_NS;
}

static int finish(struct run *run, struct pfs_err *err)
{
	struct pfs_live *live = run->r.live;

	run->finished = true;
	if (run->all_ended &&
	    live->source->note(live, run->launch.pid, PFS_FACT(RUSAGE, .minor = run->minor, .major = run->major)))
		return pfs_err_set(err, -ENOMEM, "no memory for a note");
	return recording_finish(&run->r, err);
}

/* As finish(), but a second SIGTERM does not discard what is kept; it is heeded afterwards. */
static int finish_early(struct run *run, struct pfs_err *err)
{
	run->r.stop_fd = -1;
	return finish(run, err);
}

/* If the recording fails, or is over before the command, pfscope still waits for the command. */
static int watch(struct run *run, struct pfs_err *err)
{
	struct pollfd fd = { run->signal_fd, POLLIN, 0 };
	int ret = 0, sig;

	while (!over(run)) {
		bool records = !ret && !run->finished;
		int timeout_ms = is_ending(run) || (records && run->term_ns) ? 100 : -1;

		if (records) {
			ret = is_overdue(run) ? finish_early(run, err)
					      : recording_wait(&run->r, &fd, 1, timeout_ms, err);
			if (ret)
				recording_failed(&run->r, err);
		} else {
			poll(&fd, 1, timeout_ms);
		}
		while ((sig = stop_next(run->signal_fd)))
			on_signal(run, sig);
	}
	return ret;
}

/* The command as it would be typed, the caller's. NULL: no memory. */
static char *command_text(char **command)
{
	char *words = NULL, *text;
	size_t len = 0;

	text = argz_create(command, &words, &len) ? NULL : pfs_quote_words(words, len);
	free(words);
	return text;
}

static int note_command(struct run *run)
{
	char *text = command_text(run->args->command);
	struct pfs_live *live = run->r.live;
	int ret = text ? live->source->note(live, 0, PFS_FACT(COMMAND, .text = text)) : -ENOMEM;

	if (!ret && run->args->recording.config.no_follow)
		ret = live->source->note(live, 0, PFS_FACT(ONLY, .pid = run->launch.pid));
	free(text);
	return ret;
}

/* The exec that is to come. */
static int note_args(struct run *run)
{
	char *text = command_text(run->args->command);
	struct pfs_live *live = run->r.live;
	int ret = !text ? -ENOMEM
			: live->source->note(live, run->launch.pid,
					     PFS_FACT(ARGS, .since_ns = pfs_now_ns(), .text = text));

	free(text);
	return ret;
}

/* From the waiting child to the end of the recording. Returns the exit status. */
static int record(struct run *run, struct pfs_err *err)
{
	int ret = note_command(run) ? pfs_err_set(err, -ENOMEM, "no memory for a note") : 0, sig = 0;

	if (!ret)
		ret = recording_add(&run->r, run->launch.pid, true, err);
	if (!ret && note_args(run))
		ret = pfs_err_set(err, -ENOMEM, "no memory for a note");
	if (!ret)
		ret = recording_start(&run->r, err);
	if (!ret)
		sig = stop_request(run->signal_fd);
	if (ret || sig) {
		launch_abandon(&run->launch);
		return ret ? status_of(ret, err) : 128 + sig;
	}
	ret = launch_go(&run->launch, run->args->command[0], err);
	if (ret) {
		fail(err);
		return ret == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	if (watch(run, err))
		return EXIT_FAILED;
	if (run->abort)
		return EXIT_INTERRUPTED;
	ret = run->finished ? 0 : finish(run, err);
	if (ret)
		return status_of(ret, err);
	if (!run->command_ended)
		return EXIT_INTERRUPTED;
	if (run->r.lost)
		return EXIT_LOST;
	return WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status);
}

int run_recorded(struct run_args *args)
{
	struct run run = { .args = args };
	struct stop_before before;
	struct pfs_err err = { "" };
	char path[4096];
	int status = EXIT_FAILED, ret;

	if (source_check_place(args->recording.sources.source, &err)) {
		recording_args_fini(&args->recording);
		return fail(&err);
	}
	process_one();
	if (pfs_command_path(args->command[0], path, sizeof(path))) {
		args->recording.config.is_32bit = pfs_program_is_32bit(path);
		recording_choose_stack(&args->recording, path);
	}
	/* Helpers must not become children to be waited for, as of a subreaper that has executed pfscope. */
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	run.signal_fd = stop_open(&before);
	ret = recording_open(&run.r, &args->recording, run.signal_fd, &err);
	if (ret) {
		status = status_of(ret, &err);
	} else if (prctl(PR_SET_CHILD_SUBREAPER, 1)) {
		message("cannot become a subreaper: %s", strerror(errno));
	} else if (launch_start(&run.launch, args->command, &args->without, &run.r.user, &before, &err)) {
		fail(&err);
	} else {
		status = record(&run, &err);
	}
	if (recording_close(&run.r, &err))
		status = fail(&err);
	close(run.signal_fd);
	recording_args_fini(&args->recording);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run_args args = { 0 };

	return cannot_parse(&argp, argc, argv, ARGP_IN_ORDER, &args) ? EXIT_FAILED : run_recorded(&args);
}
