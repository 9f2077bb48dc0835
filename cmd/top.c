/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pfscope top: regions and their faults on a full screen, of processes that are recorded or of a recording.
 *
 * Three processes, so that each may be killed: one runs `run`, `attach` or `events`, whose event lines go into a temporary
 * file; one shows them (common/watch.c); this one waits for both, and whatever ended the screen, leaves the terminal as it
 * was. The recorder has a session of its own: keys are the screen's.
 */
#include "base/number.h"
#include "base/units.h"
#include "base/write_all.h"
#include "common/command.h"
#include "common/invoking_user.h"
#include "common/terminal.h"
#include "common/view_args.h"
#include "common/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_SPEED = 0x700, OPT_COLOR, OPT_SOURCE, OPT_CLASS };

struct top_args {
	const char *file; /* -o */
	const char *user, *source, *class;
	char *command_line; /* what is shown of processes or a file */
	double speed;	    /* 0: not given */
	enum pfs_color_when color;
	char **command; /* ends with NULL; or NULL */
	char **words;	/* PIDs or a file */
	unsigned int nr_words;
};

static const struct argp_option options[] = {
	{ "output-file", 'o', "FILE", 0, "Keep the recording in FILE, as run and attach do", 0 },
	{ "user", 'u', "USER", 0, "All processes of USER, including later ones", 0 },
	{ "speed", OPT_SPEED, "N", 0, "Replay a recording N times as fast as it was (default 1)", 0 },
	{ "source", OPT_SOURCE, "SOURCE", 0,
	  "Record through `ftrace', SystemTap (`stap') or `perf' events; `auto' (the default): ftrace, or perf without root",
	  0 },
	{ "class", OPT_CLASS, "LIST", 0, "With a recording: only faults of these classes (of `report --by class')", 0 },
	{ "color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL, "Use colors: always, never, auto (the default)", 0 },
	{ 0 },
};

/* As a time is given, exactly. */
static bool parse_speed(const char *arg, double *speed)
{
	uint64_t billionths = 0;
	bool valid = strspn(arg, "0123456789.") == strlen(arg) && pfs_seconds_parse(arg, &billionths);

	*speed = billionths / 1e9;
	return valid && billionths;
}

static void check(struct top_args *args, struct argp_state *state)
{
	bool pids = args->nr_words && pfs_pid_parse(args->words[0]);
	bool replay = args->nr_words && !pids;

	if (!args->command && !args->user && !args->nr_words)
		argp_error(state, "no process, command or recording given");
	if (!!args->command + !!args->user + !!args->nr_words > 1)
		argp_error(state, "processes, --user, a recording and a command: only one of them");
	for (unsigned int i = 0; i < args->nr_words; i++)
		if (pids != !!pfs_pid_parse(args->words[i]) || (!pids && i))
			argp_error(state, "%s: only one recording can be shown, or processes", args->words[i]);
	if ((args->speed || args->class) && !replay)
		argp_error(state, "--%s: only with a recording", args->speed ? "speed" : "class");
	if (replay && (args->file || args->source))
		argp_error(state, "--%s: not with a recording", args->file ? "output-file" : "source");
	if (replay && !strcmp(args->words[0], "-"))
		argp_error(state, "standard input has the keys; name the file of the recording");
	if (replay && !args->speed)
		args->speed = 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_args *args = state->input;
	uint32_t labels = 0;

	switch (key) {
	case 'o':
		args->file = strcmp(arg, "--") ? arg : PFS_RECORDING_NAME;
		return 0;
	case 'u':
		args->user = arg;
		return 0;
	case OPT_SOURCE:
		args->source = arg;
		return 0;
	case OPT_CLASS:
		args->class = arg;
		classes_of_option(arg, &labels, state);
		return 0;
	case OPT_SPEED:
		if (!parse_speed(arg, &args->speed))
			argp_error(state, "--speed: %s: must be a number above 0 (2, 0.5)", arg);
		return 0;
	case OPT_COLOR:
		args->color = color_of_option(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (state->quoted && state->next - 1 >= state->quoted) {
			args->command = &state->argv[state->next - 1];
			state->next = state->argc;
		} else {
			args->words[args->nr_words++] = arg;
		}
		return 0;
	case ARGP_KEY_END:
		check(args, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "PID...|FILE|-- COMMAND [ARG...]",
	.doc = "Show the regions of processes on a full screen while their faults are recorded, or replay a recording: faults per second, major faults, touched pages, lost events; by region, file, process or thread; at any moment of the past; and each page of a region. `?' lists the keys. The output of COMMAND is printed when the screen has ended.\v"
	       "Examples:\n"
	       "  pfscope top 1234                     a running process\n"
	       "  pfscope top --user www-data          all processes of a user\n"
	       "  pfscope top -o gcc.dat -- gcc -c x.c a command, and keep the recording\n"
	       "  pfscope top --speed 0.1 gcc.dat      a recording, slower than it was\n"
	       "\n"
	       "Exit status: 0 after `q'; that of COMMAND if it ended by itself; 1 if the recording failed; 2 for wrong usage; 128+N after signal N.",
};

struct top {
	const struct top_args *args;
	struct stop_before before;
	int lines_fd, messages_fd, output_fd; /* temporary files: of events, of pfscope's messages, of the command */
	int ended[2];
	pid_t recorder, screen;
	int recorder_status, screen_status; /* as wait gives them */
	bool recorder_ended, screen_ended, asked;
	struct terminal terminal;
};

/* ---- the recorder ---- */

static void add(char **argv, int *argc, const char *format, const char *word)
{
	if (word && asprintf(&argv[*argc], format, word) >= 0)
		(*argc)++;
}

/* The arguments of the command that gives the events. NULL: no memory. */
static char **recorder_argv(const struct top_args *args, int *argc)
{
	int nr = 0;
	char **argv;

	while (args->command && args->command[nr])
		nr++;
	argv = calloc(nr + args->nr_words + 9, sizeof(*argv));
	*argc = 0;
	if (!argv)
		return NULL;
	add(argv, argc, "pfscope %s", args->speed ? "events" : args->command ? "run" : "attach");
	if (!args->speed) {
		add(argv, argc, "%s", "--events=lines");
		add(argv, argc, "%s", "--no-bars");
	}
	add(argv, argc, "--output-file=%s", args->file);
	add(argv, argc, "--source=%s", args->source);
	add(argv, argc, "--user=%s", args->user);
	add(argv, argc, "--class=%s", args->class);
	add(argv, argc, "%s", "--");
	for (int i = 0; i < nr; i++)
		argv[(*argc)++] = args->command[i];
	for (unsigned int i = 0; i < args->nr_words; i++)
		argv[(*argc)++] = args->words[i];
	return argv;
}

/* A descriptor of no command, as a stream. */
static FILE *stream(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return own < 0 ? NULL : fdopen(own, "a");
}

/* Never returns. pfscope's own output and that of the command go to different files. */
static void record(struct top *top)
{
	int argc, null = open("/dev/null", O_RDWR), err_fd = isatty(STDERR_FILENO) ? top->output_fd : -1;
	char **argv = recorder_argv(top->args, &argc);
	FILE *lines = stream(top->lines_fd), *messages = stream(top->messages_fd);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(top->ended[0]);
	close(top->ended[1]);
	setsid();
	stop_restore(&top->before);
	if (!argv || !lines || !messages || dup2(null, STDIN_FILENO) < 0 || dup2(top->output_fd, STDOUT_FILENO) < 0 ||
	    (err_fd >= 0 && dup2(err_fd, STDERR_FILENO) < 0))
		_exit(EXIT_FAILED);
	setvbuf(messages, NULL, _IOLBF, 0);
	stdout = lines;
	stderr = messages;
	exit((top->args->speed ? cmd_events : top->args->command ? cmd_run : cmd_attach)(argc, argv));
}

/* ---- the screen ---- */

/* The same file once more, with a position of its own, for reading. */
static int open_again(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Neither the screen nor what waits for it needs root. */
static int become_user(struct pfs_err *err)
{
	struct invoking_user user;
	int ret = invoking_user_find(&user, NULL, err);

	if (ret)
		return ret;
	ret = invoking_user_drop(&user);
	return ret ? pfs_err_set(err, ret, "cannot become %s: %s", user.name, strerror(-ret)) : 0;
}

/* Never returns. */
static void show(struct top *top, pid_t parent)
{
	struct watch_config config = {
		.lines_fd = open_again(top->lines_fd),
		.past_fd = open_again(top->lines_fd),
		.ended_fd = top->ended[0],
		.title = top->args->command_line,
		.speed = top->args->speed,
		.color = top->args->color,
	};
	FILE *messages = stream(top->messages_fd);
	struct pfs_err err = { "" };
	int status = EXIT_FAILED;

	prctl(PR_SET_NAME, "pfscope-screen");
	close(top->ended[1]);
	if (messages)
		stderr = messages;
	if (config.lines_fd < 0 || config.past_fd < 0)
		message("cannot read the events: %s", strerror(errno));
	else if (become_user(&err))
		fail(&err);
	else
		status = EXIT_OK;
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* after the change of user, which resets it */
	if (!status && getppid() == parent)
		status = watch(&config);
	if (getppid() != parent)
		kill(top->recorder, SIGTERM);
	exit(status);
}

/* ---- this process ---- */

/* Not before the recorder has become the invoking user. */
static void end_recorder(struct top *top)
{
	top->asked = !kill(top->recorder, SIGTERM) || errno != EPERM;
}

static void reap(struct top *top)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (WIFSTOPPED(status)) {
			if (pid == top->screen) {
				raise(SIGSTOP);
				kill(top->screen, SIGCONT);
			}
		} else if (pid == top->recorder) {
			top->recorder_status = status;
			top->recorder_ended = true;
			(void)!write(top->ended[1], "e", 1);
		} else if (pid == top->screen) {
			top->screen_status = status;
			top->screen_ended = true;
		}
	}
}

static void on_signal(struct top *top, int sig)
{
	if (sig == SIGCHLD)
		reap(top);
	else if (!top->screen_ended)
		kill(top->screen, sig);
	else if (sig != SIGTSTP && sig != SIGCONT)
		kill(top->recorder, sig);
}

/* Until both have ended. */
static void wait_for_both(struct top *top)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&set, signals[i]);
	reap(top);
	while (!top->screen_ended || !top->recorder_ended) {
		const struct timespec moment = { .tv_sec = top->screen_ended ? 0 : 3600, .tv_nsec = 100000000 };
		int sig = sigtimedwait(&set, NULL, &moment);

		if (sig > 0)
			on_signal(top, sig);
		if (top->screen_ended && terminal_is_entered(&top->terminal))
			terminal_leave(&top->terminal);
		if (top->screen_ended && !top->recorder_ended && !top->asked)
			end_recorder(top);
	}
	if (terminal_is_entered(&top->terminal))
		terminal_leave(&top->terminal);
}

static int start(struct top *top, struct pfs_err *err)
{
	pid_t self = getpid();
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	pfs_close(stop_open(&top->before));
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pipe2(top->ended, O_CLOEXEC))
		return pfs_err_set(err, -errno, "cannot create a pipe: %s", strerror(errno));
	top->recorder = fork();
	if (!top->recorder)
		record(top);
	if (top->recorder < 0)
		return pfs_err_set(err, -errno, "cannot fork: %s", strerror(errno));
	top->terminal.on = true; /* the screen's doing, which this process undoes if need be */
	top->screen = fork();
	if (!top->screen)
		show(top, self);
	if (top->screen < 0) {
		kill(top->recorder, SIGTERM);
		waitpid(top->recorder, NULL, 0);
		return pfs_err_set(err, -errno, "cannot fork: %s", strerror(errno));
	}
	prctl(PR_SET_NAME, "pfscope-top");
	return 0;
}

