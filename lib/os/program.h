/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs another program: starts it, collects its output, waits for it. pfscope itself prints none of that output.
 */
#ifndef PFS_PROGRAM_H
#define PFS_PROGRAM_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pfs_program {
	const char *const *argv;    /* argv[0] is looked up by pfs_program_find(); NULL ends it */
	const char *const *env;	    /* "KEY=VALUE" to add or replace; NULL ends it; may be NULL */
	const char *dir;	    /* working directory; NULL: the caller's */
	bool hide_security;	    /* without /sys/kernel/security, in a mount namespace of its own */
	bool dies_with_parent;	    /* SIGTERM when the caller dies (unless it executes a setuid program) */
	pid_t *pid;		    /* pfs_program_run(): set while it runs, else 0; may be NULL or in shared memory */
	bool (*give_up)(void *ctx); /* NULL, or called at least every 100 ms; true ends the program */
	void *give_up_ctx;
};

/* Output of a program, NUL-terminated. All 0 is an empty one. */
struct pfs_output {
	char *text; /* NULL: empty */
	size_t len;
	bool truncated; /* at PFS_OUTPUT_MAX */
};

#define PFS_OUTPUT_MAX (8 << 20)

struct pfs_program_result {
	int status; /* as wait() returns it */
	struct pfs_output out, error;
};

/*
 * Starts it in a process group of its own, with these descriptors as standard output and standard error and
 * /dev/null as standard input; returns once it executes. *pid may be in shared memory: the child stores its
 * number there itself, before it executes the program. 0, or -errno (-ENOENT: no such program).
 */
int pfs_program_spawn(const struct pfs_program *program, int out_fd, int error_fd, pid_t *pid);

/* Waits for the child; its status as wait() returns it. */
int pfs_program_wait(pid_t pid);

/*
 * Runs it to its end. 0 with *result set, -ENOENT if there is no such program, -EINTR if give_up() returned
 * true (it and what it started are ended), or -errno with err set. The caller frees the result in any case.
 */
int pfs_program_run(const struct pfs_program *program, struct pfs_program_result *result, struct pfs_err *err);
void pfs_program_result_free(struct pfs_program_result *result);

/* Did the program exit with status 0? */
bool pfs_program_succeeded(const struct pfs_program_result *result);

/* The text, "" if there is none. */
const char *pfs_output_text(const struct pfs_output *output);

/* Appends what can be read from fd now. 1: there may be more, 0: end of file, or -errno. */
int pfs_output_read(struct pfs_output *output, int fd);
void pfs_output_free(struct pfs_output *output);

/*
 * Looks the program up in PATH, unless the name has a slash. Its path goes to buf (PATH_MAX bytes), "" if there is none.
 * 0 or -ENOENT. Root executes only what nobody else can exchange: -EPERM with err (may be NULL) set if others can write to the
 * first one, to its folder, or to one above; what is executed looks up programs in other folders only.
 */
int pfs_program_find(const char *name, char *buf, struct pfs_err *err);

/* Can only root write to the file or folder, and exchange it? path must be a real one (realpath(3)). */
bool pfs_only_root_writes(const char *path);

#endif
