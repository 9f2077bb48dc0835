/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader: a helper (lib/os/helper.h) that runs staprun and unloads the module when it ends.
 *
 * It shares a socket with pfscope, so that any end of pfscope, kill -9 included, wakes it: then it ends staprun, and
 * removes the module if staprun has not. If the loader itself is killed, staprun ends, and the loader's successor
 * removes the module. It keeps the privileges that pfscope drops once it is set up.
 */
#ifndef PFS_STAP_LOADER_H
#define PFS_STAP_LOADER_H

#include "base/err.h"

#include <stdbool.h>

struct pfs_loader {
	int control_fd; /* to the process; -1: there is none */
	int out_fd;	/* staprun's standard output */
	int error_fd;	/* its standard error */
	struct pfs_loader_job *job;
};

/* How staprun ended. */
struct pfs_loader_end {
	int status; /* as wait() returns it */
	int failed; /* -errno: it could not be started and has no status */
	int left;   /* 1: the module cannot be removed */
};

/* Before the caller becomes a subreaper. Loads nothing yet. 0 or -errno with err set. */
int pfs_loader_start(struct pfs_loader *loader, struct pfs_err *err);

/*
 * The loader removes this file, and the folder that contains only it, when staprun or pfscope ends. To be called
 * before they are created, and at most once.
 */
void pfs_loader_keep(struct pfs_loader *loader, const char *dir, const char *file);

/* Runs staprun with these arguments (as execvp()). `name`: of the loaded module. 0 or -errno with err set. */
int pfs_loader_load(struct pfs_loader *loader, const char *const *argv, const char *name, struct pfs_err *err);

/* Asks staprun to end its probes and to unload. */
void pfs_loader_stop(struct pfs_loader *loader);

/* Waits for staprun's end, at most timeout_ms (-1: for ever). 1 with *end set, 0: it runs. */
int pfs_loader_ended(struct pfs_loader *loader, int timeout_ms, struct pfs_loader_end *end);

/* Ends staprun and the loader, and waits until the module is removed (some seconds at most). */
void pfs_loader_close(struct pfs_loader *loader);

#endif
