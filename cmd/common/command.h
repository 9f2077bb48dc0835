/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of the program: each is a file and a row in main.c's table. This header has what every command needs at
 * its edges: messages on standard error, exit statuses, argp, signals. What else they share, in this room:
 *
 *	pipeline.h		the way of events: filter, model, writers
 *	reading.h, view_args.h	a command that reads a recording of any kind; the options of one that draws
 *	recording.h		what run and attach share, --source and --refault among it
 *	recorded.h		their recordings once the arguments are parsed, for kmap, too
 *	pager.h			standard output through the pager of its user
 *	launch.h		the recorded command
 *	watch.h, terminal.h	the screen of top
 *	invoking_user.h		the user on whose behalf pfscope runs
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "base/err.h"
#include "model/filter.h"

#include <argp.h>
#include <signal.h>
#include <stdbool.h>

/* Where a recording is whose name is not given. */
#define PFS_RECORDING_NAME "pfscope.dat"

/* argv[0] is "pfscope NAME"; they return the exit status. */
int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_maps(int argc, char **argv);
int cmd_pages(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_tape(int argc, char **argv);
int cmd_mrc(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_archive(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_stap(int argc, char **argv);
int cmd_kmap(int argc, char **argv);

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOST = 3,
	EXIT_GATE = 3,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_INTERRUPTED = 128 + SIGINT,
};

/* Prints "pfscope: MESSAGE" on standard error, with control characters escaped. */
void message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for the report() of libraries. */
void report_message(void *unused, const char *line);

/* Prints the error, unless it is empty (reported before), and returns EXIT_FAILED. */
int fail(const struct pfs_err *err);

/* The exit status of a result: EXIT_OK for 0, EXIT_INTERRUPTED for -EINTR, else as fail(). */
int status_of(int ret, const struct pfs_err *err);

/* argp_parse(), which exits with EXIT_USAGE on wrong usage. Returns true if it failed, after a message. */
bool cannot_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* --help, -h, --usage and --version, which every command has (help.c). */
extern const struct argp_option help_options[];
error_t help_parse(int key, char *arg, struct argp_state *state);

/*
 * Keys of options that are only stored, in a member of the parser's struct: a flag sets a bool, a word keeps its
 * argument. option_store() is the default of such a parser. ARGP_ERR_UNKNOWN: another key.
 */
enum { OPTION_KEYS = 1 << 20 };
#define OPTION_KEY(base, value, type, member) \
	((base) + offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (value *)0))
#define OPTION_FLAG(type, member) OPTION_KEY(OPTION_KEYS, bool, type, member)
#define OPTION_WORD(type, member) OPTION_KEY(2 * OPTION_KEYS, const char *, type, member)
error_t option_store(void *args, int key, const char *arg);

/* The index of the option's argument among nr words; another one is wrong usage: "--OPTION: ARG: must be WANTED". */
int option_word(struct argp_state *state, const char *option, const char *arg, const char *const *words, int nr,
		const char *wanted);

/* A time, at least least_ns (0: any but 0); a process; a user's number. Another argument is wrong usage, as above. */
uint64_t duration_of_option(struct argp_state *state, const char *option, const char *arg, uint64_t least_ns);
pid_t pid_of_argument(struct argp_state *state, const char *arg);
uint32_t uid_of_option(struct argp_state *state, const char *option, const char *arg);

/* --strict: returns EXIT_LOST, after a message, if the model lacks events; otherwise status. */
int strict_status(bool strict, const struct pfs_model *model, int status);

/* Warns of a --region that matches nothing in the model. */
void warn_no_region(const struct pfs_model *model, const struct pfs_filter *filter);

/* ---- signals that ask to stop, as a descriptor to poll (stop.c) ---- */

/* The signal state that a started command gets back. */
struct stop_before {
	sigset_t mask;
	struct sigaction pipe, child;
};

/*
 * Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGCHLD, ignores SIGPIPE, and returns a descriptor for the
 * former, or -errno. SIGCHLD is set to its default, so that children can be waited for. The previous state
 * goes to *before, for stop_restore() in a child.
 */
int stop_open(struct stop_before *before);
void stop_restore(const struct stop_before *before);

/*
 * As process 1, of a machine or of a PID namespace, forks and returns in the child; the parent reaps, forwards signals, and
 * exits with the child's status. Otherwise does nothing. To be called before stop_open() (process_one.c).
 */
void process_one(void);

/*
 * The next pending signal, or 0. A repetition within 50 ms is ignored: timeout(1) sends the signal to its command,
 * and then to the command's process group.
 */
int stop_next(int fd);

/* The next one that is not SIGCHLD, or 0. */
int stop_request(int fd);

/*
 * Shall the end of a recording that is under way be given up? SIGINT, SIGQUIT and a second SIGTERM ask for that; a
 * terminal that is closed does not.
 */
bool stop_at_once(int fd);

#endif