static void copy_out(int to, int from)
{
	struct stat st;

	if (!fstat(from, &st))
		pfs_copy_file(to, from, st.st_size);
}

/* Of wait, as an exit status. */
static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int status_of_top(const struct top *top)
{
	int screen = exit_status(top->screen_status), recorder = exit_status(top->recorder_status);

	if (WIFSIGNALED(top->screen_status)) {
		message("the screen was ended by signal %d (%s)", WTERMSIG(top->screen_status),
			strsignal(WTERMSIG(top->screen_status)));
		return EXIT_FAILED;
	}
	if (WIFSIGNALED(top->recorder_status) && !top->asked) {
		message("the recording was ended by signal %d (%s)", WTERMSIG(top->recorder_status),
			strsignal(WTERMSIG(top->recorder_status)));
		return EXIT_FAILED;
	}
	if (screen)
		return screen > 128 ? screen : EXIT_FAILED;
	/* What its SIGTERM came to after q. */
	return top->asked && recorder == 128 + SIGTERM ? EXIT_OK : recorder;
}

static int open_files(struct top *top, struct pfs_err *err)
{
	int ret = top->lines_fd = pfs_temp_open(err);

	if (ret >= 0)
		ret = top->messages_fd = pfs_temp_open(err);
	if (ret >= 0)
		ret = top->output_fd = pfs_temp_open(err);
	if (ret < 0)
		return ret;
	/* Several write to them. */
	fcntl(top->messages_fd, F_SETFL, O_APPEND | O_RDWR);
	fcntl(top->output_fd, F_SETFL, O_APPEND | O_RDWR);
	return 0;
}

