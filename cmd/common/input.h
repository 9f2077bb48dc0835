/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads recordings of any kind: trace.dat, text of trace_pipe, event lines. The kind is detected from the content.
 *
 * Each kind is a row in input.c's table; all of them deliver events.
 */
#ifndef CMD_INPUT_H
#define CMD_INPUT_H

#include "base/err.h"
#include "event/event.h"

#include <stdbool.h>
#include <stdio.h>

struct input_options {
	bool salvage;  /* read what is readable of a damaged file */
	bool other;    /* also events that pfscope does not decode */
	bool progress; /* show progress on a terminal; nothing else may print there meanwhile */
};

/*
 * Reads the file (NULL or "-": standard input) into the sink. Lines that are not events are counted and
 * reported in one message. 0, what the sink returned, or -errno with err set.
 */
int input_read(const char *path, const struct input_options *options, const struct pfs_sink *sink, struct pfs_err *err);

#endif
