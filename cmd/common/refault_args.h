/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of `run` and `attach` by which pages are made to fault again. */
#ifndef CMD_REFAULT_ARGS_H
#define CMD_REFAULT_ARGS_H

#include "refault/refault.h"

#include <argp.h>

struct refault_args {
	uint64_t interval_ns; /* 0: they are not */
	enum pfs_refault_method method;
	unsigned int quiet;
	uint64_t zram_bytes;
};

extern const struct argp refault_argp; /* input: struct refault_args */

#endif
