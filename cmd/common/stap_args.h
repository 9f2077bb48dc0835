/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that only --source=stap understands.
 */
#ifndef CMD_STAP_ARGS_H
#define CMD_STAP_ARGS_H

#include <argp.h>
#include <stdbool.h>

struct stap_args {
	const char *module; /* --module, or NULL */
	bool no_dwarf;	    /* --no-dwarf */
};

extern const struct argp stap_argp; /* input: struct stap_args */

#endif
