/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs stap and its like: their words are gathered, the wish to give up is heeded, nothing is printed.
 */
#ifndef PFS_STAP_PROGRAM_H
#define PFS_STAP_PROGRAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What a program said, NUL-terminated; free with pfs_said_free(). */
struct pfs_said {
	char *text; /* NULL: nothing */
	size_t len;
	bool cut; /* there was more than PFS_SAID_MAX; that is not in it */
};

#define PFS_SAID_MAX (8 << 20)

struct pfs_program {
	const char *const *argv;    /* argv[0] is found through PATH; NULL ends it */
	const char *const *env;	    /* "KEY=VALUE" to add or replace; NULL ends it; may be NULL */
	const char *dir;	    /* where it runs, or NULL: here */
	bool hide_security;	    /* without /sys/kernel/security, in a mount namespace of its own */
	bool (*give_up)(void *ctx); /* NULL, or asked now and then; true ends it */
	void *give_up_ctx;
};

/*
 * Runs it to its end. 0 with *status as wait() gives it, -ENOENT if there is no such program, -EINTR if
 * give_up() said so (it and what it started are ended), or -errno with err set.
 */
int pfs_program_run(const struct pfs_program *program, int *status, struct pfs_said *out, struct pfs_said *error,
		    struct pfs_err *err);

/* Adds what can be read from fd now. 1: there may be more, 0: end of file, or -errno. */
int pfs_said_read(struct pfs_said *said, int fd);

void pfs_said_free(struct pfs_said *said);

/* Is there such a program in PATH? Its path goes to buf, "" if not. */
bool pfs_program_find(const char *name, char *buf, size_t size);

#endif
