/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of `run` and `attach` that only the ftrace source has: what it asks the kernel for beyond
 * events.
 */
#ifndef CMD_FTRACE_ARGS_H
#define CMD_FTRACE_ARGS_H

#include "capture/capture.h"

#include <argp.h>

extern const struct argp ftrace_argp; /* input: struct pfs_capture_tracers */

/* Any of them? */
bool ftrace_args_given(const struct pfs_capture_tracers *args);

#endif
