/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One copy of each string. Two interned strings of one pool are equal if and only if their pointers are. A pool begins
 * as NULL.
 */
#ifndef PFS_INTERN_H
#define PFS_INTERN_H

struct pfs_intern;

/* Frees the pool and every string that it gave. */
void pfs_intern_free(struct pfs_intern *pool);

/* The pool's copy of s, valid as long as the pool. NULL: s is NULL, or no memory. */
const char *pfs_intern(struct pfs_intern **pool, const char *s);

#endif
