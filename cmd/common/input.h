/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recordings of any kind, known by their content: trace.dat, text of trace_pipe, event lines.
 *
 * A kind of input is a row in input.c's table. Whatever it is, events come out.
 */
#ifndef CMD_INPUT_H
#define CMD_INPUT_H

#include "base/err.h"
#include "event/event.h"

#include <stdbool.h>
#include <stdio.h>

struct input_options {
	bool salvage;  /* show what can be read of a damaged file */
	bool progress; /* tell on a terminal how far it is; nothing else is printed meanwhile */
};

/*
 * Reads all of the file (NULL or "-": standard input) into the sink. What is no event is counted, and
 * said in a line on standard error. 0, what the sink returned, or -errno with err set.
 */
int input_read(const char *path, const struct input_options *options, const struct pfs_sink *sink, struct pfs_err *err);

#endif
