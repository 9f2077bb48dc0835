/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader: a small process (lib/os/helper.h) that runs staprun and unloads the module when it ends.
 *
 * It holds one end of a socket of which pfscope has the other, so that any end of pfscope, kill -9
 * included, wakes it: then it ends staprun, and removes the module should staprun have left it. If it is killed
 * itself, staprun ends, and the loader's successor removes what is left. It keeps the privileges that pfscope
 * itself drops once it is set up.
 */
#ifndef PFS_STAP_LOADER_H
#define PFS_STAP_LOADER_H

#include "base/err.h"

#include <stdbool.h>

struct pfs_loader {
	int control_fd; /* to the process; -1: there is none */
	int out_fd;	/* staprun's standard output */
	int error_fd;	/* its standard error */
};

/* What became of staprun. */
struct pfs_loader_end {
	int status; /* as wait() gives it */
	int failed; /* -errno: it could not even be started; then there is no status */
	int left;   /* 1: the module is still there, it cannot be removed */
};

/* Before the caller becomes a subreaper (the loader is nobody's child). Nothing is loaded yet. 0 or -errno with err set. */
int pfs_loader_start(struct pfs_loader *loader, struct pfs_err *err);

/*
 * A file, and the folder that it is alone in: they go when staprun ends, or when pfscope does. To be
 * called before they are created, and at most once. 0 or -errno with err set.
 */
int pfs_loader_keep(struct pfs_loader *loader, const char *dir, const char *file, struct pfs_err *err);

/*
 * Runs staprun with these arguments (NULL ends them; argv[0] is found through PATH). `name` is what the
 * module is called once it is loaded. 0 or -errno with err set.
 */
int pfs_loader_load(struct pfs_loader *loader, const char *const *argv, const char *name, struct pfs_err *err);

/* Asks staprun to end its probes and to unload. */
void pfs_loader_stop(struct pfs_loader *loader);

/* Has staprun ended? Waits for it as long as that (-1: for ever). 1 with *end set, 0: not yet. */
int pfs_loader_ended(struct pfs_loader *loader, int timeout_ms, struct pfs_loader_end *end);

/* Ends all of it, if it runs still, and waits until the module is gone (some seconds at most). */
void pfs_loader_close(struct pfs_loader *loader);

#endif
