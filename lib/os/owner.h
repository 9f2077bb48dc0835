/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who owns what a recording makes in the kernel: tracefs instances and dynamic events, SystemTap modules, swap devices.
 *
 * An owner is a random number, which is part of the names of what it makes, and a lock: the process holds the byte of
 * that number of the folder of tracefs instances (fcntl(2), open file description locks). tracefs has one set of inodes
 * for all mounts, so that the lock is seen in each PID and mount namespace, and the kernel releases it however the
 * process ends. It is taken before anything is made.
 */
#ifndef PFS_OWNER_H
#define PFS_OWNER_H

#include <stdint.h>

struct pfs_owner {
	uint64_t id;
	int fd; /* holds the lock; -1: there is none */
};

/* A new owner. Without tracefs, or the right to open it, it has an id without a lock. */
void pfs_owner_open(struct pfs_owner *owner);

/* Releases the lock. */
void pfs_owner_close(struct pfs_owner *owner);

enum pfs_owner_state {
	PFS_OWNER_LIVES,
	PFS_OWNER_DEAD,
	PFS_OWNER_UNKNOWN, /* it had no lock, or locks cannot be seen from here */
};

enum pfs_owner_state pfs_owner_state(uint64_t id);

/* Room for a name. */
#define PFS_OWNER_NAME_MAX 40

/* The name of what it makes: "pfscope-4211-00c5d3a1b2e4f607", with that separator, '-' or '_'; the first number is its pid. */
void pfs_owner_name(uint64_t id, char separator, char name[PFS_OWNER_NAME_MAX]);

/* The id in such a name, with either separator; 0: it is no such name. */
uint64_t pfs_owner_of_name(const char *name);

#endif
