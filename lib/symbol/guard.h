/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child without privileges that hands bytes of others to libraries which such bytes may break (libdw, libiberty). It
 * answers one request after the other; if it crashes, hangs or takes too much memory, it is ended and there are no more
 * answers. The parent loses names, nothing else.
 */
#ifndef PFS_GUARD_H
#define PFS_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PFS_GUARD_MAX = 1 << 16 }; /* bytes of a request, and of an answer */

/* In the child: answers a request. The length of the answer; 0: there is none. */
typedef size_t pfs_guard_fn(void *ctx, const char *request, size_t len, char *answer);

/* All zeroes: it was not started. */
struct pfs_guard {
	pid_t pid;
	int socket;
	bool started;
	bool broken; /* it does not answer any more, or could not be started */
};

/* The child keeps `fd` (-1: none) of the parent's descriptors. */
void pfs_guard_start(struct pfs_guard *guard, pfs_guard_fn *fn, void *ctx, int fd);
void pfs_guard_end(struct pfs_guard *guard);

/*
 * A request, and the answer to the oldest one that has none yet: the length; 0: there is none, as after a request that could not
 * be sent. Requests without an answer are few and small: the child must not wait for their sender.
 */
void pfs_guard_send(struct pfs_guard *guard, const void *request, size_t len);
size_t pfs_guard_receive(struct pfs_guard *guard, char *answer);

/* Both. */
size_t pfs_guard_ask(struct pfs_guard *guard, const void *request, size_t len, char *answer);

#endif
