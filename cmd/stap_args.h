/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options that only --source=stap understands.
 */
#ifndef CMD_STAP_ARGS_H
#define CMD_STAP_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <sys/types.h>

struct stap_args {
	const char *module;		/* --module, or NULL */
	bool no_dwarf;			/* --no-dwarf */
	const char *user;		/* --user of attach, or NULL ... */
	uid_t uid;			/* ... and who that is */
};

extern const struct argp stap_argp;	/* input: struct stap_args */

/* Finds the user by name or number. 0 or -ENOENT. */
int stap_args_user(struct stap_args *args, const char *user);

#endif
