/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What render, maps and report have in common: a file read into a model, and a view of it drawn.
 */
#ifndef CMD_READING_H
#define CMD_READING_H

#include "common/input.h"
#include "common/pipeline.h"
#include "common/view_args.h"

struct reading_args {
	const char *file; /* NULL: standard input */
	struct input_options input;
	struct view_args view;
	bool strict; /* lost events are a failure */
};

/* Options of reading: --salvage, --strict, and the file itself. Input: struct reading_args. */
extern const struct argp reading_argp;

/* Reads the file through the filter, and writes events on the way. 0 or -errno with err set. */
int reading_read(const struct reading_args *args, struct pipeline *p, struct pfs_err *err);

/* All of a command that draws one view: the exit status. */
int reading_draw(const struct reading_args *args, enum pfs_view_format format);

#endif
