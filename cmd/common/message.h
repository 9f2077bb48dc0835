/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every command needs at its edges: messages on standard error, exit statuses, argp.
 */
#ifndef CMD_MESSAGE_H
#define CMD_MESSAGE_H

#include "base/err.h"
#include "model/model.h"

#include <argp.h>
#include <signal.h>
#include <stdbool.h>

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOST = 3,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_INTERRUPTED = 128 + SIGINT,
};

/* Prints "pfscope: MESSAGE" on standard error, with control characters escaped. */
void message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for the report() of libraries. */
void report_message(void *unused, const char *line);

/* Prints the error and returns EXIT_FAILED. */
int fail(const struct pfs_err *err);

/* The exit status of a result: EXIT_OK for 0, EXIT_INTERRUPTED for -EINTR, else as fail(). */
int status_of(int ret, const struct pfs_err *err);

/* argp_parse(), which exits with EXIT_USAGE on wrong usage. Returns true if it failed, after a message. */
bool cannot_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* --strict: returns EXIT_LOST, after a message, if the model lacks events; otherwise status. */
int strict_status(bool strict, const struct pfs_model *model, int status);

#endif
