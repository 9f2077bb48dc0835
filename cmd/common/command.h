/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of the program: a file and a row in main.c's table each.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include "base/err.h"
#include "model/model.h"

#include <argp.h>
#include <stdbool.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_LOST = 3, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct command {
	const char *name;
	const char *what;		    /* one line for `pfscope --help` */
	int (*main)(int argc, char **argv); /* argv[0] is "pfscope NAME"; the exit status */
};

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_events(int argc, char **argv);
int cmd_maps(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_tape(int argc, char **argv);
int cmd_mrc(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_stap(int argc, char **argv);

/* "pfscope: MESSAGE" on standard error, with what a terminal would act on escaped. */
void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* argp_parse(), which exits by itself with EXIT_USAGE on a wrong use. True: it could not, and that was told. */
bool cannot_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* --strict: status, or, told, EXIT_LOST if events are missing of what the model was made of. */
int strict_status(bool strict, const struct pfs_model *model, int status);

/* tell() and the exit status of a failure. */
int fail(const struct pfs_err *err);

#endif