/* The screen is on standard output, its keys come from standard input. */
static int check_terminal(struct top *top, struct pfs_err *err)
{
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || terminal_init(&top->terminal, STDIN_FILENO, STDOUT_FILENO))
		return pfs_err_set(
			err, -ENOTTY,
			"top: standard input and output must be a terminal (`pfscope report' prints tables)");
	if (!term || !*term || !strcmp(term, "dumb"))
		return pfs_err_set(err, -ENOTTY, "top: the terminal cannot show a screen (TERM=%s)", term ? term : "");
	return 0;
}

/* "processes 12 34", "processes of root", "x.dat" */
static char *describe(const struct top_args *args)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (args->user)
		fprintf(out, "processes of %s", args->user);
	else if (args->command)
		fputs(args->command[0], out);
	else if (!args->speed)
		fputs(args->nr_words > 1 ? "processes" : "process", out);
	for (unsigned int i = 0; i < args->nr_words; i++)
		fprintf(out, "%s%s", args->speed ? "" : " ", args->words[i]);
	return fclose(out) ? NULL : text;
}

int cmd_top(int argc, char **argv)
{
	struct top_args args = { .words = calloc(argc, sizeof(char *)) };
	struct top top = { .args = &args, .lines_fd = -1, .messages_fd = -1, .output_fd = -1 };
	struct pfs_err err = { "" };
	int status = EXIT_FAILED;

	if (!args.words || cannot_parse(&argp, argc, argv, ARGP_IN_ORDER, &args)) {
		free(args.words);
		return EXIT_FAILED;
	}
	args.command_line = describe(&args);
	if (!args.command_line)
		pfs_err_set(&err, -ENOMEM, "no memory for the arguments");
	if (args.command_line && check_terminal(&top, &err))
		status = EXIT_USAGE;
	if (!args.command_line || status == EXIT_USAGE || open_files(&top, &err) || start(&top, &err)) {
		fail(&err);
	} else {
		if (become_user(&err)) {
			kill(top.screen, SIGTERM);
			fail(&err);
		}
		wait_for_both(&top);
		copy_out(STDOUT_FILENO, top.output_fd);
		copy_out(STDERR_FILENO, top.messages_fd);
		status = status_of_top(&top);
	}
	pfs_close(top.lines_fd);
	pfs_close(top.messages_fd);
	pfs_close(top.output_fd);
	free(args.command_line);
	free(args.words);
	return status;
}
